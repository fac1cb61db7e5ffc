package permission

import (
	"path"
	"slices"
	"strings"
)

// shells run a command line behind -c. Those that are true read it as bash does.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "ash": true, "rbash": true, "zsh": false, "ksh": false, "mksh": false,
	"pdksh": false, "lksh": false, "oksh": false, "rksh": false, "rzsh": false,
	"yash": false, "posh": false, "sash": false, "fish": false, "csh": false, "tcsh": false, "rc": false, "es": false,
	"elvish": false, "nu": false, "xonsh": false, "osh": false, "ysh": false, "slsh": false,
}

// programName is the name of a program by any path, without what a system adds to it.
func programName(text string) string {
	return strings.TrimSuffix(path.Base(text), ".exe")
}

// unwrapShell finds the command line that a shell is told to run. Other options than -c and -e may change how it is
// read: then the shell needs a rule, too.
func unwrapShell(name string, bash bool, rest []word) wrapped {
	reads := wrapped{unsure: name + " runs what it reads"}
	var scripts []string
	command, stdin, plain := false, false, bash
	i := 0
	for ; i < len(rest); i++ {
		a := rest[i]
		text, dash := strings.CutPrefix(a.text, "-")
		if !dash {
			text, dash = strings.CutPrefix(a.text, "+")
		}
		if a.glob {
			return reads
		}
		if !dash || a.text == "-" || a.text == "--" {
			if a.text == "-" || a.text == "--" {
				i++
			}
			break
		}
		if long, ok := strings.CutPrefix(text, "-"); ok {
			plain = false
			option, value, has := strings.Cut(long, "=")
			switch {
			case has && slices.Contains([]string{"command", "init-command", "commands"}, option):
				scripts = append(scripts, value)
			case option == "command" || option == "commands":
				command = true
			case option == "rcfile", option == "init-file", option == "init-command", option == "emulate",
				option == "config", option == "env-config":
				i++
			}
			continue
		}
		plain = plain && slices.Contains([]string{"c", "ec", "ce"}, text)
		for _, c := range text {
			switch c {
			case 'c':
				command = true
			case 's':
				stdin = true
			case 'o', 'O':
				i++ // the name of a setting
			}
		}
		if name == "fish" && strings.ContainsAny(text, "cC") && !strings.HasSuffix(text, "c") { // glued, or run first
			scripts = append(scripts, text[strings.IndexAny(text, "cC")+1:])
		}
	}
	rest = rest[min(i, len(rest)):]
	if command && len(rest) > 0 {
		if rest[0].glob {
			return reads
		}
		scripts, rest = append(scripts, rest[0].text), rest[1:]
		plain = plain && len(rest) == 0
		if plain && len(scripts) == 1 {
			return wrapped{scripts: scripts, exact: true}
		}
	}
	switch {
	case len(scripts) > 0:
		return wrapped{
			scripts: scripts, risk: name + " gets options or words that may change what it runs",
			exact: len(rest) == 0,
		}
	case len(rest) == 0 || stdin || command:
		return reads
	}
	return wrapped{risk: name + " runs a script"}
}
