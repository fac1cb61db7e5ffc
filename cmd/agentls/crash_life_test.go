package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/lsptest"
)

// heardEvent is an event as it came over the wire.
type heardEvent struct {
	Seq     uint64          `json:"seq"`
	Session event.SessionID `json:"session"`
	Run     event.RunID     `json:"run"`
	Type    string          `json:"type"`
	Status  event.Status    `json:"status"`
	raw     string
}

// life is a server from its start to its end, which is not always its own choice, with an editor.
type life struct {
	*lsptest.Editor
	desk   *crashDesk
	ctx    context.Context
	cmd    *exec.Cmd
	server *lsptest.Server
	log    *transcript

	mu     sync.Mutex
	events map[event.SessionID][]heardEvent // in their order, but for transient ones
	heard  int
	// killAt is how many events are heard before the editor kills the server; 0 is never.
	killAt int
}

// begin starts a server that kills itself at a point, or is killed when it has told of so many events. Where it dies
// before it has answered, the life is over at once.
func (d *crashDesk) begin(ctx context.Context, point crash.Point, times, killAt int) *life {
	d.Helper()
	p, err := lsptest.LoadProfile("rich")
	if err != nil {
		d.Fatal(err)
	}
	l := &life{desk: d, ctx: ctx, log: &transcript{}, events: map[event.SessionID][]heardEvent{}, killAt: killAt}
	l.cmd = exec.CommandContext(ctx, "agentls", "serve", "--log-level", "info")
	l.cmd.Dir, l.cmd.Env = d.dir, d.command().Env
	if point != "" {
		l.cmd.Env = append(l.cmd.Env, fmt.Sprintf("%s=%s %d", crashVariable, point, times))
	}
	if l.server, err = lsptest.Exec(l.cmd, l.log); err != nil {
		d.Fatal(err)
	}
	l.Editor = lsptest.NewEditor(l.server.Stream, lsptest.EditorOptions{
		Root: d.dir, Profile: p, Foreign: d.state,
		Heard: l.hear,
	})
	err = l.Initialize(ctx)
	for name, text := range d.texts { // as an editor does that starts its server again
		if err == nil {
			err = l.OpenText(name, text)
		}
	}
	l.alive(err)
	return l
}

// hear takes a notification in, under the editor's lock.
func (l *life) hear(method string, params json.RawMessage) {
	if method != "agent/event" {
		return
	}
	e := heardEvent{raw: string(params)}
	if err := json.Unmarshal(params, &e); err != nil {
		l.desk.Errorf("an event cannot be decoded: %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard++; l.heard == l.killAt {
		l.server.Kill()
	}
	list := l.events[e.Session]
	if transient[e.Type] {
		return
	}
	if n := len(list); n > 0 && list[n-1].Seq+1 != e.Seq {
		l.desk.Errorf("event %d of %s came behind %d", e.Seq, e.Session, list[n-1].Seq)
	}
	l.events[e.Session] = append(list, e)
}

var transient = map[string]bool{
	"TextDelta": true, "ReasoningDelta": true, "ToolCallProgress": true,
	"RunProgress": true,
}

// alive reports whether a step was done. It was not where the server was killed meanwhile; any other failure is one of
// the test.
func (l *life) alive(err error) bool {
	l.desk.Helper()
	if err != nil && !errors.Is(err, lsptest.ErrDisconnected) && !errors.Is(err, syscall.EPIPE) &&
		!errors.Is(err, os.ErrClosed) {
		l.desk.fail(l, "%v", err)
	}
	return err == nil
}

// ask sends a request and decodes its answer.
func ask[T any](l *life, method, format string, args ...any) (T, error) {
	var result T
	raw, err := l.Call(l.ctx, method, json.RawMessage(fmt.Sprintf(format, args...)))
	if err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, &result)
	}
	return result, err
}

type startedRun struct {
	Session event.SessionID `json:"session"`
	Run     event.RunID     `json:"run"`
}

type listedRun struct {
	ID     event.RunID  `json:"id"`
	Parent event.RunID  `json:"parent"`
	Status event.Status `json:"status"`
	Reason string       `json:"reason"`
}

func (l *life) tree(session event.SessionID) ([]listedRun, error) {
	detail, err := ask[struct {
		Tree []listedRun `json:"tree"`
	}](l, "agent/session", `{"session":%q}`, session)
	return detail.Tree, err
}

