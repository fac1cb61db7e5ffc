package run

import (
	"github.com/agentls/agentls/agentcore/instruction"
)

// instructed is what a run was given of the instructions of its tree. Only the run's goroutine uses it.
type instructed struct {
	// first are the instructions in the prompt. They do not change.
	first instruction.Set
	// files are the files at hand: those of the prompt, and those of calls that brought more instructions.
	files []string
	known map[string]bool // files of instructions that the run has already, or does not need
	given bool            // whether the run was given any instructions
	room  int             // how many bytes further instructions may hold
	off   bool            // whether the run gets no instructions at all
}

// begin forgets the instructions that calls brought; those of the prompt stay.
func (i *instructed) begin() {
	i.given = len(i.first.Texts) > 0
	i.known, i.room = map[string]bool{}, i.first.Max-i.first.Size()
	for _, path := range i.first.Paths() {
		i.known[path] = true
	}
}

// beyond returns the instructions for a file that the run was not given yet, and counts them as given. first reports
// whether they are the first that the run is given.
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
