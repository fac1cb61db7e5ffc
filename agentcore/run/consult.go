package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/toolset"
)

// consult has one of the engine's hidden agents answer a prompt, and waits for the answer. The hidden agent is a run of
// its own below this one in the store, without events: surfaces show its work as this run's. Its model is that of its
// definition, or this run's. It takes no child's place, which it might never get while this run waits for its own. What
// it uses counts as used by this run. Only the run's goroutine calls consult.
func (r *Run) consult(slug, title, asking string) (string, error) {
	definition, err := r.process.Agents().Find(slug)
	if err != nil {
		return "", err
	}
	asked := r.model
	if definition.Model != "" && definition.Model != "inherit" {
		if asked, err = r.process.OpenModel(provider.Choice{
			Definition: definition.Model,
			Parent:     r.model.Name(),
		}.With(r.config)); err != nil {
			return "", fmt.Errorf("open the model of the agent %s: %w", slug, err)
		}
	}
	if left := r.budget.left(); left.tokens == 0 || left.cost == 0 {
		return "", fmt.Errorf("ask the agent %s: the limit of tokens or of the cost is reached", slug)
	}
	aside := newHidden(r, definition, title, r.budget.child(amount{}))
	aside.takes(asked)
	aside.sampling.MaxTokens = definition.MaxTokens
	text, err := aside.answers(r.ctx, asking, r.asking.ask)
	if err != nil {
		return "", fmt.Errorf("ask the agent %s: %w", slug, err)
	}
	return text, nil
}

// hidden is the run of a hidden agent below another run, which answers one question.
type hidden struct{ *Run }

// newHidden makes the run of a hidden agent below this one. It has no model yet.
func newHidden(r *Run, definition *agent.Definition, title string, of *Budget) hidden {
	h := bare(r.process, r.session, r, definition, Request{Agent: definition.Slug, Prompt: title, Title: title})
	h.config, h.skills, h.tools, h.limits = r.config, r.skills, &toolset.Set{}, definition.LimitsAt(1)
	h.layer, h.gate.rights, h.ctx, h.budget = r.layer, r.gate.rights, r.ctx, of
	h.asking = newAsking(h)
	h.created, h.turn, h.result.Status = time.Now().UTC(), 1, event.StatusRunning
	h.started = h.created
	return hidden{h}
}

// takes sets the model of a hidden run.
func (r *spec) takes(m model.Model) { r.model, r.price = m, provider.Price(r.config, m.Name()) }

// answers has a hidden run answer one question, and stores how that went. The context whole ends when the run that asks
// does.
func (r hidden) answers(whole context.Context, asking string,
	ask func(context.Context, query) (model.Done, error),
) (string, error) {
	defer r.budget.close()
	ctx := whole
	if r.limits.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.limits.Timeout)
		defer cancel()
	}
	question := withoutSecrets(model.UserText(asking), r.redactor)
	prompt := store.PromptOf(r.redactor.Text(factsOf(r.Run).Own()))
	r.prompt = prompt.ID
	r.aside(store.Message{Seq: 1, Tokens: guessedTokens(question)}, question, prompt)
	request := &model.Request{
		System: prompt.Text, Messages: []model.Message{question}, MaxTokens: r.sampling.MaxTokens,
		Temperature: r.definition.Temperature, NoCalls: true, Run: string(r.id),
	}
	began := time.Now()
	done, err := ask(ctx, query{model: r.model, aside: true, request: request})
	text, used := "", event.Usage{}
	if err == nil {
		used = r.addUsage(request, done)
		text = strings.TrimSpace(r.redactor.Text(done.Message.Text()))
		switch {
		case done.Stop == model.StopRefused:
			err = &fault.Error{
				Kind:   fault.Refused,
				Detail: fmt.Sprintf("%s declined to answer: %s", r.model.Name(), text),
			}
		case text == "":
			err = &fault.Error{Kind: fault.EmptyAnswer, Detail: r.model.Name() + " answered nothing"}
		}
	}
	r.result.Status, r.result.Output = event.StatusCompleted, text
	if err != nil {
		failure := fault.Explain(err)
		r.result.Status, r.result.Reason, r.result.Error = event.StatusFailed, failure.Kind, &failure
		switch {
		case errors.Is(context.Cause(whole), ErrShutdown):
			r.result.Status, r.result.Error = event.StatusInterrupted, nil
		case whole.Err() != nil:
			r.result.Status, r.result.Error = event.StatusCancelled, nil
		case errors.Is(err, context.DeadlineExceeded):
			r.result.Status, r.result.Reason = event.StatusTimeout, "timeout"
		}
	}
	r.finished = time.Now().UTC()
	answer := withoutCalls(withoutSecrets(done.Message, r.redactor))
	answer.Role = model.RoleAssistant
	r.aside(store.Message{
		Seq: 2, Tokens: cmp.Or(done.Usage.Output, guessedTokens(answer)),
		Duration: max(time.Since(began), time.Millisecond), Model: r.model.Name(), Usage: used,
	}, answer)
	return text, err
}

// aside stores a hidden run as it is now, with its prompt and, unless it is empty, a message.
func (r hidden) aside(message store.Message, m model.Message, prompt ...store.Prompt) {
	batch := store.Batch{Prompts: prompt}
	if parts, err := model.EncodeParts(m.Parts); err == nil && len(m.Parts) > 0 {
		message.ID, message.Run, message.Role, message.Parts, message.Time = event.NewMessageID(), r.id, string(m.Role),
			parts, time.Now().UTC()
		batch.Messages = []store.Message{message}
	}
	r.session.recording.Lock()
	defer r.session.recording.Unlock()
	row := r.row()
	row.Role = history.RoleHidden
	batch.Runs = []store.Run{row}
	r.tell(batch)
}

// Errand is a question to a hidden agent for which nobody waits.
type Errand struct {
	Agent, Title, Asking string
	Timeout              time.Duration
	// Tokens bounds the answer where the agent's definition does not.
	Tokens int
}

// Errand prepares a question about this run, whose session pays for the answer. It returns nil where no model is to be
// asked: the settings or the limits forbid it, the run works offline, or the price of its model is unknown. The run's
// goroutine may call it, or the code that launches the run; ask waits for the answer, and may be called after the run's
// end.
func (r *Run) Errand(e Errand) (ask func(context.Context) (string, error)) {
	definition, err := r.process.Agents().Find(e.Agent)
	left := r.session.Budget.left()
	if err != nil || r.config.SessionTitles == config.TitlesRules || left.tokens == 0 || left.cost == 0 {
		return nil
	}
	name := cmp.Or(definition.Model, r.config.SmallModel)
	if name == "inherit" {
		name = ""
	}
	own := r.model
	if offline := provider.IsOffline(own.Name()); name == "" &&
		(offline || r.config.SessionTitles == config.TitlesAuto && provider.Price(r.config, own.Name()) == nil) {
		return nil
	}
	aside := newHidden(r, definition, e.Title, r.session.Budget.child(amount{}))
	aside.limits.Timeout = e.Timeout
	aside.sampling.MaxTokens = cmp.Or(definition.MaxTokens, e.Tokens)
	return func(ctx context.Context) (string, error) {
		asked := own
		if name != "" {
			var err error
			if asked, err = r.process.OpenModel(provider.Choice{Definition: name}.With(r.config)); err != nil {
				return "", err
			}
		}
		aside.takes(asked)
		return aside.answers(ctx, e.Asking, aside.asking.once)
	}
}
