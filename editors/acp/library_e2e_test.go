//go:build e2e

package acp_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/editors/acp"
)

// TestLibrary has a client of the protocol's own TypeScript library drive a session: an edit, a question, a cancel and
// a load.
func TestLibrary(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	c := &client{t: t, dir: t.TempDir(), state: t.TempDir(), written: map[string]string{}}
	c.save("a.txt", "old\n")
	var err error
	c.model, err = script.Parse("test", `
turn
call question {"questions": [{"question": "Which name?", "options": [{"label": "old"}, {"label": "new"}]}]}
turn
expect result question "→ new"
call edit {"path": "a.txt", "old_string": "old", "new_string": "new"}
turn
text Done.
turn
text "I wait."
call bash {"command": "sleep 600"}
`)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(ctx, "node", "testdata/client.mjs", c.dir)
	node.Env = os.Environ()
	var complaint bytes.Buffer
	node.Stderr = &complaint
	in, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	err = acp.Serve(ctx, in, out, acp.Options{
		Version: "1", Dir: c.dir, Open: c.open, Write: c.write, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Error(err)
	}
	out.Close()
	if err := node.Wait(); err != nil {
		t.Errorf("the client: %v\n%s", err, complaint.String())
	}
	if err := c.model.Check(); err != nil {
		t.Error(err)
	}
}
