package acptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agentls/agentls/agentcore/process"
)

// pollTime is how often a process looks at a file that another one writes.
const pollTime = 5 * time.Millisecond

// turn is the work on a request. One goroutine owns it.
type turn struct {
	agent    *agent
	request  message
	session  string
	dir      string
	answered bool
}

// do does steps until ctx ends.
func (t *turn) do(ctx context.Context, steps []Step) {
	for _, s := range steps {
		if ctx.Err() != nil {
			return
		}
		err := t.step(ctx, s)
		e := Entry{Did: s.Do, Path: s.Path}
		if err != nil {
			e.Error = err.Error()
			t.say(fmt.Sprintf("%s %s: %v", s.Do, s.Path, err))
		}
		t.agent.note(e)
	}
}

func (t *turn) answer(result Object) {
	if !t.answered {
		t.answered = true
		t.agent.answer(t.request, result)
	}
}

func (t *turn) update(update Object) {
	t.notify("session/update", Object{"sessionId": t.session, "update": update})
}

func (t *turn) notify(method string, params Object) {
	t.agent.send(message{Method: method, Params: marshal(params)})
}

func (t *turn) say(text string) { t.update(Say(text).Message) }

// path is the path of a file of the session.
func (t *turn) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.dir, path)
}

// step does one step. The error is one of files or programs, which the agent goes on behind.
func (t *turn) step(ctx context.Context, s Step) error {
	switch s.Do {
	case "write", "append", "delete", "rename", "chmod", "symlink", "files":
		return t.file(s)
	case "read":
		text, err := os.ReadFile(t.path(s.Path))
		if err == nil {
			t.say(string(text))
		}
		return err
	case "await":
		awaitText(ctx, t.path(s.Path), s.Text)
	case "run":
		return t.run(ctx, s.Argv)
	case "daemon":
		return t.daemon(ctx, s)
	case "ask", "elicit", "request":
		t.ask(ctx, s)
	case "answer":
		t.answer(s.Message)
	case "refuse":
		t.answered = true
		t.agent.send(message{ID: t.request.ID, Error: marshal(s.Failure)})
	case "hold":
		<-ctx.Done()
	case "never":
		forever()
	case "exit":
		os.Exit(s.Count)
	case "kill":
		own, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = own.Kill()
		}
		if err == nil {
			forever() // until it is dead
		}
		return err
	default:
		return t.speak(ctx, s)
	}
	return nil
}

// speak does a step that says something.
func (t *turn) speak(ctx context.Context, s Step) error {
	switch s.Do {
	case "update":
		t.update(s.Message)
	case "notify":
		t.notify(s.Text, s.Message)
	case "flood":
		for i := 0; i < s.Count && ctx.Err() == nil; i++ {
			t.agent.write(append(marshal(message{
				Version: "2.0", Method: "session/update",
				Params: marshal(Object{"sessionId": t.session, "update": Say(strconv.Itoa(i)).Message}),
			}), '\n')) // not in the log, for its size
		}
	case "raw":
		t.agent.note(Entry{Sent: marshal(s.Text)})
		t.agent.write([]byte(s.Text))
	case "long":
		line := append([]byte(`{"jsonrpc":"2.0","method":"_long","params":{"text":"`), bytes.Repeat([]byte("x"), s.Count)...)
		t.agent.write(append(line, "\"}}\n"...))
	case "hangup":
		return os.Stdout.Close()
	case "deafen", "ignore": // done by the reading goroutine when the prompt came
	case "complain":
		fmt.Fprintln(os.Stderr, s.Text)
	default:
		return fmt.Errorf("there is no such step")
	}
	return nil
}

