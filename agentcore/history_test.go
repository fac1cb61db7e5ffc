package agentcore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/store"
)

// spoken writes a conversation in a few words a line.
func spoken(messages []history.Message) string {
	var b strings.Builder
	known := map[event.MessageID]int{}
	for i, m := range messages {
		parent := "-"
		if at, ok := known[m.Parent]; ok {
			parent = fmt.Sprint(at)
		} else if m.Parent != "" {
			parent = "?"
		}
		known[m.ID] = i
		text, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
		fmt.Fprintf(&b, "%d<%s %s %q", i, parent, m.Role, text)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " %s=%s", c.Tool, c.Status)
			if c.Child != "" {
				b.WriteString("+child")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (w *world) transcript(run event.RunID) []history.Message {
	w.t.Helper()
	messages, more, err := w.engine.History().Transcript(w.ctx, run, "", 0)
	if err != nil || more {
		w.t.Fatalf("%v, more %v", err, more)
	}
	return messages
}

func (w *world) tree(session event.SessionID) (history.Session, []history.Run) {
	w.t.Helper()
	info, tree, err := w.engine.History().Tree(w.ctx, session)
	if err != nil {
		w.t.Fatal(err)
	}
	return info, tree
}

// refusedAs expects an error of a kind.
func refusedAs(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	var failure *fault.Error
	if !errors.As(err, &failure) || failure.Kind != kind {
		t.Errorf("got %v, want an error of the kind %s", err, kind)
	}
}

// delegating are the turns of a coder that has an explorer look, and edits a file.
func delegating() []script.Turn {
	return []script.Turn{
		{Match: "Go.", Answer: []script.Step{script.Text("First I look."), task("explore", "Look.", "")}},
		{Match: "Look.", Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		{Match: "Look.", Answer: []script.Step{script.Text("There is one.")}},
		{Match: "Go.", Answer: []script.Step{call("read", `{"path":"none.txt"}`)}},
		{Match: "Go.", Answer: []script.Step{script.Text("Done.")}},
	}
}

const delegated = `0<- user "Go."
1<0 assistant "First I look." task=ok+child
2<1 tool ""
3<2 assistant "" read=error
4<3 tool ""
5<4 assistant "Done."
`

// TestTranscript: a conversation with parent links, outcomes and children, by pages and in a later process, too.
func TestTranscript(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, delegating()...)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.wait(run)
	if info, tree, err := w.engine.History().Tree(w.ctx, w.session.ID); err != nil ||
		info.Updated.Before(tree[0].Finished.Truncate(time.Microsecond)) {
		t.Errorf("the session says that it was used until %v, %v: %+v", info.Updated, err, tree)
	}
	check := func() {
		t.Helper()
		all := w.transcript(run)
		if got := spoken(all); got != delegated {
			t.Errorf("got\n%s", got)
		}
		if c := all[3].Calls[0]; !strings.HasPrefix(c.Output, "error: ") || c.Arguments != `{"path":"none.txt"}` ||
			c.Duration < 0 {
			t.Errorf("got %+v", c)
		}
		page, more, err := w.engine.History().Transcript(w.ctx, run, all[1].ID, 2)
		if err != nil || !more || len(page) != 2 || page[0].ID != all[2].ID {
			t.Errorf("got %d messages, more %v, %v", len(page), more, err)
		}
		if page, more, err = w.engine.History().Transcript(w.ctx, run, all[3].ID, 2); err != nil || more ||
			len(page) != 2 {
			t.Errorf("got %d messages, more %v, %v", len(page), more, err)
		}
		if got := spoken(w.transcript(all[1].Calls[0].Child)); !strings.Contains(got, "read=ok") {
			t.Errorf("got\n%s", got)
		}
	}
	check()
	session := w.session.ID
	w.close()
	w.model = script.New("test")
	w.open()
	check()
	if info, tree := w.tree(session); info.Runs != 2 || info.Status != event.StatusCompleted || tree[0].ID != run ||
		tree[1].Parent != run {
		t.Errorf("got %+v, %+v", info, tree)
	}
	_, _, err := w.engine.History().Transcript(w.ctx, "r-nobody", "", 0)
	refusedAs(t, err, "not_found")
	_, _, err = w.engine.History().Transcript(w.ctx, run, "m-nothing", 0)
	refusedAs(t, err, "not_found")
	_, _, err = w.engine.History().Tree(w.ctx, "s-nothing")
	refusedAs(t, err, "not_found")
}

// TestTranscriptOfResumed: it begins with what the run goes on with, and outlives its deletion as far as it can.
func TestTranscriptOfResumed(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Text("One.")}})
	first := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Count."})
	w.wait(first)
	old := w.session.ID
	w.close()
	w.model = script.New(
		"test",
		script.Turn{
			Expect: []script.Expect{script.Messages(3), script.First("Count.")},
			Answer: []script.Step{script.Text("Two.")},
		},
		script.Turn{
			Expect: []script.Expect{script.Messages(3), script.First("On."), script.Last("Again.")},
			Answer: []script.Step{script.Text("Three.")},
		},
	)
	w.open()
	second, err := w.session.Resume(w.ctx, first, "On.")
	if err != nil {
		t.Fatal(err)
	}
	w.wait(second)
	if got := spoken(
		w.transcript(
			second)); got != "0<- user \"Count.\"\n1<0 assistant \"One.\"\n2<1 user \"On.\"\n3<2 assistant \"Two.\"\n" {
		t.Errorf("got\n%s", got)
	}
	if err := w.engine.Retention().Delete(w.ctx, old); err != nil {
		t.Fatal(err)
	}
	if got := spoken(w.transcript(second)); got != "0<? user \"On.\"\n1<0 assistant \"Two.\"\n" {
		t.Errorf("got\n%s", got)
	}
	third, err := w.session.Resume(w.ctx, second, "Again.")
	if err != nil {
		t.Fatal(err)
	}
	w.wait(third)
}

