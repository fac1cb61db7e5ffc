package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/lsptest"
	"github.com/agentls/agentls/lsp/methods"
)

// changed hears of each change of a document's text, under the editor's lock.
func (g *game) changed(u, before, after string, byServer bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lost, gained := lostTokens(before, after), lostTokens(after, before)
	if !byServer {
		g.userChanged(lost, gained)
		return
	}
	if g.decided == nil {
		g.failed("an edit came that nobody asked for: %s, %q to %q", u, before, after)
		return
	}
	for _, t := range lost {
		if g.decided.undo {
			if !g.decided.removed[t] {
				g.failed("an undo took a text away that its hunks did not bring: %s of %s, %q to %q", t, u,
					before, after)
			}
			continue
		}
		switch took := fmt.Sprintf("an edit took a text away that its hunks do not replace: %s of %s, %q to %q", t, u,
			before, after); {
		case g.decided.strict && (!g.removedByAgents[t] || !g.decided.removed[t]):
			g.failed("%s", took)
		case !g.removedByAgents[t] && !g.removing[t]:
			g.doubtful[t] = took // a move that has become a copy meanwhile may hold it
		}
	}
	for _, t := range gained {
		if g.decided.undo {
			if !g.decided.added[t] {
				g.failed("an undo brought a text that its hunks did not replace: %s of %s, %q to %q", t, u,
					before, after)
			}
			continue
		}
		if t[0] != 'a' && !g.movedByAgents[t] && (g.decided.strict || !g.moving[t]) || g.decided.strict &&
			!g.decided.added[t] {
			g.failed("an edit brought a text that its hunks do not have: %s of %s, %q to %q", t, u, before, after)
		}
	}
}

// userChanged takes in what the user did. The lock is held.
func (g *game) userChanged(lost, gained []string) {
	for _, t := range lost {
		g.removedByUser[t] = true
	}
	for _, t := range gained {
		delete(g.removedByUser, t)
	}
}

// failed keeps the first thing that is wrong. The lock is held.
func (g *game) failed(format string, args ...any) {
	if g.wrong == nil {
		g.wrong = fmt.Errorf(format, args...)
	}
}

// shown is what the editor shows of a file.
func (g *game) shown(path string) (text string, version int32, open bool) {
	if text, version, err := g.editor.Text(path); err == nil {
		return text, version, true
	}
	return g.disk()[path], -1, false
}

// check compares the server with the editor when nothing is under way.
func (g *game) check(ctx context.Context) error {
	g.mu.Lock()
	wrong := g.wrong
	g.mu.Unlock()
	if wrong != nil {
		return wrong
	}
	// A request is worked on behind the notifications that came before it.
	if _, err := g.editor.Call(ctx, "agent/wait", methods.WaitParams{Run: g.runs[0].id, TimeoutMs: 1}); err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	if err := g.server.connected.view.Settle(ctx); err != nil {
		return err
	}
	if err := g.server.connected.opened().Flush(ctx); err != nil { // a hunk is shown when it is durable
		return err
	}
	raw, err := g.editor.Call(ctx, "agent/proposals", methods.ProposalsParams{})
	if err != nil {
		return fmt.Errorf("the proposals cannot be had: %w", err)
	}
	var list methods.ProposalList
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if err := g.checkDocuments(); err != nil {
		return err
	}
	for _, p := range list.Proposals {
		for _, f := range p.Files {
			if err := g.checkFile(f); err != nil {
				return err
			}
		}
	}
	if err := g.checkHunks(); err != nil {
		return err
	}
	if faults := g.editor.Faults(); len(faults) > 0 {
		return fmt.Errorf("the protocol was broken: %q", faults)
	}
	return g.checkDisk()
}

