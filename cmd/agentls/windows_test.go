package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/lsptest"
)

// started is the answer to agent/run.
type started struct{ Session, Run string }

// requested sends a request and decodes its result.
func requested[T any](s *served, method, params string) T {
	s.desk.Helper()
	raw, err := s.Call(s.desk.ctx, method, json.RawMessage(params))
	if err != nil {
		s.desk.Fatalf("%s %s: %v", method, params, err)
	}
	return decode[T](s.desk, raw)
}

// heard are the stored events of a session that an editor was told, as they came. The editor itself sees to it that
// they have no gap.
func (s *served) heard(session string) []string {
	s.desk.Helper()
	var list []string
	for _, n := range s.Notifications(0) {
		if n.Method != "agent/event" {
			continue
		}
		e := decode[event.Event](s.desk, n.Params)
		if string(e.Session) == session && !event.Transient(e.Body) {
			list = append(list, string(n.Params))
		}
	}
	return list
}

// hears waits until an editor was told of the end of a run.
func (s *served) hears(run string) {
	s.desk.Helper()
	read := 0
	err := s.Until(s.desk.ctx, "the end of "+run, func() bool {
		news := s.Notifications(read)
		read += len(news)
		return slices.ContainsFunc(news, func(n lsptest.Notification) bool {
			return strings.Contains(string(n.Params), `"type":"RunFinished"`) &&
				strings.Contains(string(n.Params), `"run":"`+run+`"`)
		})
	})
	if err != nil {
		s.desk.Fatal(err)
	}
}

// sees reports whether a window shows a run with so many children at work, in a session of whatever window.
func (s *served) sees(session string, children int) bool {
	s.desk.Helper()
	tree := requested[struct {
		Tree []struct{ ID, Parent, Status string }
	}](s, "agent/session", fmt.Sprintf(`{"session":%q}`, session)).Tree
	return len(tree) == children+1 && !slices.ContainsFunc(tree[1:], func(r struct{ ID, Parent, Status string }) bool {
		return r.Parent != tree[0].ID || r.Status != "running"
	})
}

// same expects two editors to have heard the same in the same order.
func same(t *testing.T, one, two []string) {
	t.Helper()
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			t.Fatalf("event %d:\n%s\n%s", i+1, one[i], two[i])
		}
	}
	if len(one) != len(two) {
		t.Errorf("%d and %d events", len(one), len(two))
	}
}

