package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/workspace"
)

// visits keep a foreign agent's view of the workspace and the run's layer together while the agent works. A visit takes
// what the agent has written into the layer, merges it with what the user has typed meanwhile, and brings what the
// layer then shows into the agent's view. Only the run's goroutine uses it.
type visits struct {
	// snapshot is the layer as it was brought into the agent's view last. shows are the texts that the view is known to
	// have otherwise than the disk had them at the start, by absolute paths.
	snapshot workspace.Snapshot
	shows    map[string]sandbox.Text
	// generation and disk say which documents and which changes of the disk the last visit has seen.
	generation uint64
	disk       uint64
	left       map[string]bool // files of which the agent's text stays in its view, and the user was told of
}

// maxRounds bounds how often one visit brings a file that the agent goes on writing.
const maxRounds = 3

// maxBroughtFromDisk bounds the changed files of the disk that one visit brings.
const maxBroughtFromDisk = 500

// begin returns what the agent's view has to show at first otherwise than the disk.
func (v *visits) begin(f *foreign) map[string]sandbox.Text {
	_, v.disk = f.session.View.DiskChanges(0)
	v.shows, v.left = v.look(f), map[string]bool{}
	return maps.Clone(v.shows)
}

// look takes a snapshot of what the layer shows now otherwise than the disk.
func (v *visits) look(f *foreign) (overlay map[string]sandbox.Text) {
	v.generation = workspace.Generation(f.session.View)
	v.snapshot, overlay = f.commands.Look(f.layer)
	maps.DeleteFunc(overlay, func(path string, _ sandbox.Text) bool { return !f.sees(path) })
	return overlay
}

// refresh is visit where the user has typed or saved something since the last one.
func (v *visits) refresh(f *foreign) {
	if f.program == nil {
		return
	}
	_, disk := f.session.View.DiskChanges(v.disk)
	if disk != v.disk || workspace.Generation(f.session.View) != v.generation {
		v.visit(f.ctx, f)
	}
}

// visit takes what the agent has written and brings what the layer shows. It returns which files were left out since a
// rule or the mode forbids changing them, and why; empty for none.
func (v *visits) visit(ctx context.Context, f *foreign) (leftOut string) {
	for range maxRounds {
		left := v.take(ctx, f)
		if left != "" {
			leftOut = left
		}
		if !v.bring(ctx, f) {
			break
		}
	}
	return leftOut
}

// take makes edits of what the agent has written since the last visit.
func (v *visits) take(ctx context.Context, f *foreign) (leftOut string) {
	found, err := f.program.Changes(ctx)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, sandbox.ErrClosed) {
			f.notice(event.NoticeWarning,
				fmt.Sprintf("what %s has written could not be read: %v", f.definition.Slug, err),
				"its edits so far are kept; start it again for the rest")
		}
		return ""
	}
	v.tellKept(f, found.Kept)
	if len(found.Written) == 0 {
		return ""
	}
	for _, w := range found.Written {
		if v.shows[w.Path] = (sandbox.Text{Content: w.Content, Deleted: w.Deleted}); found.Replaced[w.Path] {
			delete(v.shows, w.Path)
		}
	}
	taken := f.commands.Propose(v.snapshot, found.Written, f.author(f.lastTitle()))
	leftOut = hostCommands{run: f.Run}.noteForbidden(taken)
	for _, file := range taken {
		name := f.session.View.Shown(file.Path)
		for _, c := range file.Conflicts {
			f.collides(f.definition.Slug, name, c)
			f.notice(event.NoticeWarning, collision(name, c), "run the agent again on the text as it is now")
		}
		if file.Problem != nil && !v.left[file.Path] {
			v.left[file.Path] = true
			f.notice(event.NoticeWarning, fmt.Sprintf("%s was left out: %v", name, file.Problem),
				"change it yourself, or with an agent that asks you")
		}
	}
	f.stored.Save()
	f.layer.NextTurn()
	if f.parent == nil {
		f.mergeLayer()
	}
	return leftOut
}

// lastTitle is what the agent does at this moment, as the reason of its edits.
func (f *foreign) lastTitle() string {
	for i := len(f.speech.open) - 1; i >= 0; i-- {
		if c := f.speech.open[i]; c.row.Title != "" {
			return c.row.Title
		}
	}
	return ""
}

// tellKept says, once for each, which files stay in the sandbox.
func (v *visits) tellKept(f *foreign, kept []sandbox.Kept) {
	var names []string
	why := ""
	for _, one := range kept {
		if !v.left[one.Path] {
			v.left[one.Path] = true
			names, why = append(names, f.session.View.Shown(one.Path)), one.Reason
		}
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if n := len(names) - 1; n > 0 {
		more = " and " + clip.Counted(n, "more file", "more files")
	}
	f.notice(event.NoticeInfo, fmt.Sprintf("%s%s: %s, so that it stays in the sandbox of %s and is no edit", names[0],
		more, why, f.definition.Slug), "")
}

// bring shows the agent what the layer shows now, and its view does not. It reports true where the agent has written
// such a file since, so that it has to be taken first.
func (v *visits) bring(ctx context.Context, f *foreign) (again bool) {
	changed, disk := f.session.View.DiskChanges(v.disk)
	v.disk = disk
	overlay, news := v.look(f), map[string]sandbox.Text{}
	for path, text := range overlay {
		v.add(news, path, text)
	}
	for path := range v.shows {
		if _, shown := overlay[path]; !shown { // the disk has the same by now, or the document was closed
			v.addFromDisk(f, news, path)
		}
	}
	for i, path := range changed {
		if _, shown := overlay[path]; !shown && i < maxBroughtFromDisk {
			v.addFromDisk(f, news, path)
		}
	}
	if len(news) == 0 {
		return false
	}
	brought, err := f.program.Bring(ctx, news)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, sandbox.ErrClosed) {
			f.notice(event.NoticeWarning,
				fmt.Sprintf("%s does not see what you have typed: %v", f.definition.Slug, err),
				"its edits are merged with yours all the same")
		}
		return false
	}
	v.tellKept(f, brought.Refused)
	for _, path := range brought.Changed { // it is brought once what the agent has written there is taken
		delete(news, path)
	}
	maps.Copy(v.shows, news)
	return len(brought.Changed) > 0
}

// add adds a text to those that are to be brought, unless the agent's view has it.
func (v *visits) add(news map[string]sandbox.Text, path string, text sandbox.Text) {
	has, known := v.shows[path]
	if !known || has.Deleted != text.Deleted || !bytes.Equal(has.Content, text.Content) {
		news[path] = text
	}
}

// isMissing reports whether a file is not there.
func isMissing(err error) bool {
	problem, ok := errors.AsType[*workspace.FileError](err)
	return ok && problem.Kind == workspace.NotFound
}

// addFromDisk is add for a file as the disk has it, if it is one that the agent may see.
func (v *visits) addFromDisk(f *foreign, news map[string]sandbox.Text, path string) {
	if v.left[path] || !f.sees(path) || f.layer.Ignored().Has(path, false) {
		return
	}
	// a fork, since the agent has not asked for the file
	file, err := f.layer.Fork().Read(path)
	switch {
	case isMissing(err):
		v.add(news, path, sandbox.Text{Deleted: true})
	case err == nil:
		v.add(news, path, sandbox.Text{Content: []byte(file.Text)})
	}
}
