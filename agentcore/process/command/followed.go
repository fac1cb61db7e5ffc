package command

import (
	"context"

	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Followed is a program in a box of its own that works on a view of the workspace for as long as it likes. What it
// writes is collected while it runs, and texts are brought into its view. Its methods may be called from any goroutine.
type Followed struct {
	// Live is the program. Its end leaves the box open, so that the last changes can be collected.
	Live *process.Live

	box      *sandbox.Box
	followed *sandbox.Followed
	folders  Folders
}

// Collected is what a followed program has changed since the last time, in terms of the view.
type Collected struct {
	// Written are the changes of texts, in the order of paths.
	Written []workspace.Written
	// Replaced are those of the paths at which the program's view has a text that was brought, and not the change: once
	// the change is merged, the outcome has to be brought even if it is the change.
	Replaced map[string]bool
	// Kept are files that are no texts. They stay in the box.
	Kept []sandbox.Kept
}

// Follow starts a program in a box of its own, in which it is followed: see [sandbox.Box.Follow], also for the error of
// a machine that cannot do so. ending says how the program ended, as for [Live]. The caller closes the Followed after
// the program's end.
func Follow(ctx context.Context, o sandbox.Options, c sandbox.Command,
	ending func(exit process.Exit, words []byte, err error) string,
) (*Followed, error) {
	f := &Followed{folders: Folders{}}
	for _, root := range o.Roots {
		f.folders.add(root)
	}
	var err error
	var p process.Pipes
	f.box, p, err = speak(ctx, o, c, func(box *sandbox.Box, c sandbox.Command) (err error) {
		f.followed, err = box.Follow(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.Live = &process.Live{
		In: p.In, Out: p.Out, Kill: f.followed.Kill,
		Wait: func() string { return ended(f.followed.Process, ending) },
	}
	return f, nil
}

// Changes returns what the program has changed since the last call, as [sandbox.Followed.Changes] does.
func (f *Followed) Changes(ctx context.Context) (Collected, error) {
	changes, kept, err := f.followed.Changes(ctx)
	if err != nil {
		return Collected{}, err
	}
	collected := Collected{Written: f.folders.written(changes), Replaced: map[string]bool{}, Kept: kept}
	for i, change := range changes {
		if change.Replaced {
			collected.Replaced[collected.Written[i].Path] = true
		}
	}
	for i := range kept {
		kept[i].Path = f.folders.Shown(kept[i].Path)
	}
	return collected, nil
}

// Bring brings texts into the program's view, by their paths in the view of agents, as [sandbox.Followed.Bring] does.
func (f *Followed) Bring(ctx context.Context, texts map[string]sandbox.Text) (sandbox.Brought, error) {
	return f.followed.Bring(ctx, texts)
}

// GitChanged reports whether the program has left another HEAD or other refs in a .git of its own.
func (f *Followed) GitChanged(ctx context.Context) (bool, error) { return f.followed.GitChanged(ctx) }

// Close ends the program if it runs, waits for its end, and deletes what it left. The pipes stay open.
func (f *Followed) Close() error { return f.box.Close() }
