package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
)

// program stands in the place of the model of a run whose agent is somebody else's program: only that program knows
// which model it asks.
type program struct{ slug string }

// Name implements model.Model.
func (p program) Name() string { return "acp/" + p.slug }

// Stream implements model.Model. Nobody asks a program for single answers.
func (p program) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		yield(nil, errors.New(p.slug+" is another program, which is not asked for single answers"))
	}
}

// fitsProgram refuses what a run of somebody else's program cannot do.
func fitsProgram(d *agent.Definition, request *Request, parent *Run) error {
	refuse := func(hint, format string, values ...any) error {
		return &fault.Error{Kind: fault.InvalidRequest, Detail: fmt.Sprintf(format, values...), Hint: hint}
	}
	switch {
	case !d.IsProgram():
		return nil
	case !d.Source.Layer.Own():
		return refuse("write the definition into the agents folder of your configuration",
			"%s is another program, which only a definition of your own may start", d.Slug)
	case len(request.OutputSchema) > 0:
		return refuse("leave the schema out, or choose an agent of agentls",
			"%s is another program, which answers by no output schema", d.Slug)
	case parent != nil && !mayDo(parent):
		return refuse("start it yourself, or have it started where no rule and no hook keeps commands and edits",
			"%s is another program, whose calls no rule and no hook sees: it may do more than the agent that starts it",
			d.Slug)
	}
	return nil
}

// mayDo reports whether a run may do what another program does in its sandbox: run any command and propose any edit,
// without anybody who looks at its calls. A child never has more power than its parent.
func mayDo(r *Run) bool {
	grants := r.gate.rights.Grants()
	for _, name := range []string{"bash", "edit"} {
		if !r.tools.Offers(name) || slices.Contains(r.gate.limited, name) ||
			!r.gate.rights.Policy.ReadsFreely(name, grants) {
			return false
		}
	}
	return !r.plan.readsOnly() && !r.hooks.guards()
}
