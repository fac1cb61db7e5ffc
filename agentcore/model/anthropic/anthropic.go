// Package anthropic speaks the Anthropic Messages API, streamed, over net/http. The vendor's SDK is not used: its types
// for everything that the vendor offers add 7 MB to the binary, and cost time at each start. Source: the "Messages" and
// "Streaming messages" pages of the Claude API documentation, version 2023-06-01.
package anthropic

import (
	"cmp"
	"context"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// VendorURL is the base URL where Options gives none.
const VendorURL = "https://api.anthropic.com"

// defaultMaxTokens bounds an answer for which the request sets no bound, since the API requires one.
const defaultMaxTokens = 8192

// Options says where the model is. BaseURL has no /v1 at its end (if there is one, it is removed). MaxTokens of 0 means
// 8192.
type Options = transport.Options

// claude is a model behind the Messages API. It is never changed after New.
type claude struct {
	transport.Endpoint
	url       string
	model     string
	maxTokens int
	effort    effort
	encodings transport.Encodings
	frames    transport.Frames
}

// New makes a model. It sends nothing; if the options are wrong, each Stream returns the error. The model is safe for
// concurrent use.
func New(options Options) model.Model {
	options.BaseURL = strings.TrimSuffix(strings.TrimRight(options.BaseURL, "/"), "/v1")
	at := transport.Vendor{
		Name: "anthropic", URL: VendorURL, KeyVariable: "ANTHROPIC_API_KEY", KeyHeader: "x-api-key",
		Header: http.Header{"Accept": {"application/json"}, "Anthropic-Version": {"2023-06-01"}},
		Form:   " without /v1", Resets: resets,
	}.Endpoint(options)
	return &claude{
		Endpoint: at, url: at.At("v1/messages"), model: options.Model,
		maxTokens: cmp.Or(options.MaxTokens, defaultMaxTokens), effort: effortOf(options.Model),
	}
}

// Stream sends the request and yields the answer.
func (c *claude) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return c.Endpoint.Stream(ctx, nil, func(x *transport.Exchange, yield func(model.Event, error) bool) error {
		said, err := c.messages(request.Messages)
		if err != nil {
			return err
		}
		response, err := x.Post(&c.Endpoint, c.url, "messages", c.frames.Of(request), said,
			func() any { return c.params(request) })
		if err != nil {
			return err
		}
		return read(x, response.Body, yield)
	})
}

// read turns the vendor's events into ours. The names of events are ignored, since compatible servers send none.
func read(x *transport.Exchange, answered io.Reader, yield func(model.Event, error) bool) error {
	var answer answer
	for data, err := range transport.Events(answered) {
		if err != nil {
			return err
		}
		event, ended, err := answer.add(data)
		switch {
		case err != nil:
			return err
		case ended && !answer.begun:
			return x.Protocol(nil, "the answer holds nothing")
		case ended:
			x.Finish(answer.done(), yield)
			return nil
		case event != nil && !yield(event, nil):
			return nil
		}
	}
	return x.Cut("message_stop")
}

// resets returns when the vendor's rate limits that are used up are full again: the headers
// anthropic-ratelimit-*-remaining and -reset (RFC 3339), "Rate limits" page of the documentation.
func resets(header http.Header, now time.Time) time.Duration {
	var wait time.Duration
	for _, limit := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		reset, err := time.Parse(time.RFC3339, header.Get("Anthropic-Ratelimit-"+limit+"-Reset"))
		if err == nil && header.Get("Anthropic-Ratelimit-"+limit+"-Remaining") == "0" {
			wait = max(wait, reset.Sub(now))
		}
	}
	return wait
}

// Sees implements model.Seeing: all models of the vendor see images.
func (*claude) Sees() bool { return true }
