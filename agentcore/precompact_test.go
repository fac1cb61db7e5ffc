package agentcore

import (
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
)

// TestPreCompactHooks runs the hooks of a compaction alone.
func TestPreCompactHooks(t *testing.T) {
	for _, test := range []struct{ script, says, notice string }{
		{
			`grep -q '"trigger":"auto"' && echo keep the names`, "<hook event=\"PreCompact\">\nkeep the names\n</hook>",
			"",
		},
		{`echo no >&2; exit 2`, "", "objects (exit code 2), which changes nothing here: no"},
		{`echo '{"decision":"block","reason":"no"}'`, "", "a compaction cannot be rejected"},
	} {
		e, s := openEngine(t)
		cfg := config.Default()
		cfg.Hooks = map[string][]config.Hook{
			"PreCompact": {{Command: config.Command{"sh", "-c", test.script}, Timeout: time.Minute}},
		}
		e.SetConfig(cfg)
		events := e.Subscribe("", 0)
		r, err := e.newRun(s, nil, RunRequest{Agent: "coder", Prompt: "Go."})
		if err != nil {
			t.Fatal(err)
		}
		says, err := r.preCompact()
		if err != nil || says != test.says {
			t.Errorf("%s: it says %q, %v", test.script, says, err)
		}
		r.closeCommands()
		r.cancel(nil)
		if _, err := r.preCompact(); err == nil {
			t.Errorf("%s: it runs after the run's end", test.script)
		}
		for test.notice != "" {
			next, err := events.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := next.Body.(event.Notice); ok {
				if !strings.Contains(n.Message, test.notice) {
					t.Errorf("told %q", n.Message)
				}
				break
			}
		}
	}
}
