package wiretest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/anthropic"
	"github.com/agentls/agentls/agentcore/model/gemini"
	"github.com/agentls/agentls/agentcore/model/openai"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vendor is a wire and the server that speaks to it.
type vendor struct {
	name    string
	server  func(testing.TB, ...script.Turn) *httptest.Server
	handler func(model.Model) http.Handler
	path    string
	dial    func(url string, client *http.Client) model.Model
	seal    string // that reasoning keeps
	// sealsCalls says that the first call has the seal, and objects that a call cannot have other arguments.
	sealsCalls, objects bool
}

var vendors = []vendor{
	{
		"anthropic", wiretest.Anthropic, wiretest.AnthropicHandler, "/v1/messages",
		func(url string, client *http.Client) model.Model {
			return anthropic.New(anthropic.Options{Model: "m", BaseURL: url, Key: "k", HTTPClient: client})
		}, "c2VhbA==", false, false,
	},
	{
		"openai", wiretest.OpenAI, wiretest.OpenAIHandler, "/v1/chat/completions",
		func(url string, client *http.Client) model.Model {
			return openai.New(openai.Options{Model: "m", BaseURL: url + "/v1", HTTPClient: client})
		}, "", false, false,
	},
	{
		"responses", wiretest.Responses, wiretest.ResponsesHandler, "/v1/responses",
		func(url string, client *http.Client) model.Model {
			return openai.NewResponses(openai.Options{Model: "gpt-5", BaseURL: url + "/v1", HTTPClient: client})
		}, "openai:item_0:c2VhbA==", false, false,
	},
	{
		"gemini", wiretest.Gemini, wiretest.GeminiHandler, "/v1beta/models/m:streamGenerateContent",
		func(url string, client *http.Client) model.Model {
			return gemini.New(gemini.Options{Model: "gemini-3-pro", BaseURL: url, Key: "k", HTTPClient: client})
		}, "gemini:c2VhbA==", true, true,
	},
}

// each runs a test for each vendor, with a client whose connections end with it.
func each(t *testing.T, test func(*testing.T, vendor, *http.Client)) {
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(client.CloseIdleConnections)
			test(t, v, client)
		})
	}
}

// ask sends a request and returns the streamed text, the end and the error.
func ask(ctx context.Context, m model.Model, request *model.Request) (string, model.Done, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var text strings.Builder
	var done model.Done
	for event, err := range m.Stream(ctx, request) {
		if err != nil {
			return text.String(), done, err
		}
		switch event := event.(type) {
		case model.TextDelta:
			text.WriteString(event.Text)
		case model.Done:
			done = event
		}
	}
	return text.String(), done, nil
}

func begin(text string) *model.Request {
	return &model.Request{
		System: "You are a test.", Run: "r-" + text,
		Messages: []model.Message{model.UserText(text)},
		Tools: []model.Tool{{
			Name: "read", Description: "Reads a file.",
			Schema: json.RawMessage(`{"type":"object"}`),
		}},
	}
}

