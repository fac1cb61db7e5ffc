// Package openai speaks OpenAI's Chat Completions and Responses, streamed, over net/http, with the vendor and with the
// many servers that are compatible with it more or less. The vendor's SDK is not used: its types of all that the vendor
// offers add 18 MB to the binary, and are made ready at each start.
// Source: "Chat Completions", "Responses" and the "Streaming events" of both in the OpenAI API reference.
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

// Options says where the model is. BaseURL ends in /v1 as a rule; chat/completions, or responses, is put behind it.
type Options = transport.Options

// endpoint is what a model of both interfaces is behind. It is never changed after it was made.
type endpoint struct {
	transport.Endpoint // its own server, the vendor's, is strict about newer parameters
	url                string
	model              string
	maxTokens          int
}

// chat is a model behind Chat Completions. What it learns of the server is all that changes after New.
type chat struct {
	endpoint
	encodings transport.Encodings
	frames    transport.Frames
	// wantsReasoning: the vendor refuses conversations that lack the reasoning of their answers.
	wantsReasoning bool
	// takesReasoning: the server has sent reasoning_content, and so takes it back.
	takesReasoning atomic.Bool
}

// wantReasoning tells the vendors that refuse calls, and what follows on them, without the reasoning that led to them,
// by what their base URLs hold ("Thinking mode" of the DeepSeek API and "Thinking models" of the Moonshot API).
var wantReasoning = []string{"//api.deepseek.com", "//api.moonshot."}

// New makes a model behind Chat Completions. It sends nothing; what is wrong with the options is the error of each
// Stream. The model is safe for concurrent use.
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
		OtherKeyHeader: "api-key", // of Azure
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
		finish() // only [DONE] or the count of tokens is missing
		return nil
	}
	return cmp.Or[error](failed, x.Cut("finish_reason"))
}

// resets reads when the exhausted ones of the rate limits are full again: the headers x-ratelimit-remaining-* and
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

// Sees implements model.Seeing: other servers may have a model that does not, and would refuse the request.
func (c *chat) Sees() bool { return c.Own }
