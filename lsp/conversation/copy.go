package conversation

import (
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Copy knows how much of an answer its document contains. The zero value stands for nothing. It belongs to one
// goroutine.
type Copy struct {
	// written is how much of the answer the document is known to contain, in bytes.
	written int
	// sent is how much of the answer the document contains after the edit that is on its way; 0 for no such edit.
	sent int
	// before is what stood below the heading when that edit was made.
	before string
	// lost says that the document was closed, so that its text may be another one now.
	lost bool
}

// compared is the length, in bytes, of the end of the sent answer by which settle recognizes that an edit was applied.
const compared = 200

// Next is the edit that adds the rest of an answer to a document, below the nth heading of its run, from 0. ok is false
// if there is nothing to add; gone says that the reason is that the user removed the heading.
//
// Next finds out whether the document contains the edit before, whatever the user has typed since: an editor may
// silently skip an edit of older text.
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

// settle finds out how much of the answer the document contains.
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

// Lost says that the document was closed, and is open again.
func (c *Copy) Lost() { c.lost = true }
