// Package wiretest puts a scripted model behind a loopback server that speaks a vendor's API. End-to-end tests use it
// for whatever a base URL tells where its model is. The package shares no code with the wires: it reads requests as
// strictly as the vendor does, and refuses what the vendor refuses.
//
// It is for tests only.
package wiretest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// Anthropic starts a server that answers the Messages API from the turns. Its URL is the base URL
// (ANTHROPIC_BASE_URL) as it is. At the end of the test it is closed, and what did not fit the turns fails the test.
// A test that has gates to release makes its own script.Script and serves AnthropicHandler.
func Anthropic(t testing.TB, turns ...script.Turn) *httptest.Server {
	t.Helper()
	s := script.New("anthropic", turns...)
	return serve(t, s, AnthropicHandler(s))
}

// OpenAI is Anthropic for Chat Completions. The base URL (OPENAI_BASE_URL) is the server's URL with /v1 behind it.
func OpenAI(t testing.TB, turns ...script.Turn) *httptest.Server {
	t.Helper()
	s := script.New("openai", turns...)
	return serve(t, s, OpenAIHandler(s))
}

// Responses is OpenAI for the Responses interface.
func Responses(t testing.TB, turns ...script.Turn) *httptest.Server {
	t.Helper()
	s := script.New("responses", turns...)
	return serve(t, s, ResponsesHandler(s))
}

// Gemini is Anthropic for the Gemini API. Its URL is the base URL (GOOGLE_GEMINI_BASE_URL) as it is.
func Gemini(t testing.TB, turns ...script.Turn) *httptest.Server {
	t.Helper()
	s := script.New("gemini", turns...)
	return serve(t, s, GeminiHandler(s))
}

func serve(t testing.TB, s *script.Script, handler http.Handler) *httptest.Server {
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections() // a turn may still wait at a gate
		server.Close()
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// AnthropicHandler serves a model at /v1/messages. The model gets each request as the caller of the wire made it,
// except for what the API has no place for: each part of a user message comes as a message of its own, and Reasoning
// has its text or its seal, as they were sent. The context of the model ends when the client goes.
//
// A *model.Error becomes the answer that the vendor would give, before the answer as well as within it. ErrNetwork cuts
// the connection, and ErrProtocol answers with a page.
func AnthropicHandler(m model.Model) http.Handler {
	return &handler{
		m, "/v1/messages", decodeAnthropic, func() encoder { return &anthropicAnswer{open: -1} },
		anthropicError,
	}
}

// OpenAIHandler serves a model at /v1/chat/completions, as AnthropicHandler does. A request to a server that is not the
// vendor's does not name its run. Request.Run is then made from the system prompt and the first user message, so that
// runs which begin with the same words count as one (script.Script.Lax, or different words, keep them apart).
func OpenAIHandler(m model.Model) http.Handler {
	return &handler{m, "/v1/chat/completions", decodeOpenAI, func() encoder { return &openAIAnswer{} }, openAIError}
}

// ResponsesHandler serves a model at /v1/responses, as OpenAIHandler does. Reasoning is sealed, and comes back with its
// text and its seal.
func ResponsesHandler(m model.Model) http.Handler {
	return &handler{m, "/v1/responses", decodeResponses, func() encoder { return &responsesAnswer{} }, responsesError}
}

// GeminiHandler serves a model at /v1beta/models/*:streamGenerateContent, as OpenAIHandler does. The first call of an
// answer has a signature, without which the conversation is refused; it comes as Reasoning before the call.
func GeminiHandler(m model.Model) http.Handler {
	return &handler{
		m, "/v1beta/models/*:streamGenerateContent", decodeGemini,
		func() encoder { return &geminiAnswer{} }, geminiError,
	}
}

// encoder writes the events of one answer as the vendor's stream.
type encoder interface {
	encode(model.Event) string
}

// handler is a model behind one vendor's API.
type handler struct {
	model   model.Model
	path    string // a pattern of path.Match
	decode  func([]byte) (*model.Request, error)
	encoder func() encoder
	failure func(*model.Error) (status int, body string)
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fits, err := path.Match(h.path, r.URL.Path); err != nil || !fits || r.Method != http.MethodPost {
		h.fail(w, &model.Error{Kind: model.ErrNotFound, Detail: "nothing is served at " + r.Method + " " + r.URL.Path})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	request, err := h.decode(body)
	if err != nil {
		h.fail(w, &model.Error{Kind: model.ErrInvalid, Detail: err.Error()})
		return
	}
	encoder := h.encoder()
	begun := false
	for event, err := range h.model.Stream(r.Context(), request) {
		if err != nil {
			h.end(w, begun, err)
			return
		}
		if !begun {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			begun = true
		}
		if _, err := io.WriteString(w, encoder.encode(event)); err != nil {
			return // the client has gone
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
	}
}

// end answers with a failure of the model.
func (h *handler) end(w http.ResponseWriter, begun bool, err error) {
	var failure *model.Error
	switch {
	case !errors.As(err, &failure), failure.Kind == model.ErrNetwork: // also the context's end: the client has gone
		panic(http.ErrAbortHandler)
	case failure.Kind == model.ErrProtocol && begun:
		write(w, "data: {\"type\":\n\n")
	case failure.Kind == model.ErrProtocol:
		w.Header().Set("Content-Type", "text/html")
		write(w, "<!doctype html><title>"+failure.Detail+"</title>")
	case begun:
		_, body := h.failure(failure)
		write(w, "event: error\ndata: "+body+"\n\n")
	default:
		h.fail(w, failure)
	}
}

// fail answers with an error status.
func (h *handler) fail(w http.ResponseWriter, failure *model.Error) {
	status, body := h.failure(failure)
	if failure.Status != 0 {
		status = failure.Status
	}
	if after := failure.RetryAfter; after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
		w.Header().Set("Retry-After-Ms", strconv.FormatInt(after.Milliseconds(), 10))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	write(w, body)
}

// write sends text to a client that may have gone, which is no concern of the server's.
func write(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		return
	}
}

// strict decodes JSON and refuses members that are not known.
func strict(raw []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// quote writes a JSON string.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil { // strings always encode
		panic(err)
	}
	return string(raw)
}

// halves cuts the arguments of a call in two at a character, since vendors send them in pieces.
func halves(arguments string) [2]string {
	runes := []rune(arguments)
	return [2]string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}

// names gives, by the id of each call of a conversation, the tool that it calls: results name only the call.
type names map[string]string

func (n names) result(id, text string, failed bool) (model.Result, error) {
	name, ok := n[id]
	if !ok {
		return model.Result{}, fmt.Errorf("the result with id %q answers no call of the conversation", id)
	}
	return model.Result{ID: id, Name: name, Text: text, Error: failed}, nil
}

// runOf makes a name for the run of a request that names none. It is made of how the request begins, which is the same
// in all requests of a conversation.
func runOf(request *model.Request) string {
	begin := request.System
	for _, message := range request.Messages {
		if message.Role == model.RoleUser {
			begin += "\n" + message.Text()
			break
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(begin)))[:12]
}

// add puts a part into the conversation. A part of a user becomes a message of its own; any other part joins the last
// message where that has the same role.
func add(request *model.Request, role model.Role, part model.Part) {
	if last := len(request.Messages) - 1; role != model.RoleUser && last >= 0 && request.Messages[last].Role == role {
		request.Messages[last].Parts = append(request.Messages[last].Parts, part)
		return
	}
	request.Messages = append(request.Messages, model.Message{Role: role, Parts: []model.Part{part}})
}

// blank reports whether a text is one that vendors refuse.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
