package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/lsptest"
	"github.com/agentls/agentls/lsp/methods"
)

// wave is one step: one thing, or several at once, and the wait until all have ended.
func (g *game) wave(ctx context.Context, rng *rand.Rand) error {
	g.logf("step %d:", g.step)
	for {
		switch n := rng.IntN(100); {
		case n < 8:
			if len(g.live()) >= 8 || len(g.runs) >= 16 {
				continue
			}
			return g.start(ctx, rng)
		case n < 30:
			return g.turns(ctx, rng, 1+rng.IntN(4), func() error { return nil })
		case n < 34:
			return g.undoRun(ctx, rng)
		case n < 42:
			return g.turns(ctx, rng, 1+rng.IntN(8), func() error { return g.typing(rng, 1+rng.IntN(6)) })
		case n < 54:
			return g.typing(rng, 1+rng.IntN(3))
		case n < 60:
			return g.undo(rng)
		case n < 66:
			return g.save(rng, rng.IntN(2) == 0)
		case n < 72:
			return g.openOrClose(rng)
		case n < 75:
			return g.writeDisk(rng)
		case n < 77:
			return g.rename(rng)
		case n < 88:
			return g.accept(ctx, rng, func() error { return nil }, true)
		case n < 93:
			return g.turns(ctx, rng, 1+rng.IntN(3), func() error {
				return g.accept(ctx, rng, func() error { return g.typing(rng, rng.IntN(4)) }, false)
			})
		case n < 98:
			return g.reject(ctx, rng, true)
		case n < 99:
			return g.cancel(ctx, rng)
		default:
			return g.turns(ctx, rng, 2, func() error { return g.reject(ctx, rng, false) })
		}
	}
}