// checkDocuments compares texts and versions, and looks for what is there twice.
func (g *game) checkDocuments() error {
	opened := g.editor.Opened()
	if n := len(g.server.connected.documents.Paths()); n != len(opened) {
		return fmt.Errorf("the server has other documents open: %d, the editor %q", n, opened)
	}
	for _, path := range g.paths() {
		text, version, open := g.shown(path)
		doc := g.server.connected.documents.Get(filepath.Join(g.root, path))
		if open && (doc == nil || doc.Version != version || doc.Index().Text() != text) {
			return fmt.Errorf("the server has another text: of %s, %+v, the editor has version %d: %q", path, doc,
				version, text)
		}
		seen := map[string]bool{}
		for _, t := range tokensOf(text) {
			if seen[t] {
				return fmt.Errorf("a text is there twice: %s in %s: %q", t, path, text)
			}
			seen[t] = true
		}
	}
	return nil
}

// checkFile checks what the client is told of the hunks of one file.
func (g *game) checkFile(f methods.ProposalFile) error {
	path, err := filepath.Rel(g.root, f.URI.FsPath())
	if err != nil {
		return err
	}
	text, version, open := g.shown(filepath.ToSlash(path))
	if open && (f.Version == nil || int32(*f.Version) != version) {
		return fmt.Errorf("a proposal has another version: of %s, %v, the editor %d", path, f.Version, version)
	}
	for _, h := range f.Hunks {
		if h.State != event.StateOpen || f.Change == methods.FileCreated || g.blind[path] {
			continue
		}
		start, end, err := g.editor.Encoding().Span(text, rangeOf(h.Range))
		if err != nil {
			return fmt.Errorf("an open hunk lies outside the text: %+v of %s, %q: %w", h, path, text, err)
		}
		if text[start:end] != h.Before {
			return fmt.Errorf("an open hunk does not apply: %+v, there is %q in %s, %q", h, text[start:end], path, text)
		}
	}
	return nil
}

func rangeOf(r protocol.Range) lsptest.Range {
	return lsptest.Range{
		Start: lsptest.Position{Line: r.Start.Line, Character: r.Start.Character},
		End:   lsptest.Position{Line: r.End.Line, Character: r.End.Character},
	}
}

// checkHunks checks what each hunk may do and become.
func (g *game) checkHunks() error {
	session := g.server.connected.opened()
	if session == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	hunks := session.Board().Proposal().Hunks()
	g.copied(hunks)
	for t, took := range g.doubtful {
		if !g.removedByAgents[t] {
			return errors.New(took)
		}
	}
	clear(g.doubtful)
	for _, h := range hunks {
		former := g.states[h.ID]
		g.states[h.ID] = h.State
		path, err := filepath.Rel(g.root, h.Path)
		if err != nil {
			return err
		}
		if h.State == event.StateConflict && former != h.State {
			g.count("a hunk was in conflict")
		}
		if h.State != event.StateOpen || g.blind[path] {
			continue
		}
		if former == event.StateRejected || former == event.StateSuperseded || former == event.StateAccepted &&
			h.Detail == "" {
			return fmt.Errorf("a hunk is open again: it was %s: %+v", former, h)
		}
		text, _, _ := g.shown(path)
		there := map[string]bool{}
		for _, t := range tokensOf(text) {
			there[t] = true
		}
		for _, t := range lostTokens(h.Before, h.After) {
			if !g.removedByAgents[t] {
				return fmt.Errorf("a hunk would take away what no agent replaced: %s: %+v", t, h)
			}
		}
		for _, t := range lostTokens(h.After, h.Before) {
			if t[0] != 'a' && !g.movedByAgents[t] {
				return fmt.Errorf("a hunk would bring back what is gone: %s: %+v", t, h)
			}
			if there[t] {
				return fmt.Errorf("a hunk would bring what is there: %s: %+v, shown %q", t, h, text)
			}
		}
	}
	return nil
}

// copied takes in moves that are copies since the old path got another file: of what the user has typed since, too. The
// lock is held.
func (g *game) copied(hunks []workspace.Hunk) {
	for _, h := range hunks {
		path, err := filepath.Rel(g.root, h.Path)
		if err != nil || !h.Create || h.State != event.StateOpen && h.State != event.StateAccepted || !g.targets[path] {
			continue
		}
		for _, t := range tokensOf(h.After) {
			g.movedByAgents[t], g.removedByAgents[t] = true, true
		}
	}
}

