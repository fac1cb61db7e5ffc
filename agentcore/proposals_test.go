package agentcore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// killed continues in another engine what the store would hold had the process just been killed.
func (w *world) killed() *world {
	w.t.Helper()
	next := w.another()
	next.resume()
	return next
}

// another opens an engine on what the store would hold had the process just been killed.
func (w *world) another() *world {
	w.t.Helper()
	if err := w.session.Flush(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	next := &world{t: w.t, ctx: w.ctx, dir: w.dir, state: w.t.TempDir(), model: script.New("next")}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(w.state, "agentls.db"+suffix))
		if err == nil {
			err = os.WriteFile(filepath.Join(next.state, "agentls.db"+suffix), data, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	var err error
	if next.view, err = workspace.Open([]workspace.Root{{Path: w.dir, Name: "w"}}, workspace.Options{}); err != nil {
		w.t.Fatal(err)
	}
	if next.engine, err = agentcore.Open(w.ctx,
		agentcore.Options{
			StateDir:  next.state,
			OpenModel: func(provider.Choice) (model.Model, error) { return next.model, nil },
		}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(next.close)
	next.events = next.engine.Subscribe("", 0)
	return next
}

// resume continues what ended sessions left.
func (w *world) resume() {
	w.t.Helper()
	left, err := w.engine.Left(w.ctx, []string{w.dir})
	if err != nil || !left {
		w.t.Errorf("something is left: %v, %v", left, err)
	}
	if w.session, err = w.engine.ContinueSession(w.ctx, w.view, "next"); err != nil {
		w.t.Fatal(err)
	}
}

// hunks describes the hunks that wait for the user.
func (w *world) hunks(want ...string) []event.HunkID {
	w.t.Helper()
	var got []string
	var ids []event.HunkID
	for _, h := range w.session.Board().Hunks() {
		if h.State == event.StateOpen || h.State == event.StateConflict {
			got = append(got,
				strings.TrimSpace(string(h.State)+" "+filepath.Base(h.Path)+" "+h.Before+"→ "+h.After+h.Detail))
			ids = append(ids, h.ID)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Errorf("the hunks are %q, want %q", got, want)
	}
	return ids
}

// save has the editor apply edits, and save them.
func (w *world) save(edits []workspace.FileEdit, failed []workspace.HunkFailure) {
	w.t.Helper()
	if len(failed) > 0 || len(edits) == 0 {
		w.t.Fatalf("no edits: %+v", failed)
	}
	for _, e := range edits {
		text, at := "", 0
		for _, one := range e.Edits {
			text += e.Before[at:one.Start] + one.New
			at = one.End
		}
		if err := os.WriteFile(e.Path, []byte(text+e.Before[at:]), 0o644); err != nil {
			w.t.Fatal(err)
		}
		w.view.Recheck(e.Path)
	}
}

func (w *world) file(name, want string) {
	w.t.Helper()
	if text, err := os.ReadFile(w.path(name)); err != nil || string(text) != want {
		w.t.Errorf("%s is %q, %v; want %q", name, text, err, want)
	}
}

func edits(before, after string) script.Step {
	return call("edit", `{"path":"a.txt","old_string":"`+before+`","new_string":"`+after+`"}`)
}

var coding = agentcore.RunRequest{Agent: "coder", Prompt: "Change it."}

// proposing is a coder that reads a.txt and changes it.
func proposing(changes ...script.Step) []script.Turn {
	return []script.Turn{{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}}, {Answer: changes}, said}
}

const three = "one\ntwo\nthree\n"

func TestProposalsAfterAKill(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": three},
		proposing(edits("one", "ONE"), edits("three", "three\\nfour"))...)
	w.wait(w.start(coding))
	ids := w.hunks("open a.txt one\n→ ONE", "open a.txt → four")
	if err := os.WriteFile(w.path("a.txt"), []byte("zero\n"+three), 0o644); err != nil {
		t.Fatal(err)
	}
	next := w.killed()
	if got := next.hunks("open a.txt one\n→ ONE", "open a.txt → four"); !slices.Equal(got, ids) {
		t.Errorf("the hunks are %q, were %q", got, ids)
	}
	next.save(next.session.Board().Proposal().Edits(ids[:1]))
	next.file("a.txt", "zero\nONE\ntwo\nthree\n")
	next.killed().hunks("open a.txt → four")
}

// A hunk is shown when it would survive a crash, and not before.
func TestHunkIsShownOnceItIsStored(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": three},
		script.Turn{Answer: []script.Step{script.Gate("locked"), call("read", `{"path":"a.txt"}`)}},
		script.Turn{Answer: []script.Step{edits("two", "TWO")}},
		script.Turn{Answer: []script.Step{script.Gate("merged"), script.Text("done")}},
	)
	id := w.start(coding)
	if err := w.model.Reached(w.ctx, "locked", 1); err != nil {
		t.Fatal(err)
	}
	if err := w.session.Flush(w.ctx); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.state, "agentls.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lock, err := db.Conn(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := lock.ExecContext(w.ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	w.model.Release("locked")
	if err := w.model.Reached(w.ctx, "merged", 1); err != nil {
		t.Fatal(err)
	}
	if n := len(w.session.Board().Proposal().Hunks()); n != 1 {
		t.Errorf("%d hunks are proposed", n)
	}
	w.hunks()
	if _, err := lock.ExecContext(w.ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := w.session.Flush(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.hunks("open a.txt two\n→ TWO")
	w.model.Release("merged")
	w.wait(id)
}

// What a run has written comes back as hunks when its process is killed, whatever layer it is in.
func TestInterruptedRunProposes(t *testing.T) {
	t.Run("in a turn", func(t *testing.T) {
		w := newWorld(t, map[string]string{"a.txt": three},
			script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
			script.Turn{Answer: []script.Step{edits("two", "TWO"), call("todo", `{"items":[]}`)}},
			said,
		)
		reached, release := make(chan struct{}), make(chan struct{})
		w.withProbe("todo",
			probe{title: func() string { return "todo" }, run: func(context.Context) (tool.Result, error) {
				close(reached)
				<-release
				return tool.Result{}, nil
			}})
		id := w.start(coding)
		select {
		case <-reached:
		case <-w.ctx.Done():
			t.Fatal(w.ctx.Err())
		}
		w.hunks()
		next := w.killed()
		ids := next.hunks("open a.txt two\n→ TWO\nan interrupted run proposed this")
		again := next.killed() // nothing is lost or doubled by a kill at any later time
		if got := again.hunks("open a.txt two\n→ TWO\nan interrupted run proposed this"); !slices.Equal(got, ids) {
			t.Errorf("the hunks are %q, were %q", got, ids)
		}
		// Nor by one while it is taken over.
		half := w.another()
		const session, proposal = "half", "half"
		stored := half.engine.Store()
		if err := stored.Submit(store.Batch{
			Sessions: []store.Session{{ID: session, State: store.SessionOpen}},
		}).Wait(w.ctx); err != nil {
			t.Fatal(err)
		}
		if left, err := stored.Adopt(w.ctx, store.Proposal{ID: proposal, Session: session}, []string{w.dir},
			10); err != nil || len(left.LayerFiles) != 1 {
			t.Fatalf("taken over: %+v, %v", left, err)
		}
		half.session = w.session
		half.killed().hunks("open a.txt two\n→ TWO\nan interrupted run proposed this")
		close(release)
		w.wait(id)
		w.hunks("open a.txt two\n→ TWO")
		// What was merged is in no layer any more.
		w.killed().hunks("open a.txt two\n→ TWO")
	})
	t.Run("of a child", func(t *testing.T) {
		w := newWorld(t, map[string]string{"a.txt": three, "b.txt": three},
			script.Turn{Match: "file: a.txt", Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
			script.Turn{Match: "file: a.txt", Answer: []script.Step{edits("two", "TWO")}},
			script.Turn{Match: "file: a.txt", Answer: []script.Step{script.Gate("a"), script.Text("done")}},
			script.Turn{Match: "file: b.txt", Answer: []script.Step{script.Gate("b"), script.Text("done")}},
		)
		request := coding
		request.Each = []string{w.path("a.txt"), w.path("b.txt")}
		id := w.start(request)
		for _, gate := range []string{"a", "b"} {
			if err := w.model.Reached(w.ctx, gate, 1); err != nil {
				t.Fatal(err)
			}
		}
		w.hunks()
		w.killed().hunks("open a.txt two\n→ TWO\nan interrupted run proposed this")
		w.model.Release("a")
		w.model.Release("b")
		w.wait(id)
		w.hunks("open a.txt two\n→ TWO")
	})
}

func TestUndoAfterKillAndClose(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": three}, proposing(edits("two", "TWO"))...)
	id := w.start(coding)
	w.wait(id)
	ids := w.hunks("open a.txt two\n→ TWO")
	w.save(w.session.Board().Proposal().Edits(ids))
	w.file("a.txt", "one\nTWO\nthree\n")

	next := w.killed()
	next.hunks()
	next.closeEngine()
	if err := os.WriteFile(w.path("a.txt"), []byte("zero\none\nTWO\nthree\nfour\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	last := &world{t: t, ctx: w.ctx, dir: w.dir, state: next.state, model: script.New("last")}
	last.open()
	defer last.close()
	last.resume()
	undoable, err := last.session.Board().Undoable(w.ctx, id)
	if err != nil || len(undoable) != 1 || undoable[0].ID != ids[0] || undoable[0].State != event.StateOpen {
		t.Fatalf("can be undone: %+v, %v", undoable, err)
	}
	last.save(last.session.Board().Proposal().UndoEdits(ids))
	last.file("a.txt", "zero\none\ntwo\nthree\nfour\n")
	if h, _ := last.session.Board().Proposal().Hunk(ids[0]); h.State != event.StateRejected || h.Detail != "undone" {
		t.Errorf("the undone hunk is %+v", h)
	}
	if left := last.killedLeaves(); left {
		t.Error("what was undone is left behind")
	}
}

// killedLeaves reports whether another process would find something after a kill.
func (w *world) killedLeaves() bool {
	w.t.Helper()
	if err := w.session.Flush(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	w.closeEngine()
	w.open()
	left, err := w.engine.Left(w.ctx, []string{w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}

// Sessions of a living process keep what is theirs.
func TestLivingSessionIsLeftAlone(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": three}, proposing(edits("two", "TWO"))...)
	w.wait(w.start(coding))
	other := &world{t: t, ctx: w.ctx, dir: w.dir, state: w.state, model: script.New("other")}
	other.open()
	defer other.close()
	if left, err := other.engine.Left(w.ctx, []string{w.dir}); err != nil || left {
		t.Errorf("left: %v, %v", left, err)
	}
	session, err := other.engine.ContinueSession(w.ctx, other.view, "other")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(session.Board().Hunks()); n != 0 {
		t.Errorf("%d hunks of a living session were taken over", n)
	}
	w.hunks("open a.txt two\n→ TWO")
}

// Old hunks that nobody can do anything about any more do not stay for ever.
func TestStoredHunksAreBounded(t *testing.T) {
	const count = 2100
	before, after := strings.Repeat("old\nsame\n", count), strings.Repeat("new\nsame\n", count)
	w := newWorld(t, map[string]string{"a.txt": before})
	layer := w.session.Board().Proposal().Fork()
	file, err := layer.Read(w.path("a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := layer.Write(file.Path, after, file.Stamp, workspace.Author{}); err != nil {
		t.Fatal(err)
	}
	report, err := layer.Merge()
	if err != nil || len(report.Hunks) != count {
		t.Fatalf("%d hunks, %v", len(report.Hunks), err)
	}
	if failed, err := w.session.Board().Reject(w.ctx, report.Hunks); err != nil || len(failed) > 0 {
		t.Fatalf("%+v, %v", failed, err)
	}
	stored, err := w.engine.Store().Hunks(w.ctx, w.session.ID, "")
	if err != nil || len(stored) != 2000 {
		t.Errorf("%d hunks are stored, %v", len(stored), err)
	}
}

// TestOnlyWhatChangedIsTold proposes a file in each turn: what is told of the proposal names the file of that turn
// alone, however many wait for the user by then, and counts all of them.
func TestOnlyWhatChangedIsTold(t *testing.T) {
	const files = 5
	var turns []script.Turn
	for i := range files {
		turns = append(turns, script.Turn{Answer: []script.Step{
			call("write", fmt.Sprintf(`{"path":"%d.txt","content":"new\n"}`, i)),
		}})
	}
	w := newWorld(t, nil, append(turns, script.Turn{Answer: []script.Step{done}})...)
	id := w.start(coder())
	for i := range files {
		all := w.until(func(e event.Event) bool { _, told := e.Body.(event.ProposalChanged); return told })
		changed := all[len(all)-1].Body.(event.ProposalChanged)
		want := event.FileURI(w.path(fmt.Sprintf("%d.txt", i)))
		if len(changed.URIs) != 1 || changed.URIs[0] != want || changed.Open != i+1 ||
			changed.State != event.StateOpen {
			t.Errorf("turn %d tells %+v, want %s and %d open hunks", i+1, changed, want, i+1)
		}
	}
	w.wait(id)
	var ids []event.HunkID
	for _, h := range w.session.Board().Hunks() {
		ids = append(ids, h.ID)
	}
	if failed, err := w.session.Board().Reject(w.ctx, ids); err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	all := w.until(func(e event.Event) bool {
		changed, told := e.Body.(event.ProposalChanged)
		return told && changed.Open == 0
	})
	if last := all[len(all)-1].Body.(event.ProposalChanged); last.State != event.StateRejected || last.Conflict != 0 {
		t.Errorf("the end of the proposal is told as %+v", last)
	}
}
