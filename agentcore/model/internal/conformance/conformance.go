// Package conformance holds the tests that every provider wire must pass, and the loopback server they need.
// It is for tests only.
package conformance

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/model"
)

// Watchdog is how long a test waits for what must happen.
const Watchdog = 30 * time.Second

// Recorded is a request as the server got it.
type Recorded struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Server is a loopback server that records what it is sent.
type Server struct {
	URL    string
	Client *http.Client

	mu       sync.Mutex
	requests []Recorded
}

// Serve starts a server that ends with the test.
func Serve(t *testing.T, answer http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		s.mu.Lock()
		s.requests = append(s.requests, Recorded{r.URL.Path, r.Header.Clone(), body})
		s.mu.Unlock()
		answer(w, r)
	}))
	s.URL, s.Client = server.URL, &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		s.Client.CloseIdleConnections()
		server.Close()
	})
	return s
}

// Requests returns what came so far.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.requests...)
}

// Last decodes the body of the last request into v and returns the request.
func (s *Server) Last(t *testing.T, v any) Recorded {
	t.Helper()
	requests := s.Requests()
	if len(requests) == 0 {
		t.Fatal("no request came")
	}
	last := requests[len(requests)-1]
	if err := json.Unmarshal(last.Body, v); err != nil {
		t.Fatalf("the request is no JSON: %v\n%s", err, last.Body)
	}
	return last
}

// SSE answers with a stream as it is, in pieces of the given number of bytes (0 for one piece).
func SSE(stream string, piece int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for rest := stream; rest != ""; {
			n := len(rest)
			if piece > 0 {
				n = min(n, piece)
			}
			if _, err := io.WriteString(w, rest[:n]); err != nil {
				return // the client has gone, which some tests want
			}
			Flush(w)
			rest = rest[n:]
		}
	}
}

// Flush sends what was written.
func Flush(w http.ResponseWriter) {
	if err := http.NewResponseController(w).Flush(); err != nil {
		return // the client has gone
	}
}

// Answer is what a stream yielded.
type Answer struct {
	Text, Reasoning string
	CallNames       []string
	Done            *model.Done
	Err             error
}

// Ask sends a request and collects the answer. It fails the test if the order of events breaks the contract.
func Ask(t *testing.T, m model.Model, request *model.Request) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Watchdog)
	defer cancel()
	return AskContext(t, ctx, m, request)
}

// Sent has a model of the server answer a request. It decodes the body that came into v and returns what came; the test
// ends where the model fails.
func (s *Server) Sent(t *testing.T, m model.Model, request *model.Request, v any) Recorded {
	t.Helper()
	if a := Ask(t, m, request); a.Err != nil {
		t.Fatal(a.Err)
	}
	return s.Last(t, v)
}

// SentAs is Sent for a body that must be the same JSON as want.
func (s *Server) SentAs(t *testing.T, m model.Model, request *model.Request, want string) Recorded {
	t.Helper()
	var got, expected any
	sent := s.Sent(t, m, request, &got)
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("the body (-want +got):\n%s", diff)
	}
	return sent
}

// AskContext is Ask with a context of the test's own.
func AskContext(t *testing.T, ctx context.Context, m model.Model, request *model.Request) Answer {
	t.Helper()
	var a Answer
	var text, reasoning strings.Builder
	for event, err := range m.Stream(ctx, request) {
		if a.Done != nil || a.Err != nil {
			t.Errorf("after the end came %#v, %v", event, err)
		}
		if err != nil {
			a.Err = err
			continue
		}
		switch event := event.(type) {
		case model.TextDelta:
			text.WriteString(event.Text)
		case model.ReasoningDelta:
			reasoning.WriteString(event.Text)
		case model.CallDelta:
			a.CallNames = append(a.CallNames, event.Name)
		case model.Done:
			a.Done = &event
		default:
			t.Errorf("an event of type %T", event)
		}
	}
	a.Text, a.Reasoning = text.String(), reasoning.String()
	switch {
	case a.Done == nil && a.Err == nil:
		t.Error("the stream ended with neither Done nor an error")
	case a.Done != nil && a.Done.Message.Text() != a.Text:
		t.Errorf("the deltas say %q, the message %q", a.Text, a.Done.Message.Text())
	}
	return a
}

// Request is a small request.
func Request() *model.Request {
	return &model.Request{System: "You are a test.", Messages: []model.Message{model.UserText("hello")}, Run: "run-1"}
}

// Conversation is a request with all that a conversation may hold.
func Conversation() *model.Request {
	return &model.Request{
		System: "You are a test.",
		Messages: []model.Message{
			model.UserText("look at <a.go> & b.go"),
			{Role: model.RoleAssistant, Parts: []model.Part{
				model.Reasoning{Text: "I should read", Signature: "c2ln"},
				model.Reasoning{Redacted: "c2VhbGVk"},
				model.Reasoning{Text: "without a seal"},
				model.Reasoning{Text: "another vendor's", Signature: "other:c2ln"},
				model.Text{Text: "I read both."},
				model.Call{ID: "c1", Name: "read", Arguments: json.RawMessage(`{"path":"a.go"}`)},
				model.Call{ID: "c2", Name: "read", Arguments: json.RawMessage(`{"path":`)},
			}},
			{Role: model.RoleTool, Parts: []model.Part{
				model.Result{ID: "c1", Name: "read", Text: "package a"},
				model.Result{ID: "c2", Name: "read", Text: "error: the arguments are no JSON", Error: true},
			}},
			model.UserText("also say why"),
		},
		Tools: []model.Tool{
			{
				Name: "read", Description: "Reads a file.",
				Schema: json.RawMessage(
					`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}`),
			},
			{Name: "list", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		Run: "run-1",
	}
}

// canned is a transport that answers each request with the same stream.
type canned string

func (c canned) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(string(c))),
	}, nil
}

// Benchmark measures how long a wire takes to read a whole stream, without a network.
func Benchmark(b *testing.B, wire Wire, stream string) {
	m := wire.New("http://127.0.0.1:1", &http.Client{Transport: canned(stream)}, 0)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		events := 0
		for _, err := range m.Stream(b.Context(), Request()) {
			if err != nil {
				b.Fatal(err)
			}
			events++
		}
		if events < 100 {
			b.Fatalf("only %d events came", events)
		}
	}
}
