// Package anthropic speaks the Anthropic Messages API, streamed, through the vendor's SDK.
// Source: the "Messages" and "Streaming messages" pages of the Claude API documentation, version 2023-06-01.
package anthropic

import (
	"cmp"
	"context"
	"errors"
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

// Options says where the model is. Nothing is read from the environment but the proxy.
type Options struct {
	// Name is the provider's name, in Model.Name and in errors; empty means "anthropic".
	Name string
	// Model is the vendor's id of the model; it is sent as it is.
	Model string
	// BaseURL has no /v1 at its end (one that is there is taken off); empty means VendorURL.
	BaseURL string
	// Key is sent as X-Api-Key; an empty one is sent to no one, and refused for VendorURL unless Headers authorise.
	Key string
	// Headers are added to each request; a name that is there twice wins over the wire's own.
	Headers map[string]string
	// HTTPClient is used for the requests, without following redirects; nil means a client of its own.
	// Models that share a client share its connections.
	HTTPClient *http.Client
	// IdleTimeout is how long the server may send nothing, comments and pings counted; 0 means 120 s.
	IdleTimeout time.Duration
	// MaxTokens bounds an answer where the request does not; 0 means 8192.
	MaxTokens int
}

// claude is a model behind the Messages API. It is never changed after New.
type claude struct {
	name      string
	model     string
	maxTokens int
	upstream  transport.Upstream
	service   sdk.MessageService
	encodings transport.Encodings
	broken    *model.Error // why no request can be sent, if so
}

// New makes a model. It sends nothing; what is wrong with the options is the error of each Stream. The
// model is safe for concurrent use.
func New(options Options) model.Model {
	provider := cmp.Or(options.Name, "anthropic")
	base := strings.TrimSuffix(strings.TrimRight(cmp.Or(options.BaseURL, VendorURL), "/"), "/v1")
	c := &claude{
		name:      provider + "/" + options.Model,
		model:     options.Model,
		maxTokens: cmp.Or(options.MaxTokens, defaultMaxTokens),
	}
	c.upstream = transport.Upstream{
		Name:    c.name,
		Secrets: transport.Secrets(options.Key, options.Headers),
		Idle:    options.IdleTimeout,
		KeyHint: transport.KeyHint(provider, "anthropic", "ANTHROPIC_API_KEY"),
		URLHint: "base_url of [providers." + provider + "] is the server's address without /v1",
		Resets:  resets,
	}
	set := []option.RequestOption{
		option.WithMaxRetries(0),
		option.WithBaseURL(base + "/"),
		option.WithHTTPClient(transport.Client(options.HTTPClient)),
		option.WithoutOpenTelemetry(),
		option.WithHeader("User-Agent", "agentls"),
	}
	if options.Key != "" {
		set = append(set, option.WithAPIKey(options.Key))
	}
	for name, value := range options.Headers {
		set = append(set, option.WithHeader(name, value))
	}
	if _, err := transport.CheckBase(base); err != nil {
		c.broken = c.upstream.Refuse(model.ErrInvalid, err.Error(), err)
		c.broken.Hint = c.upstream.URLHint
	} else if options.Key == "" && base == VendorURL && !transport.Authorises(options.Headers, "x-api-key") {
		c.broken = c.upstream.Refuse(model.ErrAuth, "there is no key", nil)
	}
	// The service is made by itself: the SDK's client would take keys, headers and profiles from the environment.
	c.service = sdk.NewMessageService(set...)
	return c
}

// Name is "provider/model".
func (c *claude) Name() string { return c.name }

// Stream sends the request and yields the answer.
func (c *claude) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if c.broken != nil {
			failure := *c.broken
			yield(nil, &failure)
			return
		}
		x := c.upstream.Begin(ctx)
		defer x.End()
		var response *http.Response
		messages, err := c.messages(request.Messages)
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
		stream := c.service.NewStreaming(x.Context, c.params(request), option.WithMiddleware(send),
			option.WithResponseInto(&response))
		if err := stream.Err(); err != nil {
			yield(nil, x.Failed(err))
			return
		}
		c.read(x, request, ssestream.NewDecoder(response), yield)
	}
}

// read turns the vendor's events into ours. The SDK's own stream type is not used for it: it drops events
// without a name, which compatible servers send.
func (c *claude) read(x *transport.Exchange, request *model.Request, decoder ssestream.Decoder,
	yield func(model.Event, error) bool,
) {
	var answer answer
	for decoder.Next() {
		event, ended, err := answer.add(decoder.Event().Data)
		if err != nil {
			var fault *faultError
			if errors.As(err, &fault) {
				err = x.Fault(fault.Fault, 0)
			}
			yield(nil, x.Failed(err))
			return
		}
		if ended && !answer.begun {
			yield(nil, x.Failed(x.Protocol(nil, "the answer holds nothing")))
			return
		}
		if ended {
			done := answer.done()
			if len(done.Message.Calls()) > 0 {
				model.UniqueIDs(&done.Message, request.Messages)
			}
			yield(done, nil)
			x.Drain()
			return
		}
		if event != nil && !yield(event, nil) {
			return
		}
	}
	if err := decoder.Err(); err != nil {
		yield(nil, x.Failed(err))
		return
	}
	yield(nil, x.Failed(x.Cut("message_stop")))
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
