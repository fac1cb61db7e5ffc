package conversation

import (
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Copy is how much of an answer its document has. The zero value has nothing. It belongs to one goroutine.
type Copy struct {
	// written is how much of the answer is known to be there, in bytes.
	written int
	// sent is how much of it would be there with the edit that is on its way; 0 for none.
	sent int
	// before is what stood below the heading when that edit was made.
	before string
	// lost says that the document was closed, and may have another text now.
	lost bool
}

// compared is how much of the end of an answer tells that an edit was made, in bytes.
const compared = 200

// Next is the edit that brings the rest of an answer into a document, below the nth heading of its run, from 0. ok is
// false where nothing is left to do; gone says that this is so because the user took the heading out.
//
// It finds out whether the document has the edit before, whatever the user typed meanwhile: an editor may leave out an
// edit of older text without a word.
func (c *Copy) Next(text string, run event.RunID, nth int, answer string) (edit Edit, ok, gone bool) {
	t := Parse(text)
	turns := t.Answers(run)
	if nth >= len(turns) {
		return Edit{}, false, true
	}
	turn := turns[nth]
	there := strings.ReplaceAll(strings.TrimLeft(t.text[turn.Body.Start:t.Written(turn)], "\r\n"), "\r\n", "\n")
	c.settle(there, answer)
	if c.written == len(answer) {
		return Edit{}, false, false
	}
	c.sent, c.before = len(answer), there
	return t.Grown(turn, answer[c.written:]), true, false
}

// settle finds out how much of the answer is there.
func (c *Copy) settle(there, answer string) {
	if c.lost {
		c.lost, c.sent = false, 0
		if strings.HasPrefix(answer, there) {
			c.written = len(there)
		}
	}
	if c.sent == 0 {
		return
	}
	end := answer[max(0, c.sent-compared):c.sent]
	grown := len(there) - len(c.before)
	if there != c.before && (strings.HasSuffix(there, end) || grown >= c.sent-c.written) {
		c.written = c.sent
	}
	c.sent = 0
}

// Lost says that the document was closed.
func (c *Copy) Lost() { c.lost = true }