// load starts a whole load and accepts what it proposes while it works, up to its end or that of the server.
func (l *life) load(n int) (startedRun, error) {
	run, err := ask[startedRun](l, "agent/run", `{"agent":"coder","prompt":"load-%d whole"}`, n)
	if err != nil {
		return run, err
	}
	if _, err = ask[json.RawMessage](l, "agent/subscribe", `{"session":%q,"since":0}`, run.Session); err != nil {
		return run, err
	}
	return run, l.finish(run.Run)
}

// finish waits for the end of a run, which has to complete, and accepts what is proposed meanwhile and then.
func (l *life) finish(run event.RunID) error {
	for {
		result, err := ask[event.RunResult](l, "agent/wait", `{"run":%q,"timeoutMs":20}`, run)
		if err != nil {
			return err
		}
		if err := l.accept(); err != nil {
			return err
		}
		if result.Status.Final() {
			if result.Status != event.StatusCompleted {
				return fmt.Errorf("the run %s is %s: %s, %+v", run, result.Status, result.Reason, result.Error)
			}
			return nil
		}
	}
}

// accept takes all that is proposed at this moment.
func (l *life) accept() error {
	list, err := ask[struct {
		Proposals []struct {
			ID    event.ProposalID `json:"id"`
			State string           `json:"state"`
			Files []struct {
				Hunks []struct {
					ID    event.HunkID `json:"id"`
					State string       `json:"state"`
				} `json:"hunks"`
			} `json:"files"`
		} `json:"proposals"`
	}](l, "agent/proposals", `{}`)
	if err != nil {
		return err
	}
	for _, p := range list.Proposals {
		open := false
		for _, f := range p.Files {
			for _, h := range f.Hunks {
				open = open || h.State == string(event.StateOpen)
				if slices.Contains(l.desk.applied, h.ID) && h.State == string(event.StateOpen) {
					return fmt.Errorf("the hunk %s was accepted, and is open again", h.ID)
				}
			}
		}
		if !open {
			continue
		}
		accepted, err := ask[struct {
			Applied []event.HunkID `json:"applied"`
		}](l, "agent/proposal/accept", `{"proposal":%q}`, p.ID)
		if err != nil {
			return err
		}
		l.desk.applied = append(l.desk.applied, accepted.Applied...)
	}
	return nil
}

// over takes in what the life leaves: the texts that the editor shows, and what it was told.
func (l *life) over() {
	l.desk.Helper()
	l.server.Kill()
	if _, err := l.server.Wait(); err != nil {
		l.desk.Error(err)
	}
	if err := l.Until(l.ctx, "the end of what it said", func() bool { return false }); !errors.Is(err,
		lsptest.ErrDisconnected) {
		l.desk.Error(err)
	}
	for _, name := range l.Opened() {
		text, _, err := l.Text(name)
		if err != nil {
			l.desk.Error(err)
		}
		l.desk.texts[name] = text
	}
	if err := l.Close(); err != nil {
		l.desk.Error(err)
	}
	for _, fault := range l.Faults() {
		if !strings.HasPrefix(fault, "send ") && !strings.HasPrefix(fault, "answer ") &&
			!strings.Contains(fault, "unexpected EOF") {
			// to who is dead
			l.desk.fail(l, "protocol: %s", fault)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.desk.heard = l.events
}

// quit ends the server properly, once all documents are saved.
func (l *life) quit() {
	l.desk.Helper()
	for _, name := range l.Opened() {
		err := l.Save(name)
		if err == nil && name != sharedFile {
			delete(l.desk.texts, name)
			err = l.CloseDocument(name)
		}
		if err != nil {
			l.desk.Error(err)
		}
	}
	if text, _, err := l.Text(sharedFile); err == nil {
		l.desk.texts[sharedFile] = text
	}
	if err := l.Shutdown(l.ctx); err != nil {
		l.desk.fail(l, "shut down: %v", err)
	}
	if code, err := l.server.Wait(); err != nil || code != exitOK {
		l.desk.fail(l, "the server ended with %d (%v)", code, err)
	}
	if err := l.Close(); err != nil {
		l.desk.Error(err)
	}
	for _, fault := range l.Faults() {
		l.desk.fail(l, "protocol: %s", fault)
	}
}
