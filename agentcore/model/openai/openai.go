// Package openai speaks OpenAI's Chat Completions and Responses, streamed, through the vendor's SDK, with the vendor
// and with the many servers that are compatible with it more or less.
// Source: "Chat Completions", "Responses" and the "Streaming events" of both in the OpenAI API reference.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// VendorURL is the base URL where Options gives none.
const VendorURL = "https://api.openai.com/v1"

// afterFinish is how long a server may be silent between finish_reason and [DONE].
const afterFinish = 5 * time.Second

// Options says where the model is. Nothing is read from the environment but the proxy.
type Options struct {
	// Name is the provider's name, in Model.Name and in errors; empty means "openai".
	Name string
	// Model is the server's id of the model; it is sent as it is.
	Model string
	// BaseURL ends in /v1 as a rule; chat/completions, or responses, is put behind it. Empty means VendorURL.
	BaseURL string
	// Key is sent as a bearer token. An empty one is not sent: local servers need none. For VendorURL it is
	// refused unless Headers authorise.
	Key string
	// Headers are added to each request; a name that is there twice wins over the wire's own.
	Headers map[string]string
	// HTTPClient is used for the requests, without following redirects; nil means a client of its own.
	// Models that share a client share its connections.
	HTTPClient *http.Client
	// IdleTimeout is how long the server may send nothing, comments counted; 0 means 120 s.
	IdleTimeout time.Duration
	// MaxTokens bounds an answer where the request does not; 0 leaves it to the server.
	MaxTokens int
}

// endpoint is what a model of both interfaces is behind. It is never changed after it was made.
type endpoint struct {
	name      string
	model     string
	maxTokens int
	vendor    bool // it is OpenAI's own server, which is strict about newer parameters
	upstream  transport.Upstream
	broken    *model.Error // why no request can be sent, if so
}

// chat is a model behind Chat Completions. What it learns of the server is all that changes after New.
type chat struct {
	endpoint
	completions sdk.ChatCompletionService
	encodings   transport.Encodings
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
	at, set := connect(options)
	// The service is made by itself: the SDK's client would take keys, organisation and headers from the environment.
	c := &chat{endpoint: at, completions: sdk.NewChatCompletionService(set...)}
	c.wantsReasoning = slices.ContainsFunc(wantReasoning,
		func(host string) bool { return strings.Contains(options.BaseURL, host) })
	return c
}

// connect returns the endpoint that the options name, and what the SDK is told of it.
func connect(options Options) (endpoint, []option.RequestOption) {
	provider := cmp.Or(options.Name, "openai")
	base := strings.TrimRight(cmp.Or(options.BaseURL, VendorURL), "/")
	e := endpoint{
		name: provider + "/" + options.Model, model: options.Model, maxTokens: options.MaxTokens,
		vendor: base == VendorURL,
	}
	e.upstream = transport.Upstream{
		Name:    e.name,
		Secrets: transport.Secrets(options.Key, options.Headers),
		Idle:    options.IdleTimeout,
		KeyHint: transport.KeyHint(provider, "openai", "OPENAI_API_KEY"),
		URLHint: "base_url of [providers." + provider + "] is the server's address, usually with /v1 at its end",
		Resets:  resets,
	}
	set := []option.RequestOption{
		option.WithMaxRetries(0),
		option.WithBaseURL(base + "/"),
		option.WithHTTPClient(transport.Client(options.HTTPClient)),
		option.WithHeader("User-Agent", "agentls"),
	}
	if options.Key != "" {
		set = append(set, option.WithAPIKey(options.Key))
	}
	for name, value := range options.Headers {
		set = append(set, option.WithHeader(name, value))
	}
	if _, err := transport.CheckBase(base); err != nil {
		e.broken = e.upstream.Refuse(model.ErrInvalid, err.Error(), err)
		e.broken.Hint = e.upstream.URLHint
	} else if options.Key == "" && e.vendor && !transport.Authorises(options.Headers, "api-key") {
		e.broken = e.upstream.Refuse(model.ErrAuth, "there is no key", nil)
	}
	return e, set
}

// Name is "provider/model".
func (e *endpoint) Name() string { return e.name }

// Stream sends the request and yields the answer.
func (c *chat) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if c.broken != nil {
			failure := *c.broken
			yield(nil, &failure)
			return
		}
		x := c.upstream.Begin(ctx)
		defer x.End()
		var response *http.Response
		messages, err := c.messages(request)
		if err != nil {
			yield(nil, x.Failed(err))
			return
		}
		send := func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			if err := transport.Splice(r, "messages", messages); err != nil {
				return nil, err
			}
			return x.Send(r, next)
		}
		stream := c.completions.NewStreaming(x.Context, c.params(request), option.WithMiddleware(send),
			option.WithResponseInto(&response))
		if err := stream.Err(); err != nil {
			yield(nil, x.Failed(err))
			return
		}
		c.read(x, request, ssestream.NewDecoder(response), yield)
	}
}

// read turns the server's chunks into our events. The SDK's own stream type is not used for it: it takes
// "error": null in a chunk for an error.
func (c *chat) read(x *transport.Exchange, request *model.Request, decoder ssestream.Decoder,
	yield func(model.Event, error) bool,
) {
	var answer answer
	finish := func() {
		done := answer.done()
		if answer.answersReasoning && !c.vendor {
			c.takesReasoning.Store(true)
		}
		if len(done.Message.Calls()) > 0 {
			model.UniqueIDs(&done.Message, request.Messages)
		}
		yield(done, nil)
		x.Drain()
	}
	for decoder.Next() {
		data := bytes.TrimSpace(decoder.Event().Data)
		if string(data) == "[DONE]" {
			if answer.complete() || answer.begun() {
				finish()
			} else {
				yield(nil, x.Failed(x.Protocol(nil, "the answer holds nothing")))
			}
			return
		}
		for event, err := range answer.add(data) {
			if err != nil {
				var fault *faultError
				if errors.As(err, &fault) {
					err = x.Fault(fault.Fault, 0)
				}
				yield(nil, x.Failed(err))
				return
			}
			if !yield(event, nil) {
				return
			}
		}
		if answer.complete() {
			x.Hurry(afterFinish)
		}
	}
	switch err := decoder.Err(); {
	case answer.complete() && !x.GivenUp():
		finish() // only [DONE] or the count of tokens is missing
	case err != nil:
		yield(nil, x.Failed(err))
	default:
		yield(nil, x.Failed(x.Cut("finish_reason")))
	}
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
