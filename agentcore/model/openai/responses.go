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

// responder is a model behind Responses. After NewResponses, only what it learns about the server changes.
type responder struct {
	endpoint
	encodings transport.Encodings
	frames    transport.Frames
	// unsummed says that the server has refused summaries of the reasoning, since the organisation must be verified for
	// them. unsealed says that it has refused sealed reasoning, since the model does not reason.
	unsummed, unsealed atomic.Bool
}

// NewResponses is New for the Responses interface. The server stores nothing: the whole conversation is sent each time,
// with the model's reasoning in the form in which the server has sealed it.
func NewResponses(options Options) model.Model {
	return &responder{endpoint: connect(options, "responses")}
}

// Stream sends the request and yields the answer. If the server refuses an option that can be left out, the request is
// repeated at once without it.
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

// learns reports whether a refusal is about an option that can be left out, and notes that it must be.
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

// Sees implements model.Seeing: all servers with this interface accept images in it.
func (*responder) Sees() bool { return true }
