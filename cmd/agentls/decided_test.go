package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// hasAgent reports whether a server has an agent.
func (s *served) hasAgent(slug string) bool {
	s.desk.Helper()
	raw, err := s.Call(s.desk.ctx, "agent/list", struct{}{})
	if err != nil {
		s.desk.Fatal(err)
	}
	list := decode[struct {
		Agents []struct {
			Slug string `json:"slug"`
		} `json:"agents"`
	}](s.desk, raw)
	for _, a := range list.Agents {
		if a.Slug == slug {
			return true
		}
	}
	return false
}

// TestTrustOfAnotherProcess: a server notices what the user says about trust in a terminal.
func TestTrustOfAnotherProcess(t *testing.T) {
	d := newDesk(t,
		map[string]string{
			".agentls/agents/poet.md": "---\nname: poet\ndescription: Writes a poem.\ncategory: primary\n---\nWrite " +
				"of frogs.\n",
		})
	s := d.serve("rich")
	if s.hasAgent("poet") {
		t.Error("an agent of a folder that is not trusted is there")
	}
	d.must(exitOK, "trust", d.dir, "--yes")
	d.waitFor("the agent comes", func() bool { return s.hasAgent("poet") })
	d.must(exitOK, "trust", "revoke", d.dir)
	d.waitFor("the agent goes", func() bool { return !s.hasAgent("poet") })
	s.quit()
}

// TestRegisteredAgentElsewhere: an agent that an editor registered is there in other windows and on the command line,
// and may be the default one.
func TestRegisteredAgentElsewhere(t *testing.T) {
	d := newDesk(t, nil)
	s, other := d.serve("minimal"), d.serve("minimal")
	s.execute("agentls.register",
		`{"text":"---\nname: poet\ndescription: Writes a poem.\ncategory: [primary]\n---\nWrite of frogs.\n"}`)
	d.waitFor("the other window has it", func() bool { return other.hasAgent("poet") })
	other.execute("agentls.update",
		`{"agent":"poet","text":"---\nname: poet\ndescription: Writes more.\ncategory: [primary]\n---\nWrite of toads.\n"}`)
	other.quit()
	s.quit()
	d.must(exitOK, "run", "-q", "--agent", "poet", "Of frogs.")
	d.must(exitOK, "doctor", "--set", "default_agent=poet")
	d.must(exitUsage, "run", "-q", "--agent", "poets", "Of frogs.")
}

// TestKilledWhileAsked kills the server while a question is open: after a restart it is gone, and nothing of what was
// asked for was done.
func TestKilledWhileAsked(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "a\n"})
	turns := filepath.Join(d.home, "model")
	d.write(turns, "turn times=any\n"+`call write {"path":".vscode/one.json","content":"{}\n"}`+"\n")
	d.env = append(d.env, scriptVariable+"="+turns)
	s := d.serve("minimal")
	s.open("a.txt")
	run := decode[struct {
		Run event.RunID `json:"run"`
	}](d, s.execute("agentls.run", `{"agent":"coder","prompt":"Write."}`)).Run
	asks := func(s *served) string { return string(s.execute("agentls.asks", `{}`)) }
	d.waitFor("the question is open", func() bool { return strings.Contains(asks(s), "one.json") })
	s.signal(syscall.SIGKILL)
	s.ends(-1)

	next := d.serve("minimal")
	next.open("a.txt")
	if got := asks(next); strings.Contains(got, "one.json") {
		t.Errorf("the question is still open: %s", got)
	}
	if got := string(next.execute("agentls.proposals", `{}`)); strings.Contains(got, "one.json") {
		t.Errorf("what was asked for is proposed: %s", got)
	}
	next.quit()
	d.wasInterrupted(run)
	d.stored(func(s *store.Store) {
		row, err := s.Run(d.ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := s.Asks(d.ctx, row.Session)
		if err != nil || len(asked) != 1 || asked[0].State != store.AskExpired || asked[0].Decision != "deny" ||
			asked[0].Resolved.IsZero() {
			t.Errorf("the question is stored as %+v, %v", asked, err)
		}
	})
	if found, err := filepath.Glob(filepath.Join(d.dir, ".vscode", "*")); err != nil || len(found) > 0 {
		t.Errorf("it was done: %q, %v", found, err)
	}
}

// TestTrustIsAskedOnATerminal answers the question of `agentls trust`: only a yes is one.
func TestTrustIsAskedOnATerminal(t *testing.T) {
	for typed, trusted := range map[string]bool{
		"y\n": true, " YES \r\n": true, "n\n": false, "\n": false, "": false,
		"yes please\n": false, "y": false,
	} {
		c := newCall(t, map[string]string{".agentls/agents/poet.md": "---\nname: poet\n---\n"}, "", "trust")
		c.stdin, c.stdinTerminal = io.NopCloser(strings.NewReader(typed)), true
		c.must(t, exitOK)
		said := c.out.String()
		if !strings.Contains(said, "agent  .agentls/agents/poet.md  The agent poet.\nTrust it? [y/N] ") {
			t.Errorf("%q: what is asked for is not shown: %q", typed, said)
		}
		if strings.HasSuffix(said, "It is trusted now.\n") != trusted ||
			strings.HasSuffix(said, "Nothing was changed.\n") == trusted {
			t.Errorf("%q: %q", typed, said)
		}
		c.args = []string{"trust", "--json"}
		c.out.Reset()
		c.must(t, exitOK)
		var report trustReport
		if err := json.Unmarshal(c.out.Bytes(), &report); err != nil || (report.Standing == "trusted") != trusted {
			t.Errorf("%q: afterwards it is %s, %v", typed, report.Standing, err)
		}
	}
}

// TestPermissionsListTellsTheTimeLeft lists what holds, and how long.
func TestPermissionsListTellsTheTimeLeft(t *testing.T) {
	c := newCall(t, nil, "", "permissions", "list")
	s, err := store.Open(t.Context(), filepath.Join(c.getenv("AGENTLS_STATE"), "agentls.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	grant := func(id event.GrantID, pattern string, expires time.Time) store.Grant {
		return store.Grant{
			ID: id, Scope: "project", Root: c.dir, Tool: "bash", Pattern: pattern, Decision: "allow",
			Created: now.Add(-48 * time.Hour), Expires: expires,
		}
	}
	if err := s.Submit(store.Batch{Grants: []store.Grant{
		grant("g1", "go test*", time.Time{}), grant("g2", "git push*", now.Add(50*time.Hour+30*time.Minute)),
		grant("g3", "make*", now.Add(-time.Second)),
	}}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.must(t, exitOK)
	for _, want := range []string{"bash(go test*)", "for good", "bash(git push*)", "2d 2h left"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("%q is not in\n%s", want, c.out.String())
		}
	}
	if strings.Contains(c.out.String(), "make") {
		t.Errorf("what has expired is listed:\n%s", c.out.String())
	}
	for left, want := range map[time.Duration]string{
		59 * time.Second: "less than 1m left", 90 * time.Second: "1m left", time.Hour + time.Minute: "1h 1m left",
		25*time.Hour - time.Second: "1d 0h left",
	} {
		if got := timeLeft(now.Add(left), now); got != want {
			t.Errorf("%s: %q, want %q", left, got, want)
		}
	}
}
