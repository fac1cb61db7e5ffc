// Package anthropic speaks the Anthropic Messages API, streamed, through the vendor's SDK.
// Source: the "Messages" and "Streaming messages" pages of the Claude API documentation, version 2023-06-01.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// VendorURL is the base URL where Options gives none.
const VendorURL = "https://api.anthropic.com"

// defaultMaxTokens bounds an answer where the request does not: the wire demands a number.
const defaultMaxTokens = 8192

// Options says where the model is. BaseURL has no /v1 at its end (one that is there is taken off), and MaxTokens of 0
// means 8192.
type Options = transport.Options

// claude is a model behind the Messages API. It is never changed after New.
type claude struct {
	transport.Endpoint
	model     string
	maxTokens int
	service   sdk.MessageService
	encodings transport.Encodings
	frames    transport.Frames
}

// New makes a model. It sends nothing; what is wrong with the options is the error of each Stream. The
// model is safe for concurrent use.
func New(options Options) model.Model {
	options.BaseURL = strings.TrimSuffix(strings.TrimRight(options.BaseURL, "/"), "/v1")
	at := transport.Vendor{
		Name: "anthropic", URL: VendorURL, KeyVariable: "ANTHROPIC_API_KEY", KeyHeader: "x-api-key",
		Form: " without /v1", Resets: resets,
	}.Endpoint(options)
	set := []option.RequestOption{
		option.WithMaxRetries(0),
		option.WithBaseURL(at.Base + "/"),
		option.WithHTTPClient(at.Client),
		option.WithoutOpenTelemetry(),
		option.WithHeader("User-Agent", "agentls"),
	}
	if options.Key != "" {
		set = append(set, option.WithAPIKey(options.Key))
	}
	for name, value := range options.Headers {
		set = append(set, option.WithHeader(name, value))
	}
	// The service is made by itself: the SDK's client would take keys, headers and profiles from the environment.
	return &claude{
		Endpoint: at, model: options.Model, maxTokens: cmp.Or(options.MaxTokens, defaultMaxTokens),
		service: sdk.NewMessageService(set...),
	}
}

// Stream sends the request and yields the answer.
func (c *claude) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return c.Endpoint.Stream(ctx, nil, func(x *transport.Exchange, yield func(model.Event, error) bool) error {
		said, err := c.messages(request.Messages)
		if err != nil {
			return err
		}
		frame := c.frames.Of(request)
		var params sdk.MessageNewParams
		if !frame.Known() {
			params = c.params(request)
		}
		var response *http.Response
		stream := c.service.NewStreaming(x.Context, params,
			option.WithMiddleware(x.Splicing("messages", frame, said)), option.WithResponseInto(&response))
		if err := stream.Err(); err != nil {
			return err
		}
		return read(x, ssestream.NewDecoder(response), yield)
	})
}

// read turns the vendor's events into ours. The SDK's own stream type is not used for it: it drops events
// without a name, which compatible servers send.
func read(x *transport.Exchange, decoder ssestream.Decoder, yield func(model.Event, error) bool) error {
	var answer answer
	for decoder.Next() {
		event, ended, err := answer.add(decoder.Event().Data)
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
	return cmp.Or[error](decoder.Err(), x.Cut("message_stop"))
}

// resets reads when the exhausted ones of the vendor's rate limits are full again: the headers
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