// checkStore compares the hunks in the store with those in memory.
func (g *game) checkStore(ctx context.Context) error {
	session := g.server.connected.opened()
	if err := session.Flush(ctx); err != nil {
		return err
	}
	stored := map[event.HunkID]event.ProposalState{}
	for _, state := range []event.ProposalState{
		event.StateOpen, event.StateAccepted, event.StateRejected,
		event.StateConflict, event.StateSuperseded,
	} {
		rows, err := g.server.connected.engine.History().Hunks(ctx, session.ID, state)
		if err != nil {
			return err
		}
		for _, row := range rows {
			stored[row.ID] = row.State
			if h, ok := session.Board().Proposal().Hunk(row.ID); !ok || h.Before != row.Before ||
				h.After != row.After || h.Path != row.Path {
				return fmt.Errorf("the store has another hunk: %+v, the memory %+v", row, h)
			}
		}
	}
	for _, h := range session.Board().Proposal().Hunks() {
		if stored[h.ID] != h.State {
			return fmt.Errorf("the store has another state: %q of %+v", stored[h.ID], h)
		}
	}
	return nil
}

// decide sets what the edits of hunks may do until the function that it returns is called.
func (g *game) decide(hunks []workspace.Hunk, strict, undo bool) (done func()) {
	d := &verdict{added: map[string]bool{}, removed: map[string]bool{}, strict: strict, undo: undo}
	for _, h := range hunks {
		for _, t := range lostTokens(h.After, h.Before) {
			d.added[t] = true
		}
		for _, t := range lostTokens(h.Before, h.After) {
			d.removed[t] = true
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.copied(hunks)
	g.decided = d
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.decided = nil
	}
}

// checkAccepted checks the answer to an accept, and that what was applied is there.
func (g *game) checkAccepted(hunks []workspace.Hunk, result methods.AcceptResult, strict, named bool) error {
	for _, f := range result.Failed {
		if f.Reason == "" {
			return fmt.Errorf("a hunk failed without a reason: %+v", f)
		}
		g.count("an accept failed")
	}
	for _, h := range hunks {
		applied := slices.Contains(result.Applied, h.ID)
		failed := slices.ContainsFunc(result.Failed, func(f methods.HunkFailure) bool { return f.Hunk == h.ID })
		if !strict && !named && !applied && !failed {
			continue // it was gone before the request came
		}
		if applied == failed {
			return fmt.Errorf("a hunk got no clear answer: applied %t, failed %t: %+v", applied, failed, h)
		}
		if !applied {
			continue
		}
		g.count("a hunk was accepted")
		text := ""
		for _, at := range g.places(h, hunks, result.Applied) {
			here, _, _ := g.shown(at)
			text += here
		}
		g.mu.Lock()
		for _, t := range lostTokens(lostText(h), text) {
			if strict && !g.removedByUser[t] {
				g.failed("a hunk was applied and is not there: %s: %+v, shown %q", t, h, text)
			}
		}
		g.mu.Unlock()
	}
	return nil
}

// places are where the text of a hunk that was applied may be: in its file, or where that was moved to at the same
// time.
func (g *game) places(h workspace.Hunk, hunks []workspace.Hunk, applied []event.HunkID) []string {
	paths := []string{h.Path}
	for _, other := range hunks {
		if other.Path == h.Path && other.MoveTo != "" && slices.Contains(applied, other.ID) {
			paths = append(paths, other.MoveTo)
		}
	}
	for i, path := range paths {
		rel, err := filepath.Rel(g.root, path)
		if err != nil {
			panic(err) // both are absolute
		}
		paths[i] = rel
	}
	return paths
}

// lostText is what taking a hunk brings, as tokens.
func lostText(h workspace.Hunk) string {
	text := ""
	for _, t := range lostTokens(h.After, h.Before) {
		text += t
	}
	return text
}
