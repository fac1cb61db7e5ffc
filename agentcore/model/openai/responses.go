package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// responder is a model behind Responses. What it learns of the server is all that changes after NewResponses.
type responder struct {
	endpoint
	encodings transport.Encodings
	frames    transport.Frames
	// unsummed and unsealed: the server has refused summaries of the reasoning (it wants the organisation verified), or
	// sealed reasoning (the model does not reason).
	unsummed, unsealed atomic.Bool
}

// NewResponses is New for the Responses interface. Nothing is stored by the server: the whole conversation is sent each
// time, with the model's reasoning as the server has sealed it.
func NewResponses(options Options) model.Model {
	return &responder{endpoint: connect(options, "responses")}
}

// Stream sends the request and yields the answer. Where the server refuses what can be left out, it is asked again at
// once without it.
func (r *responder) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return r.Endpoint.Stream(ctx, r.learns, func(x *transport.Exchange, yield func(model.Event, error) bool) error {
		said, err := r.encodings.Join(request.Messages, encodeItems, transport.Commas)
		if err != nil {
			return err
		}
		unsummed, unsealed := r.unsummed.Load(), r.unsealed.Load()
		response, err := x.Post(&r.Endpoint, r.url, "input", r.frames.Of(request, unsummed, unsealed), said,
			func() any { return r.params(request, unsummed, unsealed) })
		if err != nil {
			return err
		}
		return read(x, response.Body, yield)
	})
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
func read(x *transport.Exchange, answered io.Reader, yield func(model.Event, error) bool) error {
	var output output
	var failed error
	for data, err := range transport.Events(answered) {
		if err != nil {
			failed = err
			break
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" { // the vendor sends none
			break
		}
		events, err := output.add(data)
		if err != nil {
			return err
		}
		for _, event := range events {
			if !yield(event, nil) {
				return nil
			}
		}
		if output.complete() {
			x.Finish(output.done(), yield)
			return nil
		}
	}
	return cmp.Or[error](failed, x.Cut("response.completed"))
}

// Sees implements model.Seeing: whoever serves this interface takes images in it.
func (*responder) Sees() bool { return true }
