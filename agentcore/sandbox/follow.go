package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
)

// ErrNoFollow is the error of a box that cannot follow a command: it takes walls of our own around a copy-on-write
// mount.
var ErrNoFollow = errors.New("a program whose writes are collected while it runs needs a full sandbox")

// gitName is the name of git's folder, which is a followed command's own.
const gitName = ".git"

// Followed is a command in the background whose changes are collected while it runs, and into whose view texts are
// brought. Its methods may be called from any goroutine. What it changed can be collected until the box is closed.
type Followed struct {
	*Process
	box *Box
	// turn is held by the call that uses the views and collected.
	turn  chan struct{}
	views []*followedView
	// collected says that everything was looked at after the command's end.
	collected bool
}

// Follow starts a command and does not wait for it. The command has a copy-on-write mount of its own for each workspace
// folder, on which it works as long as it likes, while other commands of the box run. c.Overlay is there at the start.
// What earlier commands left in the box is not there. The environment, the network and the limits are those of other
// commands, with c.Env and c.State added; there is no time limit unless c.Timeout names one. The command ends with the
// box at the latest. ctx bounds only the start.
//
// Folders named .git are the command's own: it writes to them, their hooks run in the sandbox, and nobody is told of
// changes in them. (Where .git is a file, as in a linked worktree, git's folder lies elsewhere and cannot be written.)
// Other protected paths are read-only, and files that may hold secrets are hidden if they exist at the start.
//
// A mounted overlay does not reliably show what is changed on the disk below it. Whoever follows the command brings
// such texts ([Followed.Bring]). A folder that is on the disk cannot be renamed by the command (EXDEV): programs copy
// it, but for some, such as npm.
//
// The error is [ErrNoFollow] on a weaker level than [Full] with overlays.
func (b *Box) Follow(ctx context.Context, c Command) (*Followed, error) {
	if err := b.use(); err != nil {
		return nil, err
	}
	f, err := startFollowed(ctx, b, c)
	if err != nil {
		b.users.Done()
		return nil, fmt.Errorf("start a program in the sandbox: %w", err)
	}
	return f, nil
}

func startFollowed(ctx context.Context, b *Box, c Command) (f *Followed, err error) {
	if err := b.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-b.turn }()
	if b.report.Level != Full || !b.report.Overlay {
		return nil, fmt.Errorf("%w; this machine has the level %s: %s", ErrNoFollow, b.report.Level,
			b.report.Reason())
	}
	dir, err := os.MkdirTemp(b.dir, "followed-")
	if err != nil {
		return nil, err
	}
	c.followed = true
	output := b.newSpool()
	output.pipe = c.Output
	f = &Followed{box: b, turn: make(chan struct{}, 1)}
	started := time.Now()
	ch, err := f.start(ctx, c, dir, output)
	if err != nil {
		_, _ = output.close()
		return nil, errors.Join(err, f.closeViews(), removeTree(dir))
	}
	f.Process = &Process{child: ch, output: output, done: make(chan struct{})}
	b.mu.Lock()
	b.followed = append(b.followed, f)
	b.mu.Unlock()
	b.attend(f.Process, c.Timeout, started, nil, func() error { return nil })
	return f, nil
}

func (f *Followed) closeViews() error {
	var errs []error
	for _, v := range f.views {
		errs = append(errs, v.close())
	}
	return errors.Join(errs...)
}

// begin waits for the turn. The caller calls end if there is no error.
func (f *Followed) begin(ctx context.Context) error {
	if err := f.box.use(); err != nil {
		return err
	}
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		f.box.users.Done()
		return ctx.Err()
	}
}

func (f *Followed) end() {
	<-f.turn
	f.box.users.Done()
}

