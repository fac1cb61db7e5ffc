package permission

import (
	"cmp"
	"slices"
	"strings"
)

// wrapped is the command that a wrapper starts: a program whose purpose is to start another.
type wrapped struct {
	args    []word   // the command that is started
	scripts []string // or command lines, for a shell
	risk    string   // why the wrapper itself needs a rule, too
	unsure  string   // why it cannot be told what is started
	exact   bool     // nothing else is started
}

// wrapper says which of a wrapper's own words come before the command that it starts.
type wrapper struct {
	flags, values string   // short options without and with a value
	glued         string   // short options whose value is never in the next word
	long, valued  []string // the same for long ones
	words         int      // words of its own behind the options
	sets          bool     // words with = in front of the command set variables
	risky         string   // of the options, those that change what runs
	risk          string
}

var wrappers = map[string]wrapper{
	"command": {flags: "p"},
	"nohup":   {},
	"nice":    {values: "n", glued: "0123456789", valued: []string{"adjustment"}},
	"timeout": {
		flags: "vfp", long: []string{"foreground", "preserve-status", "verbose"}, values: "ks",
		valued: []string{"kill-after", "signal"}, words: 1,
	},
	"time":   {flags: "pv", values: "f", long: []string{"verbose", "portability"}, valued: []string{"format"}},
	"stdbuf": {values: "ioe", valued: []string{"input", "output", "error"}},
	"setsid": {flags: "wfc", long: []string{"wait", "fork", "ctty"}},
	"ionice": {flags: "t", values: "cn", long: []string{"ignore"}, valued: []string{"class", "classdata"}},
	"env": {
		flags: "i0v", values: "uCS", long: []string{"ignore-environment", "null", "debug"},
		valued: []string{"unset", "chdir", "split-string"},
		sets:   true, risky: "iuCS",
	},
	"busybox": {}, "toybox": {},
	"xargs": {
		flags: "0rtpox", values: "nPLsIEad", glued: "ile", long: []string{
			"null", "no-run-if-empty", "verbose",
			"interactive", "open-tty", "exit", "replace", "eof",
		},
		valued: []string{"max-args", "max-procs", "max-lines", "max-chars", "arg-file", "delimiter"},
	},
	"sudo": {
		flags: "nEHkKAbBPSis", values: "ugCDRrtTpUh", long: []string{
			"non-interactive", "preserve-env", "set-home",
			"background", "login", "shell", "stdin", "askpass",
		},
		valued: []string{
			"user", "group", "host", "prompt", "chdir", "chroot", "close-from", "role", "type",
			"command-timeout", "other-user",
		}, sets: true, risk: "it runs as another user",
	},
	"doas": {flags: "nLs", values: "uC", risk: "it runs as another user"},
}

// options are what a wrapper's own options say.
type options struct {
	end   int               // the place of the first word that is no option
	given map[string]string // the values of the options: of long ones by name, of short ones by letter
}

// parse reads a wrapper's own options. ok is false where one is not known, so that it cannot be told where they end.
func (w *wrapper) parse(rest []word) (o options, ok bool) {
	o.given = map[string]string{}
	for ; o.end < len(rest); o.end++ {
		a := rest[o.end]
		if a.glob {
			return o, false
		}
		if a.text == "--" {
			o.end++
			break
		}
		if long, isLong := strings.CutPrefix(a.text, "--"); isLong {
			name, value, has := strings.Cut(long, "=")
			takes := slices.Contains(w.valued, name)
			if !takes && !slices.Contains(w.long, name) {
				return o, false
			}
			if takes && !has {
				if o.end++; o.end >= len(rest) || rest[o.end].glob {
					return o, false
				}
				value = rest[o.end].text
			}
			o.given[name] = value
			continue
		}
		bundle, short := strings.CutPrefix(a.text, "-")
		if !short {
			break
		}
		if bundle == "" && w.sets { // env - is env -i
			o.given["i"] = ""
			continue
		}
		for i, c := range bundle {
			value := bundle[i+len(string(c)):]
			switch {
			case strings.ContainsRune(w.flags, c):
				o.given[string(c)] = ""
				continue
			case strings.ContainsRune(w.glued, c):
			case strings.ContainsRune(w.values, c):
				if value == "" {
					if o.end++; o.end >= len(rest) || rest[o.end].glob {
						return o, false
					}
					value = rest[o.end].text
				}
			default:
				return o, false
			}
			o.given[string(c)] = value
			break
		}
		if bundle == "" {
			break
		}
	}
	return o, true
}

// any returns the value of the first of some options that is given.
func (o options) any(names ...string) (value string, ok bool) {
	for _, n := range names {
		if value, ok := o.given[n]; ok {
			return value, true
		}
	}
	return "", false
}

