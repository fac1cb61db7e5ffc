package openai

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// responder is a model behind Responses. What it learns of the server is all that changes after NewResponses.
type responder struct {
	endpoint
	service   responses.ResponseService
	encodings transport.Encodings
	// unsummed and unsealed: the server has refused summaries of the reasoning (it wants the organisation verified), or
	// sealed reasoning (the model does not reason).
	unsummed, unsealed atomic.Bool
}

// NewResponses is New for the Responses interface. Nothing is stored by the server: the whole conversation is sent each
// time, with the model's reasoning as the server has sealed it.
func NewResponses(options Options) model.Model {
	at, set := connect(options)
	// The service is made by itself, as in New.
	return &responder{endpoint: at, service: responses.NewResponseService(set...)}
}

// Stream sends the request and yields the answer.
func (r *responder) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if r.broken != nil {
			failure := *r.broken
			yield(nil, &failure)
			return
		}
		for r.exchange(ctx, request, yield) {
			// It is asked again at once without what it has refused, which changes each time.
		}
	}
}

// exchange sends the request once and yields the answer. It reports whether to do so again, before anything was
// yielded.
func (r *responder) exchange(ctx context.Context, request *model.Request,
	yield func(model.Event, error) bool,
) (again bool) {
	x := r.upstream.Begin(ctx)
	defer x.End()
	input, err := r.input(request.Messages)
	if err != nil {
		yield(nil, x.Failed(err))
		return false
	}
	var response *http.Response
	send := func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		if err := transport.Splice(r, "input", input); err != nil {
			return nil, err
		}
		return x.Send(r, next)
	}
	stream := r.service.NewStreaming(x.Context, r.params(request), option.WithMiddleware(send),
		option.WithResponseInto(&response))
	if err := stream.Err(); err != nil {
		err = x.Failed(err)
		if r.learns(err) {
			return true
		}
		yield(nil, err)
		return false
	}
	r.read(x, request, ssestream.NewDecoder(response), yield)
	return false
}

// learns reports whether a refusal is about something that can be left out, and was not yet.
func (r *responder) learns(err error) bool {
	var refusal *model.Error
	if !r.reasons() || !errors.As(err, &refusal) || refusal.Status < 400 || refusal.Status >= 500 {
		return false
	}
	said := strings.ToLower(refusal.Detail)
	switch {
	case strings.Contains(said, "encrypted content") || strings.Contains(said, "encrypted_content"):
		return r.unsealed.CompareAndSwap(false, true)
	case strings.Contains(said, "reasoning summar") || strings.Contains(said, "reasoning.summary"):
		return r.unsummed.CompareAndSwap(false, true)
	}
	return false
}

// read turns the server's events into ours.
func (r *responder) read(x *transport.Exchange, request *model.Request, decoder ssestream.Decoder,
	yield func(model.Event, error) bool,
) {
	var output output
	for decoder.Next() {
		data := bytes.TrimSpace(decoder.Event().Data)
		if string(data) == "[DONE]" { // the vendor sends none
			break
		}
		events, err := output.add(data)
		if err != nil {
			var fault *faultError
			if errors.As(err, &fault) {
				err = x.Fault(fault.Fault, 0)
			}
			yield(nil, x.Failed(err))
			return
		}
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
		if output.complete() {
			done := output.done()
			if len(done.Message.Calls()) > 0 {
				model.UniqueIDs(&done.Message, request.Messages)
			}
			yield(done, nil)
			x.Drain()
			return
		}
	}
	if err := decoder.Err(); err != nil {
		yield(nil, x.Failed(err))
		return
	}
	yield(nil, x.Failed(x.Cut("response.completed")))
}
