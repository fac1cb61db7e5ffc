package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/conformance"
)

// sends writes one event of the Responses stream; members is JSON behind the type.
func sends(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + members + "}\n\n"
}

// added, done and deltaOf write the beginning, the end and a delta of the item with that index.
func added(index int, item string) string {
	return sends("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

func done(index int, item string) string {
	return sends("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

func deltaOf(kind string, index int, delta string) string {
	return sends("response."+kind+".delta",
		fmt.Sprintf(`"item_id":"i%d","output_index":%d,"content_index":0,"delta":%s`, index, index, delta))
}

const counted = `"usage":{"input_tokens":2125,"input_tokens_details":{"cached_tokens":2000},"output_tokens":89,"output_tokens_details":{"reasoning_tokens":30},"total_tokens":2214}`

// completed writes the last event; output is JSON.
func completed(output string) string {
	return sends("response.completed",
		`"response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[`+output+`],`+counted+`}`)
}

// created writes the first events.
func created() string {
	return sends("response.created",
		`"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}`) +
		sends("response.in_progress", `"response":{"id":"resp_1","status":"in_progress","output":[]}`)
}

// said writes a whole message item in pieces.
func said(index int, pieces ...string) string {
	var b strings.Builder
	b.WriteString(added(index,
		fmt.Sprintf(`{"id":"i%d","type":"message","status":"in_progress","role":"assistant","content":[]}`, index)))
	b.WriteString(sends("response.content_part.added",
		fmt.Sprintf(
			`"item_id":"i%d","output_index":%d,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`,
			index, index)))
	for _, text := range pieces {
		b.WriteString(deltaOf("output_text", index, text))
	}
	b.WriteString(sends("response.output_text.done",
		fmt.Sprintf(`"item_id":"i%d","output_index":%d,"content_index":0,"text":"ignored"`, index, index)))
	b.WriteString(done(index,
		fmt.Sprintf(
			`{"id":"i%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"ignored"}]}`, index)))
	return b.String()
}

var fullResponse = created() +
	added(0, `{"id":"rs_1","type":"reasoning","summary":[]}`) +
	sends("response.reasoning_summary_part.added",
		`"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}`) +
	deltaOf("reasoning_summary_text", 0, `"Let me "`) + deltaOf("reasoning_summary_text", 0, `"see…"`) +
	sends("response.reasoning_summary_text.done",
		`"item_id":"rs_1","output_index":0,"summary_index":0,"text":"Let me see…"`) +
	sends("response.reasoning_summary_part.added",
		`"item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}`) +
	deltaOf("reasoning_summary_text", 0, `"Yes."`) +
	done(0,
		`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Let me see…"},{"type":"summary_text","text":"Yes."}],"encrypted_content":"gAAAA=="}`) +
	said(1, `"Grüße "`, `"an 世界 \ud83d\ude00"`) +
	added(2,
		`{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"read"}`) +
	added(3,
		`{"id":"fc_2","type":"function_call","status":"in_progress","arguments":"","call_id":"call_2","name":"list"}`) +
	deltaOf("function_call_arguments", 2, `"{\"path\": \"ü"`) + deltaOf("function_call_arguments", 3, `"{}"`) +
	deltaOf("function_call_arguments", 2, `".go\"}"`) +
	sends("response.function_call_arguments.done",
		`"item_id":"fc_1","output_index":2,"arguments":"{\"path\": \"ü.go\"}"`) +
	done(2,
		`{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\": \"ü.go\"}","call_id":"call_1","name":"read"}`) +
	done(3,
		`{"id":"fc_2","type":"function_call","status":"completed","arguments":"{}","call_id":"call_2","name":"list"}`) +
	completed("")

func responsesWire() conformance.Wire {
	w := wire()
	w.New = func(url string, client *http.Client, idle time.Duration) model.Model {
		return NewResponses(Options{
			Name: "prov", Model: "m", BaseURL: url, Key: conformance.Key, HTTPClient: client,
			IdleTimeout: idle,
		})
	}
	w.Stream, w.Last = fullResponse, "event: response.completed"
	w.Overflow = "Your input exceeds the context window of this model. Please adjust your input and try again."
	return w
}

// askResponses answers one request with a stream.
func askResponses(t *testing.T, stream string, request *model.Request) conformance.Answer {
	t.Helper()
	server := conformance.Serve(t, conformance.SSE(stream, 0))
	return conformance.Ask(t, responsesWire().New(server.URL, server.Client, 0), request)
}

func TestResponsesFaults(t *testing.T) { conformance.Faults(t, responsesWire()) }

func TestResponsesTurns(t *testing.T) { conformance.Turns(t, responsesWire(), fullResponse) }

func TestResponsesAnswer(t *testing.T) {
	a := askResponses(t, fullResponse, conformance.Request())
	want := &model.Done{
		Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			model.Reasoning{Text: "Let me see…\n\nYes.", Signature: "openai:rs_1:gAAAA=="},
			model.Text{Text: "Grüße an 世界 😀"},
			model.Call{ID: "call_1", Name: "read", Arguments: json.RawMessage(`{"path": "ü.go"}`)},
			model.Call{ID: "call_2", Name: "list", Arguments: json.RawMessage(`{}`)},
		}},
		Usage: model.Usage{Input: 125, Output: 89, Cached: 2000},
		Stop:  model.StopCalls,
	}
	if diff := cmp.Diff(want, a.Done); diff != "" {
		t.Errorf("the answer (-want +got):\n%s\n%v", diff, a.Err)
	}
	if a.Reasoning != "Let me see…\n\nYes." || strings.Join(a.CallNames, " ") != "read list" {
		t.Errorf("reasoning %q, calls %q", a.Reasoning, a.CallNames)
	}
}

func TestResponsesStops(t *testing.T) {
	incomplete := func(reason string) string {
		return sends("response.incomplete",
			`"response":{"status":"incomplete","incomplete_details":{"reason":"`+reason+`"},`+counted+`}`)
	}
	for stream, want := range map[string]model.Stop{
		completed(""):                   model.StopEnd,
		incomplete("max_output_tokens"): model.StopLength,
		incomplete("content_filter"):    model.StopRefused,
		sends("response.completed",
			`"response":{"status":"incomplete","incomplete_details":{"reason":"max_tokens"},`+
				counted+`}`): model.StopLength,
	} {
		a := askResponses(t, created()+said(0, `"Yes"`)+stream, conformance.Request())
		if a.Err != nil || a.Done.Stop != want || a.Text != "Yes" ||
			a.Done.Usage != (model.Usage{Input: 125, Output: 89, Cached: 2000}) {
			t.Errorf("%s: %+v, %v", stream, a.Done, a.Err)
		}
	}
	a := askResponses(t, created()+deltaOf("refusal", 0, `"I will not"`)+completed(""), conformance.Request())
	if a.Err != nil || a.Done.Stop != model.StopRefused || a.Text != "I will not" {
		t.Errorf("a refusal: %+v, %v", a.Done, a.Err)
	}
	if a := askResponses(t, completed(""), conformance.Request()); a.Err != nil || len(a.Done.Message.Parts) != 0 ||
		a.Done.Stop != model.StopEnd {
		t.Errorf("an empty message: %+v, %v", a.Done, a.Err)
	}
}

// TestResponsesOfCompatibleServers sends what servers send that are compatible more or less.
func TestResponsesOfCompatibleServers(t *testing.T) {
	text := func(text string) model.Part { return model.Text{Text: text} }
	read := func(arguments string) model.Part {
		return model.Call{Name: "read", Arguments: json.RawMessage(arguments)}
	}
	const call = `{"id":"fc_1","type":"function_call","call_id":"x","name":"read","arguments":"{\"a\":1}"}`
	for name, test := range map[string]struct {
		stream string
		want   []model.Part
	}{
		"only the last event": {
			completed(
				`{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"web_search_call","id":"w"},{"type":"message","content":[{"type":"output_text","text":"hi"}]},` + call),
			[]model.Part{model.Reasoning{Text: "hm"}, text("hi"), read(`{"a":1}`)},
		},
		"only the ends of items": {
			done(0,
				`{"id":"m","type":"message","content":[{"type":"output_text","text":"h"},{"type":"output_text","text":"i"}]}`) +
				done(1, call) + completed(call),
			[]model.Part{text("hi"), read(`{"a":1}`)},
		},
		"no beginnings": {
			deltaOf("output_text", 0, `"h"`) + deltaOf("output_text", 0, `"i"`) + deltaOf("function_call_arguments", 1,
				`"{\"a\":"`) + deltaOf("function_call_arguments", 1, `"1}"`) +
				done(1, strings.Replace(call, `{\"a\":1}`, "", 1)) + completed(""),
			[]model.Part{text("hi"), read(`{"a":1}`)},
		},
		"another id in every event": {
			added(0, `{"id":"a","type":"message"}`) + deltaOf("output_text", 0, `"hi"`) +
				done(0, `{"id":"b","type":"message","content":[{"type":"output_text","text":"hi"}]}`) +
				added(1, strings.Replace(call, "fc_1", "c", 1)) + done(1, strings.Replace(call, "fc_1", "d", 1)) +
				completed(""),
			[]model.Part{text("hi"), read(`{"a":1}`)},
		},
		"index 0 for all": {
			added(0, strings.Replace(call, `{\"a\":1}`, "", 1)) + deltaOf("function_call_arguments", 0, `"{\"a\":1}"`) +
				done(0, call) +
				added(0, `{"id":"fc_2","type":"function_call","call_id":"y","name":"read","arguments":""}`) +
				deltaOf("function_call_arguments", 0, `"{}"`) +
				done(0, `{"id":"fc_2","type":"function_call","call_id":"y","name":"read","arguments":"{}"}`) +
				completed(""),
			[]model.Part{read(`{"a":1}`), read(`{}`)},
		},
		"no index": {
			sends("response.output_item.added", `"item":{"id":"a","type":"message"}`) +
				sends("response.output_text.delta", `"delta":"hi"`) + sends("response.output_item.done",
				`"item":{"id":"a","type":"message"}`) +
				sends("response.output_item.done", `"item":`+call) + sends("response.output_item.done",
				`"item":{"type":"function_call","name":"read"}`) + completed(""),
			[]model.Part{text("hi"), read(`{"a":1}`), read(`{}`)},
		},
		"ends and deltas twice": {
			said(0, `"hi"`) + deltaOf("output_text", 0, `"hi"`) +
				done(0, `{"id":"i0","type":"message","content":[{"type":"output_text","text":"hi"}]}`) + done(1, call) +
				done(1, call) + completed(call),
			[]model.Part{text("hi"), read(`{"a":1}`)},
		},
		"the beginning after the first delta": {
			deltaOf("output_text", 0, `"h"`) + added(0, `{"id":"a","type":"message"}`) + deltaOf("output_text", 0,
				`"i"`) + completed(""),
			[]model.Part{text("hi")},
		},
		"arguments with their end only": {
			added(0, strings.Replace(call, `{\"a\":1}`, "", 1)) + sends("response.function_call_arguments.done",
				`"output_index":0,"arguments":"{\"a\":1}"`) + completed(""),
			[]model.Part{read(`{"a":1}`)},
		},
		"text after calls": {
			said(0, `"one "`) + done(1, call) + said(2, `"two"`) + completed(""),
			[]model.Part{text("one "), read(`{"a":1}`), text("two")},
		},
		"members of other types, unknown events, [DONE]": {
			sends("response.created", `"response":"none"`) + sends("response.new_thing", `"delta":{"x":1}`) +
				sends("response.output_text.delta", `"output_index":"0","delta":{"x":1}`) +
				deltaOf("output_text", 0, `"hi"`) + sends("response.completed",
				`"response":{"status":"completed","usage":"none","output":{}}`) + "data: [DONE]\n\n",
			[]model.Part{text("hi")},
		},
		"no names of events": {
			"data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"hi\"}\n\ndata: " +
				"{\"type\":\"response.completed\",\"response\":{}}\n\n",
			[]model.Part{text("hi")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := askResponses(t, test.stream, conformance.Request())
			if a.Err != nil {
				t.Fatal(a.Err)
			}
			ids := map[string]bool{"": true}
			got := a.Done.Message.Parts
			for i, part := range got {
				if call, ok := part.(model.Call); ok {
					if ids[call.ID] {
						t.Errorf("the id %q is empty or comes twice", call.ID)
					}
					ids[call.ID] = true
					call.ID = ""
					got[i] = call
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResponsesErrorInStream(t *testing.T) {
	for event, want := range map[string]model.ErrorKind{
		sends("error",
			`"code":"server_error","message":"Sorry","param":null`): model.ErrServer,
		sends("error",
			`"code":null,"message":"Sorry","param":null`): model.ErrServer,
		sends("error",
			`"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Sorry"}`): model.ErrContext,
		sends("response.failed",
			`"response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Sorry"}}`): model.ErrRateLimit,
		sends("response.failed",
			`"response":{"status":"failed","error":{"code":"invalid_prompt","message":"Sorry"}}`): model.ErrInvalid,
		sends("response.failed",
			`"response":{"status":"failed","error":{"code":"insufficient_quota","message":"Sorry"}}`): model.ErrAuth,
		sends("response.completed",
			`"response":{"status":"failed","error":{"code":"server_error","message":"Sorry"}}`): model.ErrServer,
		"data: {\"error\":{\"message\":\"Sorry\",\"code\":502}}\n\n": model.ErrServer,
	} {
		a := askResponses(t, created()+deltaOf("output_text", 0, `"half"`)+event, conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != want || e.Detail != "Sorry" || e.Hint == "" {
			t.Errorf("%s: %#v", event, a.Err)
		}
	}
	a := askResponses(t,
		sends("response.failed",
			`"response":{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for m. Please try again in 1.5s."}}`), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.RetryAfter != 1500*time.Millisecond {
		t.Errorf("a rate limit: %#v", a.Err)
	}
	for _, event := range []string{
		sends("response.failed", `"response":{"error":null}`),
		sends("response.cancelled", ""),
	} {
		if e, ok := askResponses(t, event, conformance.Request()).Err.(*model.Error); !ok ||
			e.Kind != model.ErrServer || !strings.Contains(e.Detail, "no reason") {
			t.Errorf("%s: %#v", event, e)
		}
	}
}

const wantInput = `{
  "model": "gpt-5", "stream": true, "store": false, "temperature": 0, "max_output_tokens": 100,
  "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"},
  "instructions": "You are a test.",
  "tools": [
    {"type": "function", "strict": false, "name": "read", "description": "Reads a file.", "parameters": {"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}},
    {"type": "function", "strict": false, "name": "list", "parameters": {"type":"object","properties":{}}}
  ],
  "input": [
    {"type": "message", "role": "user", "content": "look at <a.go> & b.go"},
    {"type": "message", "role": "assistant", "content": "I read both."},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a.go\"}"},
    {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{\"invalid_arguments\":\"{\\\"path\\\":\"}"},
    {"type": "function_call_output", "call_id": "c1", "output": "package a"},
    {"type": "function_call_output", "call_id": "c2", "output": "error: the arguments are no JSON"},
    {"type": "message", "role": "user", "content": "also say why"}
  ]
}`

func TestResponsesRequest(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(fullResponse, 0))
	for _, base := range []string{"/v1", "/v1/", "/some/gateway"} {
		m := NewResponses(Options{
			Model: "gpt-5", BaseURL: server.URL + base, Key: conformance.Key,
			Headers: map[string]string{"X-Team": "blue"}, HTTPClient: server.Client, MaxTokens: 100,
		})
		request := conformance.Conversation()
		request.Temperature = new(float64)
		sent := server.SentAs(t, m, request, wantInput)
		if sent.Path != strings.TrimSuffix(base, "/")+"/responses" ||
			sent.Header.Get("Authorization") != "Bearer "+conformance.Key || sent.Header.Get("X-Team") != "blue" {
			t.Errorf("path %s, header %v", sent.Path, sent.Header)
		}
		if !strings.Contains(string(sent.Body), `"properties":{"path":{"type":"string"},"limit"`) {
			t.Error("the schema was written anew, with its keys in another order")
		}
		if m.Name() != "openai/gpt-5" {
			t.Errorf("the name is %q", m.Name())
		}
	}
}

// TestReasoningGoesBack sends an answer back and expects its sealed reasoning before what it led to, and none that led
// to nothing.
func TestReasoningGoesBack(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(fullResponse, 0))
	m := responsesWire().New(server.URL, server.Client, 0)
	request := conformance.Request()
	a := conformance.Ask(t, m, request)
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	raw, err := model.EncodeParts(append(a.Done.Message.Parts,
		model.Reasoning{Text: "alone", Signature: "openai:rs_2:x"}))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := model.DecodeParts(raw)
	if err != nil {
		t.Fatal(err)
	}
	request.Messages = append(request.Messages, model.Message{Role: model.RoleAssistant, Parts: parts},
		model.Message{Role: model.RoleTool, Parts: []model.Part{
			model.Result{ID: "call_1", Name: "read"}, model.Result{ID: "call_2", Name: "list", Text: "x"},
		}})
	var body struct {
		Input []json.RawMessage `json:"input"`
	}
	server.Sent(t, m, request, &body)
	want := []string{
		`{"type":"message","role":"user","content":"hello"}`,
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me see…\n\nYes."}],"encrypted_content":"gAAAA=="}`,
		`{"type":"message","role":"assistant","content":"Grüße an 世界 😀"}`,
		`{"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"ü.go\"}"}`,
		`{"type":"function_call","call_id":"call_2","name":"list","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"call_1","output":""}`,
		`{"type":"function_call_output","call_id":"call_2","output":"x"}`,
	}
	got := make([]string, len(body.Input))
	for i, item := range body.Input {
		got[i] = string(item)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the input (-want +got):\n%s", diff)
	}
}

// TestWhatTheServerRefuses has a server that wants to be asked neither for sealed reasoning nor for summaries: it is
// asked at once without, then and for ever. Any other refusal stands.
func TestWhatTheServerRefuses(t *testing.T) {
	var server *conformance.Server
	var bodies []string
	server = conformance.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests := server.Requests()
		body := string(requests[len(requests)-1].Body)
		bodies = append(bodies, body)
		switch {
		case strings.Contains(body, "encrypted_content"):
			http.Error(w,
				wire().ErrorBody("invalid_request_error", "Encrypted content is not supported with this model."),
				http.StatusBadRequest)
		case strings.Contains(body, "summary"):
			http.Error(w,
				wire().ErrorBody("invalid_request_error",
					"Your organization must be verified to generate reasoning summaries."), http.StatusBadRequest)
		default:
			http.Error(w, wire().ErrorBody("invalid_request_error", "Your organization wants no reasoning summaries."),
				http.StatusBadRequest)
		}
	})
	m := NewResponses(Options{Name: "prov", Model: "o3", BaseURL: server.URL, HTTPClient: server.Client})
	for _, requests := range []int{3, 4} {
		a := conformance.Ask(t, m, conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrInvalid ||
			!strings.Contains(e.Detail, "wants no") || len(bodies) != requests {
			t.Errorf("%#v after %d requests, want %d", a.Err, len(bodies), requests)
		}
	}
}

// TestReasons checks who is asked for reasoning.
func TestReasons(t *testing.T) {
	for id, want := range map[string]bool{
		"gpt-5": true, "gpt-5.1-codex": true, "openai/gpt-5-mini": true, "o4-mini": true, "gpt-oss:20b": true,
		"codex-mini-latest": true,
		"gpt-5-chat-latest": false, "gpt-4o": false, "gpt-4.1": false, "chatgpt-4o-latest": false, "llama3": false,
	} {
		if got := (&responder{endpoint: endpoint{model: id}}).reasons(); got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

// TestResponsesVendorsOwn checks what only the vendor's own server is sent.
func TestResponsesVendorsOwn(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(fullResponse, 0))
	client := &http.Client{Transport: rerouted{server.Client.Transport, strings.TrimPrefix(server.URL, "http://")}}
	if a := conformance.Ask(t, NewResponses(Options{Model: "m", Key: conformance.Key, HTTPClient: client}),
		conformance.Request()); a.Err != nil {
		t.Fatal(a.Err)
	}
	var body struct {
		CacheKey string          `json:"prompt_cache_key"`
		Include  json.RawMessage `json:"include"`
	}
	if sent := server.Last(t, &body); body.CacheKey != "run-1" || body.Include != nil || sent.Path != "/v1/responses" {
		t.Errorf("%s: %+v", sent.Path, body)
	}
	a := conformance.Ask(t, NewResponses(Options{Model: "m"}), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrAuth || !strings.Contains(e.Hint, "OPENAI_API_KEY") {
		t.Errorf("without a key: %#v", a.Err)
	}
}

// TestResponsesPrefix checks that what was sent once is sent again byte for byte, and that forbidding calls changes the
// choice alone.
func TestResponsesPrefix(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(fullResponse, 0))
	m := responsesWire().New(server.URL, server.Client, 0)
	request := conformance.Conversation()
	type body struct {
		Input  json.RawMessage `json:"input"`
		Tools  json.RawMessage `json:"tools"`
		Choice string          `json:"tool_choice"`
	}
	var sent [2]body
	for i := range sent {
		if i == 1 {
			request.Messages = append(request.Messages,
				model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "Because."}}},
				model.UserText("and?"))
			request.NoCalls = true
		}
		server.Sent(t, m, request, &sent[i])
	}
	first, second := strings.TrimSuffix(string(sent[0].Input), "]"), string(sent[1].Input)
	if len(first) < 100 || !strings.HasPrefix(second, first) || len(sent[0].Tools) == 0 ||
		string(sent[0].Tools) != string(sent[1].Tools) {
		t.Errorf("the second conversation does not continue the first:\n%s\n%s", first, second)
	}
	if sent[0].Choice != "" || sent[1].Choice != "none" {
		t.Errorf("tool_choice is %q, then %q", sent[0].Choice, sent[1].Choice)
	}
	request = conformance.Request() // offers no tools
	request.NoCalls = true
	conformance.Ask(t, m, request)
	var without body
	if server.Last(t, &without); without.Choice != "" {
		t.Errorf("without tools tool_choice is %s", without.Choice)
	}
}

func TestResponsesTakeNothingFromTheEnvironment(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(fullResponse, 0))
	if a := conformance.Ask(t, NewResponses(Options{Model: "m", BaseURL: server.URL}),
		conformance.Request()); a.Err != nil {
		t.Fatal(a.Err)
	}
	var body struct{}
	for name, values := range server.Last(t, &body).Header {
		if strings.Contains(strings.Join(values, " "), "env-") || name == "Authorization" ||
			strings.HasPrefix(name, "Openai-") {
			t.Errorf("%s: %q was sent", name, values)
		}
	}
}

func TestResponsesHugeLine(t *testing.T) {
	huge := strings.Repeat("x", 3<<20)
	if a := askResponses(t, said(0, `"`+huge+`"`)+completed(""), conformance.Request()); a.Err != nil ||
		a.Text != huge {
		t.Errorf("%d bytes, %v", len(a.Text), a.Err)
	}
}

// BenchmarkDecodeResponses reads a stream of 10,000 deltas without a network.
func BenchmarkDecodeResponses(b *testing.B) {
	pieces := make([]string, 10_000)
	for i := range pieces {
		pieces[i] = `"some words "`
	}
	conformance.Benchmark(b, responsesWire(), said(0, pieces...)+completed(""))
}
