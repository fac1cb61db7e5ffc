package permission

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A command may start other commands by its own words. Rules that deny see them in two ways. A command that is known to
// be started counts as an inner command: a rule that denies the inner command denies the call. Where nobody knows what
// the program does with its words, or where its words make it do more than its name tells, each later word, and each
// text that may be a command line, counts as a command that may be started: where a rule denies one, the user is asked.

// starters are programs whose purpose is to start another program, in too many forms to be known here.
var starters = []string{
	"su", "sg", "chroot", "unshare", "nsenter", "setpriv", "runuser", "systemd-run", "strace", "ltrace", "perf",
	"script", "watch", "parallel", "flock", "entr", "npx", "pnpx", "bunx", "uvx", "pipx",
	"xvfb-run", "dbus-run-session", "fakeroot", "proot", "ssh", "slogin", "autossh", "rlogin", "at", "batch", "pkexec",
	"taskset", "chrt", "setarch", "prlimit", "valgrind", "torsocks", "torify", "proxychains", "proxychains4",
	"rlwrap", "unbuffer", "openvt", "capsh", "aa-exec", "cgexec", "firejail", "bwrap", "gosu", "su-exec", "tini",
	"dumb-init", "hyperfine", "choom", "numactl", "faketime", "catchsegv", "softlimit",
}

// startsOthers reports whether a program is there to start others. What `command -v` is asked, it only tells.
func startsOthers(name string) bool {
	_, wraps := wrappers[name]
	_, shell := shells[name]
	return wraps && name != "command" || shell || slices.Contains(starters, name) ||
		strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || strings.HasPrefix(name, "qemu-")
}

// quiet are the programs that start no other program, beside the programs in [looking] and [programs].
var quiet = []string{
	"mkdir", "rmdir", "touch", "rm", "unlink", "chmod", "chown", "chgrp", "mktemp", "truncate", "shred", "kill",
	"killall", "pkill", "pgrep", "ps", "free", "uptime", "arch", "nproc", "locale", "tty", "groups", "type", "hash",
	"command", "exit", "return", "break", "continue", "shift", "umask", "ulimit", "jobs", "fg", "bg", "wait", "sync",
	"tsort", "expr", "factor", "numfmt", "fmt", "fold", "paste", "join", "expand", "unexpand", "column", "rev", "tac",
	"strings", "hexdump", "cksum", "sum", "sha1sum", "sha512sum", "b2sum", "gzip", "gunzip", "zcat", "bzip2", "xz",
	"zstd", "cal", "bc", ":", "mkfs", "mount", "umount", "reboot", "shutdown", "pathchk", "link", "look", "getconf",
}

// copying are programs that write what they are told to, and start no other.
var copying = []string{"tee", "cp", "mv", "ln", "dd", "curl"}

// known reports whether it is known what a program does with its words.
func known(name string) bool {
	_, ok := lookup(name)
	return ok || slices.Contains(looking, name) || slices.Contains(quiet, name) || slices.Contains(speaking, name)
}

// starts finds what a command may start. exact says that what it starts has been found.
func (g *gate) starts(s *simple, exact bool) {
	name := programName(s.args[0].text)
	hard := startsOthers(name)
	entry, _ := lookup(name)
	switch {
	case exact, s.unsure != "" && !hard, slices.Contains(copying, name), entry.reads:
		return
	case s.risk == "" && !hard && (known(name) || g.guess):
		return
	case len(s.args) > maxParts, g.depth >= maxNested:
		s.any = true // too many to look at
		return
	}
	told := s.risk != "" || s.unsure != "" || hard
	first := true
	for i := 1; i < len(s.args); i++ {
		for _, text := range heads(s.args[i].text) {
			if strings.ContainsAny(text, " \t\n;|&<>()$`\"'\\") {
				g.mayRun(s, text, told, hard)
				continue
			}
			tail := append([]word{{text: text}}, s.args[i+1:]...)
			s.may = append(s.may, tail)
			if hard && first {
				s.inner = append(s.inner, tail)
			}
		}
		if w := s.args[i]; known(programName(w.text)) {
			first = false // what stands behind may be its own words
		} else if hard && w.glob {
			s.any = true
		}
	}
	if told && name != "awk" && same[name] != "awk" { // which reads data
		for _, text := range s.feed.said {
			g.mayRun(s, text, told, false)
		}
	}
}

