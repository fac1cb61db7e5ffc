package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// recorded keeps the bodies of the requests to a handler.
type recorded struct {
	http.Handler
	mu     sync.Mutex
	bodies []string
}

func (r *recorded) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.bodies = append(r.bodies, string(body))
	r.mu.Unlock()
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.Handler.ServeHTTP(w, request)
}

// behind starts a vendor's server with a script, which has to be used up.
func (d *desk) behind(handler func(model.Model) http.Handler, s *script.Script) (url string, seen *recorded) {
	d.Helper()
	seen = &recorded{Handler: handler(s)}
	server := httptest.NewServer(seen)
	d.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if err := s.Check(); err != nil {
			d.Error(err)
		}
	})
	return server.URL, seen
}

// TestTwoProviders has an agent on one provider delegate to one on another: each is sent its own conversation and key,
// and their usage is told apart. The parent's settings are those of a preset.
func TestTwoProviders(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": defective})
	parent := script.New("parent",
		script.Turn{
			Answer: []script.Step{
				script.Call{
					Name:      "task",
					Arguments: `{"subagent_type":"explore","prompt":"Find the defect in a.go.","description":"look for it","model":"cheap"}`,
				},
			},
			Usage: model.Usage{Input: 1000, Output: 30},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("task", "It divides.")},
			Answer: []script.Step{script.Text("It divides by zero.")},
			Usage:  model.Usage{Input: 1100, Output: 7, Cached: 900},
		},
	)
	child := script.New("child",
		script.Turn{
			Answer: []script.Step{script.Call{Name: "read", Arguments: `{"path":"a.go"}`}},
			Usage:  model.Usage{Input: 500, Output: 11},
		},
		script.Turn{
			Answer: []script.Step{
				script.Call{Name: "submit_result", Arguments: `{"status":"success","summary":"It divides."}`},
			},
			Usage: model.Usage{Input: 600, Output: 12},
		},
	)
	first, large := d.behind(wiretest.AnthropicHandler, parent)
	second, small := d.behind(wiretest.OpenAIHandler, child)
	d.env = []string{"ANTHROPIC_API_KEY=key-of-the-first", "ANTHROPIC_BASE_URL=" + first, "CHEAP_KEY=key-of-the-second"}
	d.configure(`
default_model = "calm"
[providers.other]
kind = "openai"
base_url = "` + second + `/v1"
key_env = "CHEAP_KEY"
[presets.calm]
model = "anthropic/claude-sonnet-4-5"
temperature = 0.25
max_tokens = 1234
[presets.cheap]
model = "other/small"
temperature = 0.75
[prices."other/small"]
input = 1
output = 1
`)
	stdout, stderr := d.must(0, "run", "--agent", "coder", "What is wrong with a.go?")
	if !strings.Contains(stdout, "It divides by zero.") {
		t.Errorf("the answer is %q", stdout)
	}
	d.without("key-of-the", stdout, stderr)
	for _, side := range []struct {
		seen     *recorded
		settings []string
	}{
		{large, []string{`"temperature":0.25`, `"max_tokens":1234`, `"model":"claude-sonnet-4-5"`}},
		{small, []string{`"temperature":0.75`, `"model":"small"`}},
	} {
		if len(side.seen.bodies) != 2 {
			t.Fatalf("%d requests came", len(side.seen.bodies))
		}
		for _, body := range side.seen.bodies {
			for _, part := range side.settings {
				if !strings.Contains(body, part) {
					t.Errorf("the request lacks %s: %.300s", part, body)
				}
			}
		}
	}
	if strings.Contains(small.bodies[0], "max_tokens\":1234") ||
		strings.Contains(small.bodies[0], "max_completion_tokens\":1234") {
		t.Error("the child has a setting of its parent's preset, though it was given another model")
	}
	stdout, _ = d.must(0, "usage", "--by", "model", "--json")
	var report usageReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	got := map[string]usageRow{}
	for _, row := range report.Rows {
		got[row.Key] = row
	}
	a, b := got["anthropic/claude-sonnet-4-5"], got["other/small"]
	if len(got) != 2 || a.Usage.InputTokens != 2100 || a.Usage.OutputTokens != 37 || a.Usage.CachedTokens != 900 ||
		a.Usage.Cost != nil ||
		b.Usage.InputTokens != 1100 || b.Usage.OutputTokens != 23 || b.Usage.Cost == nil || b.Runs != 1 || a.Runs != 1 {
		t.Errorf("the usage by model is %+v", report.Rows)
	}
	if report.Total.Usage.InputTokens != 3200 || report.Total.Usage.Cost != nil {
		t.Errorf("the sum is %+v", report.Total)
	}
}