// TestConversation has a wire and a server carry a conversation of three turns, in which the script checks all
// that was sent.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, v vendor, client *http.Client) {
		noCalls := 0
		server := v.server(t,
			script.Turn{
				Match: "look", Chunk: 3, Usage: model.Usage{Input: 100, Output: 7, Cached: 40},
				Expect: []script.Expect{
					script.System("a test"), script.Tools("read"), script.Calls(),
					script.Messages(1),
				},
				Answer: []script.Step{
					script.Reasoning("hm, \"so\""), script.Text("Grüße an 世界"),
					script.Call{Name: "read", Arguments: `{"path":"ü.go"}`},
					script.Call{Name: "read", Arguments: `{"path":`},
				},
			},
			script.Turn{
				Expect: []script.Expect{script.Result("read", "package ü"), script.Messages(3)},
				Answer: []script.Step{script.Text("half")}, Stop: model.StopLength,
			},
			script.Turn{Expect: []script.Expect{
				script.NoCalls(), script.Last("in short"),
				func(r *model.Request) error {
					noCalls++
					return nil
				},
			}, Answer: []script.Step{script.Text("end")}},
		)
		m := v.dial(server.URL, client)
		request := begin("look at it")
		text, done, err := ask(t.Context(), m, request)
		if err != nil {
			t.Fatal(err)
		}
		calls := done.Message.Calls()
		if len(calls) != 2 || calls[0].ID == calls[1].ID {
			t.Fatalf("the calls are %+v", calls)
		}
		reasoning, broken := model.Reasoning{Text: "hm, \"so\"", Signature: v.seal}, json.RawMessage(`{"path":`)
		if v.objects {
			broken = json.RawMessage(`{"broken":"{\"path\":"}`)
		}
		parts := []model.Part{
			reasoning,
			model.Text{Text: "Grüße an 世界"},
			model.Call{ID: calls[0].ID, Name: "read", Arguments: json.RawMessage(`{"path":"ü.go"}`)},
			model.Call{ID: calls[1].ID, Name: "read", Arguments: broken},
		}
		if v.sealsCalls {
			parts[0] = model.Reasoning{Text: reasoning.Text}
			parts = slices.Insert(parts, 2, model.Part(model.Reasoning{Signature: v.seal}))
		}
		want := model.Done{
			Message: model.Message{Role: model.RoleAssistant, Parts: parts},
			Usage:   model.Usage{Input: 100, Output: 7, Cached: 40},
			Stop:    model.StopCalls,
		}
		if diff := cmp.Diff(want, done); diff != "" || text != "Grüße an 世界" {
			t.Errorf("the first turn (-want +got):\n%s\ntext %q", diff, text)
		}
		request.Messages = append(request.Messages, done.Message,
			model.Message{Role: model.RoleTool, Parts: []model.Part{
				model.Result{ID: calls[0].ID, Name: "read", Text: "package ü"},
				model.Result{ID: calls[1].ID, Name: "read", Text: "error: no JSON", Error: true},
			}})
		if _, done, err = ask(t.Context(), m, request); err != nil || done.Stop != model.StopLength {
			t.Fatalf("the second turn: %+v, %v", done, err)
		}
		request.Messages = append(request.Messages, done.Message, model.UserText("go on"), model.UserText("in short"))
		request.NoCalls = true
		if text, _, err = ask(t.Context(), m, request); err != nil || text != "end" || noCalls != 1 {
			t.Errorf("the third turn: %q, %v", text, err)
		}
	})
}

// TestFailures sends each kind of failure, before and within the answer, and expects it to arrive as itself.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, v vendor, client *http.Client) {
		for _, kind := range []model.ErrorKind{
			model.ErrRateLimit, model.ErrOverloaded, model.ErrServer, model.ErrNetwork, model.ErrProtocol,
			model.ErrAuth, model.ErrNotFound, model.ErrInvalid, model.ErrContext,
		} {
			failure := script.Error{Kind: kind, Detail: "sorry", RetryAfter: 1500 * time.Millisecond}
			server := v.server(t, script.Turn{Answer: []script.Step{failure}},
				script.Turn{Answer: []script.Step{script.Text("half"), failure}})
			m := v.dial(server.URL, client)
			for _, within := range []bool{false, true} {
				text, _, err := ask(t.Context(), m, begin("go"))
				var got *model.Error
				if !errors.As(err, &got) || got.Kind != kind || (text == "half") != within {
					t.Errorf("%s, within the answer: %v: %q, %v", kind, within, text, err)
					continue
				}
				if !within && model.Retryable(got) && kind != model.ErrNetwork && kind != model.ErrProtocol &&
					got.RetryAfter != 1500*time.Millisecond {
					t.Errorf("%s: retry after %s", kind, got.RetryAfter)
				}
			}
		}
	})
}

// TestGate cancels one of two requests that wait at a gate, and lets the other go on.
func TestGate(t *testing.T) {
	each(t, func(t *testing.T, v vendor, client *http.Client) {
		s := script.New("gate",
			script.Turn{Times: 2, Answer: []script.Step{
				script.Text("before "), script.Gate("door"),
				script.Text("after"),
			}})
		server := httptest.NewServer(v.handler(s))
		defer server.Close()
		m := v.dial(server.URL, client)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		stopped, stop := context.WithCancel(ctx)
		defer stop()
		ends := make(chan error, 2)
		go func() {
			_, _, err := ask(stopped, m, begin("one"))
			ends <- err
		}()
		if err := s.Reached(ctx, "door", 1); err != nil {
			t.Fatal(err)
		}
		stop()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled one ended with %v", err)
		}
		go func() {
			text, _, err := ask(ctx, m, begin("two"))
			if text != "before after" {
				t.Errorf("the text is %q", text)
			}
			ends <- err
		}()
		if err := s.Reached(ctx, "door", 2); err != nil {
			t.Fatal(err)
		}
		s.Release("door")
		if err := <-ends; err != nil {
			t.Error(err)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	})
}

