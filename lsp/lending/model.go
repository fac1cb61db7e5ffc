package lending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// lentModel is a language model that the editor lends.
type lentModel struct {
	lender *Lender
	id     string // "" for the editor's choice
	lent   provider.Lent
}

// Name is "editor/ID".
func (m *lentModel) Name() string {
	if m.id == "" {
		return provider.OfEditor + "/default"
	}
	return provider.OfEditor + "/" + m.id
}

// ContextTokens is the size of the context as the editor says it, or as agentls assumes it of an unknown model.
func (m *lentModel) ContextTokens() int64 {
	if m.lent.ContextTokens > 0 {
		return m.lent.ContextTokens
	}
	return model.KnownContext(m.Name())
}

var errSilent = errors.New("the editor fell silent")

// Stream asks the editor for one turn. The goroutine that waits for the answer ends with the sequence.
func (m *lentModel) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		token, under, end := m.lender.begin()
		defer end()
		params := m.params(request, token)
		var result *methods.GenerateResult
		var failed error
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			result, failed = m.lender.Client.Custom.Generate(ctx, params)
		}()
		defer func() { <-answered }() // behind cancel, which is deferred later
		defer cancel(nil)
		silent := time.AfterFunc(m.lender.Silence, func() { cancel(errSilent) })
		defer silent.Stop()
		for over := false; !over; {
			select {
			case <-under.news:
			case <-answered:
				over = true
			}
			silent.Reset(m.lender.Silence)
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
			case model.Picture:
				one.Parts = append(one.Parts, methods.ModelPart{Kind: "text", Text: part.Unseen()})
			case model.Call:
				one.Parts = append(one.Parts, methods.ModelPart{
					Kind: "call", ID: part.ID, Name: part.Name, Arguments: model.Object(part.Arguments),
				})
			case model.Result:
				one.Parts = append(one.Parts, methods.ModelPart{
					Kind: "result", ID: part.ID, Name: part.Name, Text: part.Text + part.Unseen(), Error: part.Error,
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

// done makes the last event of a turn from the editor's answer. Tokens that the editor does not count are guessed.
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
		return m.error(model.ErrNetwork, fmt.Sprintf("the editor sent nothing for %s", m.lender.Silence),
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
