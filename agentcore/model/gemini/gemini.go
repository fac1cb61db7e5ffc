// Package gemini speaks the Gemini API's streamGenerateContent over net/http. Google's SDK is not used: it requires
// gRPC and Google's cloud libraries, and would encode the whole conversation for every request. Source: "Generating
// content", "Function calling", "Thinking" and "Thought signatures" of the Gemini API documentation, version v1beta.
package gemini

import (
	"bytes"
	"cmp"
	"context"
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

// afterFinish is how long a server may be silent after the finish reason; then the answer counts as ended.
const afterFinish = 5 * time.Second

// Options says where the model is. Model may begin with "models/". /v1beta is added to BaseURL, the server's address,
// unless it ends in a version.
type Options = transport.Options

// gemini is a model behind the Gemini API. It is never changed after New.
type gemini struct {
	transport.Endpoint
	url       string
	maxTokens int
	thinks    bool // thoughts can be requested
	effort    effort
	checks    bool // it requires its signatures in later requests
	encodings transport.Encodings
	frames    transport.Frames
}

// New makes a model. It sends nothing; what is wrong with the options is the error of each Stream. The
// model is safe for concurrent use.
func New(options Options) model.Model {
	at := transport.Vendor{
		Name: "gemini", URL: VendorURL, KeyVariable: "GEMINI_API_KEY", KeyHeader: "x-goog-api-key",
		Header: http.Header{"Accept": {"text/event-stream"}}, Form: " without /v1beta",
	}.Endpoint(options)
	major, minor := version(options.Model)
	return &gemini{
		Endpoint:  at,
		url:       address(at.Base, options.Model),
		maxTokens: options.MaxTokens,
		thinks:    thinks(options.Model, major, minor),
		effort:    effortOf(options.Model, major, minor),
		checks:    major >= 3,
	}
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

// version returns the version of a model of the Gemini family by its id. Ids without a version that the vendor keeps up
// to date (gemini-flash-latest) have the newest version. For all other ids it is 0.
func version(id string) (major, minor int) {
	id = id[strings.LastIndexByte(id, '/')+1:]
	if n, err := fmt.Sscanf(id, "gemini-%d.%d", &major, &minor); n > 0 {
		return major, minor // err says that there is no minor version
	} else if err != nil && strings.HasPrefix(id, "gemini-") && strings.HasSuffix(id, "-latest") {
		return 3, 0
	}
	return 0, 0
}

// thinks reports whether thoughts may be requested of a model: models that do not think refuse such a request
// ("Thinking" page). The smallest model of 2.5 thinks only with a budget.
func thinks(id string, major, minor int) bool {
	return !silent(id) && (major > 2 || major == 2 && minor >= 5 && !strings.Contains(id, "lite"))
}

// silent reports whether a model is of a kind that does not think, whatever its version.
func silent(id string) bool {
	for _, kind := range []string{"image", "tts", "audio", "embedding", "live"} {
		if strings.Contains(id, kind) {
			return true
		}
	}
	return false
}

// Stream sends the request and yields the answer.
func (g *gemini) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return g.Endpoint.Stream(ctx, nil, func(x *transport.Exchange, yield func(model.Event, error) bool) error {
		said, err := g.encodings.Join(request.Messages, g.encode, transport.Commas)
		if err != nil {
			return err
		}
		response, err := x.Post(&g.Endpoint, g.url, "contents", g.frames.Of(request), said,
			func() any { return g.params(request) })
		if err != nil {
			return err
		}
		return read(x, response, yield)
	})
}

// read turns the vendor's responses into our events. No event says that the answer has ended: the stream just ends
// after the response with the finish reason.
func read(x *transport.Exchange, response *http.Response, yield func(model.Event, error) bool) error {
	var answer answer
	var failed error
	for data, err := range transport.Events(response.Body) {
		if err != nil {
			failed = err
			break
		}
		if string(bytes.TrimSpace(data)) == "[DONE]" { // gateways send this, the vendor does not
			break
		}
		events, err := answer.add(data)
		if err != nil {
			return err
		}
		for _, event := range events {
			if !yield(event, nil) {
				return nil
			}
		}
		if answer.complete() {
			x.Hurry(afterFinish)
		}
	}
	if !answer.complete() || x.GivenUp() {
		return cmp.Or[error](failed, x.Cut("finishReason"))
	}
	if err := answer.wrong(x); err != nil {
		return err
	}
	if text := answer.reason(); text == "" || yield(model.TextDelta{Text: text}, nil) {
		x.Finish(answer.done(), yield)
	}
	return nil
}

// Sees implements model.Seeing: all models of the vendor do.
func (*gemini) Sees() bool { return true }
