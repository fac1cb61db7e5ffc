package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/methods"
)

// TestSessionsOfAServer: a session that an editor has open is read by a command and a second window, deleted by
// neither, and leaves no text in the state folder when the editor deletes it.
func TestSessionsOfAServer(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "one\n"})
	turns := filepath.Join(d.home, "turns")
	d.write(turns, "turn\ntext A conspicuous answer.\n")
	d.env = append(d.env, scriptVariable+"="+turns)
	first := d.serve("rich")
	started := decode[methods.RunStarted](t, first.execute("agentls.run", `{"agent": "coder", "prompt": "Say it."}`))
	if result := first.wait(started.Run); result.Status != event.StatusCompleted {
		t.Fatalf("got %+v", result)
	}
	d.env = d.env[:0] // the others ask no model
	if out, _ := d.must(exitOK, "sessions", "list", "--json"); !strings.Contains(out, string(started.Session)) {
		t.Errorf("got %s", out)
	}
	if out, _ := d.must(exitOK, "sessions", "show", string(started.Run)); !strings.Contains(out,
		"A conspicuous answer.") {
		t.Errorf("got %s", out)
	}
	if _, said := d.must(exitUsage, "sessions", "delete", string(started.Session)); !strings.Contains(said,
		"is open in rich (process ") {
		t.Errorf("got %s", said)
	}
	if _, said := d.must(exitUsage, "sessions", "rewind", string(started.Run)); !strings.Contains(said,
		"is open in rich (process ") {
		t.Errorf("got %s", said)
	}
	second := d.serve("rich")
	id := `{"session": "` + string(started.Session) + `"}`
	detail := decode[methods.SessionDetail](t, second.execute("agentls.session", id))
	if len(detail.Tree) != 1 || detail.Tree[0].ID != started.Run || detail.Status != event.StatusCompleted {
		t.Errorf("got %+v", detail)
	}
	transcript := decode[methods.Transcript](t,
		second.execute("agentls.transcript", `{"run": "`+string(started.Run)+`"}`))
	if len(transcript.Messages) != 2 || transcript.Messages[1].Parent != transcript.Messages[0].ID {
		t.Errorf("got %+v", transcript)
	}
	if said := second.refused("agentls.session.delete", id); !strings.Contains(said, "is open in rich (process ") {
		t.Errorf("got %s", said)
	}
	first.execute("agentls.session.delete", id)
	second.refused("agentls.session", id)
	first.quit()
	second.quit()
	err := filepath.WalkDir(d.state, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "conspicuous") {
			t.Errorf("the text is still in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestContinueBehindAnEditor: a command does not go on with what the user has gone back behind in an editor, until that
// is brought back there.
func TestContinueBehindAnEditor(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "one\n"})
	turns := filepath.Join(d.home, "turns")
	d.env = append(d.env, scriptVariable+"="+turns)
	d.write(turns, "turn\ncall edit {\"path\": \"a.txt\", \"old_string\": \"one\", \"new_string\": \"two\"}\n"+
		"turn\ntext Done.\n")
	editor := d.serve("rich")
	started := decode[methods.RunStarted](t, editor.execute("agentls.run", `{"agent": "coder", "prompt": "Do it."}`))
	editor.wait(started.Run)
	run := `{"run": "` + string(started.Run) + `"}`
	editor.execute("agentls.rewind", run)
	editor.quit()
	d.write(turns, "turn match=\"Do it.\"\nexpect last \"Go on.\"\ntext Gone on.\n")
	if _, said := d.must(exitUsage, "run", "--continue", "Go on."); !strings.Contains(said, "nothing was before it") {
		t.Errorf("got %s", said)
	}
	editor = d.serve("rich")
	editor.execute("agentls.restore", run)
	editor.quit()
	if out, _ := d.must(exitOK, "run", "--continue", "Go on."); !strings.Contains(out, "Gone on.") {
		t.Errorf("got %s", out)
	}
}

// TestSessionsAreListedUpToALimit: the latest session is listed, and that there are others; 0 lists all.
func TestSessionsAreListedUpToALimit(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "one\n"})
	turns := filepath.Join(d.home, "turns")
	d.write(turns, "turn\ntext One.\n")
	d.env = append(d.env, scriptVariable+"="+turns)
	d.must(exitOK, "run", "--agent", "coder", "Say the first.")
	d.must(exitOK, "run", "--agent", "coder", "Say the second.")
	out, _ := d.must(exitOK, "sessions", "list", "--limit", "1")
	if !strings.Contains(out, "second") || strings.Contains(out, "first") || !strings.Contains(out, "--limit 0 lists") {
		t.Errorf("got %s", out)
	}
	out, _ = d.must(exitOK, "sessions", "list", "--limit", "0")
	if !strings.Contains(out, "first") || !strings.Contains(out, "second") || strings.Contains(out, "older") {
		t.Errorf("got %s", out)
	}
	if _, said := d.must(exitUsage, "sessions", "list", "--limit", "-1"); !strings.Contains(said, "0 for all") {
		t.Errorf("got %s", said)
	}
}
