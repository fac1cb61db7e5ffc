package run

import (
	"context"

	"github.com/agentls/agentls/agentcore/event"
)

const (
	// shortContext is the size, in bytes, up to which a conversation is handed over whole to a child that asks for a
	// summary.
	shortContext = 4 << 10
	// summarised bounds the text that is given to the agent that sums up, in bytes.
	summarised = 128 << 10
	// selectedMessages is how many of the last messages a child with the context "selective" gets, beside the files
	// that are named.
	selectedMessages = 6
	// selectedContext bounds the texts of these messages, in bytes.
	selectedContext = 16 << 10
)

// inherit makes what a child gets of the conversation, by the mode of its definition: "full" gives the conversation so
// far, "summary" what the agent "summary" makes of it, "selective" its last messages, "none" nothing. inherit does not
// change the conversation, since calls of one turn may run at the same time.
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

// summaryOf has a transcript of the run's conversation summed up. Children that are started in one turn share one
// summary.
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
