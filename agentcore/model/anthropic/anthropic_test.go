package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/conformance"
)

// TestMain puts into the environment what the vendor's SDK would use, and a proxy that nothing listens at: every
// test then shows that none of it matters.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_AUTH_TOKEN": "env-token", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
		"ANTHROPIC_CUSTOM_HEADERS": "X-From-Env: env-header", "ANTHROPIC_PROFILE": "env-profile",
		"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// event writes one event as the vendor does.
func event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

const start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":1}}}`

// contentBlock writes a content block with its deltas.
func contentBlock(index int, begin string, deltas ...string) string {
	out := event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`,
		index, begin))
	for _, delta := range deltas {
		out += event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`,
			index, delta))
	}
	return out + event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

// message writes a whole answer.
func message(stop string, blocks ...string) string {
	return event("message_start", start) + event("ping", `{"type": "ping"}`) + strings.Join(blocks, "") +
		event("message_delta",
			`{"type":"message_delta","delta":{"stop_reason":"`+stop+
				`","stop_sequence":null},"usage":{"output_tokens":89}}`) +
		event("message_stop", `{"type":"message_stop"}`)
}

var full = message("tool_use",
	contentBlock(0, `{"type":"thinking","thinking":"","signature":""}`,
		`{"type":"thinking_delta","thinking":"Let me "}`, `{"type":"thinking_delta","thinking":"see…"}`,
		`{"type":"signature_delta","signature":"c2lnbmF0dXJl"}`),
	contentBlock(1, `{"type":"redacted_thinking","data":"c2VhbGVk"}`),
	contentBlock(2, `{"type":"text","text":""}`, `{"type":"text_delta","text":"Grüße "}`,
		`{"type":"text_delta","text":"an 世界 \ud83d\ude00"}`),
	contentBlock(3, `{"type":"tool_use","id":"toolu_1","name":"read","input":{}}`,
		`{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{\"path\": \"ü"}`,
		`{"type":"input_json_delta","partial_json":".go\"}"}`),
	contentBlock(4, `{"type":"tool_use","id":"toolu_2","name":"list","input":{}}`),
)

func wire() conformance.Wire {
	return conformance.Wire{
		New: func(url string, client *http.Client, idle time.Duration) model.Model {
			return New(Options{
				Name: "prov", Model: "m", BaseURL: url, Key: conformance.Key, HTTPClient: client,
				IdleTimeout: idle,
			})
		},
		Stream: full,
		Last:   "event: message_stop",
		ErrorBody: func(kind, message string) string {
			raw, err := json.Marshal(message)
			if err != nil {
				panic(err)
			}
			return `{"type":"error","error":{"type":"` + kind + `","message":` + string(raw) + `},"request_id":"req_1"}`
		},
		Overflow: "prompt is too long: 205000 tokens > 200000 maximum",
	}
}

func TestFaults(t *testing.T) { conformance.Faults(t, wire()) }

func TestTurns(t *testing.T) { conformance.Turns(t, wire(), full) }

func TestAnswer(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
	want := &model.Done{
		Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			model.Reasoning{Text: "Let me see…", Signature: "c2lnbmF0dXJl"},
			model.Reasoning{Redacted: "c2VhbGVk"},
			model.Text{Text: "Grüße an 世界 😀"},
			model.Call{ID: "toolu_1", Name: "read", Arguments: json.RawMessage(`{"path": "ü.go"}`)},
			model.Call{ID: "toolu_2", Name: "list", Arguments: json.RawMessage(`{}`)},
		}},
		Usage: model.Usage{Input: 125, Output: 89, Cached: 2000, Written: 100},
		Stop:  model.StopCalls,
	}
	if diff := cmp.Diff(want, a.Done); diff != "" {
		t.Errorf("the answer (-want +got):\n%s\n%v", diff, a.Err)
	}
	if a.Reasoning != "Let me see…" || strings.Join(a.CallNames, " ") != "read list" {
		t.Errorf("reasoning %q, calls %q", a.Reasoning, a.CallNames)
	}
}

