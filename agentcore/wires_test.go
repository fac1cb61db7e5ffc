package agentcore_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// wires are the vendors' servers, and how a provider that is one of them is configured.
var wires = []struct {
	name, provider, api, base string
	handler                   func(model.Model) http.Handler
}{
	{"anthropic", "anthropic", "", "", wiretest.AnthropicHandler},
	{"chat", "openai", "chat", "/v1", wiretest.OpenAIHandler},
	{"responses", "openai", "responses", "/v1", wiretest.ResponsesHandler},
	{"gemini", "gemini", "", "", wiretest.GeminiHandler},
}

// TestRunsOverTheWires reviews a file twice over each vendor's wire: once to its end, once up to its last turn, which
// keeps the tools and forbids their use. All requests come over one connection.
func TestRunsOverTheWires(t *testing.T) {
	for _, serve := range wires {
		t.Run(serve.name, func(t *testing.T) {
			provider := serve.provider
			w := newWorld(t, map[string]string{"a.go": "package a\n"},
				script.Turn{
					Match:  "Look once",
					Expect: []script.Expect{script.Calls(), script.Tools("read", "report_finding")},
					Answer: []script.Step{call("read", `{"path":"a.go"}`), call("read", `{"path":"a.go","offset":1}`)},
				},
				script.Turn{
					Match: "Look once", Expect: []script.Expect{script.Result("read", "package a")},
					Answer: []script.Step{script.Text("Nothing to say.")},
				},
				script.Turn{Match: "Look twice", Answer: []script.Step{call("read", `{"path":"a.go"}`)}},
				script.Turn{
					Match:  "Look twice",
					Expect: []script.Expect{script.NoCalls(), script.Tools("read", "report_finding")},
					Answer: []script.Step{script.Text("Handed over.")},
				},
			)
			var mu sync.Mutex
			addresses := map[string]bool{}
			handler := serve.handler(w.model)
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
				mu.Lock()
				addresses[in.RemoteAddr] = true
				mu.Unlock()
				handler.ServeHTTP(out, in)
			}))
			t.Cleanup(server.Close)
			w.closeEngine()
			cfg := config.Default()
			p := cfg.Providers[provider]
			p.Kind, p.API, p.BaseURL, p.KeyEnv = provider, serve.api, server.URL+serve.base, "TEST_KEY"
			cfg.Providers[provider] = p
			w.openWith(agentcore.Options{StateDir: w.state, Config: cfg, Getenv: func(name string) string {
				return map[string]string{"TEST_KEY": "k"}[name]
			}})
			for prompt, limits := range map[string]agent.Limits{"Look once": {}, "Look twice": {MaxTurns: 2}} {
				request := review(w.path("a.go"))
				request.Prompt, request.Model, request.Limits = prompt, provider+"/m", limits
				want := map[string]string{"Look once": "Nothing to say.", "Look twice": "Handed over."}[prompt]
				if result := w.wait(w.start(request)); result.Output != want {
					t.Errorf("%s: %+v", prompt, result)
				}
			}
			if len(addresses) != 1 {
				t.Errorf("the requests came over %d connections", len(addresses))
			}
		})
	}
}

// Whatever a vendor fails with in the middle of an answer or before it, the turn begins anew, and comes once.
func TestFaultsOverTheWires(t *testing.T) {
	for _, serve := range wires {
		t.Run(serve.name, func(t *testing.T) {
			provider := serve.provider
			begun := []script.Step{script.Text("half"), call("todo", `{"items":[]}`)}
			fails := func(failure model.Error, steps ...script.Step) script.Turn {
				return script.Turn{Expect: []script.Expect{script.Messages(1)}, Answer: append(steps, failing(failure))}
			}
			w := newWorld(t, nil,
				fails(model.Error{Kind: model.ErrNetwork}, begun...),
				fails(model.Error{Kind: model.ErrOverloaded, Detail: "busy"}, begun...),
				fails(model.Error{Kind: model.ErrRateLimit, Status: 429, Detail: "slow down"}),
				fails(model.Error{Kind: model.ErrOverloaded, Status: 529, Detail: "busy"}),
				fails(model.Error{Kind: model.ErrServer, Status: 500, Detail: "down"}),
				script.Turn{Answer: []script.Step{script.Text("whole"), call("todo", `{"items":[]}`)}},
				script.Turn{Expect: []script.Expect{script.Messages(3)}, Answer: []script.Step{script.Text("done")}},
			)
			server := httptest.NewServer(serve.handler(w.model))
			t.Cleanup(server.Close)
			w.closeEngine()
			cfg := config.Default()
			cfg.RetryMaxElapsed = watchdog
			p := cfg.Providers[provider]
			p.Kind, p.API, p.BaseURL, p.KeyEnv = provider, serve.api, server.URL+serve.base, ""
			cfg.Providers[provider] = p
			w.openWith(agentcore.Options{StateDir: w.state, Config: cfg})
			request := agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Model: provider + "/m"}
			id := w.start(request)
			if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "done" ||
				result.Turns != 2 || len(result.ToolCalls) != 1 {
				t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
			}
			if n := len(bodies[event.RetryScheduled](w.until(ended(id)))); n != 5 {
				t.Errorf("%d retries were announced, want 5", n)
			}
		})
	}
}
