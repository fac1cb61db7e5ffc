package permission

import (
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

// unwrapShell finds the command line that a shell is told to run. Other options than -c and -e may change how it is
// read: then the shell needs a rule, too.
func unwrapShell(name string, bash bool, rest []word) wrapped {
	reads := wrapped{unsure: name + " runs what it reads"}
	o, rest, known := readShellOptions(name, bash, rest)
	if !known {
		return reads
	}
	if o.command && len(rest) > 0 {
		if rest[0].glob {
			return reads
		}
		o.scripts, rest = append(o.scripts, rest[0].text), rest[1:]
		o.plain = o.plain && len(rest) == 0
		if o.plain && len(o.scripts) == 1 {
			return wrapped{scripts: o.scripts, exact: true}
		}
	}
	switch {
	case len(o.scripts) > 0:
		return wrapped{
			scripts: o.scripts, risk: name + " gets options or words that may change what it runs",
			exact: len(rest) == 0,
		}
	case len(rest) == 0 || o.stdin || o.command:
		return reads
	}
	return wrapped{risk: name + " runs a script"}
}

// shellOptions are what the options of a shell say.
type shellOptions struct {
	scripts        []string // that options hold
	command, stdin bool     // the script is the next word, or on standard input
	plain          bool     // nothing changes how bash reads it
}

// readShellOptions reads the options of a shell, and returns the words behind them. known is false for a wildcard,
// which could be any option.
func readShellOptions(name string, bash bool, rest []word) (o shellOptions, behind []word, known bool) {
	o.plain = bash
	i := 0
	for ; i < len(rest); i++ {
		a := rest[i]
		text, dash := strings.CutPrefix(a.text, "-")
		if !dash {
			text, dash = strings.CutPrefix(a.text, "+")
		}
		if a.glob {
			return o, nil, false
		}
		if !dash || a.text == "-" || a.text == "--" {
			if a.text == "-" || a.text == "--" {
				i++
			}
			break
		}
		if long, ok := strings.CutPrefix(text, "-"); ok {
			o.plain = false
			option, value, has := strings.Cut(long, "=")
			switch {
			case has && slices.Contains([]string{"command", "init-command", "commands"}, option):
				o.scripts = append(o.scripts, value)
			case option == "command" || option == "commands":
				o.command = true
			case option == "rcfile", option == "init-file", option == "init-command", option == "emulate",
				option == "config", option == "env-config":
				i++
			}
			continue
		}
		o.plain = o.plain && slices.Contains([]string{"c", "ec", "ce"}, text)
		for _, c := range text {
			switch c {
			case 'c':
				o.command = true
			case 's':
				o.stdin = true
			case 'o', 'O':
				i++ // the name of a setting
			}
		}
		if name == "fish" && strings.ContainsAny(text, "cC") && !strings.HasSuffix(text, "c") { // glued, or run first
			o.scripts = append(o.scripts, text[strings.IndexAny(text, "cC")+1:])
		}
	}
	return o, rest[min(i, len(rest)):], true
}