func TestStops(t *testing.T) {
	text := contentBlock(0, `{"type":"text","text":"Yes"}`)
	call := contentBlock(1, `{"type":"tool_use","id":"t","name":"read","input":{"whole":true}}`)
	for stop, want := range map[string]model.Stop{
		"end_turn": model.StopEnd, "stop_sequence": model.StopEnd, "pause_turn": model.StopEnd,
		"new_reason": model.StopEnd,
		"max_tokens": model.StopLength, "model_context_window_exceeded": model.StopLength, "refusal": model.StopRefused,
	} {
		server := conformance.Serve(t, conformance.SSE(message(stop, text), 0))
		if a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request()); a.Err != nil ||
			a.Done.Stop != want || a.Text != "Yes" {
			t.Errorf("%s: %+v, %v", stop, a.Done, a.Err)
		}
	}
	server := conformance.Serve(t, conformance.SSE(message("end_turn", text, call), 0))
	a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
	if a.Done.Stop != model.StopCalls || string(a.Done.Message.Calls()[0].Arguments) != `{"whole":true}` {
		t.Errorf("a call in one piece: %+v", a.Done)
	}
}

// TestMembersOfOtherTypes reads events in which members have other types than the vendor's: these count as absent.
func TestMembersOfOtherTypes(t *testing.T) {
	stream := strings.NewReplacer(`"index":1`, `"index":1,"delta":{"text":7}`,
		`"output_tokens":89`, `"output_tokens":"89"`).
		Replace(message("end_turn", contentBlock(0, `{"type":"text","text":null}`, `{"type":"text_delta","text":"hi"}`),
			contentBlock(1, `{"type":"tool_use","id":["x"],"name":"read","input":[1]}`)))
	server := conformance.Serve(t, conformance.SSE(stream, 0))
	a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
	if a.Err != nil || a.Text != "hi" || a.Done.Usage.Output != 1 || len(a.Done.Message.Calls()) != 1 ||
		string(a.Done.Message.Calls()[0].Arguments) != "[1]" {
		t.Errorf("%+v, %v", a.Done, a.Err)
	}
}

