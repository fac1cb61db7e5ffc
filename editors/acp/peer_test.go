package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/editors/acp"
)

// tap copies lines, and has each of them judged on its way.
func (c *client) tap(client bool, from io.ReadCloser, to io.WriteCloser) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var message object
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			c.t.Errorf("a line is no message: %v", err)
		}
		c.note(frame{client, message})
		if _, err := to.Write(append(lines.Bytes(), '\n')); err != nil {
			break // nobody reads any more
		}
	}
	from.Close()
	to.Close()
}

// live is the agent as a program that was started.
func (c *client) live() *process.Live {
	pipes, err := process.NewPipes()
	if err != nil {
		c.t.Fatal(err)
	}
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	ctx, kill := context.WithCancel(c.ctx)
	c.ended = make(chan error, 1)
	go c.tap(true, pipes.ChildIn, toAgent)
	go c.tap(false, fromAgent, pipes.ChildOut)
	go func() {
		err := acp.Serve(ctx, fromClient, toClient, acp.Options{
			Version: "1.2.3", Dir: c.dir, Open: c.open, Write: c.write, Logger: slog.New(slog.DiscardHandler),
		})
		toClient.Close()
		c.ended <- err
	}()
	return &process.Live{In: pipes.In, Out: pipes.Out, Kill: kill, Wait: func() string {
		if err := <-c.ended; err != nil {
			return err.Error()
		}
		return "it ended"
	}}
}

// user is who works with the client of agentcore: the new name is chosen, and leave is given.
type user struct {
	said  strings.Builder
	begun chan struct{} // gets a value when a command has begun
}

func (u *user) options(t *testing.T) protocol.Options {
	return protocol.Options{
		Update: func(_ string, told protocol.Update) {
			switch told.Kind {
			case protocol.MessageChunk:
				u.said.WriteString(told.Content.Text)
			case protocol.CallBegun, protocol.CallChanged:
				if told.Call.Kind == "execute" && told.Call.Status == "in_progress" {
					u.begun <- struct{}{}
				}
			}
		},
		Permission: func(_ context.Context, r protocol.PermissionRequest) (string, error) {
			for _, option := range r.Options {
				if option.Kind == protocol.AllowOnce && option.Name != "old" {
					return option.ID, nil
				}
			}
			return "", nil
		},
		Odd: func(what string) { t.Errorf("odd: %s", what) },
	}
}

// TestOwnClient has the client of agentcore drive the agent of this package: a question, an edit, a cancel, modes, a
// load. Where the published schema is at hand, all that both of them send is held to it.
func TestOwnClient(t *testing.T) {
	c := prepare(t, map[string]string{"a.txt": "old\n"})
	ctx := c.ctx
	var err error
	c.model, err = script.Parse("test", `
turn
call question {"questions": [{"question": "Which name?", "options": [{"label": "old"}, {"label": "new"}]}]}
turn
expect result question "new"
call edit {"path": "a.txt", "old_string": "old", "new_string": "new"}
turn
text Done.
turn
call bash {"command": "sleep 600"}
`)
	if err != nil {
		t.Fatal(err)
	}
	u := &user{begun: make(chan struct{}, 9)}
	agent := protocol.Connect(ctx, c.live(), u.options(t))
	about, err := agent.Initialize(ctx, protocol.Implementation{Name: "test", Version: "1"})
	if err != nil || about.Name != "agentls" || !about.Load || !about.Resume || !about.Close || !about.Embedded {
		t.Fatalf("the agent is %+v, %v", about, err)
	}
	s, err := agent.NewSession(ctx, protocol.Place{Folder: c.dir})
	if err != nil || s.Mode != "default" || len(s.Modes) != 4 || len(s.Options) == 0 {
		t.Fatalf("the session is %+v, %v", s, err)
	}
	prompt := func(want protocol.StopReason) {
		t.Helper()
		reason, _, err := agent.Prompt(ctx, s.ID, []protocol.Content{protocol.Text("Rename it.")})
		if reason != want || err != nil {
			t.Fatalf("the turn ended with %q, %v", reason, err)
		}
	}
	prompt(protocol.EndTurn)
	c.saved("a.txt", "new\n")
	err = agent.SetMode(ctx, s.ID, "accept_edits")
	options, err2 := agent.SetConfigOption(ctx, s.ID, "mode", "bypass")
	if err != nil || err2 != nil || len(options) != len(s.Options) {
		t.Errorf("the options are %+v, %v, %v", options, err, err2)
	}
	go func() {
		select {
		case <-u.begun:
		case <-ctx.Done():
		}
		agent.Cancel(s.ID)
	}()
	prompt(protocol.Cancelled)
	err = agent.CloseSession(ctx, s.ID)
	u.said.Reset()
	_, err2 = agent.LoadSession(ctx, s.ID, protocol.Place{Folder: c.dir})
	if err != nil || err2 != nil || !strings.Contains(u.said.String(), "Done.") {
		t.Errorf("the history says %q, %v, %v", u.said.String(), err, err2)
	}
	agent.Close()
	if err := c.model.Check(); err != nil {
		t.Error(err)
	}
}

