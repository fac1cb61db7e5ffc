package agentcore_test

import (
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// TestCommandMakesARepository: what a command would make a git repository, by itself or with what was proposed before,
// is left out, for nobody is asked what a command writes.
func TestCommandMakesARepository(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		w := newWorld(t, nil,
			script.Turn{Answer: []script.Step{
				call("write", `{"path":"sub/objects/x","content":"x\n"}`),
				call("write", `{"path":"sub/refs/x","content":"x\n"}`),
			}},
			script.Turn{Answer: []script.Step{bash(`mkdir -p sub own/objects own/refs && echo x > sub/HEAD && echo x > sub/config &&
				echo x > own/objects/x && echo x > own/refs/x && echo x > own/HEAD && echo x > own/config && echo x > free`)}},
			answered([]string{
				"sub/HEAD", "sub/config", "own/HEAD", "own/config", "needs a question",
				"looks like a git repository",
			}),
		)
		w.atLevel(level)
		if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
			t.Fatalf("the run is %s: %+v", result.Status, result.Error)
		}
		var got []string
		for _, h := range w.session.Board().Proposal().Hunks() {
			name, err := filepath.Rel(w.dir, h.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(name))
		}
		if len(got) != 3 || got[0] != "free" || got[1] != "sub/objects/x" || got[2] != "sub/refs/x" {
			t.Errorf("proposed are %q", got)
		}
	})
}
