package run

import (
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/config"
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
		h := newHouse(t)
		h.config.Hooks = map[string][]config.Hook{
			"PreCompact": {{Command: config.Command{"sh", "-c", test.script}, Timeout: time.Minute}},
		}
		r := h.run(t, Request{Agent: "coder", Prompt: "Go."})
		says, err := r.hooks.preCompact()
		if err != nil || says != test.says {
			t.Errorf("%s: it says %q, %v", test.script, says, err)
		}
		r.closeCommands()
		r.cancel(nil)
		if _, err := r.hooks.preCompact(); err == nil {
			t.Errorf("%s: it runs after the run's end", test.script)
		}
		told := h.notices(t)
		if test.notice == "" && len(told) > 0 || test.notice != "" &&
			(len(told) != 1 || !strings.Contains(told[0].Message, test.notice)) {
			t.Errorf("%s: told %+v, want %q", test.script, told, test.notice)
		}
	}
}
