package document

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/wire"
)

// A request's positions are in the text that the client had when it sent the request. Each request works on a goroutine
// of its own, and the client types on: so the open documents are kept as they were when the request was read (LSP 3.18,
// "Request, Notification and Response Ordering").

// momentKey is for the Moment of a request.
type momentKey struct{}

// Keep keeps the open documents for a request. It runs on the reading goroutine.
func (d *Documents) Keep(ctx context.Context) context.Context {
	return context.WithValue(ctx, momentKey{}, d.Now())
}

// At is the open documents as they were when the request was read; those of now where there is no request.
func (d *Documents) At(ctx context.Context) Moment {
	if then, ok := ctx.Value(momentKey{}).(Moment); ok {
		return then
	}
	return d.Now()
}

// Follow is where the lines of a range that came with a request stand now. The error is ContentModified where the
// first or the last of them is gone.
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
		// Nothing of the last line is meant: the line before it has to stand.
		var last int
		last, alsoStands = lines.To(min(int(r.End.Line), behind) - 1)
		end = last + 1
	}
	if !stands || !alsoStands {
		return r, d.contentModified(path)
	}
	start = min(start, x.Len()) // which may be far behind the end
	r.Start.Line, r.End.Line = uint32(start), uint32(max(end, start))
	return r, nil
}

// contentModified says that what a request is about has changed since it was sent.
func (d *Documents) contentModified(path string) error {
	err := wire.ContentModified(
		fmt.Sprintf("the lines in %s have changed since the request was sent", d.view.Relative(path)),
	)
	err.Data.Hint = "send it again with the positions of now"
	return err
}

// Reach waits until an open document has a version that the editor speaks of, which may be told of a little later; nil
// is any. The error says that the document is at another one.
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
