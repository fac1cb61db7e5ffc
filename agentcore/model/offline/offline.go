package offline

import (
	"context"
	"iter"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// New returns the model. It has no state, and any number of runs may use it at once.
func New() model.Model { return rules{} }

type rules struct{}

func (rules) Name() string { return Name }

// Stream answers from the request alone, without network or disk. The usage it reports is zero.
func (rules) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		message, err := answer(request).message(len(request.Messages))
		if err != nil {
			yield(nil, err)
			return
		}
		stop := model.StopEnd
		for _, part := range message.Parts {
			switch part := part.(type) {
			case model.Text:
				for line := range strings.SplitAfterSeq(part.Text, "\n") {
					if line != "" && !yield(model.TextDelta{Text: line}, nil) {
						return
					}
				}
			case model.Call:
				stop = model.StopCalls
				if !yield(model.CallDelta{Name: part.Name}, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		yield(model.Done{Message: message, Stop: stop}, nil)
	}
}

// answer computes the next turn.
func answer(request *model.Request) turn {
	t := understand(request)
	if next, ok := t.delegate(); ok {
		return next
	}
	if text := documentation(request.System); text != "" && len(t.files) == 0 && t.intent != review &&
		t.intent != repair {
		return t.guide(text)
	}
	switch t.intent {
	case review:
		return t.review()
	case explain:
		return t.explain()
	case explore:
		return t.explore()
	case repair:
		return t.repair()
	}
	return turn{text: help}
}