// started starts a program.
func started(t *testing.T, ctx context.Context, argv []string, dir string) *process.Live {
	t.Helper()
	pipes, err := process.NewPipes()
	if err != nil {
		t.Fatal(err)
	}
	program, err := process.Start(ctx, process.Program{
		Argv: argv, Dir: dir, Env: os.Environ(), Stdin: pipes.ChildIn, Stdout: pipes.ChildOut, Stderr: os.Stderr,
	})
	if err := pipes.Given(err); err != nil {
		t.Fatal(err)
	}
	return &process.Live{In: pipes.In, Out: pipes.Out, Kill: program.Kill, Wait: func() string {
		exit, _, _ := program.Wait()
		return exit.String()
	}}
}

// TestScriptedAgent holds the scripted agent to the published schema, where it is at hand, as long as its play keeps to
// the protocol: what tests are shown by it is what agents do.
func TestScriptedAgent(t *testing.T) {
	c := prepare(t, nil)
	allowed := map[string][]acptest.Step{"allow": {acptest.Say("allowed")}}
	filled := map[string][]acptest.Step{"accept": {acptest.Say(" filled")}}
	form := object{"type": "object", "properties": object{"name": object{"type": "string"}}}
	argv := acptest.Install(t, c.dir, acptest.Play{
		Capabilities: object{"loadSession": true, "sessionCapabilities": object{"close": object{}}},
		Prompts: [][]acptest.Step{
			{acptest.Ask(nil, allowed, acptest.Reject, acptest.Allow), acptest.Elicit("Which name?", form, filled)},
			{acptest.Say(" begun"), acptest.Hold()},
		},
		History: []acptest.Step{acptest.Say(" before")},
	})
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	agent := protocol.Connect(c.ctx, started(t, c.ctx, argv, c.dir), protocol.Options{
		Update: func(_ string, u protocol.Update) {
			if u.Content.Text == " begun" {
				stop()
			}
		},
		Permission: func(context.Context, protocol.PermissionRequest) (string, error) { return "allow", nil },
		Elicit: func(context.Context, protocol.Form) (protocol.Filled, error) {
			return protocol.Filled{Action: "accept", Content: map[string]any{"name": "new"}}, nil
		},
	})
	_, err := agent.Initialize(ctx, protocol.Implementation{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.NewSession(ctx, protocol.Place{Folder: c.dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []protocol.StopReason{protocol.EndTurn, protocol.Cancelled} {
		reason, _, err := agent.Prompt(ctx, s.ID, []protocol.Content{protocol.Text("Go.")})
		if reason != want || err != nil {
			t.Errorf("the prompt ended with %q, %v", reason, err)
		}
	}
	if err := agent.CloseSession(c.ctx, s.ID); err != nil {
		t.Error(err)
	}
	if _, err := agent.LoadSession(c.ctx, "before", protocol.Place{Folder: c.dir}); err != nil {
		t.Error(err)
	}
	agent.Close()
	c.replay(acptest.Log(t, argv))
	if said := c.said(); said != "allowed filled begun before" {
		t.Errorf("the agent said %q", said)
	}
}

// replay has the messages of a scripted agent judged.
func (c *client) replay(log []acptest.Entry) {
	for _, e := range log {
		for _, line := range []json.RawMessage{e.Got, e.Sent} {
			var message object
			if len(line) == 0 {
				continue
			}
			if err := json.Unmarshal(line, &message); err != nil {
				c.t.Fatal(err)
			}
			c.note(frame{len(e.Got) > 0, message})
		}
	}
}
