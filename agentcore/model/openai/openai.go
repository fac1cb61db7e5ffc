// Package openai speaks OpenAI's Chat Completions and Responses, streamed, over net/http, with the vendor and with the
// many servers that are more or less compatible with it. The vendor's SDK is not used: its types for everything that
// the vendor offers add 18 MB to the binary, and cost time at each start. Source: "Chat Completions", "Responses" and
// the "Streaming events" of both in the OpenAI API reference.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// VendorURL is the base URL where Options gives none.
const VendorURL = "https://api.openai.com/v1"

// afterFinish is how long a server may be silent between finish_reason and [DONE].
const afterFinish = 5 * time.Second

// Options says where the model is. BaseURL usually ends in /v1; chat/completions, or responses, is added to it.
type Options = transport.Options

// endpoint is where a model of either interface is reached. It is never changed after it was made.
type endpoint struct {
	transport.Endpoint // the vendor's own server is strict about newer parameters
	url                string
	model              string
	maxTokens          int
}

// chat is a model behind Chat Completions. After New, only what it learns about the server changes.
type chat struct {
	endpoint
	encodings transport.Encodings
	frames    transport.Frames
	// wantsReasoning says that the vendor refuses conversations without the reasoning of their answers.
	wantsReasoning bool
	// takesReasoning says that the server has sent reasoning_content, so that it also accepts it.
	takesReasoning atomic.Bool
}

// wantReasoning are parts of the base URLs of vendors that refuse calls, and what follows them, without the reasoning
// that led to the calls ("Thinking mode" of the DeepSeek API and "Thinking models" of the Moonshot API).
var wantReasoning = []string{"//api.deepseek.com", "//api.moonshot."}

// New makes a model behind Chat Completions. It sends nothing; if the options are wrong, each Stream returns the error.
// The model is safe for concurrent use.
func New(options Options) model.Model {
	c := &chat{endpoint: connect(options, "chat/completions")}
	c.wantsReasoning = slices.ContainsFunc(wantReasoning,
		func(host string) bool { return strings.Contains(options.BaseURL, host) })
	return c
}

// connect returns the endpoint that the options name, at a path below the base URL.
func connect(options Options, path string) endpoint {
	at := transport.Vendor{
		Name: "openai", URL: VendorURL, KeyVariable: "OPENAI_API_KEY", KeyHeader: "Authorization", KeyScheme: "Bearer ",
		OtherKeyHeader: "api-key", // for Azure
		Header:         http.Header{"Accept": {"application/json"}},
		Form:           ", usually with /v1 at its end", Resets: resets,
	}.Endpoint(options)
	return endpoint{Endpoint: at, url: at.At(path), model: options.Model, maxTokens: options.MaxTokens}
}

// Stream sends the request and yields the answer.
func (c *chat) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return c.Endpoint.Stream(ctx, nil, func(x *transport.Exchange, yield func(model.Event, error) bool) error {
		frame := c.frames.Of(request)
		if err := frame.Lead(func() ([]byte, error) { return lead(request) }); err != nil {
			return err
		}
		said, err := c.encodings.Join(request.Messages, c.encode, transport.Commas)
		if err != nil {
			return err
		}
		response, err := x.Post(&c.Endpoint, c.url, "messages", frame, said, func() any { return c.params(request) })
		if err != nil {
			return err
		}
		return c.read(x, response.Body, yield)
	})
}

// read turns the server's chunks into our events.
func (c *chat) read(x *transport.Exchange, answered io.Reader, yield func(model.Event, error) bool) error {
	var answer answer
	finish := func() {
		if answer.answersReasoning && !c.Own {
			c.takesReasoning.Store(true)
		}
		x.Finish(answer.done(), yield)
	}
	var failed error
	for data, err := range transport.Events(answered) {
		if err != nil {
			failed = err
			break
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			if !answer.complete() && !answer.begun() {
				return x.Protocol(nil, "the answer holds nothing")
			}
			finish()
			return nil
		}
		for event, err := range answer.add(data) {
			if err != nil {
				return err
			}
			if !yield(event, nil) {
				return nil
			}
		}
		if answer.complete() {
			x.Hurry(afterFinish)
		}
	}
	if answer.complete() && !x.GivenUp() {
		finish() // only [DONE] or the token counts are missing
		return nil
	}
	return cmp.Or[error](failed, x.Cut("finish_reason"))
}

// resets returns when the rate limits that are used up are full again: the headers x-ratelimit-remaining-* and
// x-ratelimit-reset-* (a duration such as 6m0s), "Rate limits" guide of the vendor.
func resets(header http.Header, _ time.Time) time.Duration {
	var wait time.Duration
	for _, limit := range []string{"Requests", "Tokens"} {
		reset, err := time.ParseDuration(header.Get("X-Ratelimit-Reset-" + limit))
		if err == nil && header.Get("X-Ratelimit-Remaining-"+limit) == "0" {
			wait = max(wait, reset)
		}
	}
	return wait
}

// Sees implements model.Seeing: another server may have a model that does not see, and would refuse the request.
func (c *chat) Sees() bool { return c.Own }
