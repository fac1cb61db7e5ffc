package agentcore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

// RoleHidden is the role of runs of the engine's own agents, which are stored but in no list.
const RoleHidden = "hidden"

// consult has one of the engine's hidden agents answer a prompt, and waits for the answer. That is a run of its own below this one in
// the store, without events: surfaces show it as what this run does. It has the model of its definition, or this run's; it
// takes no place of a child, which a run that waits for its own could not get; what it uses counts as used by this run. The
// run's goroutine calls it.
func (r *run) consult(slug, title, prompt string) (string, error) {
	definition, err := r.engine.Agents().Find(slug)
	if err != nil {
		return "", err
	}
	asked := r.model
	if definition.Model != "" && definition.Model != "inherit" {
		if asked, err = r.engine.openModel(Choice{Definition: definition.Model, Parent: r.model.Name()}.with(r.config)); err != nil {
			return "", fmt.Errorf("open the model of the agent %s: %w", slug, err)
		}
	}
	if left := r.budget.left(); left.tokens == 0 || left.cost == 0 {
		return "", fmt.Errorf("ask the agent %s: the limit of tokens or of the cost is reached", slug)
	}
	now := time.Now().UTC()
	hidden := &run{
		id: event.NewRunID(), engine: r.engine, session: r.session, parent: r, depth: r.depth + 1, definition: definition,
		config: r.config, skills: r.skills, request: RunRequest{Agent: slug, Prompt: title, Title: title}, model: asked,
		limits: definition.LimitsAt(1), layer: r.layer, rights: r.rights, created: now, started: now, status: event.StatusRunning,
		ctx: r.ctx, turn: 1, own: event.NoUsage(), result: event.RunResult{Usage: event.NoUsage()},
		budget: r.budget.child(amount{}), price: priceOf(r.config, asked.Name()),
	}
	defer hidden.budget.close()
	ctx := r.ctx
	if hidden.limits.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, hidden.limits.Timeout)
		defer cancel()
	}
	question := withoutSecrets(model.UserText(prompt), r.engine.redactor)
	hidden.aside(1, question)
	done, err := r.ask(ctx, query{model: asked, aside: true, request: &model.Request{
		System: r.engine.redactor.Text(hidden.ownPrompt()), Messages: []model.Message{question}, MaxTokens: definition.MaxTokens,
		Temperature: definition.Temperature, NoCalls: true, Run: string(hidden.id),
	}})
	text := ""
	if err == nil {
		hidden.addUsage(done.Usage)
		text = strings.TrimSpace(r.engine.redactor.Text(done.Message.Text()))
		switch {
		case done.Stop == model.StopRefused:
			err = &Error{Kind: "refused", Detail: fmt.Sprintf("%s declined to answer: %s", asked.Name(), text)}
		case text == "":
			err = &Error{Kind: "empty_answer", Detail: asked.Name() + " answered nothing"}
		}
	}
	hidden.status, hidden.result.Output = event.StatusCompleted, text
	if err != nil {
		failure := Explain(err)
		hidden.status, hidden.result.Reason, hidden.result.Error = event.StatusFailed, failure.Kind, &failure
		switch {
		case errors.Is(context.Cause(r.ctx), errShutdown):
			hidden.status, hidden.result.Error = event.StatusInterrupted, nil
		case r.ctx.Err() != nil:
			hidden.status, hidden.result.Error = event.StatusCancelled, nil
		case errors.Is(err, context.DeadlineExceeded):
			hidden.status, hidden.result.Reason = event.StatusTimeout, "timeout"
		}
	}
	hidden.finished = time.Now().UTC()
	answer := withoutCalls(withoutSecrets(done.Message, r.engine.redactor))
	answer.Role = model.RoleAssistant
	hidden.aside(2, answer)
	if err != nil {
		return "", fmt.Errorf("ask the agent %s: %w", slug, err)
	}
	return text, nil
}

// aside stores a hidden run as it is now, and a message of it that is not empty.
func (r *run) aside(seq int, m model.Message) {
	row := r.row()
	row.Role = RoleHidden
	batch := store.Batch{Runs: []store.Run{row}}
	if parts, err := model.EncodeParts(m.Parts); err == nil && len(m.Parts) > 0 {
		batch.Messages = []store.Message{{ID: event.NewMessageID(), Run: r.id, Seq: seq, Role: string(m.Role), Parts: parts, Time: time.Now().UTC()}}
	}
	r.session.submit(batch, r.id)
}