// TestTwoWindows has two servers on one state folder: the second one watches the session of the first live, and is told
// where to do what only the first can do.
func TestTwoWindows(t *testing.T) {
	const children = 4
	l := &loopback{turns: 3, tasks: children, held: make(chan struct{})}
	d := newBench(t, 0, l)
	one, two := d.serve("rich"), d.serve("neovim")
	run := requested[started](one, "agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates))
	subscription := fmt.Sprintf(`{"session":%q,"since":0}`, run.Session)
	requested[any](one, "agent/subscribe", subscription)
	requested[any](two, "agent/subscribe", subscription)
	d.waitFor("the second window shows the tree", func() bool { return two.sees(run.Session, children) })
	transcript := requested[struct{ Messages []struct{ Text string } }](two, "agent/transcript",
		fmt.Sprintf(`{"run":%q}`, run.Run))
	if len(transcript.Messages) == 0 || !strings.Contains(transcript.Messages[0].Text, delegates) {
		t.Errorf("the transcript is %+v", transcript)
	}
	underWay := requested[event.RunResult](two, "agent/wait", fmt.Sprintf(`{"run":%q,"timeoutMs":1}`, run.Run))
	if underWay.Status.Final() || underWay.DurationMs == 0 ||
		slices.ContainsFunc(underWay.ToolCalls,
			func(c event.CallSummary) bool { return c.Status == event.CallCancelled }) {
		t.Errorf("while it works, the second window is told %+v", underWay)
	}
	for command, params := range map[string]string{
		"agentls.cancel": `{"run":%q}`, "agentls.steer": `{"run":%q,"message":"Hurry."}`,
		"agentls.resume": `{"run":%q}`,
	} {
		where := fmt.Sprintf("(process %d)", one.cmd.Process.Pid)
		if why := two.refused(command, fmt.Sprintf(params, run.Run)); !strings.Contains(why, run.Run) ||
			!strings.Contains(why, where) {
			t.Errorf("%s is refused by %q, which does not say %s", command, why, where)
		}
	}
	if why := two.refused("agentls.run",
		fmt.Sprintf(`{"session":%q,"prompt":"More."}`, run.Session)); !strings.Contains(why, "open in ") {
		t.Errorf("a run in the session of the other window is refused by %q", why)
	}
	if why := two.refused("agentls.session.delete", fmt.Sprintf(`{"session":%q}`, run.Session)); !strings.Contains(why,
		"open in ") {
		t.Errorf("the deletion of the other window's session is refused by %q", why)
	}
	close(l.held)
	if result := two.wait(event.RunID(run.Run)); result.Status != event.StatusCompleted ||
		len(result.Children) != children {
		t.Errorf("the second window's wait ends with %+v", result)
	}
	one.hears(run.Run)
	two.hears(run.Run)
	same(t, one.heard(run.Session), two.heard(run.Session))
	two.execute("agentls.cancel", fmt.Sprintf(`{"run":%q}`, run.Run)) // it has ended, which is no error
	one.quit()
	two.quit()
}

// TestProposalOfAnotherWindow reads a proposal of another window, with the question that is open there. Deciding is
// left to that window.
func TestProposalOfAnotherWindow(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "first\nsecond\n"})
	turns := filepath.Join(d.home, "model")
	d.write(turns, `turn
call read {"path":"a.txt"}
turn
call edit {"path":"a.txt","old_string":"second","new_string":"2nd"}
turn
call write {"path":".vscode/one.json","content":"{}\n"}
turn
text Done.
`)
	d.env = append(d.env, scriptVariable+"="+turns)
	one := d.serve("minimal")
	one.open("a.txt")
	run := requested[started](one, "agent/run", `{"agent":"coder","prompt":"Write."}`)
	asks := func(s *served) string {
		return string(requested[json.RawMessage](s, "agent/asks", fmt.Sprintf(`{"session":%q}`, run.Session)))
	}
	d.waitFor("the question is open", func() bool { return strings.Contains(asks(one), "one.json") })
	two := d.serve("rich")
	requested[any](two, "agent/subscribe", fmt.Sprintf(`{"session":%q}`, run.Session))
	open := requested[struct {
		Asks []struct{ ID, Run, Agent string }
	}](two, "agent/asks", fmt.Sprintf(`{"session":%q}`, run.Session)).Asks
	if len(open) != 1 || open[0].Run != run.Run || open[0].Agent != "coder" {
		t.Fatalf("the second window sees the questions %+v", open)
	}
	type listed struct {
		Proposals []struct {
			ID, Session string
			Files       []struct {
				Hunks []struct{ ID, State, Before, After string }
			}
		}
	}
	list := requested[listed](two, "agent/proposals", fmt.Sprintf(`{"session":%q}`, run.Session))
	if len(list.Proposals) != 1 || len(list.Proposals[0].Files) != 1 || len(list.Proposals[0].Files[0].Hunks) != 1 ||
		list.Proposals[0].Files[0].Hunks[0].After != "2nd\n" {
		t.Fatalf("the second window sees the proposals %+v", list)
	}
	for command, params := range map[string]string{
		"agentls.proposal.accept": fmt.Sprintf(`{"proposal":%q}`, list.Proposals[0].ID),
		"agentls.proposal.reject": fmt.Sprintf(`{"proposal":%q}`, list.Proposals[0].ID),
		"agentls.ask.answer":      fmt.Sprintf(`{"ask":%q,"decision":"allow","scope":"once"}`, open[0].ID),
	} {
		if why := two.refused(command, params); !strings.Contains(why,
			fmt.Sprintf("(process %d)", one.cmd.Process.Pid)) {
			t.Errorf("%s is refused by %q", command, why)
		}
	}
	one.execute("agentls.ask.answer", fmt.Sprintf(`{"ask":%q,"decision":"deny","scope":"once"}`, open[0].ID))
	two.hears(run.Run)
	if got := asks(two); strings.Contains(got, "one.json") {
		t.Errorf("the question is still open: %s", got)
	}
	d.unchanged("a.txt", "first\nsecond\n")
	one.quit()
	two.quit()
}

// valve is a stream that can be kept from being read.
type valve struct {
	io.ReadWriteCloser
	mu   sync.Mutex
	shut chan struct{} // nil while it is open; closed when it opens again
}

func (v *valve) Read(p []byte) (int, error) {
	v.mu.Lock()
	shut := v.shut
	v.mu.Unlock()
	if shut != nil {
		<-shut
	}
	return v.ReadWriteCloser.Read(p)
}

func (v *valve) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = make(chan struct{})
}

func (v *valve) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shut != nil {
		close(v.shut)
		v.shut = nil
	}
}

