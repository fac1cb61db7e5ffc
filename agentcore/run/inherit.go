package run

import (
	"context"

	"github.com/agentls/agentls/agentcore/event"
)

const (
	// shortContext is up to which size, in bytes, a conversation is handed to a child as it is where it asks for a
	// summary.
	shortContext = 4 << 10
	// summarised bounds what the agent that sums up is given, in bytes.
	summarised = 128 << 10
	// selectedMessages are the last ones that a child with the context "selective" gets, beside the files that are
	// named.
	selectedMessages = 6
	// selectedContext bounds their texts, in bytes.
	selectedContext = 16 << 10
)

// inherit makes what a child gets by the mode of its definition: "full" the conversation so far, "summary" what the
// agent summary makes of it, "selective" its last messages, "none" nothing. Calls of one turn may be made beside each
// other, so that it does not change the conversation.
func (h hostDelegation) inherit(ctx context.Context, mode string, place *line) (inheritance, error) {
	r := h.run
	switch mode {
	case "full":
		return inheritance{messages: withoutReasoning(r.soFar(r.resultsSoFar()))}, nil
	case "summary":
		messages := r.soFar(r.resultsSoFar())
		text := transcript(messages, summarised)
		if len(text) > shortContext {
			place.leave()
			summary, err := h.summaryOf(text)
			if ctx.Err() != nil {
				return inheritance{}, ctx.Err()
			}
			if err != nil {
				r.notice(event.NoticeWarning, "the conversation could not be summed up for a child: "+err.Error(),
					"it gets the end of it instead; look at the agent summary and its model")
				summary = transcript(messages, shortContext)
			}
			text = summary
		}
		return inheritance{text: text}, nil
	case "selective":
		messages := r.soFar(r.resultsSoFar())
		return inheritance{text: transcript(messages[max(0, len(messages)-selectedMessages):], selectedContext)}, nil
	}
	return inheritance{}, nil
}

// summaryOf has a transcript of the run's conversation summed up. The children that are started in one turn share it.
func (h hostDelegation) summaryOf(text string) (string, error) {
	r := h.run
	last := &r.summed
	last.mu.Lock()
	defer last.mu.Unlock()
	if last.text != text {
		summary, err := r.consult("summary", "sums up the conversation for a child", text)
		if err != nil {
			return "", err
		}
		last.text, last.summary = text, summary
	}
	return last.summary, nil
}
