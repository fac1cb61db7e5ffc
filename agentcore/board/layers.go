package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// layerAuthor is an author in the row of a layer's file.
type layerAuthor struct {
	Run     event.RunID     `json:"run"`
	Agent   string          `json:"agent"`
	Reason  string          `json:"reason"`
	Finding event.FindingID `json:"finding,omitempty"`
	// Lines are the lines of the base that the fix of the finding replaces, each with a first line and an end, which is
	// exclusive.
	Lines [][2]int `json:"lines,omitempty"`
}

// encodedAuthors are the authors of a file, as JSON.
func encodedAuthors(f workspace.LayerFile) json.RawMessage {
	authors := make([]layerAuthor, len(f.Authors))
	for i, a := range f.Authors {
		authors[i] = layerAuthor{Run: a.Run, Agent: a.Agent, Reason: a.Reason, Finding: a.Finding}
		for _, p := range f.Fixes {
			if p.Finding == a.Finding {
				authors[i].Lines = append(authors[i].Lines, [2]int{p.StartLine, p.EndLine})
			}
		}
	}
	raw, _ := json.Marshal(authors) // plain values can always be encoded
	return raw
}

// Layer stores a run's layer: row by row, in the order of its generations. The merge of a child changes it, too. Its
// methods may be called from any goroutine.
type Layer struct {
	board  *Board
	run    event.RunID
	layer  *workspace.Layer
	parent *Layer // nil for a run that merges into the session

	mu    sync.Mutex // while rows are read and handed over
	saved uint64     // the generation that was last stored
}

// Layer makes what stores the edits of a run. The run's layer was forked from that of parent, which is nil for a root.
func (b *Board) Layer(run event.RunID, layer *workspace.Layer, parent *Layer) *Layer {
	return &Layer{board: b, run: run, layer: layer, parent: parent}
}

// With adds to a batch what the layer has changed since it was last stored, and hands the batch to submit.
func (l *Layer) With(batch store.Batch, submit func(store.Batch)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, dropped, now := l.layer.SavedSince(l.saved)
	l.saved = now
	for _, path := range dropped {
		batch.LayerFilesRemoved = append(batch.LayerFilesRemoved, l.key(path))
	}
	for _, f := range changed {
		batch.LayerFiles = append(batch.LayerFiles, store.LayerFile{
			Session: l.board.events.Session, Run: l.run, Path: f.Path, MovedFrom: f.MovedFrom,
			Base: f.Base, Own: f.Text,
			Created: f.Created, Deleted: f.Deleted, Stamp: string(f.Stamp), Authors: encodedAuthors(f),
			Updated: time.Now().UTC(),
		})
	}
	submit(batch)
}

func (l *Layer) key(path string) store.LayerKey {
	return store.LayerKey{Session: l.board.events.Session, Run: l.run, Path: path}
}

// Save stores what the layer has changed since it was last stored.
func (l *Layer) Save() { l.With(store.Batch{}, l.submit) }

// SaveMerge stores that the run's edits are now in its parent's layer, or are the session's hunks.
func (l *Layer) SaveMerge() {
	if l.parent == nil {
		l.board.told() // otherwise the edits would be in no row for a moment
		l.Save()
		return
	}
	l.With(store.Batch{}, func(batch store.Batch) { l.parent.With(batch, l.submit) })
}

// Drop deletes what is stored of the run's edits, so that no later process takes them over.
func (l *Layer) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var batch store.Batch
	for _, f := range l.layer.Saved() {
		batch.LayerFilesRemoved = append(batch.LayerFilesRemoved, l.key(f.Path))
	}
	l.submit(batch)
}

func (l *Layer) submit(batch store.Batch) {
	if len(batch.LayerFiles)+len(batch.LayerFilesRemoved) > 0 {
		l.board.events.Submit(batch, l.run)
	}
}

// told waits until the hunks of all merges so far were handed to the store. Callbacks of a view never wait.
func (b *Board) told() {
	done := make(chan struct{})
	b.view.After(func() { close(done) })
	<-done
}

// unstored is why the stored text of a hunk cannot be proposed.
const unstored = "it held a secret, which agentls does not store; run the agent again"

// interruptedDetail is the detail of a hunk that was in the layer of a run when its process ended.
const interruptedDetail = "an interrupted run proposed this"

