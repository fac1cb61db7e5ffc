package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/lsp/methods"
)

// proposing is a coder that changes two places of a.txt and then hangs in the model.
func proposing() *script.Script {
	edit := func(before, after string) script.Step {
		return script.Call{Name: "edit", Arguments: fmt.Sprintf(`{"path":"a.txt","old_string":%q,"new_string":%q}`,
			before, after)}
	}
	return script.New("proposing",
		script.Turn{Answer: []script.Step{script.Call{Name: "read", Arguments: `{"path":"a.txt"}`}}},
		script.Turn{Answer: []script.Step{edit("two", "TWO"), edit("five", "five\nsix")}},
		script.Turn{Answer: []script.Step{script.Gate("model"), script.Text("never")}},
	)
}

// proposed waits until a document shows so many proposed edits, and returns the proposal.
func (s *served) proposed(path string, count int) methods.Proposal {
	s.desk.Helper()
	err := s.Until(s.desk.ctx, "the proposed edits", func() bool {
		list, _ := s.Diagnostics(path)
		return len(list) == count
	})
	if err != nil {
		s.desk.Fatal(err)
	}
	list := decode[methods.ProposalList](s.desk, s.execute("agentls.proposals", `{}`)).Proposals
	if len(list) != 1 {
		s.desk.Fatalf("the proposals are %+v", list)
	}
	return list[0]
}

// waiting lists the hunks of a proposal that wait for the user.
func waiting(p methods.Proposal) (hunks []methods.Hunk) {
	for _, f := range p.Files {
		for _, h := range f.Hunks {
			if h.State == event.StateOpen || h.State == event.StateConflict {
				hunks = append(hunks, h)
			}
		}
	}
	return hunks
}

// TestProposalsSurviveKills kills the server again and again: what was proposed is proposed again without anybody
// asking, under the same ids, also after the file was changed; what was accepted and saved is not proposed any more,
// but can be undone.
func TestProposalsSurviveKills(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\nfour\nfive\n"
	d := newDesk(t, map[string]string{"a.txt": text})
	v := vendors[0]
	model := proposing()
	v.provide(d, model)
	s := d.serve("rich")
	s.open("a.txt")
	run := decode[methods.RunStarted](t, s.execute("agentls.run", `{"agent":"coder","prompt":"Change it."}`)).Run
	if err := model.Reached(d.ctx, "model", 1); err != nil {
		t.Fatal(err)
	}
	first := waiting(s.proposed("a.txt", 2))
	s.signal(os.Kill)
	s.ends(-1)
	d.sound()

	// The file changes while agentls does not run.
	d.write(filepath.Join(d.dir, "a.txt"), "zero\n"+text)
	s = d.serve("rich")
	s.open("a.txt")
	proposal := s.proposed("a.txt", 2)
	again := waiting(proposal)
	if len(first) != 2 || len(again) != 2 || again[0].ID != first[0].ID || again[1].ID != first[1].ID {
		t.Fatalf("the hunks are %+v, were %+v", again, first)
	}
	for i, line := range []uint32{2, 6} {
		if h := again[i]; h.State != event.StateOpen || h.Range.Start.Line != line {
			t.Errorf("hunk %d is %+v", i, h)
		}
	}
	s.execute("agentls.proposal.accept", fmt.Sprintf(`{"proposal":%q,"hunks":[%q]}`, proposal.ID, again[0].ID))
	if err := s.Save("a.txt"); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace("zero\n"+text, "two", "TWO", 1)
	d.unchanged("a.txt", want)
	s.proposed("a.txt", 1)
	s.signal(os.Kill)
	s.ends(-1)
	d.sound()

	s = d.serve("rich")
	s.open("a.txt")
	if left := waiting(s.proposed("a.txt", 1)); len(left) != 1 || left[0].ID != first[1].ID {
		t.Errorf("the hunks are %+v", left)
	}
	result := decode[methods.AcceptResult](t, s.execute("agentls.undo", fmt.Sprintf(`{"run":%q}`, run)))
	if len(result.Applied) != 1 || result.Applied[0] != first[0].ID || len(result.Failed) != 0 {
		t.Errorf("undone: %+v", result)
	}
	if err := s.Save("a.txt"); err != nil {
		t.Fatal(err)
	}
	d.unchanged("a.txt", "zero\n"+text)
	s.quit()
}
