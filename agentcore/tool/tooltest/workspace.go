package tooltest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Workspace implements tool.Workspace: a real one, with a layer on it.
type Workspace struct {
	// Attachments are what Attached reads, by absolute path.
	Attachments map[string]string

	t       testing.TB
	root    string
	view    *workspace.View
	session *workspace.Proposal
	layer   *workspace.Layer
	version int32
}

var _ tool.Workspace = (*Workspace)(nil)

func (w *Workspace) open(files map[string]string) {
	w.t.Helper()
	var err error
	if w.root, err = filepath.EvalSymlinks(w.t.TempDir()); err != nil {
		w.t.Fatal(err)
	}
	for name, text := range files {
		w.write(w.Path(name), text)
	}
	if w.view, err = workspace.Open([]workspace.Root{{Path: w.root, Name: "project"}},
		workspace.Options{}); err != nil {
		w.t.Fatal(err)
	}
	w.session = w.view.NewProposal(workspace.ProposalOptions{ID: event.NewProposalID()})
	w.layer = w.session.Fork()
	w.t.Cleanup(func() {
		w.session.Close()
		if err := w.view.Close(); err != nil {
			w.t.Error(err)
		}
	})
}

// AddRoot opens one more workspace folder.
func (w *Workspace) AddRoot(name string, files map[string]string) {
	w.t.Helper()
	path, err := filepath.EvalSymlinks(w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	for file, text := range files {
		w.write(filepath.Join(path, filepath.FromSlash(file)), text)
	}
	if err := w.view.SetRoots(append(w.view.Roots(), workspace.Root{Path: path, Name: name})); err != nil {
		w.t.Fatal(err)
	}
}

// Path is the absolute path of a file in the first folder.
func (w *Workspace) Path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// Type is what the editor does when its user opens a document or types: it now shows this text.
func (w *Workspace) Type(name, text string) {
	w.version++
	w.view.SetDocument(w.Path(name), text, w.version)
}

func (w *Workspace) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// Text is what the run sees at a path. It does not count as read by the run.
func (w *Workspace) Text(name string) string {
	w.t.Helper()
	file, err := w.layer.Fork().Read(w.Path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return file.Text
}

// Session is the session whose layer the run's lies on.
func (w *Workspace) Session() *workspace.Proposal { return w.session }

// Files implements tool.Workspace.
func (w *Workspace) Files() *workspace.Layer { return w.layer }

// Author implements tool.Workspace.
func (w *Workspace) Author(reason string) workspace.Author {
	return workspace.Author{Run: Run, Agent: "tester", Reason: reason}
}

// MayRead implements tool.Workspace: everything may be read.
func (w *Workspace) MayRead(string) bool { return true }

// MayReadPlain implements tool.Workspace: everything may be read.
func (w *Workspace) MayReadPlain(string) bool { return true }

// Attached implements tool.Workspace.
func (w *Workspace) Attached(path string) (string, bool, error) {
	text, ok := w.Attachments[path]
	return text, ok, nil
}
