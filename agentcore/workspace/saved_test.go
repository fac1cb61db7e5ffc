package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentls/agentls/agentcore/event"
)

func TestSavedLayer(t *testing.T) {
	v, dir := open(t, map[string]string{"edit": five, "delete": "gone\n", "empty": "x\n", "back": "b\n", "clash": five})
	at := func(name string) string { return filepath.Join(dir, name) }
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	if changed, dropped, now := layer.SavedSince(0); len(changed)+len(dropped) != 0 || now != 0 {
		t.Errorf("an empty layer has %v, %v, %d", changed, dropped, now)
	}
	write(t, layer, at("edit"), "one\ntwo\nthree\nfour\nFIVE\n", "capitals")
	write(t, layer, at("clash"), "ONE\ntwo\nthree\nfour\nfive\n", "capitals")
	write(t, layer, at("made"), "new\n", "needed")
	write(t, layer, at("empty"), "", "cleared")
	write(t, layer, at("back"), "B\n", "")
	if err := layer.Delete(at("delete"), StampOf("gone\n"),
		Author{Run: "r1", Agent: "a", Reason: "unused"}); err != nil {
		t.Fatal(err)
	}
	_, _, before := layer.SavedSince(0)
	write(t, layer, at("back"), "b\n", "")
	write(t, layer, at("made"), "newer\n", "better")
	changed, dropped, now := layer.SavedSince(before)
	if len(changed) != 1 || changed[0].Path != at("made") ||
		changed[0].Text != "newer\n" || !slices.Equal(dropped, []string{at("back")}) {
		t.Errorf("changed %+v, dropped %v", changed, dropped)
	}
	if changed, dropped, again := layer.SavedSince(now); len(changed)+len(dropped) != 0 || again != now {
		t.Errorf("nothing happened, but %v, %v", changed, dropped)
	}

	saved := layer.Saved()
	want := []LayerFile{
		{Path: at("clash"), Base: five, Text: "ONE\ntwo\nthree\nfour\nfive\n"},
		{Path: at("delete"), Base: "gone\n", Deleted: true},
		{Path: at("edit"), Base: five, Text: "one\ntwo\nthree\nfour\nFIVE\n"},
		{Path: at("empty"), Base: "x\n"},
		{Path: at("made"), Text: "newer\n", Created: true},
	}
	reasons := [][]string{{"capitals"}, {"unused"}, {"capitals"}, {"cleared"}, {"needed", "better"}}
	for i := range want {
		if !want[i].Created {
			want[i].Stamp = StampOf(want[i].Base)
		}
		for _, reason := range reasons[i] {
			want[i].Authors = append(want[i].Authors, Author{Run: "r1", Agent: "a", Reason: reason})
		}
	}
	if diff := cmp.Diff(want, saved); diff != "" {
		t.Error(diff)
	}

	// The user goes on before the next process loads it.
	v.SetDocument(at("edit"), "zero\none\ntwo\nthree\nfour\nfive\n", 1)
	v.SetDocument(at("clash"), "eins\ntwo\nthree\nfour\nfive\n", 1)
	later := s.Fork()
	conflicts := later.Load(saved)
	if len(conflicts) != 1 ||
		conflicts[0] != (Conflict{
			Path: at("clash"), StartLine: 0, EndLine: 1, Base: "one\n", Ours: "ONE\n", Theirs: "eins\n",
		}) {
		t.Errorf("got %+v", conflicts)
	}
	if diff := cmp.Diff(saved, later.Saved()); diff != "" {
		t.Error("loaded and saved again: ", diff)
	}
	if file, err := later.Read(at("edit")); err != nil || file.Text != "zero\none\ntwo\nthree\nfour\nFIVE\n" {
		t.Errorf("got %q, %v", file.Text, err)
	}
	if report := merge(t, later); len(report.Conflicts) != 1 || len(report.Hunks) != 4 {
		t.Errorf("got %+v", report)
	}
	if left := later.Saved(); len(left) != 0 {
		t.Errorf("a merged layer still saves %+v", left)
	}
	if _, dropped, _ := later.SavedSince(5); len(dropped) != 5 {
		t.Errorf("the merge dropped %v", dropped)
	}
}

// The edits that fix findings are told apart in the next process.
func TestSavedFixes(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	path := filepath.Join(dir, "a")
	s := v.NewProposal(ProposalOptions{})
	layer := s.Fork()
	author := Author{Run: "r1", Agent: "a", Reason: "the same", Finding: "f1"}
	for _, step := range []struct {
		base, text string
		finding    event.FindingID
	}{
		{five, "one\ntwo\nthree\nfour\nFIVE\n", "f1"},
		{"one\ntwo\nthree\nfour\nFIVE\n", "ONE\ntwo\nthree\nfour\nFIVE\n", "f2"},
	} {
		author.Finding = step.finding
		if _, err := layer.Write(path, step.text, StampOf(step.base), author); err != nil {
			t.Fatal(err)
		}
	}
	later := s.Fork()
	later.Load(layer.Saved())
	if diff := cmp.Diff(layer.Saved(), later.Saved(),
		cmpopts.SortSlices(func(a, b Author) bool { return a.Finding < b.Finding })); diff != "" {
		t.Error(diff)
	}
	merge(t, later)
	var got []string
	for _, h := range s.Hunks() {
		got = append(got, strings.TrimSpace(h.After)+fmt.Sprint(h.Fixes))
	}
	if want := []string{"ONE[f2]", "FIVE[f1]"}; !slices.Equal(got, want) {
		t.Errorf("the hunks are %q, want %q", got, want)
	}
}
