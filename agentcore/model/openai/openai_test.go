package openai

import (
	"encoding/json"
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
		"OPENAI_API_KEY": "env-key", "OPENAI_ADMIN_KEY": "env-admin", "OPENAI_BASE_URL": "http://127.0.0.1:9",
		"OPENAI_ORG_ID": "env-org", "OPENAI_PROJECT_ID": "env-project",
		"OPENAI_CUSTOM_HEADERS": "X-From-Env: env-header",
		"HTTP_PROXY":            "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9",
		"http_proxy": "http://127.0.0.1:9",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// data writes one chunk.
func data(chunk string) string { return "data: " + chunk + "\n\n" }

// says writes a chunk with one choice; finish is JSON.
func says(delta, finish string) string {
	return data(
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` +
			delta + `,"logprobs":null,"finish_reason":` + finish + `}],"usage":null}`)
}

const (
	usage = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":2125,"completion_tokens":89,"total_tokens":2214,"prompt_tokens_details":{"cached_tokens":2000}}}`
	role  = `{"role":"assistant","content":""}`
	ended = "data: [DONE]\n\n"
)

// answered writes a whole answer.
func answered(finish string, deltas ...string) string {
	var b strings.Builder
	b.WriteString(says(role, "null"))
	for _, delta := range deltas {
		b.WriteString(says(delta, "null"))
	}
	return b.String() + says(`{}`, `"`+finish+`"`) + data(usage) + ended
}

var full = answered("tool_calls",
	`{"reasoning_content":"Let me "}`, `{"reasoning_content":"see…"}`,
	`{"content":"Grüße "}`, `{"content":"an 世界 \ud83d\ude00"}`,
	`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]}`,
	`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\": \"ü"}}]}`,
	`{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"list","arguments":""}}]}`,
	`{"tool_calls":[{"index":0,"function":{"arguments":".go\"}"}},{"index":1,"function":{"arguments":"{}"}}]}`,
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
		Last:   says(`{}`, `"tool_calls"`),
		ErrorBody: func(kind, message string) string {
			raw, err := json.Marshal(message)
			if err != nil {
				panic(err)
			}
			return `{"error":{"message":` + string(raw) + `,"type":"` + kind + `","param":null,"code":null}}`
		},
		Overflow: "This model's maximum context length is 128000 tokens. However, your messages resulted in " +
			"205000 tokens.",
	}
}

// ask answers one request with a stream.
func ask(t *testing.T, stream string, request *model.Request) conformance.Answer {
	t.Helper()
	server := conformance.Serve(t, conformance.SSE(stream, 0))
	return conformance.Ask(t, wire().New(server.URL, server.Client, 0), request)
}

func TestFaults(t *testing.T) { conformance.Faults(t, wire()) }

// An answer with reasoning would change what is sent of the answers before it.
func TestTurns(t *testing.T) {
	conformance.Turns(t, wire(), answered("tool_calls", `{"content":"Grüße"}`,
		`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}`))
}