// heads are the texts in a word at which a command may begin: the word, a value behind an option's name or letter, and
// what follows the signs that some programs put in front of a command.
func heads(text string) []string {
	list := []string{text}
	if _, value, ok := strings.Cut(text, "="); ok {
		list = append(list, value)
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		list = append(list, text[2:])
	}
	for _, t := range list {
		if rest := strings.TrimLeft(t, "!:@+|"); rest != t {
			list = append(list, rest)
		}
	}
	return slices.DeleteFunc(list, func(t string) bool { return t == "" })
}

// mayRun looks at a text that may be a command line. code says that it may be a program in another language, too, in
// which every word could be the beginning of a command.
func (g *gate) mayRun(s *simple, text string, code, hard bool) {
	if *g.guesses--; *g.guesses < 0 || len(s.may) > 16*maxParts {
		s.any = true
		return
	}
	below := (&gate{
		source: text, depth: g.depth + 1, guess: !hard, loops: map[string]bool{},
		guesses: g.guesses,
	}).parse()
	for _, c := range below.commands {
		list := append(append(append([][]word{c.args}, c.outer...), c.inner...), c.may...)
		if !hard {
			list = slices.DeleteFunc(list, func(args []word) bool { return len(args) == 0 || args[0].glob })
		}
		if hard {
			s.inner = append(s.inner, list...)
			s.any = s.any || c.unsure != ""
		}
		s.may = append(s.may, list...)
		s.any = s.any || c.any
	}
	if !code {
		return
	}
	tokens := strings.FieldsFunc(text,
		func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()[]{},=$`\"'\\!", r) })
	if len(tokens) > maxParts {
		s.any = true
		return
	}
	var words []word
	for _, t := range tokens {
		words = append(words, word{text: t})
	}
	for i := range words {
		s.may = append(s.may, words[i:])
	}
}

// feeds is what the last command of a pipeline writes.
func (g *gate) feeds(s *syntax.Stmt) feed {
	for _, r := range s.Redirs {
		if r.N == nil || r.N.Value != "2" {
			return feed{}
		}
	}
	if pipe, ok := s.Cmd.(*syntax.BinaryCmd); ok && pipe.Op == syntax.Pipe {
		if !passes(g.plainCall(pipe.Y)) || len(pipe.Y.Redirs) > 0 {
			return feed{}
		}
		return feed{names: g.feeds(pipe.X).names}
	}
	args := g.plainCall(s)
	if len(args) == 0 {
		return feed{}
	}
	switch name, rest := args[0], args[1:]; {
	case name == "echo" || name == "printf":
		f := feed{said: rest}
		text := strings.Join(rest, " ")
		if name == "echo" && !strings.ContainsAny(text, "\\'\"\n\t") && !strings.HasPrefix(text, "-") {
			f.words = strings.Fields(text)
		}
		return f
	case name == "find":
		return feed{names: !slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "-printf") || a == "-ls" || slices.Contains(programs["find"].exact, a)
		})}
	case name == "rg" || name == "grep":
		lists := slices.ContainsFunc(rest, func(a string) bool {
			return a == "--files" || a == "--files-with-matches" || strings.HasPrefix(a, "-") &&
				!strings.HasPrefix(a, "--") && strings.Contains(a, "l")
		})
		return feed{names: lists && only(rest, listOptions)}
	case name == "git" && len(rest) > 0 && rest[0] == "ls-files":
		return feed{names: only(rest[1:], []string{
			"--others", "--modified", "--cached", "--exclude-standard", "-o",
			"-m", "-c", "--",
		})}
	case name == "git" && len(rest) > 1 && rest[0] == "diff":
		return feed{names: slices.Contains(rest, "--name-only") &&
			only(rest[1:], []string{"--name-only", "--cached", "--staged", "--diff-filter=ACM", "--"})}
	}
	return feed{}
}

// listOptions of grep and rg leave names as they are.
var listOptions = []string{
	"--files", "--files-with-matches", "-l", "-r", "-R", "-i", "-w", "-F", "-E", "-e", "-g",
	"-t", "-rl", "-lr", "-Rl", "-il", "-li", "-ril", "-rli", "-lri", "-lir", "--",
}

// passes reports whether a command writes some of the lines that it reads, and no others.
func passes(args []string) bool {
	if len(args) == 0 {
		return false
	}
	options := map[string]string{"sort": "unr", "uniq": "u", "head": "n", "tail": "n", "grep": "viEFw"}
	letters, ok := options[args[0]]
	patterns := 0
	for _, a := range args[1:] {
		bundle, option := strings.CutPrefix(a, "-")
		switch {
		case option && strings.Trim(bundle, letters+"0123456789") == "", letters == "n" &&
			strings.Trim(a, "0123456789") == "":
		case args[0] == "grep" && !option:
			patterns++ // more than one is a file
		default:
			return false
		}
	}
	return ok && patterns < 2
}

// only reports whether all options among some words are of a list.
func only(args, list []string) bool {
	return !slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-") && !slices.Contains(list, a) && !strings.HasPrefix(a, "--include=") &&
			!strings.HasPrefix(a, "--exclude")
	})
}

// plainCall are the words of a simple command that are the same each time, or nil.
func (g *gate) plainCall(s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil
	}
	var args []string
	for _, w := range call.Args {
		got, why := g.word(w)
		if why != "" || !got.fixed() && (!got.glob || got.said != "") {
			return nil
		}
		args = append(args, got.text)
	}
	return args
}

// found takes the commands that a program which looks for files starts for each of them from its words, and returns
// those that are left. What it runs with a name below a folder that it was given is a command of its own.
func (g *gate) found(s *simple) []word {
	args := s.args
	switch programName(args[0].text) {
	case "find", "gfind":
		own := []word{args[0]}
		for i := 1; i < len(args); i++ {
			if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, args[i].text) {
				own = append(own, args[i])
				continue
			}
			end := slices.IndexFunc(args[i+1:], func(a word) bool { return a.text == ";" || a.text == "+" })
			if end <= 0 || args[i].text != "-exec" {
				if end < 0 {
					end = len(args) - i - 1
				}
				g.inner(s, args[i+1:i+1+end])
				own = append(own, args[i])
				i += end
				continue
			}
			below := simple{text: s.text, outer: append([][]word{args}, s.outer...)}
			for _, a := range args[i+1 : i+1+end] {
				if a.text == "{}" {
					a.text = "./{}"
				}
				a.glob = a.glob || strings.Contains(a.text, "{}")
				below.args = append(below.args, a)
			}
			if len(below.outer) > maxNested || strings.HasPrefix(below.args[0].text, "./{}") {
				below.unsure = "it runs what it finds"
			}
			g.add(below)
			i += end + 1
		}
		return own
	case "fd", "fdfind":
		for i, a := range args {
			if slices.Contains([]string{"-x", "-X", "--exec", "--exec-batch"}, a.text) {
				g.inner(s, args[i+1:])
				break
			}
		}
	}
	return args
}

// inner adds what a command starts to it.
func (g *gate) inner(s *simple, command []word) {
	below := &gate{source: g.source, depth: g.depth + 1, loops: g.loops, guesses: g.guesses}
	if len(command) == 0 || below.depth > maxNested {
		return
	}
	below.add(simple{args: slices.Clone(command), text: g.source})
	for _, c := range below.script.commands {
		s.inner = append(append(append(s.inner, c.args), c.outer...), c.inner...)
		s.may = append(s.may, c.may...)
		s.any = s.any || c.any || c.unsure != ""
	}
}
