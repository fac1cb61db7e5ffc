// Package gemini speaks the Gemini API's streamGenerateContent over net/http. Google's SDK is not used: it brings gRPC
// and Google's cloud libraries along, and would encode the whole conversation for every request.
// Source: "Generating content", "Function calling", "Thinking" and "Thought signatures" of the Gemini API
// documentation, version v1beta.
package gemini

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// VendorURL is the base URL where Options gives none.
const VendorURL = "https://generativelanguage.googleapis.com"

// afterFinish is how long a server may be silent after the finish reason before the answer counts as ended.
const afterFinish = 5 * time.Second

// Options says where the model is. Nothing is read from the environment but the proxy.
type Options struct {
	// Name is the provider's name, in Model.Name and in errors; empty means "gemini".
	Name string
	// Model is the vendor's id of the model, with or without "models/" before it.
	Model string
	// BaseURL is the server's address, which /v1beta is put behind unless it ends in a version; empty means VendorURL.
	BaseURL string
	// Key is sent as X-Goog-Api-Key; an empty one is sent to no one, and refused for VendorURL unless Headers
	// authorise.
	Key string
	// Headers are added to each request; a name that is there twice wins over the wire's own.
	Headers map[string]string
	// HTTPClient is used for the requests, without following redirects; nil means a client of its own.
	// Models that share a client share its connections.
	HTTPClient *http.Client
	// IdleTimeout is how long the server may send nothing; 0 means 120 s.
	IdleTimeout time.Duration
	// MaxTokens bounds an answer where the request does not; 0 leaves it to the server.
	MaxTokens int
}

// gemini is a model behind the Gemini API. It is never changed after New.
type gemini struct {
	name      string
	url       string
	header    http.Header
	maxTokens int
	thinks    bool // it can be asked for its thoughts
	checks    bool // it wants its signatures back
	upstream  transport.Upstream
	client    *http.Client
	encodings transport.Encodings
	broken    *model.Error // why no request can be sent, if so
}

// New makes a model. It sends nothing; what is wrong with the options is the error of each Stream. The
// model is safe for concurrent use.
func New(options Options) model.Model {
	provider := cmp.Or(options.Name, "gemini")
	base := strings.TrimRight(cmp.Or(options.BaseURL, VendorURL), "/")
	g := &gemini{
		name: provider + "/" + options.Model,
		url:  address(base, options.Model),
		header: http.Header{
			"Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
			"User-Agent": {"agentls"},
		},
		maxTokens: options.MaxTokens,
		client:    transport.Client(options.HTTPClient),
	}
	major, minor := version(options.Model)
	g.thinks, g.checks = thinks(options.Model, major, minor), major >= 3
	g.upstream = transport.Upstream{
		Name:    g.name,
		Secrets: transport.Secrets(options.Key, options.Headers),
		Idle:    options.IdleTimeout,
		KeyHint: transport.KeyHint(provider, "gemini", "GEMINI_API_KEY"),
		URLHint: "base_url of [providers." + provider + "] is the server's address without /v1beta",
	}
	if options.Key != "" {
		g.header.Set("X-Goog-Api-Key", options.Key)
	}
	for name, value := range options.Headers {
		g.header.Set(name, value)
	}
	if _, err := transport.CheckBase(base); err != nil {
		g.broken = g.upstream.Refuse(model.ErrInvalid, err.Error(), err)
		g.broken.Hint = g.upstream.URLHint
	} else if options.Key == "" && base == VendorURL && !transport.Authorises(options.Headers, "x-goog-api-key") {
		g.broken = g.upstream.Refuse(model.ErrAuth, "there is no key", nil)
	}
	return g
}

// address returns where a model streams its answers.
func address(base, id string) string {
	switch path.Base(base) {
	case "v1", "v1beta", "v1alpha":
	default:
		base += "/v1beta"
	}
	if !strings.HasPrefix(id, "models/") && !strings.HasPrefix(id, "tunedModels/") {
		id = "models/" + id
	}
	kind, id, _ := strings.Cut(id, "/")
	return base + "/" + kind + "/" + url.PathEscape(id) + ":streamGenerateContent?alt=sse"
}