// turns lets some runs make a turn at the same time as something else is done, and waits for both.
func (g *game) turns(ctx context.Context, rng *rand.Rand, n int, meanwhile func() error) error {
	live := g.live()
	rng.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
	live = live[:min(n, len(live))]
	var parts []func()
	removing, moving := map[string]bool{}, map[string]bool{}
	for _, r := range live {
		turn := g.turn(rng, r)
		for _, p := range r.calls {
			for _, t := range p.removed {
				removing[t] = true
			}
			for _, t := range p.moved {
				moving[t] = true
			}
			if p.gone && g.profile.SkipsStaleEdits {
				g.spared[p.path] = true
			}
		}
		parts = append(parts, func() { g.puppets.release(r.id, turn) })
	}
	g.mu.Lock()
	g.removing, g.moving = removing, moving
	g.mu.Unlock()
	for _, release := range parts {
		release()
	}
	err := meanwhile()
	for _, r := range live {
		err = errors.Join(err, g.rest(ctx, r))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removing, g.moving = nil, nil
	clear(g.spared)
	return err
}

// cancel stops a run.
func (g *game) cancel(ctx context.Context, rng *rand.Rand) error {
	live := g.live()
	if len(live) == 0 {
		return nil
	}
	r := pick(rng, live)
	g.logf("  cancel %s", r.id)
	if _, err := g.editor.Call(ctx, "agent/cancel", methods.CancelParams{Run: r.id}); err != nil {
		return fmt.Errorf("a run cannot be cancelled: %w", err)
	}
	for {
		g.puppets.mu.Lock()
		ended, news := r.ended, g.puppets.news
		g.puppets.mu.Unlock()
		if ended {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("a cancelled run does not end: %w", context.Cause(ctx))
		}
	}
}

// open returns an open document; ok is false where none is.
func (g *game) open(rng *rand.Rand) (path string, ok bool) {
	opened := g.editor.Opened()
	if len(opened) == 0 {
		return "", false
	}
	return pick(rng, opened), true
}

// any returns a file that there is; ok is false where there is none.
func (g *game) any(rng *rand.Rand) (path string, ok bool) {
	paths := g.paths()
	if len(paths) == 0 {
		return "", false
	}
	return pick(rng, paths), true
}

// typing makes changes in open documents, some of them at several places.
func (g *game) typing(rng *rand.Rand, n int) error {
	for range n {
		path, ok := g.open(rng)
		if !ok || g.spared[path] {
			return nil
		}
		if err := g.editor.Revise(path, func(text string) []lsptest.Replacement {
			list := g.typed(rng, text)
			g.logf("  type in %s: %+v", path, list)
			return list
		}); err != nil {
			return err
		}
		g.count("the user typed")
	}
	return nil
}

// typed makes up what the user types: one change, or up to four that do not overlap.
func (g *game) typed(rng *rand.Rand, text string) []lsptest.Replacement {
	var list []lsptest.Replacement
	at := 0
	places := 1
	if rng.IntN(4) == 0 {
		places = 2 + rng.IntN(3)
	}
	for range places {
		start := at + rng.IntN(len(text)-at+1)
		end := start
		switch rng.IntN(4) {
		case 0:
			end = min(len(text), start+rng.IntN(6))
		case 1:
			end = min(len(text), start+rng.IntN(40))
		}
		start, end = snap(text, start, false), snap(text, end, true)
		if start < at {
			break
		}
		ending := "\n"
		if strings.Contains(text, "\r\n") {
			ending = "\r\n"
		}
		added := ""
		switch rng.IntN(7) {
		case 0:
			if end > start {
				break // a deletion
			}
			fallthrough
		case 1, 2:
			added = g.userToken()
		case 3, 4:
			added = g.userToken() + ending
		case 5:
			added = ending + g.userToken() + ending + " " + g.userToken()
		case 6:
			added = pick(rng, []string{"x", " ", ending, "}", "é"})
		}
		list = append(list, lsptest.Replacement{Start: start, End: end, Text: added})
		at = end
		if at >= len(text) {
			break
		}
		at++
	}
	return list
}

func (g *game) userToken() string {
	g.made++
	return fmt.Sprintf("u%04d;", g.made)
}

// snap moves an offset out of characters, line endings and tokens.
func snap(text string, at int, up bool) int {
	for at > 0 && at < len(text) && (!utf8.RuneStart(text[at]) || text[at-1] == '\r' && text[at] == '\n') {
		at++
	}
	for _, span := range token.FindAllStringIndex(text, -1) {
		if span[0] < at && at < span[1] {
			if up {
				return span[1]
			}
			return span[0]
		}
	}
	return at
}

func (g *game) undo(rng *rand.Rand) error {
	path, ok := g.open(rng)
	if !ok {
		return nil
	}
	for range 1 + rng.IntN(3) {
		travel, what := g.editor.Undo, "undo"
		if rng.IntN(3) == 0 {
			travel, what = g.editor.Redo, "redo"
		}
		done, err := travel(path)
		if err != nil {
			return err
		}
		if done {
			g.count("the user undid")
			text, _, _ := g.shown(path)
			g.logf("  %s in %s, now %q", what, path, text)
		}
	}
	return nil
}

// save saves a document, perhaps with a formatter.
func (g *game) save(rng *rand.Rand, formats bool) error {
	path, ok := g.open(rng)
	if !ok {
		return nil
	}
	if formats {
		if err := g.editor.Revise(path,
			func(text string) []lsptest.Replacement { return lsptest.Format(text, rng.IntN(2) == 0) }); err != nil {
			return err
		}
	}
	text, _, _ := g.shown(path)
	g.logf("  save %s: %q", path, text)
	delete(g.blind, path)
	return g.editor.Save(path)
}

func (g *game) openOrClose(rng *rand.Rand) error {
	path, ok := g.any(rng)
	if !ok {
		return nil
	}
	before, _, open := g.shown(path)
	onDisk, there := g.disk()[path]
	if !open {
		g.logf("  open %s", path)
		delete(g.blind, path)
		return g.editor.Open(path)
	}
	g.logf("  close %s", path)
	if !there {
		onDisk = ""
	}
	g.userShows(before, onDisk)
	return g.editor.CloseDocument(path)
}

// userShows takes in that a file shows another text by the user's doing.
func (g *game) userShows(before, after string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.userChanged(lostTokens(before, after), lostTokens(after, before))
}

// writeDisk changes a file by another program. The editor loads it again where it had no changes in it.
func (g *game) writeDisk(rng *rand.Rand) error {
	path, ok := g.any(rng)
	if !ok {
		return nil
	}
	old, there := g.disk()[path]
	shown, _, open := g.shown(path)
	if !there {
		return nil
	}
	if !open && rng.IntN(6) == 0 {
		g.logf("  remove %s from the disk", path)
		g.userShows(old, "")
		g.blind[path] = !g.editor.Watches()
		return g.editor.RemoveDisk(path)
	}
	next := old
	list := g.typed(rng, old)
	for _, r := range slices.Backward(list) {
		next = next[:r.Start] + r.Text + next[r.End:]
	}
	g.logf("  write %s on disk: %q", path, next)
	switch {
	case !open:
		g.userShows(old, next)
		g.blind[path] = !g.editor.Watches()
	case shown == old:
		if err := g.editor.Revise(path, func(text string) []lsptest.Replacement {
			return []lsptest.Replacement{{Start: 0, End: len(text), Text: next}}
		}); err != nil {
			return err
		}
	}
	return g.editor.WriteDisk(path, next)
}

func (g *game) rename(rng *rand.Rand) error {
	from, ok := g.any(rng)
	if _, there := g.disk()[from]; !ok || !there {
		return nil
	}
	to := fmt.Sprintf("r%d.txt", g.step)
	g.logf("  rename %s to %s", from, to)
	g.blind[from], g.blind[to] = !g.editor.Watches(), false
	return g.editor.RenameFile(from, to)
}

// hunks are those in the state, of files that the server knows.
func (g *game) hunks(states ...event.ProposalState) []workspace.Hunk {
	session := g.server.connected.opened()
	if session == nil {
		return nil
	}
	return slices.DeleteFunc(session.Board().Hunks(),
		func(h workspace.Hunk) bool { return !slices.Contains(states, h.State) })
}

// chosen picks hunks: one, those of a file, some, or all; and names them as a client may.
func (g *game) chosen(rng *rand.Rand, hunks []workspace.Hunk) ([]workspace.Hunk, methods.ProposalParams) {
	p := methods.ProposalParams{Proposal: g.server.connected.opened().Board().ProposalID()}
	switch rng.IntN(4) {
	case 0:
		hunks = []workspace.Hunk{pick(rng, hunks)}
	case 1:
		path := pick(rng, hunks).Path
		hunks = slices.DeleteFunc(hunks,
			func(h workspace.Hunk) bool { return h.Path != path || h.State != event.StateOpen })
		p.Files = []uri.URI{uri.File(path)}
		return hunks, p
	case 2:
		rng.Shuffle(len(hunks), func(i, j int) { hunks[i], hunks[j] = hunks[j], hunks[i] })
		hunks = hunks[:1+rng.IntN(len(hunks))]
	case 3:
		hunks = slices.DeleteFunc(hunks, func(h workspace.Hunk) bool { return h.State != event.StateOpen })
		return hunks, p
	}
	for _, h := range hunks {
		p.Hunks = append(p.Hunks, h.ID)
	}
	return hunks, p
}

func (g *game) reject(ctx context.Context, rng *rand.Rand, calm bool) error {
	hunks := g.hunks(event.StateOpen, event.StateConflict)
	if len(hunks) == 0 {
		return nil
	}
	hunks, params := g.chosen(rng, hunks)
	g.logf("  reject %+v", params)
	raw, err := g.editor.Call(ctx, "agent/proposal/reject", params)
	if err != nil {
		return fmt.Errorf("hunks cannot be rejected: %w", err)
	}
	var result methods.RejectResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	for _, h := range hunks {
		rejected := slices.Contains(result.Rejected, h.ID)
		failed := slices.ContainsFunc(result.Failed,
			func(f methods.HunkFailure) bool { return f.Hunk == h.ID && f.Reason != "" })
		if !calm && len(params.Hunks) == 0 && !rejected && !failed {
			continue // it was gone before the request came
		}
		if now, _ := g.server.connected.opened().Board().Proposal().Hunk(h.ID); rejected == failed ||
			calm && rejected && now.State != event.StateRejected {
			return fmt.Errorf("a hunk was not rejected clearly: %+v, now %+v, answer %s", h, now, raw)
		}
		if rejected {
			g.count("a hunk was rejected")
		}
	}
	return nil
}

// accept takes hunks, while something may happen to the edit on its way. calm says that nothing else is under way.
func (g *game) accept(ctx context.Context, rng *rand.Rand, meanwhile func() error, calm bool) error {
	hunks := g.hunks(event.StateOpen)
	if len(hunks) == 0 {
		return meanwhile()
	}
	if !g.profile.Announces("workspace.applyEdit") {
		if !calm {
			return meanwhile() // a run may just be changing what the user would copy
		}
		return g.takeByHand(rng, pick(rng, hunks))
	}
	hunks, params := g.chosen(rng, hunks)
	reaction, refused := g.reaction(rng, calm)
	g.editor.React(reaction)
	defer g.editor.React(lsptest.Reaction{})
	done := g.decide(hunks, calm, false)
	defer done()
	for _, h := range hunks {
		// Neovim deletes the file also where it leaves out the edit before that, whose version is old.
		if path, err := filepath.Rel(g.root, h.Path); err == nil && h.Delete && g.profile.SkipsStaleEdits {
			g.spared[path] = true
		}
	}
	if calm {
		defer clear(g.spared)
	}
	g.logf("  accept %+v", params)
	pending := g.editor.Begin("agent/proposal/accept", params)
	var raw json.RawMessage
	var failed error
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		raw, failed = pending.Wait(ctx)
	}()
	err := meanwhile()
	if reaction.Hold {
		err = errors.Join(err, g.letGo(ctx, rng, answered))
	}
	<-answered
	g.editor.Release()
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("hunks cannot be accepted: %w", err)
	}
	g.logf("  accepted: %s", raw)
	var result methods.AcceptResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	// Neovim gets the edits of files that are to be moved before all others, and may refuse one of the two.
	if refused && calm && len(result.Applied) > 0 && g.profile.Name != "neovim" {
		return fmt.Errorf("a refused edit counts as applied: %s", raw)
	}
	return g.checkAccepted(hunks, result, calm, len(params.Hunks) > 0)
}