func TestAnswer(t *testing.T) {
	a := ask(t, full, conformance.Request())
	want := &model.Done{
		Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			model.Reasoning{Text: "Let me see…"},
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
	if a.Reasoning != "Let me see…" || strings.Join(a.CallNames, " ") != "read list" {
		t.Errorf("reasoning %q, calls %q", a.Reasoning, a.CallNames)
	}
}

func TestStops(t *testing.T) {
	for finish, want := range map[string]model.Stop{
		"stop": model.StopEnd, "eos": model.StopEnd, "tool_calls": model.StopEnd, "length": model.StopLength,
		"content_filter": model.StopRefused,
	} {
		if a := ask(t, answered(finish, `{"content":"Yes"}`), conformance.Request()); a.Err != nil ||
			a.Done.Stop != want || a.Text != "Yes" {
			t.Errorf("%s: %+v, %v", finish, a.Done, a.Err)
		}
	}
	if a := ask(t, answered("stop", `{"refusal":"I will not"}`), conformance.Request()); a.Err != nil ||
		a.Done.Stop != model.StopRefused || a.Text != "I will not" {
		t.Errorf("a refusal: %+v, %v", a.Done, a.Err)
	}
}

// TestCompatibleServers sends what servers send that are compatible more or less.
func TestCompatibleServers(t *testing.T) {
	read := func(arguments string) model.Call {
		return model.Call{Name: "read", Arguments: json.RawMessage(arguments)}
	}
	type said struct {
		text  string
		calls []model.Call
		usage model.Usage
		stop  model.Stop
	}
	counted := model.Usage{Input: 125, Output: 89, Cached: 2000}
	for name, test := range map[string]struct {
		stream string
		want   said
	}{
		"no ids": {
			answered("tool_calls",
				`{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{\"a\":1}"}},{"index":1,"id":null,"function":{"name":"read","arguments":"{\"a\":2}"}}]}`),
			said{"", []model.Call{read(`{"a":1}`), read(`{"a":2}`)}, counted, model.StopCalls},
		},
		"no index": {
			answered("tool_calls", `{"tool_calls":[{"id":"x","function":{"name":"read","arguments":"{\"a\":"}}]}`,
				`{"tool_calls":[{"id":"x","function":{"arguments":"1}"}}]}`,
				`{"tool_calls":[{"id":"y","function":{"name":"read","arguments":"{}"}}]}`),
			said{"", []model.Call{read(`{"a":1}`), read(`{}`)}, counted, model.StopCalls},
		},
		"index 0 for all": {
			answered("tool_calls",
				`{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"a\":1}"}}]}`,
				`{"tool_calls":[{"index":0,"id":"y","function":{"name":"read","arguments":"{\"a\":2}"}}]}`),
			said{"", []model.Call{read(`{"a":1}`), read(`{"a":2}`)}, counted, model.StopCalls},
		},
		"the same id twice": {
			answered("tool_calls",
				`{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"a\":1}"}},{"index":1,"id":"x","function":{"name":"read","arguments":"{\"a\":2}"}}]}`),
			said{"", []model.Call{read(`{"a":1}`), read(`{"a":2}`)}, counted, model.StopCalls},
		},
		"name and role repeated": {
			answered("tool_calls",
				`{"role":"assistant","tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"a\":"}}]}`,
				`{"role":"assistant","tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"1}"}}]}`),
			said{"", []model.Call{read(`{"a":1}`)}, counted, model.StopCalls},
		},
		"another id with every piece": {
			answered("tool_calls",
				`{"tool_calls":[{"index":0,"id":"x1","function":{"name":"read","arguments":"{\"a\":"}}]}`,
				`{"tool_calls":[{"index":0,"id":"x2","function":{"arguments":"1}"}}]}`),
			said{"", []model.Call{read(`{"a":1}`)}, counted, model.StopCalls},
		},
		"an object for arguments": {
			answered("tool_calls",
				`{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":{"a":1}}}]}`),
			said{"", []model.Call{read(`{"a":1}`)}, counted, model.StopCalls},
		},
		"null and no arguments": {
			answered("tool_calls",
				`{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":null}},{"index":1,"id":"y","function":{"name":"read"}}]}`),
			said{"", []model.Call{read(`{}`), read(`{}`)}, counted, model.StopCalls},
		},
		"an empty frame": {
			answered("stop", `{"content":"hi"}`, `{"tool_calls":[{"index":0,"function":{}}]}`, `{"tool_calls":[]}`,
				`{"tool_calls":null}`),
			said{"hi", nil, counted, model.StopEnd},
		},
		"stop although calls came": {
			answered("stop", `{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}]}`),
			said{"", []model.Call{read(`{}`)}, counted, model.StopCalls},
		},
		"text after calls": {
			answered("tool_calls", `{"content":"I read. "}`,
				`{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}]}`,
				`{"content":"Done."}`),
			said{"I read. Done.", []model.Call{read(`{}`)}, counted, model.StopCalls},
		},
		"null content": {
			answered("stop", `{"role":"assistant","content":null}`, `{"content":"hi"}`,
				`{"content":null,"reasoning_content":null}`),
			said{"hi", nil, counted, model.StopEnd},
		},
		"no usage, no [DONE]": {
			says(`{"content":"hi"}`, "null") + says(`{}`, `"stop"`),
			said{"hi", nil, model.Usage{}, model.StopEnd},
		},
		"[DONE] without a reason": {
			says(`{"content":"hi"}`, "null") + ended,
			said{"hi", nil, model.Usage{}, model.StopEnd},
		},
		"usage with the last choice": {
			data(
				`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`) + ended,
			said{"hi", nil, model.Usage{Input: 5, Output: 2}, model.StopEnd},
		},
		"more cached than counted": {
			data(
				`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":7}}}`) + ended,
			said{"hi", nil, model.Usage{Output: 2, Cached: 7}, model.StopEnd},
		},
		"empty choices, null error, strange members": {
			data(`{"choices":[],"prompt_filter_results":[{"x":1}]}`) +
				data(
					`{"error":null,"choices":[{"index":0,"delta":{"content":"hi","vendor":{"x":[]}},"finish_reason":null}]}`) +
				data(`{"choices":null}`) +
				data(
					`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":null,"finish_reason":"stop"}]}`) + ended,
			said{"hi", nil, model.Usage{}, model.StopEnd},
		},
		"members of other types": {
			data(
				`{"created":1.5,"choices":[{"index":"0","delta":{"content":"hi","reasoning":{"x":1}}}],"usage":"none"}`) +
				data(`{"choices":[{"index":0,"delta":{"content":["no"],"tool_calls":{}},"finish_reason":"stop"}]}`) +
				ended,
			said{"hi", nil, model.Usage{}, model.StopEnd},
		},
		"a list for content": {
			answered("stop", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`,
				`{"content":[{"type":"text","text":"h"},{"type":"reference","ids":[1]},{"type":"text","text":"i"}]}`),
			said{"hi", nil, counted, model.StopEnd},
		},
		"the whole message at once": {
			data(
				`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"x","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`) + ended,
			said{"hi", []model.Call{read(`{}`)}, model.Usage{}, model.StopCalls},
		},
		"the whole message once more": {
			says(`{"content":"hi"}`, "null") +
				data(
					`{"choices":[{"index":0,"delta":{},"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`) + ended,
			said{"hi", nil, model.Usage{}, model.StopEnd},
		},
		"function_call": {
			answered("function_call", `{"content":null,"function_call":{"name":"read","arguments":""}}`,
				`{"function_call":{"arguments":"{\"a\":"}}`, `{"function_call":{"arguments":"1}"}}`),
			said{"", []model.Call{read(`{"a":1}`)}, counted, model.StopCalls},
		},
		"usage of Moonshot": {
			data(
				`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"cached_tokens":5}}]}`) + ended,
			said{"hi", nil, model.Usage{Input: 4, Output: 2, Cached: 5}, model.StopEnd},
		},
		"usage of DeepSeek, null before": {
			data(`{"choices":[{"index":0,"delta":{"content":"hi"}}],"usage":null}`) +
				data(
					`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":4}}`) + ended,
			said{"hi", nil, model.Usage{Input: 4, Output: 2, Cached: 5}, model.StopEnd},
		},
		"data without a space, with event names": {
			strings.ReplaceAll(answered("stop", `{"content":"hi"}`), "data: ",
				"event: message\nid: 1\nretry: 5\ndata:"),
			said{"hi", nil, counted, model.StopEnd},
		},
		"broken arguments": {
			answered("length",
				`{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"a\":"}}]}`),
			said{"", []model.Call{read(`{"a":`)}, counted, model.StopLength},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, test.stream, conformance.Request())
			if a.Err != nil {
				t.Fatal(a.Err)
			}
			ids := map[string]bool{"": true}
			got := said{text: a.Text, usage: a.Done.Usage, stop: a.Done.Stop}
			for _, call := range a.Done.Message.Calls() {
				if ids[call.ID] {
					t.Errorf("the id %q is empty or comes twice", call.ID)
				}
				ids[call.ID] = true
				call.ID = ""
				got.calls = append(got.calls, call)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(said{})); diff != "" {
				t.Errorf("the answer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestThinkingInContent has Mistral's list of parts: the thoughts are reasoning.
func TestThinkingInContent(t *testing.T) {
	a := ask(t,
		answered("stop",
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]}]}`,
			`{"content":[{"type":"thinking","thinking":"!"},{"type":"text","text":"hi"}]}`), conformance.Request())
	if a.Err != nil || a.Reasoning != "hm!" || a.Text != "hi" {
		t.Errorf("%+v, %v", a, a.Err)
	}
}

// TestIDsOfTheConversation has a server that begins its ids anew in every answer.
func TestIDsOfTheConversation(t *testing.T) {
	a := ask(t,
		answered("tool_calls", `{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}`),
		conformance.Conversation())
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	if id := a.Done.Message.Calls()[0].ID; id == "c1" || id == "" {
		t.Errorf("the id is %q, which the conversation has", id)
	}
}

func TestErrorInStream(t *testing.T) {
	for body, want := range map[string]model.ErrorKind{
		`{"error":{"message":"Sorry","type":"server_error","code":null}}`:              model.ErrServer,
		`{"error":{"message":"Sorry","type":"requests","code":"rate_limit_exceeded"}}`: model.ErrRateLimit,
		`{"error":{"message":"Sorry","code":"context_length_exceeded"}}`:               model.ErrContext,
		`{"error":{"message":"Sorry","code":502}}`:                                     model.ErrServer,
		`{"error":{"message":"Sorry","code":429}}`:                                     model.ErrRateLimit,
		`{"error":"Sorry"}`: model.ErrServer,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"message":"Sorry"}}]}`: model.ErrServer,
	} {
		a := ask(t, says(`{"content":"half"}`, "null")+data(body), conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != want || e.Detail != "Sorry" || e.Hint == "" {
			t.Errorf("%s: %#v", body, a.Err)
		}
	}
}

// TestNothingSaid has servers that end an answer without one.
func TestNothingSaid(t *testing.T) {
	for _, stream := range []string{ended, data(usage) + ended} {
		a := ask(t, stream, conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrProtocol {
			t.Errorf("%q: %+v, %v", stream, a.Done, a.Err)
		}
	}
	if a := ask(t, answered("stop"), conformance.Request()); a.Err != nil || len(a.Done.Message.Parts) != 0 ||
		a.Done.Stop != model.StopEnd {
		t.Errorf("an empty message: %+v, %v", a.Done, a.Err)
	}
}

func TestHugeLine(t *testing.T) {
	huge := strings.Repeat("x", 3<<20)
	if a := ask(t, answered("stop", `{"content":"`+huge+`"}`), conformance.Request()); a.Err != nil || a.Text != huge {
		t.Errorf("%d bytes, %v", len(a.Text), a.Err)
	}
}

func TestRateLimitHeaders(t *testing.T) {
	server := conformance.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{
			"X-Ratelimit-Remaining-Requests": "3", "X-Ratelimit-Reset-Requests": "1h0m0s",
			"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "42s",
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
  "model": "m", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0, "max_tokens": 100,
  "tools": [
    {"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": {"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}}},
    {"type": "function", "function": {"name": "list", "parameters": {"type":"object","properties":{}}}}
  ],
  "messages": [
    {"role": "system", "content": "You are a test."},
    {"role": "user", "content": "look at <a.go> & b.go"},
    {"role": "assistant", "content": "I read both.", "tool_calls": [
      {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.go\"}"}},
      {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{\"invalid_arguments\":\"{\\\"path\\\":\"}"}}
    ]},
    {"role": "tool", "tool_call_id": "c1", "content": "package a"},
    {"role": "tool", "tool_call_id": "c2", "content": "error: the arguments are no JSON"},
    {"role": "user", "content": "also say why"}
  ]
}`

func TestRequest(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	for _, base := range []string{"/v1", "/v1/", "/some/gateway"} {
		m := New(Options{
			Model: "m", BaseURL: server.URL + base, Key: conformance.Key,
			Headers: map[string]string{"X-Team": "blue"}, HTTPClient: server.Client, MaxTokens: 100,
		})
		if m.Name() != "openai/m" {
			t.Errorf("the name is %q", m.Name())
		}
		request := conformance.Conversation()
		request.Temperature = new(float64)
		sent := server.SentAs(t, m, request, wantBody)
		if sent.Path != strings.TrimSuffix(base, "/")+"/chat/completions" ||
			sent.Header.Get("Authorization") != "Bearer "+conformance.Key || sent.Header.Get("X-Team") != "blue" {
			t.Errorf("path %s, header %v", sent.Path, sent.Header)
		}
		if !strings.Contains(string(sent.Body), `"properties":{"path":{"type":"string"},"limit"`) {
			t.Error("the schema was written anew, with its keys in another order")
		}
	}
}

// TestReasoningOfOthersGoesBack has servers that think between calls: what came as reasoning_content goes back with the
// calls, and so does Google's signature; what came in another member does not.
func TestReasoningOfOthersGoesBack(t *testing.T) {
	const call = `"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"read","arguments":"{}"}`
	const back = `{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"read","arguments":"{}"}`
	for answer, want := range map[string]string{
		`{"reasoning_content":"hm",` + call + `}]}`: strings.Replace(back,
			`"tool_calls"`, `"reasoning_content":"hm","tool_calls"`, 1) + `}]}`,
		`{"reasoning":"hm",` + call + `}]}`: back + `}]}`,
		`{` + call + `,"extra_content":{"google":{"thought_signature":"YQ=="}}}]}`: back +
			`,"extra_content":{"google":{"thought_signature":"YQ=="}}}]}`,
		`{"reasoning_content":"hm","content":"hi"}`: `{"role":"assistant","content":"hi"}`,
	} {
		server := conformance.Serve(t, conformance.SSE(answered("stop", answer), 0))
		m := wire().New(server.URL, server.Client, 0)
		request := conformance.Request()
		a := conformance.Ask(t, m, request)
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		request.Messages = append(request.Messages, a.Done.Message,
			model.Message{Role: model.RoleTool, Parts: []model.Part{model.Result{ID: "x", Name: "read"}}})
		var body struct {
			Messages []json.RawMessage `json:"messages"`
		}
		if server.Sent(t, m, request, &body); string(body.Messages[2]) != want {
			t.Errorf("%s was sent back as %s\nwant %s", answer, body.Messages[2], want)
		}
	}
}

// TestWhoWantsReasoning tells the vendors that want all their reasoning back, also before they have answered once.
func TestWhoWantsReasoning(t *testing.T) {
	for base, want := range map[string]bool{
		"https://api.deepseek.com": true, "https://api.deepseek.com/v1": true, "https://api.moonshot.ai/v1": true,
		"https://api.moonshot.cn/v1": true,
		"":                           false, "https://api.openai.com/v1": false, "http://localhost:11434/v1": false,
	} {
		if got := New(Options{Model: "m", Key: "k", BaseURL: base}).(*chat).wantsReasoning; got != want {
			t.Errorf("%s: %v, want %v", base, got, want)
		}
	}
	raw, err := (&chat{wantsReasoning: true}).encode(model.Message{
		Role:  model.RoleAssistant,
		Parts: []model.Part{model.Reasoning{Text: "hm"}, model.Text{Text: "hi"}},
	})
	if want := `{"role":"assistant","content":"hi","reasoning_content":"hm"}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
}

// TestVendorsOwn checks what only the vendor's own server is sent; the request goes no further than the client.
func TestVendorsOwn(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	client := &http.Client{Transport: rerouted{server.Client.Transport, strings.TrimPrefix(server.URL, "http://")}}
	request := conformance.Request()
	request.MaxTokens = 50
	if a := conformance.Ask(t, New(Options{Model: "m", Key: conformance.Key, HTTPClient: client}),
		request); a.Err != nil {
		t.Fatal(a.Err)
	}
	var body struct {
		Limit    int    `json:"max_completion_tokens"`
		OldLimit int    `json:"max_tokens"`
		CacheKey string `json:"prompt_cache_key"`
	}
	sent := server.Last(t, &body)
	if body.Limit != 50 || body.OldLimit != 0 || body.CacheKey != "run-1" || sent.Path != "/v1/chat/completions" {
		t.Errorf("%s: %+v", sent.Path, body)
	}
}

// rerouted sends every request to one host.
type rerouted struct {
	http.RoundTripper
	host string
}

func (r rerouted) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host = "http", r.host
	return r.RoundTripper.RoundTrip(request)
}

// TestPrefix checks that what was sent once is sent again byte for byte.
func TestPrefix(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := wire().New(server.URL, server.Client, 0)
	request := conformance.Conversation()
	messages := func() string {
		var body struct {
			Messages json.RawMessage `json:"messages"`
		}
		server.Sent(t, m, request, &body)
		return strings.TrimSuffix(string(body.Messages), "]")
	}
	first := messages()
	request.Messages = append(request.Messages,
		model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "Because."}}},
		model.UserText("and?"))
	if second := messages(); len(first) < 100 || !strings.HasPrefix(second, first) {
		t.Errorf("the second conversation does not continue the first:\n%s\n%s", first, second)
	}
}

// TestNoCalls checks that forbidding calls changes the choice and not a byte of what is cached before the messages.
func TestNoCalls(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := wire().New(server.URL, server.Client, 0)
	type body struct {
		Tools  json.RawMessage `json:"tools"`
		Choice *string         `json:"tool_choice"`
	}
	tools := map[bool]string{}
	for _, forbidden := range []bool{false, true} {
		request := conformance.Conversation()
		request.NoCalls = forbidden
		var sent body
		server.Sent(t, m, request, &sent)
		tools[forbidden] = string(sent.Tools)
		if forbidden != (sent.Choice != nil) || forbidden && *sent.Choice != "none" {
			t.Errorf("NoCalls %v: %+v", forbidden, sent)
		}
	}
	if tools[true] == "" || tools[true] != tools[false] {
		t.Errorf("the tools changed: %s, then %s", tools[false], tools[true])
	}
	request := conformance.Request() // offers no tools
	request.NoCalls = true
	conformance.Ask(t, m, request)
	var sent body
	if server.Last(t, &sent); sent.Choice != nil {
		t.Errorf("without tools tool_choice is %s", *sent.Choice)
	}
}

func TestNothingFromTheEnvironment(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	// A client of the model's own would use the proxy.
	m := New(Options{Model: "m", BaseURL: server.URL})
	var body struct{}
	sent := server.Sent(t, m, conformance.Request(), &body)
	for name, values := range sent.Header {
		if strings.Contains(strings.Join(values, " "), "env-") || name == "Authorization" ||
			strings.HasPrefix(name, "Openai-") {
			t.Errorf("%s: %q was sent", name, values)
		}
	}
}

func TestNoKeyForTheVendor(t *testing.T) {
	a := conformance.Ask(t, New(Options{Model: "m"}), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrAuth || !strings.Contains(e.Hint, "OPENAI_API_KEY") {
		t.Errorf("%#v", a.Err)
	}
}

// BenchmarkDecode reads a stream of 10,000 deltas without a network.
func BenchmarkDecode(b *testing.B) {
	deltas := make([]string, 10_000)
	for i := range deltas {
		deltas[i] = `{"content":"some words "}`
	}
	conformance.Benchmark(b, wire(), answered("stop", deltas...))
}