// TestSlowEditor has an editor stop reading while 16 children work: they come to their end all the same, and once it
// reads again the editor is told everything, in order and without a gap.
func TestSlowEditor(t *testing.T) {
	const children = 16
	l := &loopback{turns: 12, tasks: children}
	d := newBench(t, 0, l)
	var v *valve
	d.through = func(stream io.ReadWriteCloser) io.ReadWriteCloser {
		v = &valve{ReadWriteCloser: stream}
		t.Cleanup(v.open)
		return v
	}
	slow := d.serve("rich", "--set", fmt.Sprintf("max_children_per_session=%d", children))
	valve := v
	d.through = nil
	watching := d.serve("neovim")
	subscription := fmt.Sprintf(`{"session":%q,"since":0}`, requested[struct {
		Sessions []struct{ Session struct{ ID string } }
	}](slow, "agent/subscribe", `{}`).Sessions[0].Session.ID)
	run := requested[started](slow, "agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates))
	valve.close()
	requested[any](watching, "agent/subscribe", subscription)
	if result := watching.wait(event.RunID(run.Run)); result.Status != event.StatusCompleted ||
		len(result.Children) != children {
		t.Errorf("the run ends with %+v", result)
	}
	watching.hears(run.Run)
	if told := len(slow.heard(run.Session)); told >= len(watching.heard(run.Session)) {
		t.Errorf("the editor that did not read was told %d events", told)
	}
	t.Logf("%d events were stored, %d messages were read before the editor stopped", len(watching.heard(run.Session)),
		len(slow.Trace()))
	valve.open()
	slow.hears(run.Run)
	same(t, slow.heard(run.Session), watching.heard(run.Session))
	slow.quit()
	watching.quit()
}

// prompts are the questions that an editor was asked.
func (s *served) prompts(about string) (list []string) {
	for _, m := range s.Messages() {
		if strings.HasPrefix(m.Method, "window/showMessage") && strings.Contains(m.Text, about) {
			list = append(list, m.Text)
		}
	}
	return list
}

// TestKilledAndResumed kills the server in mid-run while another window is open, which watches the run: it sees it end,
// and its own runs go on. The next server on the folder tells of the run, and resumes it when the user says so; nobody
// is told twice.
func TestKilledAndResumed(t *testing.T) {
	const children = 2
	l := &loopback{turns: 3, tasks: children, held: make(chan struct{})}
	d := newBench(t, 0, l)
	killed, beside := d.serve("rich"), d.serve("neovim")
	own := requested[started](beside, "agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, "Read a.go."))
	l.atOnce(d.ctx, 1)
	run := requested[started](killed, "agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates))
	d.waitFor("the children run", func() bool { return beside.sees(run.Session, children) })
	requested[any](beside, "agent/subscribe", fmt.Sprintf(`{"session":%q,"since":0}`, run.Session))
	killed.signal(syscall.SIGKILL)
	killed.ends(-1)
	if result := beside.wait(event.RunID(run.Run)); result.Status != event.StatusInterrupted {
		t.Errorf("the killed run is %+v", result)
	}
	if err := beside.Until(d.ctx, "the end of the killed runs", func() bool {
		cut := 0
		for _, e := range beside.heard(run.Session) {
			if strings.Contains(e, `"status":"interrupted"`) {
				cut++
			}
		}
		return cut == children+1
	}); err != nil {
		t.Fatalf("%v; it was told:\n%s", err, strings.Join(beside.heard(run.Session), "\n"))
	}

	const told = "1 interrupted run, see the code actions"
	next := d.serve("rich")
	if err := next.Until(d.ctx, "the notice", func() bool { return len(next.prompts(told)) > 0 }); err != nil {
		t.Fatal(err)
	}
	third := d.serve("rich")
	if sessions := string(third.execute("agentls.sessions", `{}`)); !strings.Contains(sessions, run.Session) {
		t.Errorf("the sessions are %s", sessions)
	}
	close(l.held)
	if result := beside.wait(event.RunID(own.Run)); result.Status != event.StatusCompleted {
		t.Errorf("the run of the other window is %+v", result)
	}
	resumable := func() bool {
		actions, err := next.Actions(d.ctx, "a.go", lsptest.Range{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(actions,
			func(a lsptest.Action) bool { return a.Title == "agentls: Resume coder: "+delegates+"…" })
	}
	if !resumable() {
		t.Error("it is not offered to resume the run")
	}
	resumed := event.RunID(requested[started](next, "agent/resume", fmt.Sprintf(`{"run":%q}`, run.Run)).Run)
	if result := next.wait(resumed); result.Status != event.StatusCompleted || result.Output != "Done." {
		t.Errorf("the resumed run is %+v", result)
	}
	if resumable() {
		t.Error("it is still offered")
	}
	next.quit()
	last := d.serve("rich")
	last.open("a.go")
	last.wait(last.review("a.go"))
	for name, s := range map[string]*served{"beside": beside, "third": third, "last": last} {
		if again := s.prompts("interrupted"); len(again) > 0 {
			t.Errorf("the window %s tells again: %q", name, again)
		}
		s.quit()
	}
	if asked := next.prompts("interrupted"); len(asked) != 1 {
		t.Errorf("the user was told %q", asked)
	}
}

// TestEditorVanishes closes the connection without a word, also when nobody has read what the server said for a while,
// or ends the server by a signal, while a run has a child in the background and commands run: all of it ends, and is
// left to the next window.
func TestEditorVanishes(t *testing.T) {
	vanish := func(s *served) {
		if err := s.server.Stream.Close(); err != nil {
			t.Error(err)
		}
		s.ends(1)
	}
	for name, end := range map[string]func(*served){
		"the connection ends": vanish, "the editor hangs": vanish,
		"SIGTERM": func(s *served) {
			s.signal(syscall.SIGTERM)
			s.ends(exitTerminated)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.txt": "a\n"})
			d.configure("sandbox = \"off\"\n[[permission]]\ntool = \"bash\"\naction = \"allow\"\n")
			turns := filepath.Join(d.home, "model")
			d.write(turns, `turn match="Go."
call task {"subagent_type":"bash","description":"sleep","prompt":"Sleep.","run_in_background":true}
turn match="Sleep."
call bash {"command":"sleep 1000"}
turn match="Go."
call bash {"command":"sleep 1000"}
`)
			d.env = append(d.env, scriptVariable+"="+turns)
			d.must(exitOK, "trust", d.dir, "--yes")
			hung := &valve{}
			d.through = func(stream io.ReadWriteCloser) io.ReadWriteCloser {
				hung.ReadWriteCloser = stream
				return hung
			}
			s := d.serve("neovim")
			t.Cleanup(hung.open)
			d.through = nil
			s.open("a.txt")
			run := requested[started](s, "agent/run", `{"agent":"coder","prompt":"Go."}`)
			if name == "the editor hangs" {
				hung.close()
				for range 3000 { // each is answered by more than it takes to ask, and no pipe has room for all answers
					s.Begin("agentls/none", struct{}{})
				}
			}
			d.waitFor("both commands run", func() bool { return len(d.commandsOf()) >= 2 })
			s.faults = func() []string { return nil } // what is under way is cut off
			end(s)
			d.waitFor("all of it ends", func() bool { return len(d.commandsOf()) == 0 })
			d.env = d.env[:len(d.env)-1]
			next := d.serve("rich")
			if err := next.Until(d.ctx, "the notice",
				func() bool { return len(next.prompts("1 interrupted run")) == 1 }); err != nil {
				t.Fatal(err)
			}
			tree := requested[struct{ Tree []struct{ Status string } }](next, "agent/session",
				fmt.Sprintf(`{"session":%q}`, run.Session)).Tree
			if len(tree) != 2 || tree[0].Status != "interrupted" || tree[1].Status != "interrupted" {
				t.Errorf("the runs are %+v", tree)
			}
			next.quit()
		})
	}
}

// TestSubscribeBehindTrimmedEvents asks for events that the store has trimmed, and for such that it never had: the
// client is to start from the snapshot. What is still there comes without that.
func TestSubscribeBehindTrimmedEvents(t *testing.T) {
	l := &loopback{turns: 6}
	d := newBench(t, 0, l)
	s := d.serve("rich")
	run := requested[started](s, "agent/run", `{"agent":"coder","prompt":"Read a.go."}`)
	s.wait(event.RunID(run.Run))
	type answer struct {
		Reset    bool
		Sessions []struct{ Seq uint64 }
	}
	subscribe := func(since uint64) answer {
		return requested[answer](s, "agent/subscribe", fmt.Sprintf(`{"session":%q,"since":%d}`, run.Session, since))
	}
	last := subscribe(0).Sessions[0].Seq
	s.hears(run.Run)
	d.stored(func(stored *store.Store) {
		if err := stored.TrimEvents(d.ctx, event.SessionID(run.Session), 10, last); err != nil {
			t.Fatal(err)
		}
	})
	for back, reset := range map[uint64]bool{last: true, 20: true, 5: false, 0: false, ^uint64(0): true} {
		since := last - back // one behind the last for the greatest number
		if got := subscribe(since); got.Reset != reset || got.Sessions[0].Seq != last {
			t.Errorf("behind event %d of %d the answer is %+v", since, last, got)
		}
		again := requested[started](s, "agent/run", `{"agent":"coder","prompt":"Read a.go again."}`)
		s.wait(event.RunID(again.Run))
		s.hears(again.Run) // and the editor sees to it that nothing is missing or comes twice
		last = subscribe(last).Sessions[0].Seq
		d.stored(func(stored *store.Store) {
			if err := stored.TrimEvents(d.ctx, event.SessionID(run.Session), 10, last); err != nil {
				t.Fatal(err)
			}
		})
	}
	s.quit()
}
