package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// mayStart decides whether the program may be started, and asks the user the first time. What was allowed counts for
// this program with this part of the home folder and these hosts alone.
func (f *foreign) mayStart() error {
	if !f.gate.trusted() {
		return &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("%s is not started: %s", f.definition.Slug, toolset.UntrustedCommands),
			Hint:   "trust the folder with `agentls trust`, or in the editor",
		}
	}
	p := f.definition.Program
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("name the program of %s: %w", f.definition.Slug, err)
	}
	sum := sha256.Sum256(raw)
	request := permission.Request{
		Tool: agent.ProgramRule, Effect: permission.External,
		Call: f.definition.Slug + "@" + hex.EncodeToString(sum[:6]),
	}
	if err := f.gate.decisions.Read(f.ctx); err != nil {
		return err
	}
	decision := f.gate.rights.Policy.Decide(request, f.gate.rights.Grants())
	why := decision.Reason
	switch decision.Action {
	case permission.Allow:
		return nil
	case permission.Ask:
		c := &call{
			id: event.NewCallID(), asked: model.Call{Name: agent.ProgramRule}, arguments: raw,
			spec:  tool.Spec{Name: agent.ProgramRule, Effect: tool.Acts},
			title: "start " + strings.Join(p.Command, " "),
		}
		answer, err := f.gate.askUser(c, decision, programDetail(f))
		if err != nil {
			return err
		}
		if answer.Allow {
			return nil
		}
		if why = answer.Reason; why == "" {
			why = "the user said no"
		}
	}
	return &fault.Error{
		Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s is not started: %s", f.definition.Slug, why),
		Hint: fmt.Sprintf("allow it where agentls asks, or with the rule %s(%s@*)", agent.ProgramRule,
			f.definition.Slug),
	}
}

// programDetail says what a program would see and reach.
func programDetail(f *foreign) string {
	p := f.definition.Program
	var b strings.Builder
	for _, row := range []struct {
		what string
		list []string
	}{
		{"runs", []string{strings.Join(p.Command, " ")}},
		{"sees the workspace on a copy-on-write view; what it writes becomes edits for you to review", nil},
		{"changes in your home folder", p.Writes},
		{"reads in your home folder", p.Reads},
		{"gets the variables", p.Names()},
		{"reaches the hosts", p.Network},
	} {
		switch {
		case len(row.list) > 0:
			fmt.Fprintf(&b, "%s: %s\n", row.what, strings.Join(row.list, ", "))
		case row.list == nil && strings.HasPrefix(row.what, "sees"):
			fmt.Fprintln(&b, row.what)
		}
	}
	return permission.Visible(strings.TrimSpace(b.String()))
}

// permission answers what the agent asks. It is called from other goroutines.
func (f *foreign) permission(ctx context.Context, r acp.PermissionRequest) (option string, err error) {
	if option, decided := f.decided(r.Options); decided {
		return option, nil
	}
	err = f.guarded("a question of "+f.definition.Slug, func() (err error) {
		option, err = f.askPermission(ctx, r)
		return err
	})
	return option, err
}

// askPermission asks the user, by the names of the options, until ctx ends: the agent may take its question back.
func (f *foreign) askPermission(ctx context.Context, r acp.PermissionRequest) (option string, err error) {
	begun := make(chan *call, 1)
	if !f.do(func() { begun <- f.asked(r.Call) }) {
		return "", f.ctx.Err()
	}
	c := <-begun
	question := tool.Question{Text: "May it " + c.title + "?", Header: c.spec.Name, Closed: true}
	labels := map[string]string{}
	for _, o := range r.Options {
		label := strings.TrimSpace(permission.LegibleLine(o.Name))
		if _, twice := labels[label]; twice || label == "" {
			label = strings.TrimSpace(label + " (" + o.ID + ")")
		}
		labels[label] = o.ID
		question.Options = append(question.Options, tool.Option{Label: label})
	}
	asking := f.questions
	asking.ctx = ctx
	replies, err := asking.askQuestions(c, "", question)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", err
	}
	for _, chosen := range replies[0].Answers {
		if id, ok := labels[chosen]; ok {
			return id, nil
		}
	}
	if declined := ofKind(r.Options, acp.RejectOnce); declined != "" {
		return declined, nil
	}
	return "", nil
}

// decided is the answer to a question that the run's mode gives: nothing is allowed while it plans, and all of it where
// the user wants no questions. What an agent does in its sandbox changes nothing outside.
func (f *foreign) decided(options []acp.PermissionOption) (option string, decided bool) {
	switch {
	case len(options) == 0:
		return "", true // there is nothing to choose
	case f.plan.readsOnly() || f.mode == permission.Plan:
		option = ofKind(options, acp.RejectOnce)
		return option, true
	case f.mode == permission.Bypass:
		option = ofKind(options, acp.AllowOnce)
		return option, option != ""
	}
	return "", false
}

// ofKind is the only option of a kind, "" where there is none or more than one.
func ofKind(options []acp.PermissionOption, kind string) string {
	of := slices.DeleteFunc(slices.Clone(options), func(o acp.PermissionOption) bool { return o.Kind != kind })
	if len(of) != 1 {
		return ""
	}
	return of[0].ID
}

// asked is the call that a question is about, for which there may have been no update.
func (f *foreign) asked(told acp.ToolCall) *call {
	if told.Status == "" {
		told.Status = "pending"
	}
	f.speech.call(told)
	known := f.speech.calls[told.ID]
	if known == nil { // there are too many to list
		return &call{id: event.NewCallID(), spec: tool.Spec{Name: "other"}, title: clip.FirstLine(told.Title)}
	}
	return &call{
		id: known.row.ID, arguments: known.row.Arguments, title: known.row.Title,
		spec: tool.Spec{Name: known.row.Tool, Effect: tool.Acts},
	}
}
