package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/wire"
)

// A request's positions are in the text that the client had when it sent the request. Each request works on a goroutine
// of its own, and the client types on: so the open documents are kept as they were when the request was read (LSP 3.18,
// "Request, Notification and Response Ordering").

// momentKey is for the openDocuments of a request's moment.
type momentKey struct{}

// before keeps the open documents for a request. It runs on the reading goroutine.
func (s *Server) before(ctx context.Context, _ string) context.Context {
	return context.WithValue(ctx, momentKey{}, s.documents.snapshot())
}

// moment is the open documents as they were when the request was read; those of now where there is no request.
func (s *Server) moment(ctx context.Context) openDocuments {
	if then, ok := ctx.Value(momentKey{}).(openDocuments); ok {
		return then
	}
	return s.documents.snapshot()
}

// followed is where the lines of a range that came with a request stand now. The error is ContentModified where the
// first or the last of them is gone.
func (s *Server) followed(ctx context.Context, path string, r protocol.Range) (protocol.Range, error) {
	then, now := s.moment(ctx).byPath[path], s.documents.get(path)
	if then == nil || now == nil || then.buffer == now.buffer {
		return r, nil
	}
	x := now.index()
	lines := workspace.MapLines(then.index().Text(), x.Text())
	first, _ := touchedLines(r)
	start, stands := lines.To(first)
	end, alsoStands := lines.To(int(r.End.Line))
	if behind := then.index().Len(); int(r.End.Line) >= behind || r.End.Character == 0 && int(r.End.Line) > first {
		// Nothing of the last line is meant: the line before it has to stand.
		var last int
		last, alsoStands = lines.To(min(int(r.End.Line), behind) - 1)
		end = last + 1
	}
	if !stands || !alsoStands {
		return r, s.contentModified(path)
	}
	start = min(start, x.Len()) // which may be far behind the end
	r.Start.Line, r.End.Line = uint32(start), uint32(max(end, start))
	return r, nil
}

// contentModified says that what a request is about has changed since it was sent.
func (s *Server) contentModified(path string) error {
	err := wire.ContentModified(
		fmt.Sprintf("the lines in %s have changed since the request was sent", s.view.Relative(path)),
	)
	err.Data.Hint = "send it again with the positions of now"
	return err
}

// settled does something between two messages about documents, and again where one was worked on meanwhile, so that
// texts, their versions and the lines of hunks fit together.
func (s *Server) settled(ctx context.Context, do func()) error {
	for {
		edits := s.edits.Load()
		do()
		if edits%2 == 0 && s.edits.Load() == edits {
			return nil
		}
		if err := s.documents.wait(ctx, func() bool { return s.edits.Load()%2 == 0 }); err != nil {
			return err
		}
	}
}

// reach waits until an open document has a version that the editor speaks of, which may be told of a little later; nil
// is any. The error says that the document is at another one.
func (s *Server) reach(ctx context.Context, path string, version *int) error {
	if version == nil {
		return nil
	}
	var doc *document
	err := s.documents.wait(ctx, func() bool {
		doc = s.documents.get(path)
		return doc == nil || int(doc.version) >= *version
	})
	if doc != nil && int(doc.version) != *version {
		return fmt.Errorf("what the editor says is for version %d of %s, which is at version %d",
			*version, s.view.Relative(path), doc.version)
	}
	return err
}
