package permission

import "strings"

// gitSetting is one setting of git's: its key as section.name or section.sub.name, with section and name in lower case.
type gitSetting struct{ key, value string }

// gitSettings reads a file with git's settings (git-config). It leaves out lines that git would refuse.
func gitSettings(text string) (list []gitSetting) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	section := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", ""), "\n") {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name, rest, _ := strings.Cut(rest, "]")
			name, sub, quoted := strings.Cut(name, `"`)
			section = strings.ToLower(strings.TrimSpace(name)) + "."
			if quoted {
				section += strings.TrimSuffix(sub, `"`) + "."
			}
			line = strings.TrimSpace(rest)
		}
		name, value, _ := strings.Cut(line, "=")
		if name = strings.ToLower(strings.TrimSpace(name)); name == "" || strings.ContainsAny(name[:1], "#;") {
			continue
		}
		list = append(list, gitSetting{section + name, gitValue(strings.TrimSpace(value))})
	}
	return list
}

// gitValue is a value without its quotes, escapes and comment.
func gitValue(text string) string {
	var b strings.Builder
	quoted, kept := false, 0 // kept is how much is no trailing space
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:kept]
		default:
			b.WriteByte(c)
			if !quoted && (c == ' ' || c == '\t') {
				continue
			}
		}
		kept = b.Len()
	}
	return b.String()[:kept]
}
