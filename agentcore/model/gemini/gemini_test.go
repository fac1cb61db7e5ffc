package gemini

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

// TestMain puts into the environment what Google's own tools use, and a proxy that nothing listens at: every
// test then shows that none of it matters.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GEMINI_API_KEY": "env-key", "GOOGLE_API_KEY": "env-key", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
		"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// data writes one response.
func data(response string) string { return "data: " + response + "\r\n\r\n" }

// says writes a response with some parts; more is JSON that stands behind the content.
func says(more string, parts ...string) string {
	return data(`{"candidates": [{"content": {"parts": [` + strings.Join(parts, ",") + `],"role": "model"}` + more +
		`,"index": 0}],"modelVersion": "m","responseId": "r1"}`)
}

const usage = `"usageMetadata": {"promptTokenCount": 2125,"candidatesTokenCount": 59,"thoughtsTokenCount": 30,"cachedContentTokenCount": 2000,"totalTokenCount": 2214,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 2125}]}`

// ended writes the last response.
func ended(finish string, parts ...string) string {
	return data(`{"candidates": [{"content": {"parts": [` + strings.Join(parts, ",") +
		`],"role": "model"},"finishReason": "` + finish + `","index": 0}],` + usage + `,"modelVersion": "m"}`)
}

var full = strings.ReplaceAll(
	says("", `{"text": "Let me ","thought": true}`)+
		says("", `{"text": "see…","thought": true}`)+
		says("", `{"text": "Grüße "}`)+
		says("", `{"text": "an 世界 \ud83d\ude00"}`)+
		says("", `{"functionCall": {"name": "read","args": {"path": "ü.go"},"id": "g1"},"thoughtSignature": "c2ln"}`,
			`{"functionCall": {"name": "list","args": {},"id": "g2"}}`)+
		ended("STOP", `{"text": ""}`), "\r\n", "\n")

func wire() conformance.Wire {
	return conformance.Wire{
		New: func(url string, client *http.Client, idle time.Duration) model.Model {
			return New(Options{
				Name: "prov", Model: "m", BaseURL: url, Key: conformance.Key, HTTPClient: client,
				IdleTimeout: idle,
			})
		},
		Stream: full,
		Last:   strings.TrimSuffix(ended("STOP", `{"text": ""}`), "\r\n\r\n"),
		ErrorBody: func(kind, message string) string {
			raw, err := json.Marshal(message)
			if err != nil {
				panic(err)
			}
			return `{"error": {"message": ` + string(raw) + `,"status": "` + kind + `"}}`
		},
		Overflow: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
	}
}

// ask answers one request with a stream.
func ask(t *testing.T, stream string, request *model.Request) conformance.Answer {
	t.Helper()
	server := conformance.Serve(t, conformance.SSE(stream, 0))
	return conformance.Ask(t, wire().New(server.URL, server.Client, 0), request)
}

func TestFaults(t *testing.T) { conformance.Faults(t, wire()) }

func TestTurns(t *testing.T) { conformance.Turns(t, wire(), full) }

func TestAnswer(t *testing.T) {
	a := ask(t, full, conformance.Request())
	want := &model.Done{
		Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			model.Reasoning{Text: "Let me see…"},
			model.Text{Text: "Grüße an 世界 😀"},
			model.Reasoning{Signature: "gemini:c2ln"},
			model.Call{ID: "g1", Name: "read", Arguments: json.RawMessage(`{"path": "ü.go"}`)},
			model.Call{ID: "g2", Name: "list", Arguments: json.RawMessage(`{}`)},
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
		"STOP": model.StopEnd, "OTHER": model.StopEnd, "MAX_TOKENS": model.StopLength, "SAFETY": model.StopRefused,
		"RECITATION": model.StopRefused, "NEW_REASON": model.StopRefused,
		"stop": model.StopEnd, "length": model.StopLength,
	} {
		if a := ask(t, ended(finish, `{"text":"Yes"}`), conformance.Request()); a.Err != nil || a.Done.Stop != want ||
			a.Text != "Yes" {
			t.Errorf("%s: %+v, %v", finish, a.Done, a.Err)
		}
	}
	for stream, text := range map[string]string{
		data(`{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},` + usage +
			`}`): "blocked (PROHIBITED_CONTENT)",
		data(
			`{"candidates": [{"finishReason": "SAFETY","finishMessage": "Not nice.","index": 0}]}`): "blocked (SAFETY: Not nice.)",
	} {
		if a := ask(t, stream, conformance.Request()); a.Err != nil || a.Done.Stop != model.StopRefused ||
			a.Text != text {
			t.Errorf("%s: %+v, %v", stream, a.Done, a.Err)
		}
	}
	if a := ask(t, ended("STOP"), conformance.Request()); a.Err != nil || len(a.Done.Message.Parts) != 0 ||
		a.Done.Stop != model.StopEnd {
		t.Errorf("an empty message: %+v, %v", a.Done, a.Err)
	}
}

