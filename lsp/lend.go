package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// lending is what the editor lends to agents: its language model. Its methods may be called from any goroutine.
type lending struct {
	*editor

	mu     sync.Mutex
	told   bool               // the editor has said which models it lends
	models []provider.Lent    // by `agent/model/lend`
	last   int                // the number of the last request
	under  map[string]*pieces // answers under way, by the token of their pieces
}

func newLending(e *editor) *lending { return &lending{editor: e, under: map[string]*pieces{}} }

// Lends is what the editor has said.
func (l *lending) Lends() ([]provider.Lent, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.models), l.client.Announced().Models && (!l.told || len(l.models) > 0)
}

// LentModel returns a model by its id, "" for the editor's choice.
func (l *lending) LentModel(id string) model.Model {
	m := &lentModel{lending: l, id: id, silence: l.options.ModelSilence}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.models, func(lent provider.Lent) bool { return lent.ID == id }); i >= 0 {
		m.lent = l.models[i]
	}
	return m
}

// LendModels answers `agent/model/lend`.
func (l *lending) LendModels(_ context.Context, p *methods.LendModelsParams) error {
	if !l.client.Announced().Models {
		return &fault.Error{
			Kind:   fault.Unsupported,
			Detail: "the editor did not announce that it answers agent/model/generate",
			Hint:   "set capabilities.experimental.agentls.models in initialize",
		}
	}
	var models []provider.Lent
	for i, m := range p.Models {
		if m.ID == "" {
			return wire.InvalidParams(fmt.Errorf("models[%d].id is empty", i))
		}
		models = append(models, provider.Lent{
			ID: m.ID, Title: m.Title, ContextTokens: m.ContextTokens,
			NoCalls: m.NoCalls,
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told, l.models = true, models
	return nil
}

// pieces are those of one answer that have come and were not yet taken. The reading goroutine puts them there and never
// waits.
type pieces struct {
	mu   sync.Mutex
	list []model.Event
	news chan struct{} // has room for one
}

func (p *pieces) put(e model.Event) {
	p.mu.Lock()
	p.list = append(p.list, e)
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

func (p *pieces) take() []model.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list = nil
	return list
}

// begin makes a token, to which the pieces of an answer are sent until end.
func (l *lending) begin() (token string, p *pieces, end func()) {
	p = &pieces{news: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	token = fmt.Sprintf("agentls.generate.%d", l.last)
	l.under[token] = p
	return token, p, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.under, token)
	}
}

// progressed takes a `$/progress` of the editor: a piece of an answer. One of an answer that is no longer wanted is
// left out.
func (l *lending) progressed(params jsonrpc2.RawMessage) error {
	var p struct {
		Token json.RawMessage   `json:"token"`
		Value methods.ModelPart `json:"value"`
	}
	if err := methods.Decode(params, &p); err != nil {
		return err
	}
	var token string
	if json.Unmarshal(p.Token, &token) != nil {
		return nil // a number is no token of ours
	}
	l.mu.Lock()
	under := l.under[token]
	l.mu.Unlock()
	if under == nil {
		return nil
	}
	switch p.Value.Kind {
	case "text":
		under.put(model.TextDelta{Text: p.Value.Text})
	case "reasoning":
		under.put(model.ReasoningDelta{Text: p.Value.Text})
	case "call":
		under.put(model.CallDelta{Name: p.Value.Name})
	}
	return nil
}

// lentModel is a language model that the editor lends.
type lentModel struct {
	lending *lending
	id      string // "" for the editor's choice
	lent    provider.Lent
	silence time.Duration
}

// Name is "editor/ID".
func (m *lentModel) Name() string {
	if m.id == "" {
		return provider.OfEditor + "/default"
	}
	return provider.OfEditor + "/" + m.id
}

// ContextTokens is what the editor says, or what is assumed of a model that nothing is known of.
func (m *lentModel) ContextTokens() int64 {
	if m.lent.ContextTokens > 0 {
		return m.lent.ContextTokens
	}
	return model.KnownContext(m.Name())
}

var errSilent = errors.New("the editor fell silent")

// Stream asks the editor for one turn. Its goroutine, which waits for the answer, ends with the sequence.
func (m *lentModel) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		token, under, end := m.lending.begin()
		defer end()
		params := m.params(request, token)
		var result *methods.GenerateResult
		var failed error
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			result, failed = methods.Client{Conn: m.lending.conn}.Generate(ctx, params)
		}()
		defer func() { <-answered }() // behind cancel, which is deferred later
		defer cancel(nil)
		silent := time.AfterFunc(m.silence, func() { cancel(errSilent) })
		defer silent.Stop()
		for over := false; !over; {
			select {
			case <-under.news:
			case <-answered:
				over = true
			}
			silent.Reset(m.silence)
			for _, piece := range under.take() {
				if !yield(piece, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(nil, m.failure(ctx, failed))
			return
		}
		done, err := m.done(result, request)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(done, nil)
	}
}

// params is a request on the wire.
func (m *lentModel) params(request *model.Request, token string) *methods.GenerateParams {
	p := &methods.GenerateParams{
		Run: event.RunID(request.Run), Model: m.id, System: request.System, NoCalls: request.NoCalls,
		MaxTokens: int64(request.MaxTokens), Temperature: request.Temperature,
		PartialResultToken: protocol.String(token),
	}
	for _, message := range request.Messages {
		one := methods.ModelMessage{Role: string(message.Role)}
		for _, part := range message.Parts {
			switch part := part.(type) {
			case model.Text:
				one.Parts = append(one.Parts, methods.ModelPart{Kind: "text", Text: part.Text})
			case model.Call:
				one.Parts = append(one.Parts,
					methods.ModelPart{
						Kind: "call", ID: part.ID, Name: part.Name,
						Arguments: model.Object(part.Arguments),
					})
			case model.Result:
				one.Parts = append(one.Parts, methods.ModelPart{
					Kind: "result", ID: part.ID, Name: part.Name,
					Text: part.Text + part.Unseen(), Error: part.Error,
				})
			case model.Reasoning: // it belongs to the model that made it, and this protocol has no seal for it
			}
		}
		p.Messages = append(p.Messages, one)
	}
	if m.lent.NoCalls {
		return p
	}
	for _, t := range request.Tools {
		p.Tools = append(p.Tools, methods.ModelTool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return p
}

// done is the editor's answer. What the editor does not count is guessed.
func (m *lentModel) done(result *methods.GenerateResult, request *model.Request) (model.Done, error) {
	done := model.Done{Message: model.Message{Role: model.RoleAssistant}, Stop: model.Stop(result.Stop)}
	for i, part := range result.Message.Parts {
		switch part.Kind {
		case "text":
			done.Message.Parts = append(done.Message.Parts, model.Text{Text: part.Text})
		case "reasoning":
			done.Message.Parts = append(done.Message.Parts, model.Reasoning{Text: part.Text})
		case "call":
			if part.Name == "" {
				return done, m.error(model.ErrProtocol,
					fmt.Sprintf("the editor's answer has a call without a name, message.parts[%d]", i), "")
			}
			arguments := part.Arguments
			if len(arguments) == 0 {
				arguments = json.RawMessage("{}")
			}
			done.Message.Parts = append(done.Message.Parts,
				model.Call{ID: part.ID, Name: part.Name, Arguments: arguments})
		default:
			return done, m.error(model.ErrProtocol,
				fmt.Sprintf("the editor's answer has a part of the kind %q, message.parts[%d]", part.Kind, i), "")
		}
	}
	model.UniqueIDs(&done.Message, request.Messages)
	if len(done.Message.Calls()) > 0 && done.Stop == model.StopEnd {
		done.Stop = model.StopCalls
	}
	if u := result.Usage; u != nil {
		done.Usage = model.Usage{Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CachedTokens}
	} else {
		done.Usage = model.GuessUsage(request, done.Message)
	}
	return done, nil
}

func (m *lentModel) error(kind model.ErrorKind, detail, hint string) *model.Error {
	return &model.Error{Kind: kind, Provider: m.Name(), Detail: detail, Hint: hint}
}

// failure says what an error of the editor means.
func (m *lentModel) failure(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return m.error(model.ErrNetwork, fmt.Sprintf("the editor sent nothing for %s", m.silence),
			"look whether it waits for your consent to lend its model")
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var answered *jsonrpc2.Error
	if !errors.As(err, &answered) {
		if errors.Is(err, wire.ErrClosed) {
			return m.error(model.ErrNetwork, "the editor has gone", "")
		}
		return m.error(model.ErrProtocol, err.Error(), "")
	}
	var data event.Failure
	if len(answered.Data) > 0 && json.Unmarshal(answered.Data, &data) != nil {
		data = event.Failure{}
	}
	detail := answered.Message
	if data.Detail != "" && !strings.Contains(detail, data.Detail) {
		detail += ": " + data.Detail
	}
	kind := model.ErrInvalid
	switch k := model.ErrorKind(data.Kind); k {
	case model.ErrRateLimit, model.ErrOverloaded, model.ErrServer, model.ErrNetwork, model.ErrProtocol, model.ErrAuth,
		model.ErrNotFound, model.ErrContext:
		kind = k
	}
	hint := data.Hint
	if answered.Code == jsonrpc2.MethodNotFound {
		kind = model.ErrNotFound
		hint = "choose another model, such as " + provider.Offline +
			": the editor announced that it lends its own, and does not"
	}
	return m.error(kind, detail, hint)
}