// undoRun takes accepted hunks of a run back, all or some, while something may happen to the edit on its way.
func (g *game) undoRun(ctx context.Context, rng *rand.Rand) error {
	session := g.server.connected.opened()
	accepted := session.Board().Proposal().Accepted()
	if len(accepted) == 0 || !g.profile.Announces("workspace.applyEdit") {
		return nil
	}
	run := pick(rng, accepted).Author.Run
	if rng.IntN(3) == 0 {
		return g.rewind(ctx, rng, session)
	}
	undoable, err := session.Board().Undoable(ctx, run)
	if err != nil {
		return err
	}
	params := methods.UndoParams{Run: run}
	if rng.IntN(2) == 0 {
		rng.Shuffle(len(undoable), func(i, j int) { undoable[i], undoable[j] = undoable[j], undoable[i] })
		undoable = undoable[:1+rng.IntN(len(undoable))]
		for _, h := range undoable {
			params.Hunks = append(params.Hunks, h.ID)
		}
	}
	reaction, refused := g.reaction(rng, true)
	reaction.Hold = false
	g.editor.React(reaction)
	defer g.editor.React(lsptest.Reaction{})
	defer g.takesBack(session, undoable)()
	g.logf("  undo %+v", params)
	raw, err := g.editor.Call(ctx, "agent/undo", params)
	if err != nil {
		return fmt.Errorf("hunks cannot be undone: %w", err)
	}
	g.logf("  undone: %s", raw)
	var result methods.AcceptResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	// As in accept, Neovim may refuse one edit of two.
	if refused && len(result.Applied) > 0 && g.profile.Name != "neovim" {
		return fmt.Errorf("a refused undo counts as made: %s", raw)
	}
	for _, h := range undoable {
		done := slices.Contains(result.Applied, h.ID)
		if failed := slices.ContainsFunc(result.Failed,
			func(f methods.HunkFailure) bool { return f.Hunk == h.ID && f.Reason != "" }); done == failed {
			return fmt.Errorf("an undo got no clear answer: done %t, failed %t: %+v", done, failed, h)
		}
		if done {
			g.count("a hunk was undone")
		}
	}
	return nil
}