// TestCompatibleServers sends what imitations of the API send.
func TestCompatibleServers(t *testing.T) {
	// No event names, no start of the block, unknown events, an id that the conversation has.
	stream := strings.NewReplacer("event: message_start\n", "", "event: content_block_delta\n", "",
		"event: message_stop\n", "").Replace(
		event("message_start", start) + event("vendor_extra", `{"type":"vendor_extra","x":1}`) +
			event("content_block_delta",
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`) +
			contentBlock(1, `{"type":"tool_use","id":"c1","name":"read"}`,
				`{"type":"input_json_delta","partial_json":"{\"a\":"}`) +
			contentBlock(2, `{"type":"tool_use","name":"read","input":{}}`) +
			event("message_stop", `{"type":"message_stop"}`))
	server := conformance.Serve(t, conformance.SSE(stream, 0))
	a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Conversation())
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	calls := a.Done.Message.Calls()
	if a.Text != "hi" || len(calls) != 2 || string(calls[0].Arguments) != `{"a":` {
		t.Fatalf("the answer is %+v", a.Done)
	}
	if calls[0].ID == "c1" || calls[0].ID == "" || calls[1].ID == "" || calls[0].ID == calls[1].ID {
		t.Errorf("the ids are %q and %q", calls[0].ID, calls[1].ID)
	}
}

func TestErrorInStream(t *testing.T) {
	for kind, want := range map[string]model.ErrorKind{
		"overloaded_error": model.ErrOverloaded, "rate_limit_error": model.ErrRateLimit, "api_error": model.ErrServer,
		"authentication_error": model.ErrAuth, "invalid_request_error": model.ErrInvalid, "brand_new": model.ErrServer,
		"timeout_error": model.ErrNetwork,
	} {
		stream := event("message_start", start) +
			event("error", `{"type":"error","error":{"type":"`+kind+`","message":"Sorry"}}`)
		server := conformance.Serve(t, conformance.SSE(stream, 0))
		a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != want || e.Detail != "Sorry" || e.Hint == "" {
			t.Errorf("%s: %#v", kind, a.Err)
		}
	}
}

func TestHugeLine(t *testing.T) {
	huge := strings.Repeat("x", 3<<20)
	server := conformance.Serve(t,
		conformance.SSE(message("end_turn",
			contentBlock(0, `{"type":"text","text":""}`, `{"type":"text_delta","text":"`+huge+`"}`)), 0))
	if a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request()); a.Err != nil ||
		a.Text != huge {
		t.Errorf("%d bytes, %v", len(a.Text), a.Err)
	}
}

func TestRateLimitHeaders(t *testing.T) {
	server := conformance.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{
			"Date":                                   "Fri, 20 Nov 2026 12:00:00 GMT",
			"anthropic-ratelimit-requests-remaining": "3", "anthropic-ratelimit-requests-reset": "2026-11-20T13:00:00Z",
			"anthropic-ratelimit-input-tokens-remaining": "0",
			"anthropic-ratelimit-input-tokens-reset":     "2026-11-20T12:00:42Z",
		} {
			w.Header().Set(name, value)
		}
		w.WriteHeader(http.StatusTooManyRequests)
	})
	a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.RetryAfter != 42*time.Second {
		t.Errorf("%#v", a.Err)
	}
}

const wantBody = `{
  "model": "m", "max_tokens": 8192, "stream": true, "temperature": 0,
  "metadata": {"user_id": "run-1"},
  "system": [{"type": "text", "text": "You are a test.", "cache_control": {"type": "ephemeral"}}],
  "tools": [
    {"name": "read", "description": "Reads a file.", "input_schema": {"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}},
    {"name": "list", "input_schema": {"type":"object","properties":{}}, "cache_control": {"type": "ephemeral"}}
  ],
  "messages": [
    {"role": "user", "content": [{"type": "text", "text": "look at <a.go> & b.go", "cache_control": {"type": "ephemeral"}}]},
    {"role": "assistant", "content": [
      {"type": "thinking", "thinking": "I should read", "signature": "c2ln"},
      {"type": "redacted_thinking", "data": "c2VhbGVk"},
      {"type": "text", "text": "I read both."},
      {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.go"}},
      {"type": "tool_use", "id": "c2", "name": "read", "input": {"invalid_arguments": "{\"path\":"}}
    ]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "package a"}]},
      {"type": "tool_result", "tool_use_id": "c2", "is_error": true, "content": [{"type": "text", "text": "error: the arguments are no JSON"}]},
      {"type": "text", "text": "also say why", "cache_control": {"type": "ephemeral"}}
    ]}
  ]
}`

func TestRequest(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := New(Options{
		Model: "m", BaseURL: server.URL + "/v1/", Key: conformance.Key,
		Headers: map[string]string{"X-Team": "blue"}, HTTPClient: server.Client,
	})
	if m.Name() != "anthropic/m" {
		t.Errorf("the name is %q", m.Name())
	}
	request := conformance.Conversation()
	request.Temperature = new(float64)
	sent := server.SentAs(t, m, request, wantBody)
	if sent.Path != "/v1/messages" || sent.Header.Get("X-Api-Key") != conformance.Key ||
		sent.Header.Get("X-Team") != "blue" || sent.Header.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("path %s, header %v", sent.Path, sent.Header)
	}
	if !strings.Contains(string(sent.Body), `"properties":{"path":{"type":"string"},"limit"`) {
		t.Error("the schema was written anew, with its keys in another order")
	}
}

// TestPrefix checks that what was sent once is sent again byte for byte, the cache markers apart.
func TestPrefix(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := wire().New(server.URL, server.Client, 0)
	request := conformance.Conversation()
	sent := func() string {
		if a := conformance.Ask(t, m, request); a.Err != nil {
			t.Fatal(a.Err)
		}
		requests := server.Requests()
		return strings.ReplaceAll(string(requests[len(requests)-1].Body), `,"cache_control":{"type":"ephemeral"}`, "")
	}
	first := sent()
	request.Messages = append(request.Messages,
		model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "Because."}}},
		model.UserText("and?"))
	second := sent()
	messages := func(body string) string {
		_, rest, _ := strings.Cut(body, `"messages":[`)
		list, _, _ := strings.Cut(rest, `],"model"`)
		return list
	}
	if len(messages(first)) < 100 || !strings.HasPrefix(messages(second), messages(first)) {
		t.Errorf("the second conversation does not continue the first:\n%s\n%s", first, second)
	}
}

func TestNothingFromTheEnvironment(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := New(Options{Model: "m", BaseURL: server.URL})
	var body struct{}
	sent := server.Sent(t, m, conformance.Request(), &body)
	for name, values := range sent.Header {
		if strings.Contains(strings.Join(values, " "), "env-") || name == "Authorization" || name == "X-Api-Key" {
			t.Errorf("%s: %q was sent", name, values)
		}
	}
}

func TestNoKeyForTheVendor(t *testing.T) {
	a := conformance.Ask(t, New(Options{Model: "m"}), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrAuth || !strings.Contains(e.Hint, "ANTHROPIC_API_KEY") {
		t.Errorf("%#v", a.Err)
	}
}

// TestNoCalls checks that forbidding calls changes the choice and not a byte of what is cached before the messages.
func TestNoCalls(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := wire().New(server.URL, server.Client, 0)
	tools := map[bool]string{}
	for _, forbidden := range []bool{false, true} {
		request := conformance.Conversation()
		request.NoCalls = forbidden
		var body struct {
			Tools  json.RawMessage `json:"tools"`
			Choice json.RawMessage `json:"tool_choice"`
		}
		server.Sent(t, m, request, &body)
		tools[forbidden] = string(body.Tools)
		if want := map[bool]string{true: `{"type":"none"}`}[forbidden]; string(body.Choice) != want {
			t.Errorf("NoCalls %v: tool_choice is %s", forbidden, body.Choice)
		}
	}
	if tools[true] == "" || tools[true] != tools[false] {
		t.Errorf("the tools changed: %s, then %s", tools[false], tools[true])
	}
	request := conformance.Request() // offers no tools
	request.NoCalls = true
	conformance.Ask(t, m, request)
	var body struct {
		Choice json.RawMessage `json:"tool_choice"`
	}
	if server.Last(t, &body); body.Choice != nil {
		t.Errorf("without tools tool_choice is %s", body.Choice)
	}
}

// TestNothingSaid has the server end a message that it never began.
func TestNothingSaid(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(event("message_stop", `{"type":"message_stop"}`), 0))
	a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrProtocol {
		t.Errorf("%+v, %v", a.Done, a.Err)
	}
	server = conformance.Serve(t, conformance.SSE(message("end_turn"), 0))
	a = conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
	if a.Err != nil || len(a.Done.Message.Parts) != 0 || a.Done.Stop != model.StopEnd {
		t.Errorf("an empty message: %+v, %v", a.Done, a.Err)
	}
}

// BenchmarkDecode reads a stream of 10,000 deltas without a network.
func BenchmarkDecode(b *testing.B) {
	deltas := make([]string, 10_000)
	for i := range deltas {
		deltas[i] = `{"type":"text_delta","text":"some words "}`
	}
	stream := message("end_turn", contentBlock(0, `{"type":"text","text":""}`, deltas...))
	conformance.Benchmark(b, wire(), stream)
}