// adoptLayers merges the layers of runs whose process has ended: children into their parents, and those into the
// session. The rows are deleted once the hunks are stored. Where the process ends before that, the next one merges the
// same layers again, and only what is missing becomes new hunks.
func (b *Board) adoptLayers(left store.Adopted) error {
	if len(left.LayerFiles) == 0 {
		return nil
	}
	files := map[event.RunID][]workspace.LayerFile{}
	for _, row := range left.LayerFiles {
		file, err := savedFile(row)
		if err != nil {
			return err
		}
		files[row.Run] = append(files[row.Run], file)
	}
	layers := map[event.RunID]*workspace.Layer{}
	for _, run := range left.Runs { // parents before children
		if parent := layers[run.Parent]; parent != nil {
			layers[run.ID] = parent.Fork()
		} else {
			layers[run.ID] = b.proposal.Fork()
		}
		layers[run.ID].Load(files[run.ID]) // the merge tells of the conflicts
	}
	var hunks []event.HunkID
	unread := map[string]bool{}
	for _, run := range slices.Backward(left.Runs) {
		report, err := layers[run.ID].Merge()
		hunks = append(hunks, report.Hunks...)
		for _, c := range report.Conflicts {
			b.events.Submit(store.Batch{}, "", event.Notice{
				Level: event.NoticeWarning,
				Message: fmt.Sprintf(
					"%s: what an interrupted run of %s wrote to lines %d to %d collides with another change and "+
						"was left out",
					b.view.Shown(c.Path), run.Agent, c.StartLine+1, c.EndLine),
				Hint: "run the agent again on the text as it is now",
			})
		}
		var file *workspace.FileError
		if err != nil && !errors.As(err, &file) {
			return fmt.Errorf("merge what the interrupted run %s wrote: %w", run.ID, err)
		}
		for _, f := range layers[run.ID].Saved() {
			unread[f.Path] = true // the next process tries again
		}
	}
	b.proposal.Remark(hunks, interruptedDetail)
	b.told()
	b.crash.Reach(crash.Remerged)
	var batch store.Batch
	for _, row := range left.LayerFiles {
		if !unread[row.Path] {
			batch.LayerFilesRemoved = append(batch.LayerFilesRemoved,
				store.LayerKey{Session: b.events.Session, Run: row.Run, Path: row.Path})
		}
	}
	b.events.Submit(batch, "")
	return nil
}

// savedFile is a row of a layer in the form of the workspace.
func savedFile(row store.LayerFile) (workspace.LayerFile, error) {
	file := workspace.LayerFile{
		Path: row.Path, MovedFrom: row.MovedFrom, Base: row.Base, Text: row.Own,
		Created: row.Created, Deleted: row.Deleted, Stamp: workspace.Stamp(row.Stamp),
	}
	var authors []layerAuthor
	if len(row.Authors) > 0 {
		if err := json.Unmarshal(row.Authors, &authors); err != nil {
			return file, fmt.Errorf("read who wrote %s in the run %s: %w", row.Path, row.Run, err)
		}
	}
	for _, a := range authors {
		file.Authors = append(file.Authors,
			workspace.Author{Run: a.Run, Agent: a.Agent, Reason: a.Reason, Finding: a.Finding})
		for _, lines := range a.Lines {
			file.Fixes = append(file.Fixes,
				workspace.FixPlace{Finding: a.Finding, StartLine: lines[0], EndLine: lines[1]})
		}
	}
	return file, nil
}

// AdoptProposals takes over what ended sessions on the same roots proposed. It belongs to this session from one commit
// on, so that it is neither lost nor taken twice if this process is killed. At most keep hunks that can be undone are
// taken; with runs, only what these and the runs below them left.
func (b *Board) AdoptProposals(ctx context.Context, keep int, runs ...event.RunID) error {
	left, err := b.events.Store.Adopt(ctx, rowOf(b), b.view.Folders(), keep, runs...)
	if err != nil {
		return fmt.Errorf("take over what former sessions proposed: %w", err)
	}
	findings, err := b.events.Store.OpenFindings(ctx, b.view.Folders())
	if err != nil {
		return fmt.Errorf("read the open findings of former sessions: %w", err)
	}
	fixes := map[event.HunkID][]event.FindingID{}
	for _, f := range findings {
		for _, hunk := range f.Fix() {
			fixes[hunk] = append(fixes[hunk], f.ID)
		}
	}
	hunks := make([]workspace.Hunk, len(left.Hunks))
	for i, row := range left.Hunks {
		hunks[i] = history.HunkOf(row)
		hunks[i].Fixes = fixes[row.ID]
		if hunks[i].Waits() && secret.Holds(row.After) {
			// If the hunk were accepted, it would put the placeholder into the user's file.
			hunks[i].State, hunks[i].Detail = event.StateSuperseded, unstored
		}
	}
	b.hunksStored(hunks)
	b.proposal.Restore(hunks)
	b.crash.Reach(crash.Adopted)
	return b.adoptLayers(left)
}
