package agentcore

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
)

// Steer tells a run something, which it reads at its next turn. The error is of the kind not_found where this process has no such
// run, and invalid_request where it has spoken its last word.
func (e *Engine) Steer(id event.RunID, text string) error {
	r, err := e.run(id)
	if err != nil {
		return err
	}
	return r.steer("the user", text)
}

func (r *run) steer(from, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return &Error{Kind: "invalid_request", Detail: "the message is empty", Hint: "say what the agent should know"}
	}
	if !r.inbox.put(message{text: fmt.Sprintf("<message from=%q>\n%s\n</message>", from, text)}) {
		return &Error{
			Kind: "invalid_request", Detail: fmt.Sprintf("%s (%s) has ended, or speaks its last word", r.definition.Slug, r.id),
			Hint: "go on with it by agent/resume",
		}
	}
	return nil
}

// readInbox puts what the run was told into the conversation.
func (r *run) readInbox() {
	if texts := r.inbox.take(); len(texts) > 0 {
		r.append(model.UserText(strings.Join(texts, "\n\n")))
	}
}

// mayEnd reports whether a run that has nothing more to do may end. Where it may not, there is something to read by the time it returns:
// children in the background are waited for. The error is that of the run's context.
func (r *run) mayEnd() (bool, error) {
	closed, owed := r.inbox.close()
	if closed || owed == 0 {
		return closed, nil
	}
	resume := r.waits(fmt.Sprintf("waits for %s in the background", counted(owed, "child", "children")))
	defer resume()
	for {
		select {
		case <-r.inbox.news: // it may be of what was read since
			if closed, owed = r.inbox.close(); closed || owed == 0 {
				return closed, nil
			}
		case <-r.ctx.Done():
			return false, r.ctx.Err()
		}
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
