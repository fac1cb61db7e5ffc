package agentcore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

const equalFaults = "a = eval(x)\n1\n2\nb = eval(x)\n3\n4\nc = eval(x)\n5\n6\nd = eval(x)\n"

// evalFix reports the fault of a variable's line, in the words of all the others, with its fix.
func evalFix(line int, name string) script.Call {
	return call("report_finding", fmt.Sprintf(
		`{"path":"a.txt","line":%d,"message":"eval runs text","fix":{"old_string":"%s = eval(x)","new_string":"%s = parse(x)"}}`, line, name, name))
}

func equalFindings(t *testing.T) *world {
	w := newWorld(t, map[string]string{"a.txt": equalFaults},
		script.Turn{Answer: []script.Step{evalFix(4, "b"), evalFix(10, "d")}},
		script.Turn{Answer: []script.Step{evalFix(1, "a"), evalFix(7, "c")}},
		said,
	)
	w.wait(w.start(review(w.path("a.txt"))))
	return w
}

// ownFixes checks that the fix of each open finding is one hunk, on the finding's line.
func (w *world) ownFixes(want int) {
	w.t.Helper()
	findings := w.session.Board().Findings(w.path("a.txt"))
	if len(findings) != want {
		w.t.Errorf("there are %d findings, want %d: %+v", len(findings), want, findings)
	}
	for _, f := range findings {
		fix := w.session.Board().Fix(f.ID)
		if len(fix) != 1 || fix[0] != f.Hunk {
			w.t.Errorf("the finding on line %d has the fix %v and names %q", f.Span.StartLine+1, fix, f.Hunk)
			continue
		}
		if h, _ := w.session.Board().Proposal().Hunk(fix[0]); h.StartLine != f.Span.StartLine {
			w.t.Errorf("the fix of the finding on line %d is that of line %d", f.Span.StartLine+1, h.StartLine+1)
		}
	}
}

// take shows what the editor shows once it took the fix of the finding on a line.
func (w *world) take(line int, version int32) string {
	w.t.Helper()
	path := w.path("a.txt")
	for _, f := range w.session.Board().Findings(path) {
		if f.Span.StartLine+1 != line {
			continue
		}
		edits, failed := w.session.Board().Proposal().Edits(w.session.Board().Fix(f.ID))
		if len(failed) > 0 || len(edits) != 1 {
			w.t.Fatalf("the fix of line %d is %+v, failed %+v", line, edits, failed)
		}
		text := edits[0].Before
		for i := len(edits[0].Edits) - 1; i >= 0; i-- {
			e := edits[0].Edits[i]
			text = text[:e.Start] + e.New + text[e.End:]
		}
		w.view.SetDocument(path, text, version)
		return text
	}
	w.t.Fatalf("there is no finding on line %d", line)
	return ""
}

// Four findings say the same; each is fixed by its own edit, in whatever order, also after lines came above, and in the
// next process.
func TestEqualFindingsHaveTheirOwnFixes(t *testing.T) {
	for name, restart := range map[string]bool{"at once": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			w := equalFindings(t)
			w.ownFixes(4)
			if restart {
				w.closeEngine()
				w.open()
				w.resumeSession()
				w.ownFixes(4)
			}
			path := w.path("a.txt")
			want := "new\n" + equalFaults
			w.view.SetDocument(path, want, 1)
			for i, at := range []struct {
				line int
				name string
			}{{8, "c"}, {2, "a"}, {11, "d"}, {5, "b"}} {
				w.ownFixes(4 - i)
				want = strings.Replace(want, at.name+" = eval(x)", at.name+" = parse(x)", 1)
				if got := w.take(at.line, int32(i)+2); got != want {
					t.Fatalf("after the fix of line %d the text is\n%s\nwant\n%s", at.line, got, want)
				}
			}
			w.ownFixes(0)
		})
	}
}

// resumeSession opens a session that takes over what the former one left.
func (w *world) resumeSession() {
	w.t.Helper()
	session, err := w.engine.ContinueSession(w.ctx, w.view, "again")
	if err != nil {
		w.t.Fatal(err)
	}
	w.session = session
}

// A fix of two places is taken whole, and not by the half that was made last.
func TestFixOfTwoPlaces(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n"},
		script.Turn{Answer: []script.Step{call("report_finding",
			`{"path":"a.txt","line":1,"message":"odd","fix":{"old_string":"one\ntwo\nthree\nfour","new_string":"ONE\ntwo\nthree\nFOUR"}}`)}},
		said,
	)
	w.wait(w.start(review(w.path("a.txt"))))
	for range 2 {
		if got := w.session.Board().Fix(w.session.Board().Findings("")[0].ID); len(got) != 2 {
			t.Fatalf("the fix is %v, want both hunks of %+v", got, w.session.Board().Proposal().Hunks())
		}
		w.closeEngine()
		w.open()
		w.resumeSession()
	}
	if got := w.take(1, 1); got != "ONE\ntwo\nthree\nFOUR\nfive\n" {
		t.Errorf("the fix made %q", got)
	}
}

// A later run edits the line below a fix: what became one hunk is still the fix of the finding, and that of the
// other one is not.
func TestFixBecomesPartOfAnother(t *testing.T) {
	for name, restart := range map[string]bool{"at once": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": equalFaults},
				script.Turn{Answer: []script.Step{evalFix(1, "a"), evalFix(4, "b"), evalFix(7, "c")}}, said,
				script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
				script.Turn{Answer: []script.Step{call("edit",
					`{"path":"a.txt","old_string":"b = parse(x)\n3\n4\nc = parse(x)","new_string":"b = c = parse(y)"}`)}},
				said,
			)
			path := w.path("a.txt")
			w.wait(w.start(review(path)))
			if restart {
				w.closeEngine()
				w.open()
				w.resumeSession()
			}
			request := review(path)
			request.Agent, request.Prompt = "coder", "Join them."
			w.wait(w.start(request))
			byLine := map[int][]event.HunkID{}
			for _, f := range w.session.Board().Findings(path) {
				byLine[f.Span.StartLine+1] = w.session.Board().Fix(f.ID)
			}
			if len(byLine[1]) != 1 || len(byLine[4]) != 1 || len(byLine[7]) != 1 || byLine[4][0] != byLine[7][0] ||
				byLine[1][0] == byLine[4][0] {
				t.Fatalf("the fixes are %v of %+v", byLine, w.session.Board().Proposal().Hunks())
			}
			h, _ := w.session.Board().Proposal().Hunk(byLine[4][0])
			if h.State != event.StateOpen || !strings.Contains(h.After, "parse(y)") {
				t.Errorf("the fix is %+v", h)
			}
		})
	}
}
