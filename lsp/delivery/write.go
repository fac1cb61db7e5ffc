package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/lsp/document"
)

// Change is an edit of one document, in bytes.
type Change struct {
	Start, End int
	New        string
}

// ErrClosed says that the document is not open in the editor.
var ErrClosed = errors.New("the document is not open")

const (
	// writeAttempts is how often a change is sent to an editor whose user keeps typing, before Write gives up.
	writeAttempts = 50
	// writeAgain is how long the next change of the text is waited for where an editor refused an edit of newer text.
	writeAgain = 200 * time.Millisecond
	// gathers is how long Neovim gathers what the user types. It sends a change at once if there was none for so long.
	gathers = 150 * time.Millisecond
)

// Write has the editor make changes to the text of an open document. next is given its newest state, and returns what
// is still to be changed; ok is false once nothing is. It is asked again after each change, since an editor may leave
// out an edit of older text and say that it made it. Each change carries the version of the text that it was made for,
// but for an editor that stops its user with a message about an edit of an older version: such an editor gets edits
// without a version, once it has nothing to tell.
//
// The error is ErrClosed where the document is not open (any more), and says what the editor said where it keeps
// refusing.
func Write(ctx context.Context, d *Desk, path, label string,
	next func(doc *document.Document) (change Change, ok bool),
) error {
	refusal := "the text changes all the time"
	var b blind
	for range writeAttempts {
		doc := d.Documents.Get(path)
		if doc == nil {
			return ErrClosed
		}
		change, ok := next(doc)
		if !ok {
			return nil
		}
		if within := b.waits(change.New); within > 0 && printsStaleEdits(d) {
			if err := changedFrom(ctx, d, path, doc.Version, min(within, d.AnswerTime)); err != nil {
				return err
			}
			continue
		}
		refused, err := send(ctx, d, label, written(d, doc, protocol.TextEdit{
			Range: d.Documents.Encoding.Between(doc.Index(), change.Start, change.End), NewText: change.New,
		}))
		if err != nil {
			return err
		}
		within := min(echoTime, d.AnswerTime)
		b.sent(change.New, refused == "")
		if refused != "" {
			refusal, within = refused, min(writeAgain, d.AnswerTime)
		}
		if err := changedFrom(ctx, d, path, doc.Version, within); err != nil {
			return err
		}
	}
	return fmt.Errorf("the editor did not change %s: %s", d.View.Shown(path), refusal)
}

// blind says when edits without a version are sent, which the editor makes in any case. The zero value has sent none.
type blind struct {
	quiet bool   // the editor has told what the user typed
	made  string // by the last edit
	until time.Time
}

// waits is how long a change of the text is waited for before an edit with this text is sent; 0 for not at all.
func (b *blind) waits(text string) time.Duration {
	if left := time.Until(b.until); left > 0 && strings.TrimSpace(text) == b.made {
		return left // the edit is made; what the user typed before it was told on its own
	}
	if b.quiet {
		return 0
	}
	b.quiet = true
	return gathers
}

// sent says that an edit with this text was sent, and whether the editor says that it made it.
func (b *blind) sent(text string, made bool) {
	*b = blind{}
	if made {
		b.made, b.until = strings.TrimSpace(text), time.Now().Add(echoTime)
	}
}

// printsStaleEdits reports whether the editor tells its user of each edit of an older version that it leaves out. The
// message is wider than most screens, so that the user has to press a key, which may be one that he types. Our plugin
// says nothing.
func printsStaleEdits(d *Desk) bool {
	return d.Client.LeavesOutStaleEdits() && !d.Client.KnowsProtocol()
}

// written is the form that a change of a document gets.
func written(d *Desk, doc *document.Document, edit protocol.TextEdit) protocol.WorkspaceEdit {
	if printsStaleEdits(d) {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{doc.URI: {edit}}}
	}
	return EditOf(d.Client, doc, edit)
}

// send sends an edit while no other is on its way, and returns why the editor refused it, "" where it did not.
func send(ctx context.Context, d *Desk, label string, edit protocol.WorkspaceEdit) (refusal string, err error) {
	release, err := d.Hold(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	answer, err := d.Client.Apply(ctx, "agentls: "+label, edit)
	return answer.Refusal, err
}

// changedFrom waits until a document has another version, for a bounded time, since not every edit is answered by a
// change.
func changedFrom(ctx context.Context, d *Desk, path string, version int32, within time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := d.Documents.Wait(bounded, func() bool {
		doc := d.Documents.Get(path)
		return doc == nil || doc.Version != version
	})
	if ctx.Err() != nil || bounded.Err() == nil {
		return err
	}
	return nil
}
