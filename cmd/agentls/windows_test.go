package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/lsptest"
)

// started is the answer to agent/run.
type started struct{ Session, Run string }

// ask sends a request and decodes its result.
func ask[T any](s *served, method, params string) T {
	s.desk.Helper()
	raw, err := s.Call(s.desk.ctx, method, json.RawMessage(params))
	if err != nil {
		s.desk.Fatalf("%s %s: %v", method, params, err)
	}
	return decode[T](s.desk, raw)
}

// heard are the stored events of a session that an editor was told, as they came. The editor itself sees to it that they have no gap.
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
			return strings.Contains(string(n.Params), `"type":"RunFinished"`) && strings.Contains(string(n.Params), `"run":"`+run+`"`)
		})
	})
	if err != nil {
		s.desk.Fatal(err)
	}
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

// TestTwoWindows has two servers on one state folder: the second one watches the session of the first live, and is told where to do
// what only the first can do.
func TestTwoWindows(t *testing.T) {
	const children = 4
	l := &loopback{turns: 3, tasks: children, held: make(chan struct{})}
	d := newBench(t, 0, l)
	one, two := d.serve("rich"), d.serve("neovim")
	run := ask[started](one, "agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates))
	subscription := fmt.Sprintf(`{"session":%q,"since":0}`, run.Session)
	ask[any](one, "agent/subscribe", subscription)
	ask[any](two, "agent/subscribe", subscription)
	l.atOnce(children)
	d.waitFor("the second window shows the tree", func() bool {
		tree := ask[struct{ Tree []struct{ ID, Parent, Status string } }](two, "agent/session", fmt.Sprintf(`{"session":%q}`, run.Session)).Tree
		return len(tree) == children+1 && tree[0].ID == run.Run && tree[1].Parent == run.Run && tree[1].Status == "running"
	})
	transcript := ask[struct{ Messages []struct{ Text string } }](two, "agent/transcript", fmt.Sprintf(`{"run":%q}`, run.Run))
	if len(transcript.Messages) == 0 || !strings.Contains(transcript.Messages[0].Text, delegates) {
		t.Errorf("the transcript is %+v", transcript)
	}
	for command, params := range map[string]string{
		"agentls.cancel": `{"run":%q}`, "agentls.steer": `{"run":%q,"message":"Hurry."}`, "agentls.resume": `{"run":%q}`,
	} {
		where := fmt.Sprintf("(process %d)", one.cmd.Process.Pid)
		if why := two.refused(command, fmt.Sprintf(params, run.Run)); !strings.Contains(why, run.Run) || !strings.Contains(why, where) {
			t.Errorf("%s is refused by %q, which does not say %s", command, why, where)
		}
	}
	if why := two.refused("agentls.run", fmt.Sprintf(`{"session":%q,"prompt":"More."}`, run.Session)); !strings.Contains(why, "open in ") {
		t.Errorf("a run in the session of the other window is refused by %q", why)
	}
	if why := two.refused("agentls.session.delete", fmt.Sprintf(`{"session":%q}`, run.Session)); !strings.Contains(why, "open in ") {
		t.Errorf("the deletion of the other window's session is refused by %q", why)
	}
	close(l.held)
	if result := two.wait(event.RunID(run.Run)); result.Status != event.StatusCompleted || len(result.Children) != children {
		t.Errorf("the second window's wait ends with %+v", result)
	}
	one.hears(run.Run)
	two.hears(run.Run)
	same(t, one.heard(run.Session), two.heard(run.Session))
	two.execute("agentls.cancel", fmt.Sprintf(`{"run":%q}`, run.Run)) // it has ended, which is no error
	one.quit()
	two.quit()
}

// TestProposalOfAnotherWindow reads a proposal of another window, with the question that is open there. Deciding is left to that window.
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
	run := ask[started](one, "agent/run", `{"agent":"coder","prompt":"Write."}`)
	asks := func(s *served) string {
		return string(ask[json.RawMessage](s, "agent/asks", fmt.Sprintf(`{"session":%q}`, run.Session)))
	}
	d.waitFor("the question is open", func() bool { return strings.Contains(asks(one), "one.json") })
	two := d.serve("rich")
	ask[any](two, "agent/subscribe", fmt.Sprintf(`{"session":%q}`, run.Session))
	open := ask[struct{ Asks []struct{ ID, Run, Agent string } }](two, "agent/asks", fmt.Sprintf(`{"session":%q}`, run.Session)).Asks
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
	list := ask[listed](two, "agent/proposals", fmt.Sprintf(`{"session":%q}`, run.Session))
	if len(list.Proposals) != 1 || len(list.Proposals[0].Files) != 1 || len(list.Proposals[0].Files[0].Hunks) != 1 || list.Proposals[0].Files[0].Hunks[0].After != "2nd\n" {
		t.Fatalf("the second window sees the proposals %+v", list)
	}
	for command, params := range map[string]string{
		"agentls.proposal.accept": fmt.Sprintf(`{"proposal":%q}`, list.Proposals[0].ID), "agentls.proposal.reject": fmt.Sprintf(`{"proposal":%q}`, list.Proposals[0].ID),
		"agentls.ask.answer": fmt.Sprintf(`{"ask":%q,"decision":"allow","scope":"once"}`, open[0].ID),
	} {
		if why := two.refused(command, params); !strings.Contains(why, fmt.Sprintf("(process %d)", one.cmd.Process.Pid)) {
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

// TestSlowEditor has an editor stop reading while 16 children work: they come to their end all the same, and once it reads again the editor is told
// everything, in order and without a gap.
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
	subscription := fmt.Sprintf(`{"session":%q,"since":0}`, ask[struct {
		Sessions []struct{ Session struct{ ID string } }
	}](slow, "agent/subscribe", `{}`).Sessions[0].Session.ID)
	run := ask[started](slow, "agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates))
	valve.close()
	ask[any](watching, "agent/subscribe", subscription)
	if result := watching.wait(event.RunID(run.Run)); result.Status != event.StatusCompleted || len(result.Children) != children {
		t.Errorf("the run ends with %+v", result)
	}
	watching.hears(run.Run)
	if told := len(slow.heard(run.Session)); told >= len(watching.heard(run.Session)) {
		t.Errorf("the editor that did not read was told %d events", told)
	}
	t.Logf("%d events were stored, %d messages were read before the editor stopped", len(watching.heard(run.Session)), len(slow.Trace()))
	valve.open()
	slow.hears(run.Run)
	same(t, slow.heard(run.Session), watching.heard(run.Session))
	slow.quit()
	watching.quit()
}
