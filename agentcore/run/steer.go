package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
)

// ErrLastWord says that a run has ended, or says its last word and reads nothing more.
var ErrLastWord = errors.New("the run reads nothing more")

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
	if !r.tasks.inbox.put(said(from, text)) {
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