// spy is a test whose failures are kept.
type spy struct {
	testing.TB
	failures []any
	cleanups []func()
}

func (s *spy) Helper()           {}
func (s *spy) Error(args ...any) { s.failures = append(s.failures, args...) }
func (s *spy) Cleanup(f func())  { s.cleanups = append(s.cleanups, f) }

func (s *spy) end() {
	for _, f := range s.cleanups {
		f()
	}
}

// TestUnmetTurnsFailTheTest leaves a turn unused and expects what does not hold.
func TestUnmetTurnsFailTheTest(t *testing.T) {
	each(t, func(t *testing.T, v vendor, client *http.Client) {
		test := &spy{TB: t}
		server := v.server(test, script.Turn{Expect: []script.Expect{script.Last("nowhere")}}, script.Turn{})
		if _, _, err := ask(t.Context(), v.dial(server.URL, client), begin("go")); err != nil {
			t.Error(err)
		}
		test.end()
		if len(test.failures) != 1 {
			t.Fatalf("the failures are %v", test.failures)
		}
		said := test.failures[0].(error).Error()
		if !strings.Contains(said, `should hold "nowhere"`) || !strings.Contains(said, "turn 2") {
			t.Errorf("the failure is %s", said)
		}
	})
}

// TestRefusals sends what the vendors refuse.
func TestRefusals(t *testing.T) {
	const hello = `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]`
	const tool = `{"name":"read","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}`
	bodies := map[string]map[string]string{
		"anthropic": {
			`{`: "read the request",
			`{"model":"m","stream":true,` + hello +
				`}`: "max_tokens",
			`{"model":"m","max_tokens":1,"stream":true,"surprise":1,` + hello +
				`}`: "surprise",
			`{"model":"m","max_tokens":1,"stream":true,"tool_choice":{"type":"none"},` + hello +
				`}`: "while providing tools",
			`{"model":"m","max_tokens":1,"stream":true,"tools":[` + strings.Repeat(tool+",", 4) + tool + `],` + hello +
				`}`: "maximum of 4",
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`:                            "non-whitespace",
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[]}]}]}`: "answers no call",
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"assistant","content":[{"type":"text","text":"hi"}]}]}`:                      "alternate",
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":[{"type":"thinking","thinking":"hm","signature":"x"}]}]}`:   "does not belong",
		},
		"openai": {
			`{`:                           "read the request",
			`{"model":"m","stream":true}`: "counts tokens",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"tool_choice":"none"}`:                                          "only allowed when",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"tool","content":"x","tool_call_id":"y"}]}`: "answers no call",
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user"}]}`:                                  "content is required",
		},
		"responses": {
			`{`:                           "read the request",
			`{"model":"m","stream":true}`: "stores nothing",
			`{"model":"m","stream":true,"store":false,"tool_choice":"none"}`:                                                            "must be specified with",
			`{"model":"m","stream":true,"store":false,"input":[{"type":"function_call_output","call_id":"y","output":""}]}`:             "answers no call",
			`{"model":"m","stream":true,"store":false,"input":[{"type":"function_call","call_id":"y","name":"read","arguments":"{}"}]}`: "no tool output",
			`{"model":"m","stream":true,"store":false,"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}]}`: "required following item",
			`{"model":"m","stream":true,"store":false,"input":[{"type":"message","role":"user"}]}`:                                      "not complete",
			`{"model":"m","stream":true,"store":false,"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}`:      "strict",
		},
		"gemini": {
			`{`:               "read the request",
			`{"contents":[]}`: "not specified",
			`{"surprise":1}`:  "surprise",
			`{"contents":[{"role":"assistant","parts":[{"text":"hi"}]}]}`:                                                                                         "role",
			`{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"read","response":{}}}]}]}`:                                                         "answers no call",
			`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]}]}`:                                                                "thought_signature",
			`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"read","args":{}},"thoughtSignature":"x"}]},{"role":"user","parts":[{"text":"hi"}]}]}`: "function response parts",
			`{"contents":[{"role":"user","parts":[{"functionCall":{"name":"read","args":{}},"thoughtSignature":"x"}]}]}`:                                          "does not belong",
		},
	}
	each(t, func(t *testing.T, v vendor, client *http.Client) {
		server := v.server(t)
		for body, want := range bodies[v.name] {
			response, err := client.Post(server.URL+v.path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(response.Body)
			if err := errors.Join(err, response.Body.Close()); err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), want) {
				t.Errorf("%s: %d %s, want %q", body, response.StatusCode, said, want)
			}
		}
	})
}