// TestDoctorModels asks servers of models on the loopback for what they have.
func TestDoctorModels(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	var got []string
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization"))
		mu.Unlock()
		answers := map[string]string{
			"/good/models": `{"data":[{"id":"large","context_length":200000,"supported_parameters":["tools"]},{"id":"mute","context_length":8000,"supported_parameters":["top_p"]}]}`,
			"/vllm/models": `{"data":[{"id":"qwen3-coder","owned_by":"vllm","max_model_len":32768}]}`,
			"/none/models": `{"data":[{"id":"large-1"},{"id":"other"}]}`,
		}
		switch answer := answers[r.URL.Path]; {
		case r.URL.Path == "/shut/models":
			http.Error(w, `{"error":{"message":"bad key sk-shut-key"}}`, http.StatusUnauthorized)
		case answer == "":
			http.NotFound(w, r)
		default:
			_, _ = io.WriteString(w, answer)
		}
	}))
	defer server.Close()
	config := ""
	for name, more := range map[string]string{
		"good": `models = ["large", "mute"]`, "vllm": `models = ["qwen3-coder"]`, "none": `models = ["large-2"]`,
		"shut": `key_env = "SHUT_KEY"`, "bare": ``,
	} {
		config += "[providers." + name + "]\nkind = \"openai\"\nbase_url = \"" + server.URL + "/" + name +
			"\"\n" + more + "\n"
	}
	d.env = []string{"SHUT_KEY=sk-shut-key", "OLLAMA_HOST=127.0.0.1:9"}
	d.configure("default_model = \"good/large\"\n" + config)
	stdout, stderr := d.must(0, "doctor", "--models")
	lines := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"ok models of good it answers, and has 2 models",
		"ok good/large context of 200000 tokens, by its server; calls tools",
		"warning good/mute context of 8000 tokens, by its server; calls no tools agents need a model that calls tools",
		"warning vllm/qwen3-coder context of 32768 tokens, by its server; whether it calls tools is not told agentls " +
			"would assume 262144: write context_tokens = 32768",
		"warning none/large-2 is not among the models of none did you mean none/large-1?",
		"warning models of shut cannot be listed: HTTP 401 Unauthorized: bad key *** check the key in SHUT_KEY",
		"warning models of bare cannot be listed: HTTP 404 Not Found",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	d.without("sk-shut-key", stdout, stderr)
	mu.Lock()
	for _, request := range got {
		if strings.Contains(request, "sk-shut-key") != strings.HasPrefix(request, "/shut/") {
			t.Errorf("the key went with %s", request)
		}
	}
	mu.Unlock()

	// What the configuration says counts, and a provider whose model every run would take has to answer.
	d.configure(
		"default_model = \"gone/large\"\n[providers.gone]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n" +
			"[providers.vllm]\nkind = \"openai\"\nmodels = [\"qwen3-coder\"]\nbase_url = \"" + server.URL +
			"/vllm\"\n[models.\"vllm/*\"]\ncontext_tokens = 32000\n")
	stdout, _ = d.must(1, "doctor", "--models")
	lines = strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"failed models of gone cannot be listed",
		"ok vllm/qwen3-coder context of 32000 tokens, by the configuration",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
}
