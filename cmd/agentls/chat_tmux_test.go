//go:build !windows

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentls/agentls/agentcore/needs"
)

// pane is a terminal of tmux with a shell's script in it.
type pane struct {
	*desk
	socket string
	output chan []byte // what the terminal is sent, as it comes; closed at its end
}

// newPane runs words of a shell in a terminal of its own, in the desk's folder.
func (d *desk) newPane(words string) *pane {
	d.Helper()
	needs.Program(d, "tmux", "tmux")
	folder := d.TempDir()
	p := &pane{desk: d, socket: filepath.Join(folder, "socket"), output: make(chan []byte)}
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		d.Fatal(err)
	}
	env := d.command().Env
	words = "read go && " + words // it begins once all that it writes is seen
	p.tmux(append([]string{"new-session", "-d", "-x", "80", "-y", "30", "-c", d.dir}, append(inTmux(env), words)...)...)
	d.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() }) // it may have ended
	go p.read(pipe)
	p.tmux("pipe-pane", "exec cat > "+pipe)
	p.keys("", "Enter")
	return p
}

// inTmux are the arguments that set an environment.
func inTmux(env []string) []string {
	var args []string
	for _, setting := range append(env, "LC_ALL=C.UTF-8", "TERM=screen") {
		args = append(args, "-e", setting)
	}
	return args
}

// read tells of each piece that the terminal is sent.
func (p *pane) read(pipe string) {
	defer close(p.output)
	file, err := os.Open(pipe)
	if err != nil {
		p.Error(err)
		return
	}
	defer file.Close()
	for in := bufio.NewReader(file); ; {
		piece := make([]byte, 4096)
		n, err := in.Read(piece)
		if n > 0 {
			select {
			case p.output <- piece[:n]:
			case <-p.ctx.Done():
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.Error(err)
			}
			return
		}
	}
}

// tmux runs a command of tmux, on a server of the pane's own.
func (p *pane) tmux(args ...string) string {
	p.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket, "-f", "/dev/null"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// keys types a text as it is, and then keys by their names.
func (p *pane) keys(text string, names ...string) {
	p.Helper()
	if text != "" {
		p.tmux("send-keys", "-l", text)
	}
	if len(names) > 0 {
		p.tmux(append([]string{"send-keys"}, names...)...)
	}
}

// screen is all that the terminal shows and has shown.
func (p *pane) screen() string {
	return p.tmux("capture-pane", "-p", "-J", "-S", "-")
}

// sees waits until the terminal shows a text behind what was seen before, and returns what it then shows from there on.
func (p *pane) sees(behind string, texts ...string) string {
	p.Helper()
	for {
		_, rest, found := strings.Cut(p.screen(), behind)
		for _, text := range texts {
			var ok bool
			_, after, ok := strings.Cut(rest, text)
			if found = found && ok; ok {
				rest = after
			}
		}
		if found {
			return rest
		}
		select {
		case _, ok := <-p.output:
			if !ok {
				p.Fatalf("the terminal has ended without %q:\n%s", texts, p.screen())
			}
		case <-p.ctx.Done():
			p.Fatalf("never seen %q behind %q: %v\n%s", texts, behind, context.Cause(p.ctx), p.screen())
		}
	}
}

// TestChatOnATerminal has a person talk with an agent on a real terminal: prompts that follow each other, a question, a
// run that is cancelled, an edit that is accepted, and on the next day more of it.
func TestChatOnATerminal(t *testing.T) {
	d := newDesk(t, map[string]string{"main.go": "package main\n\nfunc main() {}\n"})
	model := filepath.Join(d.home, "model")
	d.env = append(d.env, scriptVariable+"="+model, "OLLAMA_HOST=127.0.0.1:9")
	d.write(model, `
turn
expect last one line
expect last three lines
text "The first answer, with 日本語 in it.\n\nAnd more."
turn
expect messages 3
call question {"questions":[{"question":"Which one?","options":[{"label":"Red"},{"label":"Blue"}]}]}
turn
expect result question "Which one?\n→ Blue"
call edit {"path": "main.go", "old_string": "{}", "new_string": "{ println() }"}
turn
text "The second answer."
turn
expect last Think.
wait never
turn
expect last And now?
text "The third answer."
`)
	p := d.newPane("agentls chat --agent coder; echo the code is $?; exec cat")
	p.sees("", "You talk with coder", "\n>")
	p.tmux("set-buffer", "one line\nand the last of three lines")
	p.tmux("paste-buffer", "-p", "-r")
	p.sees("", "> one line\n  and the last of three lines")
	p.keys("", "Enter")
	p.sees("", "> one line\n  and the last of three lines",
		"The first answer, with 日本語 in it.\n\nAnd more.\n", "coder, ", "\n>")

	p.keys("Change it, 日本", "BSpace", "Left", "x", "Enter")
	p.sees("And more.", "> Change it, x日\n", "coder asks: Which one?\n", "  2) Blue\n", "? your answer")
	p.keys("2", "Enter")
	p.sees("? 2\n", "The second answer.\n", "1 proposed edit: ", "changes main.go  +1 -1\n", "\n>")
	p.keys("/acc", "Tab", "Enter")
	p.sees("/accept writes", "> /accept\n", "wrote main.go\n")

	p.keys("Think.", "Enter")
	p.sees("wrote main.go", "> Think.\n", "coder  Think.", "waiting for script/test", "> Enter tells it something more")
	p.keys("", "C-c")
	p.sees("> Think.\n", "Cancelled. What it did so far is known to the next prompt.\n", "\n>")
	p.keys("no, not this", "C-c")
	p.keys("And now?", "Enter")
	p.sees("Cancelled.", "> And now?\n", "The third answer.\n", "coder, ")
	p.keys("", "C-d")
	rest := p.sees("The third answer.", "`agentls chat --resume ", "the code is 0\n")
	_, id, _ := strings.Cut(p.sees("The third answer."), "--resume ")
	id, _, _ = strings.Cut(id, "`")
	text, err := os.ReadFile(filepath.Join(d.dir, "main.go"))
	if err != nil || !strings.Contains(string(text), "{ println() }") {
		t.Errorf("what was accepted is not written: %q, %v; %s", text, err, rest)
	}

	d.write(model, "turn\nexpect last What did I say?\nexpect messages 12\ntext \"The last answer.\"\n")
	p = d.newPane("agentls chat --resume " + id + "; echo the code is $?; exec cat")
	p.sees("", "and go on with “", "\n>")
	p.keys("", "Up", "Up")
	p.sees("", "> Think.")
	p.keys("", "C-u")
	p.keys("What did I say?", "Enter")
	p.sees("", "> What did I say?\n", "The last answer.\n", "coder, ")
	p.keys("/exit", "Enter")
	p.sees("The last answer.", "> /exit\n", "the code is 0\n")
}
