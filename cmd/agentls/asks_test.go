package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// typist is a user who types the next line whenever a question is shown, and then hangs up.
type typist struct {
	bytes.Buffer
	lines []string
	typed chan string
}

func (w *typist) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("Answer with a number")) && len(w.lines) > 0 {
		w.typed <- w.lines[0]
		if w.lines = w.lines[1:]; len(w.lines) == 0 {
			close(w.typed)
		}
	}
	return w.Buffer.Write(text)
}

// TestAsksOnATerminal answers questions by their numbers, one after the other.
func TestAsksOnATerminal(t *testing.T) {
	write := func(name string) script.Step {
		return script.Call{Name: "write", Arguments: `{"path":".vscode/` + name + `","content":"{}\n"}`}
	}
	turns := script.New("asking",
		script.Turn{Answer: []script.Step{write("one.json")}},
		script.Turn{Expect: []script.Expect{script.Result("write", "one.json")}, Answer: []script.Step{write("two.json")}},
		script.Turn{Expect: []script.Expect{script.Result("write", "denied: the user said no")}, Answer: []script.Step{write("three.json")}},
		script.Turn{Expect: []script.Expect{script.Result("write", "denied: nobody can be asked here any more")}, Answer: []script.Step{script.Text("done")}},
	)
	base := t.TempDir()
	var out bytes.Buffer
	told := &typist{lines: []string{"perhaps\n", "1\n", "4\n", ""}, typed: make(chan string, 4)}
	keyboard, hands := io.Pipe()
	var typing sync.WaitGroup
	defer typing.Wait()
	typing.Go(func() {
		defer hands.Close()
		for line := range told.typed {
			if _, err := io.WriteString(hands, line); err != nil {
				return
			}
		}
	})
	defer keyboard.Close()
	p := &process{
		args: []string{"run", "--agent", "coder", "Write."}, dir: t.TempDir(), home: base,
		getenv: func(name string) string {
			return map[string]string{"AGENTLS_STATE": filepath.Join(base, "state"), "XDG_CONFIG_HOME": filepath.Join(base, "config")}[name]
		},
		stdin: keyboard, stdinTerminal: true,
		stdout: screen{Writer: &out}, stderr: screen{Writer: told, terminal: true, size: func() (int, int) { return 80, 24 }},
		openModel: func(agentcore.Choice) (model.Model, error) { return turns, nil },
	}
	if code := p.run(t.Context()); code != exitOK {
		t.Errorf("exit code %d: %s", code, told.String())
	}
	if err := turns.Check(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"coder wants to write .vscode/one.json\n", "  3) Always allow\n", "Answer with a number from 1 to 4:", "two.json"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("%q was not shown: %q", want, told.String())
		}
	}
}
