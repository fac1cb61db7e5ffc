package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/model"
)

// Name is what the model calls itself.
const Name = "offline/rules"

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

// turn is what the model says next: calls, or the last text.
type turn struct {
	text  string
	calls []call
}

// call is a tool call with one of the argument types below.
type call struct {
	name      string
	arguments any
}

type readArguments struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

type diagnosticsArguments struct {
	Path string `json:"path"`
}

type globArguments struct {
	Pattern string `json:"pattern"`
}

type grepArguments struct {
	Pattern string `json:"pattern"`
	Include string `json:"include,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

type findingArguments struct {
	Path     string    `json:"path"`
	Line     int       `json:"line"`
	EndLine  int       `json:"end_line,omitempty"`
	Severity string    `json:"severity"`
	Rule     string    `json:"rule,omitempty"`
	Message  string    `json:"message"`
	Source   string    `json:"source"`
	Fix      *lint.Fix `json:"fix,omitempty"`
}

type editArguments struct {
	Path string `json:"path"`
	lint.Fix
}

// message turns it into the form of the interface. The ids depend on the place in the conversation only.
func (t turn) message(place int) (model.Message, error) {
	message := model.Message{Role: model.RoleAssistant}
	if t.text != "" {
		message.Parts = append(message.Parts, model.Text{Text: t.text})
	}
	for i, c := range t.calls {
		arguments, err := json.Marshal(c.arguments)
		if err != nil {
			return model.Message{}, fmt.Errorf("%s: encode the arguments of %s: %w", Name, c.name, err)
		}
		message.Parts = append(message.Parts, model.Call{
			ID: fmt.Sprintf("offline_%d_%d", place, i+1), Name: c.name, Arguments: arguments,
		})
	}
	return message, nil
}
