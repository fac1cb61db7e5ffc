package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// A program that is not known is taken at its word, but for what programs agree on: names of options by which they run
// code or other programs, write where they are told to, or read more options. What looks like code behind an option is
// some.

var (
	// running are words in the names of such options.
	running = []string{
		"exec", "execute", "eval", "evaluate", "command", "commands", "cmd", "shell", "script", "scripts", "hook",
		"hooks", "plugin", "plugins", "load", "preload", "loader", "require", "pager", "editor", "askpass",
		"bind", "listen", "unsafe", "lua", "interpreter", "rcfile", "preview", "invoke", "escape", "alias",
	}
	// writing are words in the names of options that say where to write.
	writing = []string{
		"output", "out", "outfile", "outdir", "report", "dump", "log", "logfile", "save", "junit",
		"junitxml", "export",
	}
	// performing are first words that run what follows.
	performing = []string{"exec", "eval", "shell", "console", "repl", "script"}
	// prose are options whose value is text for people, or a search.
	prose = []string{
		"-m", "--message", "--body", "--title", "--description", "--comment", "--note", "--text",
		"--subject", "--query", "--filter", "--regex", "--pattern", "--data", "--payload", "--input",
	}

	codeLike    = lazyregexp.New("[;`]|" + `\||\$\(|%\(|%\{|^\s*[!(]|\w\(|\\[a-z]+[0-9]*\{`)
	fileLike    = lazyregexp.New(`/|\.[A-Za-z]\w{0,4}$`)
	settingLike = lazyregexp.New(`^[\w.:-]*(\.|::)[\w.:-]*=`)
	humps       = lazyregexp.New(`([a-z])([A-Z])`)
)

// unknownRisk returns why a call of a program that is not known may do more than its name tells, or "".
func unknownRisk(args []string) string {
	name, rest := args[0], args[1:]
	if len(rest) > 0 && slices.Contains(performing, rest[0]) {
		return fmt.Sprintf("%s %s may run what follows", name, rest[0])
	}
	for i, a := range rest {
		if a == "--" {
			break
		}
		if strings.HasPrefix(a, "@") && len(a) > 1 {
			return fmt.Sprintf("%s may read more options from %s", name, a[1:])
		}
		if !strings.HasPrefix(a, "-") {
			continue
		}
		option, value, has := strings.Cut(a, "=")
		short := !strings.HasPrefix(a, "--")
		if !has && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-") {
			value = rest[i+1]
		}
		words := strings.FieldsFunc(strings.ToLower(humps().ReplaceAllString(strings.TrimLeft(option, "-"), "$1-$2")),
			func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		named := func(list []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && slices.Contains(list, w) })
		}
		switch {
		case named(running), slices.Equal(words, []string{"run"}):
			return fmt.Sprintf("%s with %s may run code or another program", name, a)
		case named([]string{"config", "option", "setopt"}) && strings.Contains(value, "="), len(option) == 2 &&
			settingLike().MatchString(value):
			return fmt.Sprintf("%s with %s %s takes other settings, which may run programs", name, option, value)
		case named(writing) && (fileLike().MatchString(value) || slices.Contains(words, "file")), len(words) > 0 &&
			strings.HasSuffix(words[len(words)-1], "profile") && words[len(words)-1] != "profile":
			return fmt.Sprintf("%s with %s may write a file", name, a)
		case slices.Contains([]string{"-o", "-O", "-w", "-W"}, option) && fileLike().MatchString(value):
			return fmt.Sprintf("%s with %s may write %s", name, option, value)
		case slices.Contains(prose, option):
		case codeLike().MatchString(value):
			return fmt.Sprintf("%s with %s gets what looks like code", name, option)
		case short && len(a) > 2 && !has && codeLike().MatchString(a[2:]):
			return fmt.Sprintf("%s with %s gets what looks like code", name, a)
		}
	}
	return ""
}