// version returns the version of a model of the Gemini family by its id, and that of the newest for ids without one
// that the vendor keeps up to date (gemini-flash-latest). It is 0 for all others.
func version(id string) (major, minor int) {
	id = id[strings.LastIndexByte(id, '/')+1:]
	if n, err := fmt.Sscanf(id, "gemini-%d.%d", &major, &minor); n > 0 {
		return major, minor // err says that there is no minor version
	} else if err != nil && strings.HasPrefix(id, "gemini-") && strings.HasSuffix(id, "-latest") {
		return 3, 0
	}
	return 0, 0
}

// thinks reports whether a model may be asked for its thoughts: those that do not think refuse it ("Thinking" page).
// The smallest of 2.5 thinks only with a budget.
func thinks(id string, major, minor int) bool {
	for _, other := range []string{"image", "tts", "audio", "embedding", "live"} {
		if strings.Contains(id, other) {
			return false
		}
	}
	return major > 2 || major == 2 && minor >= 5 && !strings.Contains(id, "lite")
}

// Name is "provider/model".
func (g *gemini) Name() string { return g.name }

// Stream sends the request and yields the answer.
func (g *gemini) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if g.broken != nil {
			failure := *g.broken
			yield(nil, &failure)
			return
		}
		x := g.upstream.Begin(ctx)
		defer x.End()
		response, err := g.send(x, request)
		if err != nil {
			yield(nil, x.Failed(err))
			return
		}
		g.read(x, request, response, yield)
	}
}

// send sends the request. The answer's body is the exchange's to close.
func (g *gemini) send(x *transport.Exchange, request *model.Request) (*http.Response, error) {
	contents, err := g.contents(request.Messages)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(g.params(request))
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	post, err := http.NewRequestWithContext(x.Context, http.MethodPost, g.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header = g.header.Clone()
	if err := transport.Splice(post, "contents", contents); err != nil {
		return nil, err
	}
	return x.Send(post, g.client.Do)
}

// read turns the vendor's responses into our events. No event says that the answer has ended: the stream ends, after
// the response with the finish reason.
func (g *gemini) read(x *transport.Exchange, request *model.Request, response *http.Response,
	yield func(model.Event, error) bool,
) {
	var answer answer
	var failed error
	for data, err := range transport.Events(response.Body) {
		if err != nil {
			failed = err
			break
		}
		if string(bytes.TrimSpace(data)) == "[DONE]" { // the vendor sends none; gateways do
			break
		}
		events, err := answer.add(data)
		if err != nil {
			yield(nil, x.Failed(g.sort(x, err)))
			return
		}
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
		if answer.complete() {
			x.Hurry(afterFinish)
		}
	}
	switch {
	case answer.complete() && !x.GivenUp():
		if err := answer.wrong(); err != nil {
			yield(nil, x.Failed(g.sort(x, err)))
			return
		}
		if text := answer.reason(); text != "" && !yield(model.TextDelta{Text: text}, nil) {
			return
		}
		done := answer.done()
		if len(done.Message.Calls()) > 0 {
			model.UniqueIDs(&done.Message, request.Messages)
		}
		yield(done, nil)
		x.Drain()
	case failed != nil:
		yield(nil, x.Failed(failed))
	default:
		yield(nil, x.Failed(x.Cut("finishReason")))
	}
}

// sort turns what the server reported into the error to yield.
func (g *gemini) sort(x *transport.Exchange, err error) error {
	var fault *faultError
	var garbled *garbledError
	switch {
	case errors.As(err, &fault):
		return x.Fault(fault.Fault, 0)
	case errors.As(err, &garbled):
		return x.Protocol(nil, "%s", garbled.Error())
	}
	return err
}
