package run

import (
	"github.com/agentls/agentls/agentcore/instruction"
)

// instructed is what a run was given of the instructions of its tree. The run's goroutine owns it.
type instructed struct {
	// first are those of the prompt, which does not change.
	first instruction.Set
	// files are the files at hand: those of the prompt, and those of calls that brought further instructions.
	files []string
	known map[string]bool // files of instructions that the run needs no more of
	given bool            // whether it was given any
	room  int             // bytes that further ones may hold
	off   bool            // whether it is given none
}

// begin forgets what calls brought beside the prompt.
func (i *instructed) begin() {
	i.given = len(i.first.Texts) > 0
	i.known, i.room = map[string]bool{}, i.first.Max-i.first.Size()
	for _, path := range i.first.Paths() {
		i.known[path] = true
	}
}

// beyond returns what holds for a file beside what the run was given, which counts as given from then on, and whether
// it is the first that the run is given.
func (i *instructed) beyond(book *instruction.Book, path string) (more instruction.Set, first bool) {
	if i.off {
		return more, false
	}
	more = book.Beyond(i.known, path).Bound(max(i.room, 0))
	for _, path := range more.Paths() {
		i.known[path] = true
	}
	if len(more.Texts) > 0 {
		first, i.given = !i.given, true
		i.room -= more.Size()
		i.files = append(i.files, path)
	}
	return more, first
}
