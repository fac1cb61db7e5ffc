package run

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/offline"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// house is a process with one session on an empty folder, for tests of single parts of a run.
type house struct {
	process *Process
	session *Session
	config  *config.Config

	mu     sync.Mutex
	events []event.Event // that were stored
	store  *store.Store
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{config: config.Default()}
	state := t.TempDir()
	var err error
	h.store, err = store.Open(t.Context(), filepath.Join(state, "agentls.db"), store.Options{
		Committed: func(events []event.Event) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.events = append(h.events, events...)
		},
		Failed: func(_ []store.NewEvent, err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	view, err := workspace.Open([]workspace.Root{{Path: t.TempDir()}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	decisions, err := authority.NewDecisions(t.Context(), h.store)
	if err != nil {
		t.Fatal(err)
	}
	builtin, err := agent.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	agents, redactor := agent.NewRegistry(builtin...), &secret.Redactor{}
	h.process = &Process{
		Context:   t.Context(),
		Config:    func() *config.Config { return h.config },
		Agents:    func() *agent.Registry { return agents },
		Tools:     map[string]tool.Tool{},
		ToolOrder: tool.Builtin(),
		OpenModel: func(provider.Choice) (model.Model, error) { return offline.New(), nil },
		Getenv:    os.Getenv,
		Decisions: decisions,
		Machine:   slot.NewMachine(state, func() int { return 1 }),
		Sandboxes: Sandboxes{Report: func() sandbox.Report { return sandbox.Probe(t.Context(), SandboxDir(state)) }},
		Outputs:   Outputs{Dir: filepath.Join(state, "outputs"), Redactor: redactor},
		StateDir:  state,
		Redactor:  redactor,
		Logger:    slog.New(slog.DiscardHandler),
	}
	for _, one := range tool.Builtin() {
		h.process.Tools[one.Spec().Name] = one
	}
	id := event.NewSessionID()
	events := feed.Writer{Session: id, Store: h.store}
	skills := skill.NewSet()
	h.session = &Session{
		ID: id, View: view, Events: events, Asks: authority.Asks{Events: events}, Budget: NewBudget(),
		Slots: slot.NewPool(func() int { return 1 }),
		Board: board.New(board.Options{
			View: view, Events: events, Title: func() string { return "" },
			Chain: func(id event.RunID) event.RunID { return id },
		}),
		Trusted: func() bool { return true }, TrustedRoots: view.Folders,
		Vouch:  func(string, string, []byte) error { return nil },
		Skills: func() *skill.Set { return skills },
	}
	h.session.Servers = servers.New(servers.Setup{Session: id, View: view, Proposal: h.session.Board.Proposal()})
	t.Cleanup(h.session.Servers.Close)
	t.Cleanup(h.session.Board.Close)
	h.store.Submit(store.Batch{Sessions: []store.Session{{ID: id, State: store.SessionOpen, Roots: view.Folders()}}})
	return h
}

// run makes a run of the user, and stores it.
func (h *house) run(t *testing.T, request Request) *Run {
	t.Helper()
	r, err := New(h.process, h.session, nil, request)
	if err != nil {
		t.Fatal(err)
	}
	r.record(store.Batch{})
	return r
}

// notices are those that were stored so far.
func (h *house) notices(t *testing.T) []event.Notice {
	t.Helper()
	if err := h.store.Submit(store.Batch{}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []event.Notice
	for _, one := range h.events {
		if n, ok := one.Body.(event.Notice); ok {
			list = append(list, n)
		}
	}
	return list
}
