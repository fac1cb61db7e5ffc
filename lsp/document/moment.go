package document

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/wire"
)

// A request's positions refer to the text that the client had when it sent the request. Each request is worked on by a
// goroutine of its own, while the user types. Therefore the open documents are kept as they were when the request was
// read (LSP 3.18, "Request, Notification and Response Ordering").

// momentKey is for the Moment of a request.
type momentKey struct{}

// Keep keeps the present open documents for a request. It runs on the reading goroutine.
func (d *Documents) Keep(ctx context.Context) context.Context {
	return context.WithValue(ctx, momentKey{}, d.Now())
}

// At is the open documents as they were when the request was read. Without a request, it is the present ones.
func (d *Documents) At(ctx context.Context) Moment {
	if then, ok := ctx.Value(momentKey{}).(Moment); ok {
		return then
	}
	return d.Now()
}

// Follow is where the lines of a request's range stand now. The error is ContentModified if the first or the last of
// them is gone.
func (d *Documents) Follow(ctx context.Context, path string, r protocol.Range) (protocol.Range, error) {
	then, now := d.At(ctx).Get(path), d.Get(path)
	if then == nil || now == nil || then.Buffer == now.Buffer {
		return r, nil
	}
	x := now.Index()
	lines := workspace.MapLines(then.Index().Text(), x.Text())
	first, _ := position.Touched(r)
	start, stands := lines.To(first)
	end, alsoStands := lines.To(int(r.End.Line))
	if behind := then.Index().Len(); int(r.End.Line) >= behind || r.End.Character == 0 && int(r.End.Line) > first {
		// The range covers nothing of its last line, so the line before it must still exist.
		var last int
		last, alsoStands = lines.To(min(int(r.End.Line), behind) - 1)
		end = last + 1
	}
	if !stands || !alsoStands {
		return r, d.contentModified(path)
	}
	start = min(start, x.Len()) // the request's position may be far behind the end
	r.Start.Line, r.End.Line = uint32(start), uint32(max(end, start))
	return r, nil
}

// contentModified says that a document has changed since the request about it was sent.
func (d *Documents) contentModified(path string) error {
	err := wire.ContentModified(
		fmt.Sprintf("the lines in %s have changed since the request was sent", d.view.Relative(path)),
	)
	err.Data.Hint = "send it again with the positions of now"
	return err
}

// Reach waits until an open document has a version that the editor named, whose notification may arrive a little later;
// nil stands for any version. The error says that the document has another version.
func (d *Documents) Reach(ctx context.Context, path string, version *int) error {
	if version == nil {
		return nil
	}
	var doc *Document
	err := d.Wait(ctx, func() bool {
		doc = d.Get(path)
		return doc == nil || int(doc.Version) >= *version
	})
	if doc != nil && int(doc.Version) != *version {
		return fmt.Errorf("what the editor says is for version %d of %s, which is at version %d",
			*version, d.view.Relative(path), doc.Version)
	}
	return err
}
