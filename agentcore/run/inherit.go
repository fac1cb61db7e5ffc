package run

import (
	"context"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
)

const (
	// contextNone is the mode of a child that gets nothing, which is that of a definition without one.
	contextNone = "none"
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

// inheritance is what a child gets of the conversation of the run that starts it.
type inheritance struct {
	// messages are in front of its own, and end without calls that have no results.
	messages []model.Message
	// text is part of its task.
	text string
}

// inherit makes what a child gets by the mode of its definition: "full" the conversation so far, "summary" what the
// agent summary makes of it, "selective" its last messages, "none" nothing. Calls of one turn may be made beside each
// other, so that it does not change the conversation.
func (r *Run) inherit(ctx context.Context, mode string, place *line) (inheritance, error) {
	switch mode {
	case "full":
		return inheritance{messages: withoutReasoning(r.soFar(r.resultsSoFar()))}, nil
	case "summary":
		messages := r.soFar(r.resultsSoFar())
		text := transcript(messages, summarised)
		if len(text) > shortContext {
			place.leave()
			summary, err := r.summaryOf(text)
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

// resultsSoFar are the results of the calls of the turn that have ended, up to the last change.
func (r *shared) resultsSoFar() []model.Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carriedOut
}

// soFar is the run's conversation for a child that is started by a call of its last message: of that, what is said, and
// the calls in front of it that have results.
func (c *conversation) soFar(results []model.Part) []model.Message {
	n := len(c.messages) - 1
	if n < 0 || len(c.messages[n].Calls()) == 0 {
		return c.messages
	}
	last := model.Message{Role: c.messages[n].Role}
	calls := 0
	for _, part := range c.messages[n].Parts {
		if _, isCall := part.(model.Call); isCall {
			if calls++; calls > len(results) {
				continue
			}
		}
		last.Parts = append(last.Parts, part)
	}
	list := slices.Clone(c.messages[:n])
	if len(last.Parts) > 0 {
		list = append(list, last)
	}
	if len(results) > 0 {
		list = append(list, withoutSecrets(model.Message{Role: model.RoleTool, Parts: results}, c.out.redactor))
	}
	return list
}

// withoutReasoning is a conversation as another model can take it, which would refuse what is sealed.
func withoutReasoning(messages []model.Message) []model.Message {
	var list []model.Message
	for _, m := range messages {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts),
			func(part model.Part) bool { _, sealed := part.(model.Reasoning); return sealed })
		if len(m.Parts) > 0 {
			list = append(list, m)
		}
	}
	return list
}

// summed is the last summary of its conversation that a run gave to a child, and the text that it was made from.
type summed struct {
	mu            sync.Mutex
	text, summary string
}

// summaryOf has a transcript of the run's conversation summed up. The children that are started in one turn share it.
func (r *Run) summaryOf(text string) (string, error) {
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
