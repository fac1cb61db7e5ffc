package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
)

// ErrLastWord says that a run has ended, or says its last word and reads nothing more.
var ErrLastWord = errors.New("the run reads nothing more")

// FromUser is from whom something is that the user tells a run.
const FromUser = "the user"

// wrapped is what somebody has told a run while it worked, as the model reads it: from whom it is, and the text.
const wrapped = "<message from=%q>\n%s\n</message>"

// Unwrapped is the text of a stored message in the words of the user who has told it to a run while it worked. Any
// other text stays as it is.
func Unwrapped(text string) string {
	begin, end, _ := strings.Cut(fmt.Sprintf(wrapped, FromUser, "\x00"), "\x00")
	body, begun := strings.CutPrefix(text, begin)
	body, ended := strings.CutSuffix(body, end)
	if !begun || !ended {
		return text
	}
	return strings.ReplaceAll(body, end+"\n\n"+begin, "\n\n") // of several that were read at once
}

// Steer tells the run something, from whom is said, and returns once that is stored. The error is [ErrLastWord] where
// the run reads nothing more.
func (r *Run) Steer(from, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "the message is empty",
			Hint: "say what the agent should know",
		}
	}
	if r.passes.steer(from, text) {
		return nil
	}
	if !r.tasks.inbox.put(message{text: fmt.Sprintf(wrapped, from, text)}) {
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s (%s) has ended, or speaks its last word",
				r.definition.Slug, r.id),
			Hint: "go on with it by agent/resume", Cause: ErrLastWord,
		}
	}
	// A message that was acknowledged is read, also where the run or the process ends before it reads it.
	if err := r.tasks.inbox.note().Wait(r.process.Context); err != nil {
		return fault.Unstored(err)
	}
	return nil
}