// turnsOf are the turns of runs, in order.
func turnsOf(tree []history.Run) string {
	turns := make([]string, len(tree))
	for i, r := range tree {
		turns[i] = strconv.Itoa(r.Turns)
	}
	return strings.Join(turns, " ")
}

// TestFork: a copy up to a message is a session of its own, costs nothing, and goes on in another direction, also when
// the original is deleted.
func TestFork(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, append(
		delegating(), script.Turn{
			Match: "Go.", Fresh: true, Expect: []script.Expect{script.Messages(4), script.Last("Now something else.")},
			Answer: []script.Step{script.Text("Something else.")},
		},
	)...)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.wait(run)
	all := w.transcript(run)
	whole, err := w.engine.History().Fork(w.ctx, w.session.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	_, tree := w.tree(whole)
	if len(tree) != 2 || tree[0].ID == run || tree[1].Parent != tree[0].ID || tree[0].Status != event.StatusCompleted {
		t.Fatalf("got %+v", tree)
	}
	if got := spoken(w.transcript(tree[0].ID)); got != delegated {
		t.Errorf("got\n%s", got)
	}
	if turns := turnsOf(tree); turns != "3 2" {
		t.Errorf("the copies have %s turns", turns)
	}
	if result, err := w.engine.Wait(w.ctx, tree[0].ID); err != nil || result.Turns != 3 {
		t.Errorf("the copy has %d turns, %v", result.Turns, err)
	}
	part, err := w.engine.History().Fork(w.ctx, w.session.ID, all[2].ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.engine.History().Fork(w.ctx, w.session.ID, "m-nothing")
	refusedAs(t, err, "not_found")
	original := w.session.ID
	if w.session, err = w.engine.OpenSession(w.ctx, w.view, "another"); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Retention().Delete(w.ctx, original); err != nil {
		t.Fatal(err)
	}
	info, tree := w.tree(part)
	if len(tree) != 2 || tree[0].Status != event.StatusInterrupted || tree[1].Status != event.StatusCompleted ||
		info.ForkedFrom != original || *info.Usage.Cost != 0 || info.Usage.OutputTokens != 0 {
		t.Fatalf("got %+v, %+v", info, tree)
	}
	if turns := turnsOf(tree); turns != "1 2" {
		t.Errorf("the copies have %s turns", turns)
	}
	if got := spoken(w.transcript(tree[0].ID)); got != strings.Join(strings.SplitAfter(delegated, "\n")[:3], "") {
		t.Errorf("got\n%s", got)
	}
	again, err := w.session.Resume(w.ctx, tree[0].ID, "Now something else.")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(again); result.Output != "Something else." {
		t.Errorf("got %+v", result)
	}
}

// TestExportImport: what was exported is imported elsewhere, says the same and goes on; a mode of the file counts for
// nothing.
func TestExportImport(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, delegating()...)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go.", PermissionMode: "bypass"})
	w.wait(run)
	var file, text bytes.Buffer
	if err := w.engine.History().Export(w.ctx, w.session.ID, &file); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.History().Markdown(w.ctx, w.session.ID, &text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# test\n", "## coder: Go.\n", "### User\n\nGo.\n", "First I look.\n",
		"**read** `{\"path\":\"none.txt\"}`, error\n", "```\nerror: ", "### Assistant\n\nDone.\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if !strings.Contains(file.String(), `"mode":"bypass"`) || strings.Count(file.String(), `"type":"call"`) != 3 {
		t.Errorf("got\n%s", file.String())
	}
	w.close()
	next := newWorld(t, map[string]string{"a.txt": "one\n"}, script.Turn{
		Expect: []script.Expect{script.Messages(7), script.First("Go."), script.Last("Thanks.")},
		Answer: []script.Step{script.Text("Welcome.")},
	})
	id, err := next.engine.History().Import(next.ctx, bytes.NewReader(file.Bytes()),
		func([]string) []string { return []string{next.dir} })
	if err != nil {
		t.Fatal(err)
	}
	_, tree := next.tree(id)
	if got := spoken(next.transcript(tree[0].ID)); got != delegated {
		t.Errorf("got\n%s", got)
	}
	var copied bytes.Buffer
	if err := next.engine.History().Export(next.ctx, id, &copied); err != nil || turnsOf(tree) != "3 2" ||
		!strings.Contains(copied.String(), `"turns":3`) {
		t.Errorf("the copies have %s turns; %v\n%s", turnsOf(tree), err, copied.String())
	}
	row, err := next.engine.Store().Run(next.ctx, tree[0].ID)
	if err != nil || bytes.Contains(row.Permissions, []byte("bypass")) {
		t.Errorf("got %s, %v", row.Permissions, err)
	}
	again, err := next.session.Resume(next.ctx, tree[0].ID, "Thanks.")
	if err != nil {
		t.Fatal(err)
	}
	if result := next.wait(again); result.Output != "Welcome." {
		t.Errorf("got %+v", result)
	}
	// Exported anew, the resumed run's session has what it goes on with, but for the children of that.
	file.Reset()
	if err := next.engine.History().Export(next.ctx, next.session.ID, &file); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(file.String(), "First I look.") {
		t.Errorf("the former conversation is missing:\n%s", file.String())
	}
	if id, err = next.engine.History().Import(next.ctx, &file, nil); err != nil {
		t.Fatal(err)
	}
	_, tree = next.tree(id)
	if got := spoken(next.transcript(tree[len(tree)-1].ID)); got != strings.Replace(delegated, "+child", "",
		1)+"6<5 user \"Thanks.\"\n7<6 assistant \"Welcome.\"\n" {
		t.Errorf("got\n%s", got)
	}
}