// TestGarbled has answers that the server itself could not read: asking again helps, but for a lost signature.
func TestGarbled(t *testing.T) {
	for finish, want := range map[string]model.ErrorKind{
		"MALFORMED_FUNCTION_CALL": model.ErrProtocol, "UNEXPECTED_TOOL_CALL": model.ErrProtocol,
		"TOO_MANY_TOOL_CALLS": model.ErrProtocol,
		"MALFORMED_RESPONSE":  model.ErrProtocol, "MISSING_THOUGHT_SIGNATURE": model.ErrInvalid,
	} {
		a := ask(t,
			says("",
				`{"text":"half"}`)+data(`{"candidates":[{"finishReason":"`+finish+`","finishMessage":"print(read("}]}`),
			conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != want || !strings.Contains(e.Detail, "print(read(") {
			t.Errorf("%s: %#v", finish, a.Err)
		}
	}
}

// TestOddStreams sends what gateways and older versions send.
func TestOddStreams(t *testing.T) {
	for name, test := range map[string]struct {
		stream, text string
		parts        []model.Part
		usage        model.Usage
	}{
		"members of other types": {
			says("", `{"text": {"x": 1}}`, `{"text": "hi","thought": "no"}`) +
				data(`{"candidates": [{"content": {"parts": null},"finishReason": "STOP"}],"usageMetadata": "none"}`),
			"hi",
			[]model.Part{model.Text{Text: "hi"}},
			model.Usage{},
		},
		"no content, other candidates, other parts": {
			data(`{"candidates": [{"index": 1,"content": {"parts": [{"text": "no"}]}},{"index": 0}]}`) + data(`{}`) +
				data(`{"candidates": null,"error": null}`) +
				says("", `{"executableCode": {"code": "x"}}`, `{"text": "hi"}`) + ended("STOP"), "hi",
			[]model.Part{model.Text{Text: "hi"}},
			model.Usage{Input: 125, Output: 89, Cached: 2000},
		},
		"the reason before the count": {
			says(`,"finishReason": "STOP"`, `{"text": "hi"}`) + data(`{`+usage+`}`), "hi",
			[]model.Part{model.Text{Text: "hi"}},
			model.Usage{Input: 125, Output: 89, Cached: 2000},
		},
		"[DONE]": {
			ended("STOP", `{"text": "hi"}`) + "data: [DONE]\n\n", "hi",
			[]model.Part{model.Text{Text: "hi"}},
			model.Usage{Input: 125, Output: 89, Cached: 2000},
		},
		"more cached than counted": {
			says(`,"finishReason": "STOP"`, `{"text": "hi"}`) +
				data(
					`{"usageMetadata": {"promptTokenCount": 5,"cachedContentTokenCount": 7,"toolUsePromptTokenCount": 2}}`),
			"hi",
			[]model.Part{model.Text{Text: "hi"}},
			model.Usage{Input: 2, Cached: 7},
		},
		"a signature behind its thought": {
			says("", `{"text": "hm","thought": true}`) +
				says("", `{"text": "","thought": true,"thoughtSignature": "YQ"}`) + ended("STOP", `{"text": "hi"}`),
			"hi",
			[]model.Part{model.Reasoning{Text: "hm", Signature: "gemini:YQ"}, model.Text{Text: "hi"}},
			model.Usage{Input: 125, Output: 89, Cached: 2000},
		},
		"a signature at a text, behind one, at a thought, and alone": {
			says("", `{"text": "hm","thought": true,"thoughtSignature": "YQ"}`, `{"text": "a "}`,
				`{"text": "b","thoughtSignature": "Yg"}`, `{"text": "c"}`, `{"text": "","thoughtSignature": "Yw"}`) +
				ended("STOP"), "a bc",
			[]model.Part{
				model.Reasoning{Text: "hm", Signature: "gemini:YQ"},
				model.Reasoning{Signature: "gemini:Yg"},
				model.Text{Text: "a b"},
				model.Text{Text: "c"},
				model.Reasoning{Signature: "gemini:Yw"},
			},
			model.Usage{Input: 125, Output: 89, Cached: 2000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, test.stream, conformance.Request())
			if a.Err != nil {
				t.Fatal(a.Err)
			}
			want := &model.Done{
				Message: model.Message{Role: model.RoleAssistant, Parts: test.parts}, Usage: test.usage,
				Stop: model.StopEnd,
			}
			if diff := cmp.Diff(want, a.Done); diff != "" || a.Text != test.text {
				t.Errorf("the answer is %q (-want +got):\n%s", a.Text, diff)
			}
		})
	}
}