// Changes returns what the command has changed since the start, or since the last call that returned no error, in the
// order of paths. Existed and Before of a change are those of the last text of its path that is known to have been in
// the command's view: the one that was there at the start or was brought, or the one that was told last. So a change
// that the command takes back is told as a change back. Before is zero, of an existing file, where that text is not
// known: the disk's file has changed since the start, and nobody has brought it.
//
// The command may write meanwhile. A file that is half written is told half, and told again by the next call; a file
// that comes or goes meanwhile is told now or next time. Nothing is removed from the command's view, so that
// Kept.Removed is never set. A file is read again only if it has changed. The first call after the command's end reads
// all of them again, since a file that is mapped into memory may change without a mark.
//
// A call takes time in proportion to what the command has written, ignored folders left out.
func (f *Followed) Changes(ctx context.Context) ([]Change, []Kept, error) {
	if err := f.begin(ctx); err != nil {
		return nil, nil, err
	}
	defer f.end()
	ended := false
	select {
	case <-f.done:
		ended = true
	default:
	}
	var all found
	var commits []func()
	for _, v := range f.views {
		one, commit, err := v.changes(ctx, ended && !f.collected)
		if err != nil {
			return nil, nil, fmt.Errorf("collect what the program changed in %s: %w", v.root, err)
		}
		all.changes, all.kept = append(all.changes, one.changes...), append(all.kept, one.kept...)
		commits = append(commits, commit)
	}
	// What was found counts as told only if all of it is told.
	for _, commit := range commits {
		commit()
	}
	f.collected = f.collected || ended
	slices.SortFunc(all.changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(all.kept, func(a, b Kept) int { return cmp.Compare(a.Path, b.Path) })
	return all.changes, all.kept, nil
}

// Brought says which texts could not be brought into the view of a command, by the paths that the caller named.
type Brought struct {
	// Changed are paths that the command has changed since the last call of Changes, or that it has open for writing.
	// The caller collects the changes, merges them, and brings the outcome. If Changes tells nothing about the path,
	// the command has not written yet, or has left something that is no text: the caller tries again at another
	// occasion.
	Changed []string
	// Refused are paths at which nothing can be brought, with the reasons: a protected or hidden file, or one in .git.
	Refused []Kept
}

// Bring writes texts into the command's view, which other people or runs have written. A text that was brought counts
// as known, and Changes does not tell it. A path that the command has changed meanwhile stays as the command left it,
// and is returned.
//
// A text appears under its name at once and whole, as a new file: programs that watch the file or its folder are told,
// and those that have opened the old file go on reading that. The file that it replaces is looked at once more after it
// was replaced, whether it is still the known text and nobody has it open for writing; otherwise it is put back. What
// remains is a process that had resolved the name just before, and writes to the replaced file just afterwards. The
// next call of Changes tells such a text as Replaced, with the hash of the replaced one as Before; what else became of
// the path is told by the call after that. A process that read the old text and writes a whole new one later overwrites
// what was brought, as it would on a disk; Changes tells that.
//
// The error is of the machine, such as a full disk; texts before it may have been brought.
func (f *Followed) Bring(ctx context.Context, texts map[string]Text) (Brought, error) {
	var brought Brought
	if err := f.begin(ctx); err != nil {
		return brought, err
	}
	defer f.end()
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if err := ctx.Err(); err != nil {
			return brought, err
		}
		root, rel := locate(f.box.roots, path)
		if root < 0 {
			continue // no path of the command leads there
		}
		done, why, err := f.views[root].bring(rel, texts[path])
		switch {
		case err != nil:
			return brought, fmt.Errorf("bring the text of %s to the program: %w", path, err)
		case why != "":
			brought.Refused = append(brought.Refused, Kept{Path: path, Reason: why})
		case !done:
			brought.Changed = append(brought.Changed, path)
		}
	}
	return brought, nil
}

// GitChanged reports whether the command has left in a .git of a workspace folder another HEAD or other refs than there
// are on the disk: commits, branches, stashes, which are gone with the box.
func (f *Followed) GitChanged(ctx context.Context) (bool, error) {
	if err := f.begin(ctx); err != nil {
		return false, err
	}
	defer f.end()
	for _, v := range f.views {
		if changed, err := v.gitChanged(); changed || err != nil {
			return changed, err
		}
	}
	return false, nil
}