// unwrap finds what a wrapper or a shell starts. ok is false where the program is none.
func unwrap(s simple) (w wrapped, ok bool) {
	name := programName(s.args[0].text)
	if syntax, ok := shells[name]; ok {
		return unwrapShell(name, syntax, s.args[1:]), true
	}
	known, ok := wrappers[name]
	if !ok || name == "command" && len(s.args) > 1 && slices.Contains([]string{"-v", "-V", "-pv", "-pV"},
		s.args[1].text) {
		return wrapped{}, false // command -v only looks
	}
	w.risk = known.risk
	rest := s.args[1:]
	unknown := wrapped{risk: cmp.Or(known.risk, name+" starts another program in a way that is not known here")}
	o, ok := known.parse(rest)
	at := o.end + known.words
	if !ok || at > len(rest) || slices.ContainsFunc(rest[:min(at, len(rest))], func(a word) bool { return a.glob }) {
		return unknown, true
	}
	for known.sets && at < len(rest) && strings.Contains(rest[at].text, "=") {
		at, w.risk = at+1, cmp.Or(known.risk, "it sets a variable, which may change what runs")
	}
	for _, c := range known.risky {
		if _, ok := o.any(string(c)); ok {
			w.risk = "it changes what the command finds around it"
		}
	}
	if text, ok := o.any("S", "split-string"); ok && name == "env" {
		w.risk, w.scripts = unknown.risk, []string{text}
		return w, true
	}
	if at >= len(rest) {
		return unknown, true
	}
	if rest[at].glob || rest[at].home {
		w.unsure = name + " starts a program that is not known before"
		return w, true
	}
	w.args, w.exact = slices.Clone(rest[at:]), true
	if name == "env" && len(known.risky) > 0 {
		for _, l := range known.valued {
			if _, ok := o.any(l); ok {
				w.risk = "it changes what the command finds around it"
			}
		}
		if _, ok := o.any("ignore-environment"); ok {
			w.risk = "it changes what the command finds around it"
		}
	}
	if name == "xargs" {
		w.risk = s.feed.fill(&w, o)
	}
	return w, true
}

// showing are programs that only look, whatever words they get. An option makes them read or count otherwise.
var showing = []string{
	"cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "ls", "stat", "nl", "md5sum", "sha256sum",
	"basename", "dirname", "echo",
}

// fill puts what xargs reads behind the words of its command, and returns why that needs a rule.
func (f feed) fill(w *wrapped, o options) string {
	const why = "it adds words that are not known before"
	var list []word
	for _, text := range f.words {
		list = append(list, word{text: text})
	}
	if f.names {
		list = []word{{text: "./*", glob: true}} // names of the workspace, many or none
	}
	if _, elsewhere := o.any("a", "arg-file", "d", "delimiter", "E", "e", "eof"); elsewhere || len(list) == 0 ||
		!slices.Contains(showing, w.args[0].text) {
		// No rule but one for every word sees them.
		list = []word{{text: "*", glob: true}}
	}
	mark, replaces := o.any("I", "i", "replace")
	if !replaces {
		w.args = append(w.args, list...)
	} else {
		mark = cmp.Or(mark, "{}")
		for i := range w.args {
			if strings.Contains(w.args[i].text, mark) {
				w.args[i].glob = true
				if w.args[i].text == mark && len(list) == 1 {
					w.args[i] = list[0]
				}
			}
		}
		if len(list) > 1 {
			return why
		}
	}
	if list[0].text == "*" {
		return why
	}
	return ""
}

// looking are programs that only look, but for what [risk] finds: a rule for all their words is narrow enough.
var looking = []string{
	"ls", "cat", "head", "tail", "wc", "rg", "grep", "find", "fd", "sort", "uniq", "diff", "stat", "file", "du", "df",
	"pwd", "which", "echo", "printf", "date", "tree", "jq",
	"cut", "tr", "basename", "dirname", "realpath", "readlink", "true", "false", "test", "[", "cmp", "comm", "nl", "od",
	"seq", "sleep", "uname", "whoami", "id", "sha256sum", "md5sum", "cd", "gofmt", "shellcheck",
}

// commands are programs whose first word names what they do.
var commands = []string{
	"git", "go", "npm", "pnpm", "yarn", "cargo", "docker", "podman", "kubectl", "pip", "pip3", "gh", "make", "dotnet",
	"mvn", "gradle", "terraform", "helm", "bundle", "composer", "apt", "brew", "rustup", "systemctl", "just",
}

// installing are first words that fetch a package, which the words behind them name, and run it.
var installing = []string{"install", "i", "add", "ci", "update", "upgrade", "clone", "init", "create"}

// nested are first words behind which another first word follows.
var nested = map[string][]string{
	"npm": {"run", "run-script"}, "pnpm": {"run"}, "yarn": {"run"},
	"docker": {"compose", "image", "container", "volume", "network"}, "git": {"stash", "remote", "worktree"},
	"gh": {"pr", "issue", "run", "repo", "release"}, "go": {"mod", "work"}, "kubectl": {"get"}, "podman": {"compose"},
}

// subcommand reports whether a word is a plain name.
func subcommand(w word) bool {
	return w.fixed() && w.text != "" && !strings.ContainsFunc(w.text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != ':' && r != '_'
	}) && w.text[0] != '-' && !strings.ContainsAny(w.text[len(w.text)-1:], ":-_")
}
