package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
)

// typist is a user who types the next line whenever a question is shown, and then hangs up.
type typist struct {
	bytes.Buffer
	lines []string
	typed chan string
}

func (w *typist) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("Answer with")) && len(w.lines) > 0 {
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
		script.Turn{
			Expect: []script.Expect{script.Result("write", "one.json")},
			Answer: []script.Step{write("two.json")},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "denied: the user said no")},
			Answer: []script.Step{write("three.json")},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "denied: nobody can be asked here any more")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	shown, _ := onTerminal(t, turns, []string{"perhaps\n", "1\n", "4\n", ""}, "run", "--ignore-denied", "--agent",
		"coder", "Write.")
	for _, want := range []string{
		"coder wants to write .vscode/one.json\n", "  3) Always allow\n",
		"Answer with a number from 1 to 4:", "two.json",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q was not shown: %q", want, shown)
		}
	}
}

// onTerminal runs agentls for a user who types lines, and returns what was shown and printed.
func onTerminal(t *testing.T, turns *script.Script, lines []string, args ...string) (shown, printed string) {
	t.Helper()
	base := t.TempDir()
	var out bytes.Buffer
	told := &typist{lines: lines, typed: make(chan string, len(lines))}
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
		args: args, environment: environment{dir: t.TempDir(), home: base, getenv: func(name string) string {
			return map[string]string{
				"AGENTLS_STATE":   filepath.Join(base, "state"),
				"XDG_CONFIG_HOME": filepath.Join(base, "config"),
			}[name]
		}},
		console: console{
			stdin: keyboard, stdinTerminal: true, stdout: screen{Writer: &out},
			stderr: screen{Writer: told, terminal: true, size: func() (int, int) { return 80, 24 }},
		},
		openModel: func(provider.Choice) (model.Model, error) { return turns, nil },
	}
	if code := p.run(t.Context()); code != exitOK {
		t.Errorf("exit code %d: %s", code, told.String())
	}
	if err := turns.Check(); err != nil {
		t.Error(err)
	}
	return told.String(), out.String()
}

// TestQuestionsOnATerminal answers an agent's questions by numbers, and in words of one's own.
func TestQuestionsOnATerminal(t *testing.T) {
	turns := script.New("asking",
		script.Turn{Answer: []script.Step{script.Call{Name: "question", Arguments: `{"questions":[
			{"question":"Shall it stay?","options":[{"label":"Yes"},{"label":"No","description":"callers break"}]},
			{"question":"Which?","options":[{"label":"a"},{"label":"b"},{"label":"c"}],"multiple":true},
			{"question":"Whence?"},{"question":"Why?","options":[{"label":"So"}]}]}`}}},
		script.Turn{
			Expect: []script.Expect{
				script.Result("question", "Shall it stay?\n→ No\n"), script.Result("question", "Which?\n→ a; c\n"),
				script.Result("question", "Whence?\n→ From 3, or so\n"),
				script.Result("question", "Why?\n→ no answer: the user leaves it to you"),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	shown, _ := onTerminal(t, turns, []string{" \n", "2\n", "1, 3\n", "From 3, or so\n", "2\n"}, "run", "--agent",
		"coder", "Ask.")
	for _, want := range []string{
		"coder asks: Shall it stay?\n  No: callers break\n  1) Yes\n  2) No\n  3) Let the agent " +
			"decide\nAnswer with a " +
			"number, or in your own words:",
		"Answer with a number from 1 to 3, or in your own words:",
		"Answer with numbers, such as 1,3, or in your own words:",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q was not shown: %q", want, shown)
		}
	}
}
