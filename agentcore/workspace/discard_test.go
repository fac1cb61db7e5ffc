package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// save writes what the editor shows.
func (p *proposal) save() {
	p.t.Helper()
	put(p.t, p.path, p.text())
	p.view.SaveDocument(p.path)
}

// closes closes the document and returns what the disk has.
func (p *proposal) closes() string {
	p.t.Helper()
	p.view.CloseDocument(p.path)
	if err := p.view.Settle(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	content, err := os.ReadFile(p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

// TestClosedWithoutSaving: an accepted hunk that was never saved is undone when its document is closed, however the two
// texts are aligned.
func TestClosedWithoutSaving(t *testing.T) {
	const disk = "a\nb\n}\nc\nd\n\n\ne\nf\n"
	for _, test := range []struct{ name, proposed, typed string }{
		{"at once", "a\nX\nd\n\n\ne\nf\n", ""},
		{"among equal lines", "a\nX\ny\nd\n\n\nz\ne\nf\n", "a\nX\nd\n\n}\n\nz\ne\nf\n"},
		{"the lines below were typed over", "a\n\n\ne\nf\n", "a\n\n}\n\n}\ne\nf\n"},
		{"a line of it is typed again", "a\n}\nc\nd\n\n\ne\nf\n", "a\n}\nc\nd\n\n\nb\n}\ne\nf\n"},
		{"all of it is typed over", "a\nb\n}\nc\nd\n\nX\n\ne\nf\n", "none of it\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, disk, test.proposed)
			ids := p.accept()
			if test.typed != "" {
				p.show(test.typed)
			}
			if text := p.closes(); text != disk || p.text() != disk {
				t.Fatalf("the disk has %q, shown is %q", text, p.text())
			}
			p.undone(ids...)
			if edits, failed := p.UndoEdits(ids); len(edits) != 0 || len(failed) != len(ids) {
				t.Errorf("an undo would make %+v, %+v", edits, failed)
			}
		})
	}
}

// TestClosedBeforeWhatWasTypedWasSaved: what a hunk took had been typed and never saved, so that the disk has neither.
func TestClosedBeforeWhatWasTypedWasSaved(t *testing.T) {
	v, dir := open(t, map[string]string{"a.txt": five})
	p := &proposal{t: t, path: filepath.Join(dir, "a.txt")}
	v.SetDocument(p.path, five, 0)
	v.SetDocument(p.path, "one\ntwo\nthree mine\nmore\nfour\nfive\n", 1) // nobody looks at it yet
	p.version = 1
	p.Proposal = v.NewProposal(ProposalOptions{ID: "p1"})
	t.Cleanup(p.Close)
	layer := p.Fork()
	write(t, layer, p.path, "one\ntwo\nmore\nfour\nfive\n", "")
	merge(t, layer)
	ids := p.accept()
	if text := p.closes(); text != five {
		t.Fatalf("the disk has %q", text)
	}
	p.undone(ids...)
}

// TestClosedAfterSaving: what was saved can be undone as it was then, what was accepted later is undone.
func TestClosedAfterSaving(t *testing.T) {
	const disk = "a\n}\n\nb\n}\n\nc\n}\n"
	p := propose(t, disk, "a\n}\n\nc\n}\n")
	saved := p.accept()
	p.save()
	p.show("a\n}\n\n}\n\nmine\n}\n\nc\n")
	layer := p.Fork()
	write(t, layer, p.path, "A\n}\n\n}\n\nmine\n}\n\nc\n", "")
	merge(t, layer)
	later := p.accept()
	p.show("}\n\n}\n")
	p.closes()
	p.undone(later...)
	p.view.SetDocument(p.path, p.text(), p.version+1)
	p.version++
	p.undoes(saved, disk)
}

// TestBackToTheSavedText: the editor takes everything back that was done since the last save, in one change.
func TestBackToTheSavedText(t *testing.T) {
	const disk = "a\n}\n\nb\n}\n\nc\n}\n"
	p := propose(t, disk, "a\n}\n\nc\n}\n")
	saved := p.accept()
	p.save()
	p.show("a\n}\n\n}\n\n}\n")
	layer := p.Fork()
	write(t, layer, p.path, "a\n}\n\n}\n", "")
	merge(t, layer)
	later := p.accept()
	p.show("mine\n}\n\n}\n")
	p.show("a\n}\n\nc\n}\n")
	p.undone(later...)
	p.undoes(saved, disk)
}

// TestClosedAfterSavingInSilence: an editor saved and did not say so, such as to rename the file.
func TestClosedAfterSavingInSilence(t *testing.T) {
	for _, test := range []struct{ name, proposed string }{
		{"lines that came", "one\nTWO\nthree\nfour\nfive\n"},
		{"lines that went", "one\nthree\nfour\nfive\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := propose(t, five, test.proposed)
			ids := p.accept()
			put(t, p.path, p.text())
			p.show("mine\n" + p.text())
			p.closes()
			p.view.SetDocument(p.path, p.text(), p.version)
			p.undoes(ids, five)
		})
	}
}

// TestClosedWithAnotherText: another program changed the file, so that nobody knows what of the hunk is in it. No line
// comes twice.
func TestClosedWithAnotherText(t *testing.T) {
	const disk = "a\nb\n}\nc\n}\nd\n"
	p := propose(t, disk, "a\n}\nc\n}\nd\n")
	ids := p.accept()
	p.save()
	p.show("a\n}\n}\nd\n}\n")
	put(t, p.path, "a\n}\n}\nd\nb\n}\nc\n")
	p.closes()
	edits, failed := p.UndoEdits(ids)
	if len(edits) > 0 && strings.Count(made(edits[0]), "b\n") > 1 || len(edits) == 0 && len(failed) == 0 {
		t.Errorf("an undo makes %+v, %+v", edits, failed)
	}
}

// TestUndoOfWhatIsBack: an undo brings no line that came back at another place, until it is gone there.
func TestUndoOfWhatIsBack(t *testing.T) {
	p := propose(t, five, "one\nthree\nfour\nfive\n")
	ids := p.accept()
	p.show("one\nthree\nfour\nfive\n  two\nsix\n")
	edits, failed := p.UndoEdits(ids)
	if len(edits) != 0 || len(failed) != 1 || !strings.Contains(failed[0].Reason, "there again: two") {
		t.Fatalf("the line would be there twice: %+v, %+v", edits, failed)
	}
	if h, _ := p.Hunk(ids[0]); h.State != event.StateAccepted {
		t.Errorf("it is %+v", h)
	}
	p.show("one\nthree\nfour\nfive\nsix\n")
	p.undoes(ids, "one\ntwo\nthree\nfour\nfive\nsix\n")

	t.Run("by a later hunk", func(t *testing.T) {
		p := propose(t, five, "one\nthree\nfour\nfive\n")
		older := p.accept()
		layer := p.Fork()
		write(t, layer, p.path, "one\nthree\nfour\ntwo\nfive\n", "")
		merge(t, layer)
		newer := p.accept()
		if edits, failed := p.UndoEdits(older); len(edits) != 0 || len(failed) != 1 {
			t.Errorf("the line would be there twice: %+v, %+v", edits, failed)
		}
		p.undoes(append(older, newer...), five)
	})
	t.Run("a line that is common", func(t *testing.T) {
		p := propose(t, "a\nreturn\nb\nreturn\n", "a\nb\nreturn\n")
		ids := p.accept()
		p.show("a\nb\nreturn\nreturn\n")
		p.undoes(ids, "a\nreturn\nb\nreturn\nreturn\n")
	})
}