// TestImportRefuses what is no session, and says where.
func TestImportRefuses(t *testing.T) {
	w := newWorld(t, nil)
	session := `{"type":"session","format":"agentls-session","version":1,"id":"s1","title":"t","folders":["/w"]}` + "\n"
	run := `{"type":"run","id":"r1","agent":"coder","role":"main"}` + "\n"
	message := `{"type":"message","id":"m1","run":"r1","role":"user","parts":[]}` + "\n"
	for text, want := range map[string]string{
		"":                                "the file is empty",
		"hello":                           "line 1: it is no JSON object",
		run:                               "line 1: the first line is not of the type session",
		session + session:                 "line 2: there is a second session",
		"\uFEFF" + session + session:      "line 2: there is a second session",
		session + run + run:               "line 3: the run \"r1\" has no id of its own",
		session + message:                 "line 2: there is no run \"r1\"",
		session + run + message + message: "line 4: the message \"m1\"",
		`{"type":"session","format":"other","id":"s1"}`:                                       "line 1: its format is",
		`{"type":"session","format":"agentls-session","version":2,"id":"s1"}`:                 "update it",
		`{"type":"session","format":"agentls-session","version":1,"id":"s1","folders":["w"]}`: "no absolute path",
		`{"type":"session","format":"agentls-session","version":1,"id":"s1","title":5}`: "line 1: its member " +
			"title must not be of the kind number",
		`{"type":"session","format":"agentls-session","version":1,"id":"s1"}`: "names no folder",
		session +
			`{"type":"run","id":"r1","parent":"r2","agent":"coder"}`: "in front of " +
			"the one that started it",
		session + run +
			`{"type":"message","id":"m1","run":"r1","role":"system","parts":[]}`: "has the role",
		session + run +
			`{"type":"message","id":"m1","run":"r1","role":"user","parts":[{"kind":"mystery"}]}`: "unknown part",
	} {
		_, err := w.engine.History().Import(w.ctx, strings.NewReader(text), nil)
		refusedAs(t, err, "invalid_request")
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	hidden := `{"type":"run","id":"r0","agent":"titler","role":"` + history.RoleHidden + `"}` + "\n" +
		`{"type":"message","id":"m0","run":"r0","role":"user","parts":[]}` + "\n"
	id, err := w.engine.History().Import(w.ctx, strings.NewReader(session+hidden+run+message+`{"type":"later"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := w.tree(id); info.Runs != 1 {
		t.Errorf("got %+v", info)
	}
}

// contains reports which files below a folder hold a text.
func contains(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestDeletedSessionLeavesNoText: neither in the database nor beside it, while its run is at work; another session
// keeps what is its.
func TestDeletedSessionLeavesNoText(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Match: "Keep this", Answer: []script.Step{script.Text("kept conspicuously")}},
		script.Turn{
			Match: "Say",
			Answer: []script.Step{
				script.Text("a conspicuous word"),
				call("write", `{"path":"b.txt","content":"conspicuous\n"}`),
			},
		},
		script.Turn{Match: "Say", Answer: []script.Step{script.Gate("work"), script.Text("conspicuous")}},
	)
	kept := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Keep this."})
	w.wait(kept)
	first := w.session
	var err error
	if w.session, err = w.engine.OpenSession(w.ctx, w.view, "conspicuous"); err != nil {
		t.Fatal(err)
	}
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Say something conspicuous."})
	w.reached("work")
	for name, text := range map[string]string{
		"outputs/output-" + string(run) + "-123.txt":                                      "conspicuous",
		"outputs/task-" + string(run) + ".md":                                             "conspicuous",
		"documents/answers/" + string(run) + ".md":                                        "conspicuous",
		"documents/proposals/" + string(w.session.Board().ProposalID()) + "/files/a.diff": "conspicuous",
		"plans/quick-brown-fox.md":                                                        "conspicuous",
		"plans/other.md":                                                                  "of another session",
		"outputs/task-" + string(kept) + ".md":                                            "of another session",
	} {
		path := filepath.Join(w.state, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	err = w.engine.Store().Submit(store.Batch{ToolCalls: []store.ToolCall{{
		ID: "c-plan", Run: run, Tool: "plan_exit", Status: event.CallOK,
		Output: "The plan is kept in " + filepath.Join(w.state, "plans", "quick-brown-fox.md") + ", and accepted.",
	}}}).Wait(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Retention().Delete(w.ctx, w.session.ID); err != nil {
		t.Fatal(err)
	}
	if left := contains(t, w.state, "conspicuous word"); len(left) > 0 {
		t.Errorf("the text is still in %s", left)
	}
	for _, name := range []string{"outputs", "documents", "plans"} {
		if left := contains(t, filepath.Join(w.state, name), "conspicuous"); len(left) > 0 {
			t.Errorf("the text is still in %s", left)
		}
	}
	if left := contains(t, w.state, "of another session"); len(left) != 2 {
		t.Errorf("what others left is in %s", left)
	}
	if got := spoken(w.transcript(kept)); !strings.Contains(got, "kept conspicuously") {
		t.Errorf("got\n%s", got)
	}
	_, err = w.session.Start(w.ctx, agentcore.RunRequest{Agent: "coder", Prompt: "More."})
	refusedAs(t, err, "not_found")
	refusedAs(t, w.engine.Retention().Delete(w.ctx, w.session.ID), "not_found")
	_, err = w.engine.Wait(w.ctx, run)
	refusedAs(t, err, "not_found")
	w.session = first
}

// TestDeleteInUse: a session that another process has open stays.
func TestDeleteInUse(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Text("One.")}})
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Count."})
	w.wait(run)
	other := w.elsewhere()
	refusedAs(t, other.Retention().Delete(w.ctx, w.session.ID), "in_use")
	if deleted, err := other.Retention().DeleteOlder(w.ctx, time.Now().Add(time.Hour)); err != nil || len(deleted) > 0 {
		t.Errorf("got %v, %v", deleted, err)
	}
	if messages, _, err := other.History().Transcript(w.ctx, run, "", 0); err != nil || len(messages) != 2 {
		t.Errorf("another process reads %d messages, %v", len(messages), err)
	}
}

// TestRetention: what is older than it is kept goes, then the oldest above the size, and what is in use stays.
func TestRetention(t *testing.T) {
	w := newWorld(t, nil)
	cfg := config.Default()
	cfg.RetentionDays, cfg.RetentionSize = 30, 2<<20
	w.engine.SetConfig(cfg)
	var batch store.Batch
	parts, err := model.EncodeParts([]model.Part{model.Text{Text: strings.Repeat("text ", 100<<10)}})
	if err != nil {
		t.Fatal(err)
	}
	for i, days := range []int{40, 20, 10, 5, 1} {
		id := fmt.Sprintf("old%d", i)
		when := time.Now().AddDate(0, 0, -days)
		batch.Sessions = append(batch.Sessions, store.Session{
			ID: event.SessionID(id), State: store.SessionClosed,
			Created: when, Updated: when,
		})
		batch.Runs = append(batch.Runs,
			store.Run{
				ID: event.RunID(id), Session: event.SessionID(id),
				Ending: store.Ending{Status: event.StatusCompleted},
			})
		batch.Messages = append(batch.Messages,
			store.Message{ID: event.MessageID(id), Run: event.RunID(id), Role: "user", Parts: parts, Seq: 1})
	}
	if err := w.engine.Store().Submit(batch).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(w.state, "outputs", "task-"+string(event.NewRunID())+".md")
	if err := os.MkdirAll(filepath.Dir(stray), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stray, []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(stray, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	deleted, err := w.engine.Retention().Retain(w.ctx)
	if err != nil || deleted != 2 {
		t.Errorf("%d were deleted, %v", deleted, err)
	}
	list, _, err := w.engine.History().Sessions(w.ctx, history.Filter{})
	if err != nil || len(list) != 3 || list[2].ID != "old2" {
		t.Errorf("left are %+v, %v", list, err)
	}
	if _, err := os.Stat(stray); !os.IsNotExist(err) {
		t.Errorf("what a deleted session left is still there: %v", err)
	}
	if _, err := w.engine.Store().Session(w.ctx, w.session.ID); err != nil {
		t.Errorf("the session in use: %v", err)
	}
	if deleted, err = w.engine.Retention().Retain(w.ctx); err != nil || deleted != 0 {
		t.Errorf("%d were deleted, %v", deleted, err)
	}
}

// TestRetentionWhileTheClockJumps: young sessions stay, whatever the clock says for a while.
func TestRetentionWhileTheClockJumps(t *testing.T) {
	w := newWorld(t, nil)
	w.closeEngine()
	jump := time.Duration(0)
	w.openWith(agentcore.Options{StateDir: w.state, Now: func() time.Time { return time.Now().Add(jump) }})
	young := store.Batch{
		Sessions: []store.Session{{ID: "young", State: store.SessionClosed, Created: time.Now(), Updated: time.Now()}},
		Runs:     []store.Run{{ID: "young", Session: "young", Ending: store.Ending{Status: event.StatusCompleted}}},
	}
	if err := w.engine.Store().Submit(young).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	day := 24 * time.Hour
	for _, step := range []struct {
		jump time.Duration
		want int
	}{{0, 0}, {400 * day, 0}, {400*day + time.Hour, 0}, {0, 0}, {-400 * day, 0}, {0, 0}, {
		400 * day,
		0,
	}, {401*day + time.Hour, 2}} {
		// beside it the one that openWith has left
		jump = step.jump
		deleted, err := w.engine.Retention().Retain(w.ctx)
		if err != nil || deleted != step.want {
			t.Errorf("with a clock that is %v ahead %d sessions were deleted, want %d (%v)", step.jump, deleted,
				step.want, err)
		}
	}
}

// TestImportTellsWhatWasUsed: an imported session has used what its file says, and where that is not known, it is not
// said to be nothing.
func TestImportTellsWhatWasUsed(t *testing.T) {
	const session = `{"type":"session","format":"agentls-session","version":1,"id":"s1","title":"t","folders":["/w"]}` +
		"\n"
	const run = `{"type":"run","id":"r1","session":"s1","agent":"coder","role":"main","title":"t","model":"m","request":"Go.","status":"completed","turns":1`
	for usage, want := range map[string]string{
		"": "unknown 0", `,"usage":{"inputTokens":7,"outputTokens":3,"cachedTokens":0}`: "unknown 7",
		`,"usage":{"inputTokens":7,"outputTokens":3,"cachedTokens":0,"cost":0.25}`: "0.25 7",
	} {
		w := newWorld(t, nil)
		id, err := w.engine.History().Import(w.ctx, strings.NewReader(session+run+usage+"}\n"),
			func([]string) []string { return []string{w.dir} })
		if err != nil {
			t.Fatal(err)
		}
		cost := "unknown"
		info, tree := w.tree(id)
		if info.Usage.Cost != nil {
			cost = fmt.Sprint(*info.Usage.Cost)
		}
		if got := fmt.Sprint(cost, " ", info.Usage.InputTokens); got != want || len(tree) != 1 ||
			tree[0].Usage.InputTokens != info.Usage.InputTokens {
			t.Errorf("%s: it used %s, and its runs %+v", usage, got, tree)
		}
		fork, err := w.engine.History().Fork(w.ctx, id, "")
		if err != nil {
			t.Fatal(err)
		}
		if info, _ := w.tree(fork); info.Usage.Cost == nil || *info.Usage.Cost != 0 || info.Usage.InputTokens != 0 {
			t.Errorf("a fork of it used %+v", info.Usage)
		}
	}
}

// TestUsageWithoutCopies: what is forked or imported was used where it was done, and is no run of its own.
func TestUsageWithoutCopies(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, delegating()...)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.wait(run)
	sums := func() string {
		t.Helper()
		var out strings.Builder
		for _, key := range store.UsageKeys() {
			report, err := w.engine.History().Usage(w.ctx, store.UsageFilter{By: key})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s: %d rows, %d runs, %d turns\n", key, len(report.Rows), report.Total.Runs,
				report.Total.Turns)
		}
		return out.String()
	}
	before := sums()
	if !strings.Contains(before, "agent: 2 rows, 2 runs, 5 turns") {
		t.Errorf("the usage is\n%s", before)
	}
	fork, err := w.engine.History().Fork(w.ctx, w.session.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.History().Fork(w.ctx, fork, ""); err != nil { // a copy of a copy
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := w.engine.History().Export(w.ctx, w.session.ID, &text); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.History().Import(w.ctx, &text, nil); err != nil {
		t.Fatal(err)
	}
	if after := sums(); after != before {
		t.Errorf("the usage was\n%s\nand is with copies\n%s", before, after)
	}
}