// file does a step on files.
func (t *turn) file(s Step) error {
	path := t.path(s.Path)
	switch s.Do {
	case "delete":
		return os.RemoveAll(path)
	case "rename":
		return os.Rename(path, t.path(s.To))
	case "chmod":
		return os.Chmod(path, s.Mode)
	case "symlink":
		return os.Symlink(s.To, path)
	case "files":
		for i := range s.Count {
			name := filepath.Join(s.Path, fmt.Sprintf("%05d.txt", i))
			if err := t.file(Write(name, fmt.Sprintf("file %d\n", i))); err != nil {
				return err
			}
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if s.Do == "append" {
		flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.Text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func (t *turn) run(ctx context.Context, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = t.dir
	out, err := cmd.CombinedOutput()
	t.say(string(out))
	return err
}

// ask sends a request and waits for its answer, or for the end of ctx.
func (t *turn) ask(ctx context.Context, s Step) {
	method, params := s.Text, Object{"sessionId": t.session}
	switch s.Do {
	case "request":
		maps.Copy(params, s.Message)
	case "elicit":
		method = "elicitation/create"
		maps.Copy(params, Object{"mode": "form", "message": s.Text, "requestedSchema": s.Message})
	default:
		method = "session/request_permission"
		params["toolCall"], params["options"] = s.Message, s.Options
		if s.Message == nil {
			params["toolCall"] = Object{"toolCallId": "call-1", "title": "Edit a.txt", "kind": "edit"}
		}
		if s.Options == nil {
			params["options"] = []Option{}
		}
	}
	answer := make(chan message, 1)
	t.agent.mu.Lock()
	t.agent.requests++
	id := marshal(1000 + t.agent.requests)
	t.agent.waiting[string(id)] = answer
	t.agent.mu.Unlock()
	t.agent.send(message{ID: id, Method: method, Params: marshal(params)})
	if s.Flag {
		awaitText(ctx, t.path(s.Path), s.Text)
		t.notify("$/cancel_request", Object{"requestId": json.RawMessage(id)})
	}
	var m message
	select {
	case m = <-answer:
	case <-ctx.Done():
		return
	}
	var result struct {
		Action  string `json:"action"`
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	_ = json.Unmarshal(m.Result, &result) // what is no answer has no steps
	chosen := result.Action
	if chosen == "" {
		chosen = result.Outcome.Option
	}
	if chosen == "" {
		chosen = result.Outcome.Outcome
	}
	t.do(ctx, s.Then[chosen])
}

// awaitText waits until a file has a text, or ctx ends.
func awaitText(ctx context.Context, path, text string) {
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		if have, err := os.ReadFile(path); err == nil && string(have) == text {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

const (
	// daemonArg is the first argument of a process that is a daemon.
	daemonArg = "-daemon"
	// longTime is how long an agent or a daemon lives where nobody ends it.
	longTime = 3 * time.Minute
)

// daemon starts a daemon, and returns once it has written its id. The process between them leads a session of its own
// and ends at once.
func (t *turn) daemon(ctx context.Context, s Step) error {
	path := t.path(s.Path)
	own, err := os.Executable()
	if err != nil {
		return err
	}
	// A system may name the file by what it was linked from; the name decides what a process is.
	cmd := &exec.Cmd{Path: own, Args: []string{os.Args[0], daemonArg, path, "1"}, Dir: t.dir}
	if s.Flag {
		cmd.Stdout = os.Stdout
	}
	process.OwnGroup(cmd)
	if err := cmd.Run(); err != nil {
		return err
	}
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for ctx.Err() == nil {
		if id, err := os.ReadFile(path); err == nil && len(id) > 0 {
			return nil
		}
		<-tick.C
	}
	return nil
}

// daemon is the life of a daemon, or of the process that starts it. It returns the exit code.
func daemon(path string, first bool) int {
	if first {
		own, err := os.Executable()
		if err != nil {
			return 3
		}
		cmd := &exec.Cmd{Path: own, Args: []string{os.Args[0], daemonArg, path, "2"}, Stdout: os.Stdout}
		process.OwnGroup(cmd)
		if cmd.Start() != nil {
			return 3
		}
		return 0
	}
	temporary := path + ".new"
	if os.WriteFile(temporary, []byte(strconv.Itoa(os.Getpid())), 0o600) != nil || os.Rename(temporary, path) != nil {
		return 3
	}
	for end := time.Now().Add(longTime); time.Now().Before(end); time.Sleep(pollTime) {
		if _, err := os.Stat(path); err != nil {
			break
		}
	}
	return 0
}