// TestIDs has a server without ids, one that repeats them, and one that begins anew in each answer.
func TestIDs(t *testing.T) {
	a := ask(t, ended("STOP", `{"functionCall":{"name":"read"}}`, `{"functionCall":{"name":"read","args":null}}`,
		`{"functionCall":{"id":"x","name":"read","args":{}}}`, `{"functionCall":{"id":"x","name":"read","args":{}}}`,
		`{"functionCall":{"id":"c1","name":"read","args":{}}}`), conformance.Conversation())
	if a.Err != nil || len(a.Done.Message.Calls()) != 5 {
		t.Fatalf("%+v, %v", a.Done, a.Err)
	}
	ids := map[string]bool{"": true, "c1": true}
	for _, call := range a.Done.Message.Calls() {
		if ids[call.ID] || string(call.Arguments) != "{}" {
			t.Errorf("the id %q is empty or was there before, or the arguments %s are none", call.ID, call.Arguments)
		}
		ids[call.ID] = true
	}
}

func TestErrorInStream(t *testing.T) {
	for body, want := range map[string]model.ErrorKind{
		`{"error":{"code":503,"message":"Sorry","status":"UNAVAILABLE"}}`:        model.ErrOverloaded,
		`{"error":{"code":500,"message":"Sorry","status":"INTERNAL"}}`:           model.ErrServer,
		`{"error":{"code":429,"message":"Sorry","status":"RESOURCE_EXHAUSTED"}}`: model.ErrRateLimit,
		`{"error":{"message":"Sorry","status":"DEADLINE_EXCEEDED"}}`:             model.ErrNetwork,
		`{"error":{"message":"Sorry","status":"INVALID_ARGUMENT"}}`:              model.ErrInvalid,
		`{"error":"Sorry"}`: model.ErrServer,
	} {
		a := ask(t, says("", `{"text":"half"}`)+data(body), conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != want || e.Detail != "Sorry" || e.Hint == "" {
			t.Errorf("%s: %#v", body, a.Err)
		}
	}
}

// TestRefusals has what the vendor answers with an error status.
func TestRefusals(t *testing.T) {
	const quota = "You exceeded your current quota, please check your plan and billing details."
	for _, test := range []struct {
		status int
		body   string
		kind   model.ErrorKind
		after  time.Duration
	}{
		{429, `{"error":{"code":429,"message":"` + quota +
			`","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}`, model.ErrRateLimit, 34 * time.Second},
		{
			429, `[{"error":{"code":429,"message":"` + quota +
				`\nPlease retry in 4.5s.","status":"RESOURCE_EXHAUSTED"}}]`,
			model.ErrRateLimit, 4500 * time.Millisecond,
		},
		{
			400,
			`{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, model.ErrAuth, 0,
		},
		{400, `{"error":{"code":400,"message":"Unknown name \"x\"","status":"INVALID_ARGUMENT"}}`, model.ErrInvalid, 0},
	} {
		server := conformance.Serve(t,
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, test.body, test.status) })
		a := conformance.Ask(t, wire().New(server.URL, server.Client, 0), conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != test.kind || e.RetryAfter != test.after ||
			e.Status != test.status {
			t.Errorf("%s: %#v", test.body, a.Err)
		}
	}
}

func TestHugeLine(t *testing.T) {
	huge := strings.Repeat("x", 3<<20)
	if a := ask(t, ended("STOP", `{"text":"`+huge+`"}`), conformance.Request()); a.Err != nil || a.Text != huge {
		t.Errorf("%d bytes, %v", len(a.Text), a.Err)
	}
}

const wantBody = `{
  "systemInstruction": {"parts": [{"text": "You are a test."}]},
  "tools": [{"functionDeclarations": [
    {"name": "read", "description": "Reads a file.", "parametersJsonSchema": {"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}},
    {"name": "list", "description": "", "parametersJsonSchema": {"type":"object","properties":{}}}
  ]}],
  "generationConfig": {"maxOutputTokens": 100, "temperature": 0, "thinkingConfig": {"includeThoughts": true}},
  "contents": [
    {"role": "user", "parts": [{"text": "look at <a.go> & b.go"}]},
    {"role": "model", "parts": [
      {"text": "I read both."},
      {"functionCall": {"id": "c1", "name": "read", "args": {"path":"a.go"}}, "thoughtSignature": "skip_thought_signature_validator"},
      {"functionCall": {"id": "c2", "name": "read", "args": {"invalid_arguments":"{\"path\":"}}}
    ]},
    {"role": "user", "parts": [
      {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "package a"}}},
      {"functionResponse": {"id": "c2", "name": "read", "response": {"error": "error: the arguments are no JSON"}}}
    ]},
    {"role": "user", "parts": [{"text": "also say why"}]}
  ]
}`

func TestRequest(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	for base, version := range map[string]string{
		"": "/v1beta", "/": "/v1beta", "/v1": "/v1",
		"/some/gateway/v1alpha/": "/some/gateway/v1alpha",
	} {
		m := New(Options{
			Model: "gemini-3-pro", BaseURL: server.URL + base, Key: conformance.Key,
			Headers: map[string]string{"X-Team": "blue"}, HTTPClient: server.Client, MaxTokens: 100,
		})
		if m.Name() != "gemini/gemini-3-pro" {
			t.Errorf("the name is %q", m.Name())
		}
		request := conformance.Conversation()
		request.Temperature = new(float64)
		sent := server.SentAs(t, m, request, wantBody)
		if sent.Path != version+"/models/gemini-3-pro:streamGenerateContent" ||
			sent.Header.Get("X-Goog-Api-Key") != conformance.Key || sent.Header.Get("X-Team") != "blue" {
			t.Errorf("path %s, header %v", sent.Path, sent.Header)
		}
		if !strings.Contains(string(sent.Body), `"properties":{"path":{"type":"string"},"limit"`) {
			t.Error("the schema was written anew, with its keys in another order")
		}
	}
}

// TestSignaturesGoBack sends an answer back and expects each signature at the part that it came with.
func TestSignaturesGoBack(t *testing.T) {
	for answer, want := range map[string]string{
		`{"functionCall":{"name":"read","args":{}},"thoughtSignature":"YQ"},{"functionCall":{"name":"read","args":{}}}`:   `{"functionCall":{"name":"read","args":{}},"thoughtSignature":"YQ"},{"functionCall":{"name":"read","args":{}}}`,
		`{"text":"hm","thought":true},{"text":"a","thoughtSignature":"YQ"},{"text":"","thoughtSignature":"Yg"}`:           `{"text":"a","thoughtSignature":"YQ"},{"text":"","thoughtSignature":"Yg"}`,
		`{"text":"hm","thought":true,"thoughtSignature":"YQ"},{"text":"a"},{"text":"b","thoughtSignature":"Yg"}`:          `{"text":"hm","thought":true,"thoughtSignature":"YQ"},{"text":"ab","thoughtSignature":"Yg"}`,
		`{"text":"","thoughtSignature":"YQ"},{"functionCall":{"id":"x","name":"read","args":{}},"thoughtSignature":"Yg"}`: `{"text":"","thoughtSignature":"YQ"},{"functionCall":{"id":"x","name":"read","args":{}},"thoughtSignature":"Yg"}`,
	} {
		server := conformance.Serve(t, conformance.SSE(ended("STOP", answer), 0))
		m := wire().New(server.URL, server.Client, 0)
		request := conformance.Request()
		a := conformance.Ask(t, m, request)
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		results := model.Message{Role: model.RoleTool}
		for _, call := range a.Done.Message.Calls() {
			results.Parts = append(results.Parts, model.Result{ID: call.ID, Name: call.Name, Text: "x"})
		}
		// As the store keeps it.
		raw, err := model.EncodeParts(a.Done.Message.Parts)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := model.DecodeParts(raw)
		if err != nil {
			t.Fatal(err)
		}
		request.Messages = append(request.Messages, model.Message{Role: model.RoleAssistant, Parts: parts}, results)
		var body struct {
			Contents []json.RawMessage `json:"contents"`
		}
		sent := server.Sent(t, m, request, &body)
		if got := string(body.Contents[1]); got != `{"role":"model","parts":[`+want+`]}` {
			t.Errorf("sent back: %s\nwant: %s", got, want)
		}
		if strings.Contains(string(sent.Body), "call_") {
			t.Errorf("an id that we made up was sent: %s", sent.Body)
		}
	}
}

// TestUnsigned checks that models which do not look for signatures are sent none.
func TestUnsigned(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := New(Options{Model: "gemini-2.5-pro", BaseURL: server.URL, HTTPClient: server.Client})
	var body struct{}
	sent := server.Sent(t, m, conformance.Conversation(), &body)
	if strings.Contains(string(sent.Body), "thoughtSignature") {
		t.Errorf("sent: %s", sent.Body)
	}
}

// TestThinks checks who is asked for thoughts.
func TestThinks(t *testing.T) {
	for id, want := range map[string]bool{
		"gemini-2.5-pro": true, "gemini-2.5-flash-preview-09-2025": true, "gemini-2.5-flash-lite": false,
		"gemini-2.0-flash": false, "gemini-1.5-pro": false, "models/gemini-3-pro-preview": true,
		"gemini-3.5-flash-lite": true, "gemini-2.5-flash-image": false, "gemini-2.5-pro-preview-tts": false,
		"gemini-flash-latest": true, "gemma-3-27b-it": false, "m": false,
	} {
		major, minor := version(id)
		if thinks(id, major, minor) != want {
			t.Errorf("%s: %v, want %v", id, !want, want)
		}
	}
}

// TestPrefix checks that what was sent once is sent again byte for byte.
func TestPrefix(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := wire().New(server.URL, server.Client, 0)
	request := conformance.Conversation()
	before := func() string {
		var body struct{}
		sent := string(server.Sent(t, m, request, &body).Body)
		return sent[:strings.LastIndex(sent, "]")] // the end of contents: nothing behind it has a list
	}
	first := before()
	request.Messages = append(request.Messages,
		model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "Because."}}},
		model.UserText("and?"))
	if second := before(); len(first) < 100 || !strings.HasPrefix(second, first) {
		t.Errorf("the second conversation does not continue the first:\n%s\n%s", first, second)
	}
}

// TestNoCalls checks that forbidding calls changes the mode and not a byte of what is cached before the contents.
func TestNoCalls(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := wire().New(server.URL, server.Client, 0)
	var tools [2]string
	for i := range tools {
		request := conformance.Conversation()
		request.NoCalls = i == 1
		var body struct {
			Tools  json.RawMessage `json:"tools"`
			Config json.RawMessage `json:"toolConfig"`
		}
		server.Sent(t, m, request, &body)
		tools[i] = string(body.Tools)
		if want := [2]string{"", `{"functionCallingConfig":{"mode":"NONE"}}`}[i]; string(body.Config) != want {
			t.Errorf("NoCalls %v: %s", request.NoCalls, body.Config)
		}
	}
	if tools[0] == "" || tools[0] != tools[1] {
		t.Errorf("the tools changed: %s, then %s", tools[0], tools[1])
	}
}

func TestNothingFromTheEnvironment(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	m := New(Options{Model: "m", BaseURL: server.URL})
	var body struct{}
	for name, values := range server.Sent(t, m, conformance.Request(), &body).Header {
		if strings.Contains(strings.Join(values, " "), "env-") || name == "Authorization" || name == "X-Goog-Api-Key" {
			t.Errorf("%s: %q was sent", name, values)
		}
	}
}

func TestNoKeyForTheVendor(t *testing.T) {
	a := conformance.Ask(t, New(Options{Model: "m"}), conformance.Request())
	if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrAuth || !strings.Contains(e.Hint, "GEMINI_API_KEY") {
		t.Errorf("%#v", a.Err)
	}
}

// TestNothingSaid has servers that end a stream without an answer.
func TestNothingSaid(t *testing.T) {
	for _, stream := range []string{
		"data: [DONE]\n\n", data(`{` + usage + `}`),
		says("", `{"text":"half"}`) + "data: [DONE]\n\n",
	} {
		a := ask(t, stream, conformance.Request())
		if e, ok := a.Err.(*model.Error); !ok || e.Kind != model.ErrNetwork {
			t.Errorf("%q: %+v, %v", stream, a.Done, a.Err)
		}
	}
}

// BenchmarkDecode reads a stream of 10,000 responses without a network.
func BenchmarkDecode(b *testing.B) {
	conformance.Benchmark(b, wire(), strings.Repeat(says("", `{"text": "some words "}`), 10_000)+ended("STOP"))
}
