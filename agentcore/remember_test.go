package agentcore_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

// remembered returns what the open hunks propose, by file; none of them may be applied without a review.
func (w *world) remembered() map[string]string {
	w.t.Helper()
	proposed := map[string]string{}
	for _, h := range w.session.Board().Proposal().Hunks() {
		if h.State != event.StateOpen {
			continue
		}
		if w.session.Unreviewed(h) {
			w.t.Errorf("%s is applied without a review", h.Path)
		}
		proposed[w.view.Relative(h.Path)] += h.After
	}
	return proposed
}

// TestRemember: what the user wants remembered is proposed for the nearest AGENTS.md, without a model, and once.
func TestRemember(t *testing.T) {
	w := newWorld(t, map[string]string{
		"AGENTS.md": "Be brief.\n", "api/AGENTS.md": "## Remembered\n\n- One.\n",
		"api/v1/a.go": "package v1\n", "b.go": "",
	})
	for _, tt := range []struct{ thing, path, want string }{
		{"Use tabs. @b.go", w.path("b.go"), "Proposed for AGENTS.md"},
		{"/iter 3 is a prompt", "", "Proposed for AGENTS.md"},
		{"Two.", w.path("api/v1/a.go"), "Proposed for api/AGENTS.md"},
		{"one.", w.path("api/v1/a.go"), "it is not remembered: api/AGENTS.md: it is remembered there already"},
		{"The key is ghp_" + strings.Repeat("a1B2", 9), "", "looks like a secret"},
		{" - ", "", "there is nothing to remember"},
	} {
		id, err := w.session.Remember(w.ctx, tt.thing, tt.path)
		if err != nil {
			t.Fatalf("%s: %v", tt.thing, err)
		}
		result := w.wait(id)
		said := result.Output
		if result.Error != nil {
			said = result.Error.Detail
		}
		if !strings.Contains(said, tt.want) || result.Turns != 0 {
			t.Errorf("%s: %s, %+v", tt.thing, said, result)
		}
	}
	got := w.remembered()
	if !strings.Contains(got["AGENTS.md"], "## Remembered\n\n- Use tabs. @b.go\n") ||
		!strings.Contains(got["AGENTS.md"], "- /iter 3 is a prompt\n") || got["api/AGENTS.md"] != "- Two.\n" {
		t.Errorf("proposed %q", got)
	}
	if text, err := os.ReadFile(w.path("AGENTS.md")); err != nil || string(text) != "Be brief.\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

// TestRememberIsReviewed: no mode, and no agent, has anything remembered that the user has not seen, and the tool is
// only offered to agents whose definitions name it.
func TestRememberIsReviewed(t *testing.T) {
	for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits, permission.Bypass} {
		w := newWorld(t, map[string]string{"a.txt": ""})
		keeper := own("keeper", "read", "remember")
		keeper.Categories = []agent.Category{agent.Primary}
		w.with(script.New("test",
			script.Turn{
				Expect: []script.Expect{script.Tools("remember")},
				Answer: []script.Step{
					call("remember", `{"text":"Use tabs.","folder":"sub"}`), call("remember", `{"text":"Be brief."}`),
				},
			},
			script.Turn{
				Expect: []script.Expect{
					script.Result("remember", "Proposed for sub/AGENTS.md; it counts once the user accepts it"),
				},
				Answer: []script.Step{script.Text("Done.")},
			},
			script.Turn{Expect: []script.Expect{script.NoTools("remember")}, Answer: []script.Step{script.Text("No.")}},
		), nil, keeper)
		result := w.wait(w.start(agentcore.RunRequest{Agent: "keeper", Prompt: "Go.", PermissionMode: mode}))
		if len(result.ToolCalls) != 2 || result.Status != event.StatusCompleted {
			t.Errorf("%s: %+v", mode, result)
		}
		if got := w.remembered(); got["sub/AGENTS.md"] != "## Remembered\n\n- Use tabs.\n" ||
			got["AGENTS.md"] != "## Remembered\n\n- Be brief.\n" {
			t.Errorf("%s: proposed %q", mode, got)
		}
		w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."}))
	}
}

// TestRememberByTheRules: a rule that keeps agents from a file keeps this from it, too.
func TestRememberByTheRules(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": ""})
	w.with(script.New("test"), func(o *agentcore.Options) {
		o.Config = configtest.User(t, "[[permission]]\ntool = \"edit\"\npattern = \"AGENTS.md\"\naction = \"deny\"\n")
	})
	id, err := w.session.Remember(w.ctx, "Use tabs.", "")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Status != event.StatusFailed || !strings.Contains(result.Error.Detail, "denied: ") {
		t.Errorf("got %+v", result)
	}
	if got := w.remembered(); len(got) > 0 {
		t.Errorf("proposed %q", got)
	}
}
