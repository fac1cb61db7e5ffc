package instruction

import (
	"path"
	"path/filepath"
	"strings"
)

// maxImports bounds how many imports of one file are followed.
const maxImports = 100

// Import is a file that a text imports, as `@path`.
type Import struct {
	// Name is the path as it is written: relative to the importing file's folder, absolute, or below ~/.
	Name string
	// Start and End are where it stands in the text with its @, in bytes.
	Start, End int
}

// IsPath reports whether a name is almost certainly a path. `@team` and `@types/node` may be paths, and count as
// imports only if such a file exists.
func (i Import) IsPath() bool {
	return strings.HasPrefix(i.Name, ".") || strings.HasPrefix(i.Name, "/") || strings.HasPrefix(i.Name, "~/") ||
		strings.Contains(path.Base(i.Name), ".")
}

// Imports finds the imports of a Markdown text, at most 100. An "@" in code, in a fence or between backticks, is no
// import.
func Imports(text string) []Import {
	var list []Import
	fence := ""
	at := 0
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		trimmed := strings.TrimLeft(line, " \t")
		if mark := fenceOf(trimmed); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.TrimSpace(trimmed[len(mark):]) == "":
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		list = importsOf(list, line, start)
		if len(list) >= maxImports {
			return list[:maxImports]
		}
	}
	return list
}

// fenceOf is the row of backticks or tildes at the beginning of a line, "" if the line is no fence.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && !(mark == "`" && strings.Contains(rest, "`")) {
			return line[:n]
		}
	}
	return ""
}

// importsOf adds the imports of a line, which begins at an offset.
func importsOf(list []Import, line string, offset int) []Import {
	for i := 0; i < len(line); {
		switch {
		case line[i] == '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			i += n
			if end := strings.Index(line[i:], line[i-n:i]); end >= 0 {
				i += end + n
			}
		case line[i] == '@' && (i == 0 || strings.ContainsRune(" \t(", rune(line[i-1]))):
			end := i + 1 + strings.IndexAny(line[i+1:]+" ", " \t\r\n`<>\"'|*")
			name := strings.TrimRight(line[i+1:end], ".,;:!?)]}")
			if name != "" && !strings.ContainsAny(name, "@\x00") {
				list = append(list, Import{Name: name, Start: offset + i, End: offset + i + 1 + len(name)})
			}
			i = end
		default:
			i++
		}
	}
	return list
}

// onlyImport is the import of a text that contains nothing else; ok is false for any other text.
func onlyImport(text string, imports []Import) (one Import, ok bool) {
	if len(imports) != 1 {
		return Import{}, false
	}
	one = imports[0]
	return one, strings.TrimSpace(text[:one.Start]+text[one.End:]) == ""
}

// Resolve is the absolute path that an import in a file means; home is the user's home folder, "" for none. ok is false
// if the import means no path.
func (i Import) Resolve(from, home string) (name string, ok bool) {
	rest, ofHome := strings.CutPrefix(i.Name, "~/")
	native := filepath.FromSlash(i.Name)
	switch {
	case ofHome && home == "", strings.HasPrefix(i.Name, "~") && !ofHome:
		return "", false
	case ofHome:
		return filepath.Join(home, filepath.FromSlash(rest)), true
	case filepath.IsAbs(native):
		return filepath.Clean(native), true
	}
	return filepath.Join(filepath.Dir(from), native), true
}
