package permission

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// wrapped is what a program starts that is there to start another.
type wrapped struct {
	args    []word   // the command that is started
	scripts []string // or command lines, for a shell
	risk    string   // why the wrapper itself needs a rule, too
	unsure  string   // why it cannot be told what is started
}

// wrapper says which of a wrapper's own words come before the command that it starts.
type wrapper struct {
	flags  []string // options without a value
	values []string // options with a value in the next word, or glued to it
	words  int      // words of its own behind the options
	risk   string
}

var wrappers = map[string]wrapper{
	"command": {flags: []string{"-p"}},
	"nohup":   {},
	"nice":    {values: []string{"-n", "--adjustment"}},
	"timeout": {flags: []string{"--foreground", "--preserve-status", "-v", "--verbose", "-f", "-p"}, values: []string{"-k", "--kill-after", "-s", "--signal"}, words: 1},
	"time":    {flags: []string{"-p", "-v", "--verbose", "--portability"}},
	"stdbuf":  {values: []string{"-i", "-o", "-e", "--input", "--output", "--error"}},
	"setsid":  {flags: []string{"-w", "--wait", "-f", "--fork", "-c", "--ctty"}},
	"ionice":  {flags: []string{"-t", "--ignore"}, values: []string{"-c", "-n", "--class", "--classdata"}},
	"env":     {},
	"busybox": {}, "toybox": {},
	"xargs": {flags: []string{"-0", "-r", "-t", "--null", "--no-run-if-empty"}, values: []string{"-n", "-P", "-L", "-s", "--max-args", "--max-procs", "--max-lines"}},
	"sudo":  {flags: []string{"-n", "-E", "-H", "-k"}, values: []string{"-u", "-g"}, risk: "it runs as another user"},
	"doas":  {flags: []string{"-n"}, values: []string{"-u"}, risk: "it runs as another user"},
}

// shells run a command line behind -c.
var shells = []string{"sh", "bash", "dash", "ash", "rbash"}

// unwrap finds what a wrapper starts. ok is false where the program is none.
func unwrap(s simple) (w wrapped, ok bool) {
	name := path.Base(s.args[0].text)
	rest := s.args[1:]
	if slices.Contains(shells, name) {
		if len(rest) == 2 && (rest[0].text == "-c" || rest[0].text == "-ec" || rest[0].text == "-ce") && !rest[1].glob {
			return wrapped{scripts: []string{rest[1].text}}, true
		}
		if !slices.ContainsFunc(rest, func(a word) bool { return a.glob || !strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "--") }) {
			return wrapped{unsure: name + " runs what it reads"}, true
		}
		return wrapped{risk: name + " runs a script"}, true
	}
	known, ok := wrappers[name]
	if !ok {
		return wrapped{}, false
	}
	w.risk = known.risk
	unknown := wrapped{risk: cmp.Or(known.risk, name+" starts another program in a way that is not known here")}
	i := 0
	for ; i < len(rest) && strings.HasPrefix(rest[i].text, "-"); i++ {
		text := rest[i].text
		switch {
		case rest[i].glob:
			return unknown, true
		case text == "--":
		case slices.Contains(known.flags, text):
			continue
		case slices.Contains(known.values, text):
			i++
			continue
		case slices.ContainsFunc(known.values, func(v string) bool {
			return strings.HasPrefix(v, "--") && strings.HasPrefix(text, v+"=") || !strings.HasPrefix(v, "--") && strings.HasPrefix(text, v)
		}):
			continue
		default:
			// It may start anything; what follows is looked at for rules that deny.
			if i+1 < len(rest) {
				unknown.args = rest[i+1:]
			}
			return unknown, true
		}
		i++
		break
	}
	i += known.words
	if i >= len(rest) {
		return unknown, true
	}
	if slices.ContainsFunc(rest[:i], func(a word) bool { return a.glob }) || rest[i].glob {
		return unknown, true
	}
	w.args = slices.Clone(rest[i:])
	switch name {
	case "env":
		if strings.Contains(w.args[0].text, "=") {
			for len(w.args) > 0 && strings.Contains(w.args[0].text, "=") {
				w.args = w.args[1:]
			}
			w.risk = "it sets a variable, which may change what runs"
		}
	case "xargs":
		// What it reads becomes words, which no rule but one for every word sees.
		w.args = append(w.args, word{text: "*", glob: true})
		w.risk = "it adds words that are not known before"
	}
	return w, true
}

// looking are programs that only look, but for what [risk] finds: a rule for all their words is narrow enough.
var looking = []string{
	"ls", "cat", "head", "tail", "wc", "rg", "grep", "find", "fd", "sort", "uniq", "diff", "stat", "file", "du", "df", "pwd", "which", "echo", "printf", "date", "tree", "jq",
	"cut", "tr", "basename", "dirname", "realpath", "readlink", "true", "false", "test", "[", "cmp", "comm", "nl", "od", "seq", "sleep", "uname", "whoami", "id", "sha256sum", "md5sum", "cd", "gofmt", "shellcheck",
}

// commands are programs whose first word names what they do.
var commands = []string{
	"git", "go", "npm", "pnpm", "yarn", "cargo", "docker", "podman", "kubectl", "pip", "pip3", "gh", "make", "dotnet", "mvn", "gradle", "terraform", "helm", "bundle", "composer", "apt", "brew", "rustup", "systemctl", "just",
}

// installing are first words that fetch and run what the others name.
var installing = []string{"install", "i", "add", "ci", "update", "upgrade", "clone", "init", "create"}

// nested are first words that are followed by another such.
var nested = map[string][]string{
	"npm": {"run", "run-script"}, "pnpm": {"run"}, "yarn": {"run"}, "docker": {"compose", "image", "container", "volume", "network"}, "git": {"stash", "remote", "worktree"},
	"gh": {"pr", "issue", "run", "repo", "release"}, "go": {"mod", "work"}, "kubectl": {"get"}, "podman": {"compose"},
}

// alwaysRules are the rules that would allow a command from now on: its first words where they say enough, else the
// very command.
func (s *simple) alwaysRules() []Rule {
	if s.unsure != "" || len(s.args) == 0 {
		return nil
	}
	exact := []string{}
	for _, a := range s.args {
		if a.glob && s.risk != "" || a.glob && strings.Contains(a.text, "\x00") {
			return nil
		}
		exact = append(exact, quoteWord(a.text))
	}
	program := s.args[0].text
	switch {
	case s.risk != "":
	case slices.Contains(looking, program):
		return []Rule{{"bash", quoteWord(program) + "*", Allow}}
	case slices.Contains(commands, program) && len(s.args) > 1 && subcommand(s.args[1]):
		if slices.Contains(installing, s.args[1].text) {
			break
		}
		words := exact[:2]
		if slices.Contains(nested[program], s.args[1].text) {
			if len(s.args) < 3 || !subcommand(s.args[2]) {
				return []Rule{{"bash", strings.Join(exact, " "), Allow}}
			}
			words = exact[:3]
		}
		return []Rule{{"bash", strings.Join(words, " ") + "*", Allow}}
	}
	if slices.ContainsFunc(s.args, func(a word) bool { return a.glob }) {
		return nil
	}
	return []Rule{{"bash", strings.Join(exact, " "), Allow}}
}

// subcommand reports whether a word is a plain name.
func subcommand(w word) bool {
	return !w.glob && w.text != "" && !strings.ContainsFunc(w.text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != ':' && r != '_'
	}) && w.text[0] != '-' && !strings.ContainsAny(w.text[len(w.text)-1:], ":-_")
}
