package permission

import (
	"slices"
	"strings"
)

// doubtful are builtins of the shell that change how the rest of the command is read, or that run text.
var doubtful = []string{
	"eval", "source", ".", "exec", "alias", "unalias", "bind", "builtin", "caller", "complete", "compgen", "compopt",
	"declare", "typeset", "local", "export", "readonly",
	"enable", "fc", "getopts", "hash", "history", "let", "logout", "mapfile", "readarray", "popd", "pushd", "read",
	"set", "shopt", "suspend", "trap", "unset", "coproc", "function", "select", "newgrp", "login", "noglob",
	"nocorrect", "-",
}

// builtinDoubt returns why a builtin may change what the rest of the command does, or "".
func builtinDoubt(args []word) string {
	name := args[0].text
	switch {
	case name == "":
		return "its program has no name"
	case name == "hash" && len(args) > 1 && !slices.ContainsFunc(args[1:], func(a word) bool {
		return a.glob || strings.HasPrefix(a.text, "-") && a.text != "-t"
	}): // the builtin only looks
	case slices.Contains(doubtful, name):
		return name + " changes what the shell does, or runs text"
	case name == "printf" && len(args) > 1 && (strings.HasPrefix(args[1].text, "-v") || args[1].glob),
		(name == "test" || name == "[") &&
			slices.ContainsFunc(args[1:], func(a word) bool { return a.text == "-v" || a.text == "-R" || a.glob }),
		name == "wait" && slices.ContainsFunc(args[1:], func(a word) bool { return strings.HasPrefix(a.text, "-") }):
		return name + " works on a variable, which can run commands"
	case name == "cd" && len(args) == 1, name == "cd" && args[1].text == "-", name == "cd" && args[1].glob:
		return "it goes to a folder that it does not name"
	}
	return ""
}
