package permission

import (
	"path"
	"strings"
)

// simple is one simple command.
type simple struct {
	args   []word
	text   string // as it was written
	unsure string // why it cannot be told what runs, or ""
	risk   string // why more than the program itself may run or be written, or ""
	outer  [][]word
	inner  [][]word // commands that it starts with words of its own between: rules that deny reach them
	may    [][]word // commands that it may start: where a rule denies one of them, it asks
	any    bool     // it may start commands that its words do not tell
	feed   feed     // what it reads
}

// redirect is a file that the shell itself opens.
type redirect struct {
	path  string
	write bool
}

// script is a command line taken apart.
type script struct {
	commands  []simple
	redirects []redirect
	moved     bool // the working directory changes on the way
}

// programName is the name of a program by any path, without what a system adds to it.
func programName(text string) string {
	return strings.TrimSuffix(path.Base(text), ".exe")
}

// word is one word of a simple command as the shell will pass it.
type word struct {
	text string
	glob bool   // it may become several words, or others
	home bool   // it begins with the user's home folder, which text has as ~
	said string // why its text is known only when the command runs, or ""; such a word is glob, too
}

// fixed reports whether a word is the same each time, and as it is written.
func (w word) fixed() bool { return !w.glob && !w.home && !strings.Contains(w.text, number) }

// feed is what a command reads.
type feed struct {
	said  []string // texts that are known
	words []string // the words in them, where they are plain
	names bool     // names of files below folders that the command before names
}

// number stands in a word's text for a number that the shell fills in. No command holds it, since it is hidden.
const number = "\x01"