// takesBack notes what taking accepted hunks back may do to texts, until done is called.
func (g *game) takesBack(session *agentcore.Session, accepted []workspace.Hunk) (done func()) {
	hunks := slices.Clone(accepted)
	for _, h := range accepted { // what was accepted first may come back where hunks lie above each other
		if former, ok := session.Board().Proposal().Hunk(h.ID); ok {
			former.Before, former.After = former.After, former.Before
			hunks = append(hunks, former)
		}
		if path, err := filepath.Rel(g.root, h.Path); err == nil && h.Delete && g.profile.SkipsStaleEdits {
			g.spared[path] = true
		}
	}
	decided := g.decide(hunks, true, true)
	return func() {
		decided()
		clear(g.spared)
	}
}

// rewind goes back to before the prompt of a run that has ended, while something may happen to the edit on its way.
func (g *game) rewind(ctx context.Context, rng *rand.Rand, session *agentcore.Session) error {
	var ended []event.RunID
	for _, r := range session.Runs() {
		if r.Parent == "" && r.Status.Final() {
			ended = append(ended, r.ID)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	params := methods.RewindParams{Run: pick(rng, ended)}
	open, _, err := session.Board().Of(ctx, params.Run)
	if err != nil {
		return err
	}
	accepted, _, err := session.Board().AcceptedOf(ctx, params.Run)
	if err != nil {
		return err
	}
	reaction, _ := g.reaction(rng, true)
	reaction.Hold = false
	g.editor.React(reaction)
	defer g.editor.React(lsptest.Reaction{})
	defer g.takesBack(session, accepted)()
	g.logf("  rewind %+v", params)
	raw, err := g.editor.Call(ctx, "agent/rewind", params)
	if err != nil {
		return fmt.Errorf("a run cannot be gone back behind: %w", err)
	}
	g.logf("  went back: %s", raw)
	var result methods.RewindResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	for _, h := range slices.Concat(accepted, open) {
		done := slices.Contains(result.Undone, h.ID) || slices.Contains(result.Rejected, h.ID)
		if failed := slices.ContainsFunc(result.Failed,
			func(f methods.HunkFailure) bool { return f.Hunk == h.ID && f.Reason != "" }); done == failed {
			return fmt.Errorf("a rewind got no clear answer: done %t, failed %t: %+v", done, failed, h)
		}
		if done {
			g.count("a hunk was gone back behind")
		}
	}
	return g.restore(ctx, rng, session, result)
}

// restore brings back what was gone back behind, at times, perhaps after the user has typed.
func (g *game) restore(ctx context.Context, rng *rand.Rand, session *agentcore.Session,
	rewound methods.RewindResult,
) error {
	gone := slices.Concat(rewound.Undone, rewound.Rejected)
	if len(gone) == 0 || rng.IntN(3) == 0 {
		return nil
	}
	if err := g.typing(rng, rng.IntN(3)); err != nil {
		return err
	}
	params := methods.RestoreParams{Run: rewound.Runs[0]}
	g.logf("  restore %+v", params)
	raw, err := g.editor.Call(ctx, "agent/restore", params)
	// Where the editor's text belies that it has undone an edit, late perhaps, the edit is accepted still.
	gone = slices.DeleteFunc(gone, func(id event.HunkID) bool {
		h, _ := session.Board().Proposal().Hunk(id)
		return h.State == event.StateAccepted
	})
	if err != nil && len(gone) > 0 {
		return fmt.Errorf("what was gone back behind cannot be brought back: %w", err)
	} else if err != nil {
		return nil
	}
	g.logf("  brought back: %s", raw)
	var result methods.RestoreResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	g.mu.Lock()
	for _, id := range slices.Concat(gone, result.Proposed) {
		delete(g.states, id) // it may be open again
	}
	g.mu.Unlock()
	for _, id := range gone {
		open := slices.Contains(result.Proposed, id)
		if failed := slices.ContainsFunc(result.Failed,
			func(f methods.HunkFailure) bool { return f.Hunk == id && f.Reason != "" }); open == failed {
			return fmt.Errorf("bringing back got no clear answer: open %t, failed %t: %s", open, failed, id)
		}
	}
	for _, id := range result.Proposed {
		listed := slices.DeleteFunc(g.hunks(event.StateOpen), func(h workspace.Hunk) bool { return h.ID != id })
		if len(listed) != 1 {
			return fmt.Errorf("a hunk that was brought back is there %d times: %s", len(listed), id)
		}
		g.count("a hunk was brought back")
	}
	return nil
}

// letGo waits until the editor has held the change of an edit back, if it comes to that; then the user types a little,
// and it goes.
func (g *game) letGo(ctx context.Context, rng *rand.Rand, answered <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	held := make(chan error, 1)
	go func() { held <- g.editor.Until(ctx, "an edit", g.editor.Holds) }()
	select {
	case err := <-held:
		if err != nil {
			return err
		}
	case <-answered:
		cancel()
		<-held // its error is that of ctx
		return nil
	}
	err := g.typing(rng, rng.IntN(3))
	g.editor.Release()
	return err
}

// reaction makes up what happens to an edit in the editor.
func (g *game) reaction(rng *rand.Rand, calm bool) (r lsptest.Reaction, refused bool) {
	n := rng.IntN(14)
	if !calm && n > 2 && n < 6 {
		return r, false // only one may type at a time
	}
	switch n {
	case 0:
		g.logf("  the editor refuses")
		return lsptest.Reaction{Refuse: "the user does not want it now"}, true
	case 3, 4:
		g.logf("  the user types while the edit is on its way")
		return lsptest.Reaction{Before: func() {
			if err := g.typing(rng, 1+rng.IntN(2)); err != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.failed("the user cannot type: %v", err)
			}
		}}, false
	case 1:
		g.logf("  an extension completes brackets in the edit")
		return lsptest.Reaction{Alter: func(text string) string { return text + ")" }}, false
	case 5:
		g.logf("  an extension types behind the edit")
		return lsptest.Reaction{After: func(text string) []lsptest.Replacement { return g.typed(rng, text) }}, false
	case 2:
		g.logf("  a formatter runs behind the edit")
		return lsptest.Reaction{
			After: func(text string) []lsptest.Replacement { return lsptest.Format(text, true) },
		}, false
	case 6:
		g.logf("  the editor tells of the edit later")
		return lsptest.Reaction{Hold: true}, false
	}
	return lsptest.Reaction{}, false
}

// takeByHand makes the change of a hunk by hand, in an editor that lets no server do it.
func (g *game) takeByHand(rng *rand.Rand, h workspace.Hunk) error {
	path, err := filepath.Rel(g.root, h.Path)
	if err != nil {
		return err
	}
	text, _, open := g.shown(path)
	if !open || h.Create || h.Delete {
		return nil
	}
	x := workspace.NewIndex(text)
	g.logf("  make the change of %s by hand", h.ID)
	if err := g.editor.Edit(path, x.Start(h.StartLine), x.Start(h.EndLine), h.After); err != nil {
		return err
	}
	g.count("a hunk was accepted")
	return nil
}
