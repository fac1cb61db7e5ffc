package run

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxPreview bounds how much of an edit a question shows, in bytes.
const maxPreview = 64 << 10

// preview tries a call that proposes edits on a layer of its own, so that the user who is asked about the call sees
// what it would change. It returns the difference as people read it, "" for a call that edits no file. The error is
// that of a call that would fail whatever the user answers.
func (r *Run) preview(c *call, paths []permission.Path) (string, error) {
	if c.spec.Effect != tool.Proposes {
		return "", nil
	}
	scratch := r.layer.Rehearse()
	for _, p := range paths {
		scratch.Allow(p.Name)
	}
	err := r.guarded("the tool "+c.spec.Name, func() error {
		_, err := restorerOf(r).with(c)(r.ctx, newHost(r, c, scratch))
		return err
	})
	if err != nil {
		r.layer.Learn(scratch) // the error may show a part of the file, which the model has then seen
		return "", err
	}
	var b strings.Builder
	changes := scratch.Changes()
	for _, change := range changes {
		writeChange(&b, r.session.View, change, len(changes) > 1)
	}
	return b.String(), nil
}

// writeChange adds what happens to one file: the lines that go and come, below the file's name if named is set or if
// the file is deleted or moved.
func writeChange(b *strings.Builder, view *workspace.View, change workspace.Change, named bool) {
	name := permission.Visible(view.Relative(change.Path))
	switch before := change.Before; {
	case change.After == nil:
		name, named = name+" is deleted", true
	case before != nil && before.Path != change.Path:
		name, named = permission.Visible(view.Relative(before.Path))+" → "+name, true
	}
	if named {
		fmt.Fprintln(b, name)
	}
	_, lines, _ := strings.Cut(change.Unified("file"), "\n+++ ")
	_, lines, _ = strings.Cut(lines, "\n")
	for line := range strings.Lines(lines) {
		if b.Len() > maxPreview {
			b.WriteString("… the rest is left out\n")
			return
		}
		// A tab is shown as the indentation that it is. Other invisible characters are made visible.
		fmt.Fprintln(b, permission.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")))
	}
}
