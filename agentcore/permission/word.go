package permission

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// read is [gate.word], and adds the commands of the substitutions in the word.
func (g *gate) read(w *syntax.Word) (word, string) {
	out, why := g.word(w)
	if w != nil && (why != "" || out.said != "") {
		g.inside(w)
	}
	return out, why
}

// word returns the text of a word, or why it could be anything. A word that only says something, such as the output of
// a command, is harmless where its program is ([takesAny]), and has a reason of its own.
func (g *gate) word(w *syntax.Word) (word, string) {
	r := wordReader{gate: g}
	if w == nil {
		return r.out, ""
	}
	for i, part := range w.Parts {
		if why := r.part(part, i == 0, len(w.Parts) == 1); why != "" {
			return word{}, why
		}
	}
	out := r.out
	out.text = r.text.String()
	out.glob = out.glob && out.text != "[" // the program
	if out.home && out.text != "~" && !strings.HasPrefix(out.text, "~/") {
		out.said = cmp.Or(out.said, "it holds a variable")
	}
	if out.said != "" {
		return word{glob: true, said: out.said}, ""
	}
	return out, ""
}

// wordReader puts the text of a word together.
type wordReader struct {
	gate *gate
	out  word
	text strings.Builder
}

// expand adds what the shell puts in the place of a part.
func (r *wordReader) expand(part syntax.WordPart, first bool) string {
	e, why := r.gate.expansion(part)
	r.out.home = r.out.home || e.home && first
	if e.home && !first {
		e.said = "it holds a variable"
	}
	r.out.said = cmp.Or(r.out.said, e.said)
	r.text.WriteString(e.text)
	return why
}

// part adds a part of the word, the first or the only one perhaps, or returns why it could be anything.
func (r *wordReader) part(part syntax.WordPart, first, alone bool) string {
	switch part := part.(type) {
	case *syntax.Lit:
		if strings.Contains(r.gate.text(part), "\\\n") {
			return "it hides text behind a backslash at the end of a line"
		}
		value := part.Value
		if first && (strings.HasPrefix(value, "~/") || value == "~" && alone) {
			r.out.home, value = true, value[1:]
			r.text.WriteByte('~')
		}
		text, glob, why := plainLiteral(value, first)
		if why != "" {
			return why
		}
		r.out.glob = r.out.glob || glob
		r.text.WriteString(text)
	case *syntax.SglQuoted:
		if part.Dollar {
			r.out.said = "it hides text in $'…'"
		}
		r.text.WriteString(part.Value)
	case *syntax.DblQuoted:
		if part.Dollar {
			return `it hides text in $"…"`
		}
		for k, p := range part.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				r.text.WriteString(quotedLiteral(lit.Value))
			} else if why := r.expand(p, first && k == 0); why != "" {
				return "it holds something that the shell works out"
			}
		}
	case *syntax.ExtGlob:
		return "it holds an extended wildcard"
	default:
		if why := r.expand(part, first); why != "" {
			return why
		}
	}
	return ""
}

// telling are the variables whose values may be shown: the shell or the login sets them, and they are no secrets.
var telling = []string{"USER", "LOGNAME", "PWD", "OLDPWD", "HOSTNAME", "SHELL", "RANDOM", "SECONDS", "!", "@", "*"}

// expansion is what the shell puts in the place of a variable or a command. Of variables only plain ones are known: a
// form that changes, tests or looks up something can run commands.
func (g *gate) expansion(part syntax.WordPart) (word, string) {
	switch part := part.(type) {
	case *syntax.ParamExp:
		const why = "it holds a variable"
		if part.Param == nil || part.Flags != nil || part.NestedParam != nil || part.Excl || part.Width || part.IsSet ||
			part.Index != nil ||
			len(part.Modifiers) > 0 || part.Slice != nil || part.Repl != nil || part.Names != 0 || part.Exp != nil {
			return word{}, why
		}
		name := part.Param.Value
		switch {
		case part.Length, name == "?", name == "#", name == "$":
			return word{text: number}, ""
		case name == "HOME":
			return word{text: "~", home: true}, ""
		case strings.Trim(name, "0123456789") == "", slices.Contains(telling, name), g.loops[name]:
			return word{said: why}, ""
		}
		return word{}, why
	case *syntax.CmdSubst:
		const why = "it holds the output of a command"
		if part.TempFile || part.ReplyVar {
			return word{}, why
		}
		return word{said: why}, ""
	case *syntax.ProcSubst:
		return word{}, "it holds the output of a command"
	case *syntax.ArithmExp:
		return word{}, "it calculates, which can run commands named in variables"
	}
	return word{}, "it holds a form that is not known here"
}

// body returns why the text of a here-document could run something, or "". What it says is for its reader.
func (g *gate) body(w *syntax.Word) string {
	const why = "its text holds something that the shell works out"
	for _, part := range w.Parts {
		list := []syntax.WordPart{part}
		if quoted, ok := part.(*syntax.DblQuoted); ok {
			list = quoted.Parts
		}
		for _, p := range list {
			switch p.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
				continue
			}
			if _, doubt := g.expansion(p); doubt != "" {
				return why
			}
		}
	}
	return ""
}

// speaking are programs that take no word for a file or an option that does harm.
var speaking = []string{"echo", "printf", "true", "false", "basename", "dirname", "sleep", "seq", ":", "exit", "return"}

// takesAny returns why words that are known only when the command runs could do harm, or "".
func takesAny(args []word) string {
	i := slices.IndexFunc(args, func(a word) bool { return a.said != "" })
	switch program := args[0].text; {
	case i < 0:
		return ""
	case !slices.Contains(speaking, program), program == "printf" &&
		(i < 2 || strings.HasPrefix(args[1].text, "-") || args[1].glob):
		return args[i].said
	}
	return ""
}

// plainLiteral is unquoted text without its backslashes.
func plainLiteral(s string, first bool) (text string, glob bool, why string) {
	var b strings.Builder
	if first && strings.HasPrefix(s, "~") {
		return "", false, "it holds ~, which stands for a folder"
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
			if i >= len(s) {
				return "", false, "it ends in a backslash"
			}
			b.WriteByte(s[i])
		case '*', '?', '[':
			glob = true
			b.WriteByte(c)
		case '{':
			if !strings.HasPrefix(s[i:], "{}") {
				return "", false, "it holds a brace, which stands for several words"
			}
			b.WriteByte(c)
		case '=', ':':
			if strings.HasPrefix(s[i+1:], "~") {
				return "", false, "it holds ~, which stands for a folder"
			}
			b.WriteByte(c)
		case '$', '`', '\n', 0:
			return "", false, "it holds something that the shell works out"
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), glob, ""
}

// quotedLiteral is text in double quotes without the backslashes that the shell takes away.
func quotedLiteral(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
