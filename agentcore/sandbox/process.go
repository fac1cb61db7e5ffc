package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Process is a command in the background. Its methods may be called from any goroutine.
type Process struct {
	child  child
	output *spool
	done   chan struct{}
	// result and err are set when done is closed.
	result Result
	err    error
}

// Start starts a command and does not wait for it. The command runs on a synced copy of the workspace that is made now,
// since a mounted overlay would not notice changes below it. Where c.Live is set, it runs on the folder itself,
// read-only. What it writes stays in the copy, and Result has no changes. The process ends with the box at the latest,
// or after c.Timeout, if that is set. ctx bounds only the start.
func (b *Box) Start(ctx context.Context, c Command) (*Process, error) {
	if err := b.use(); err != nil {
		return nil, err
	}
	p, err := b.background(ctx, c)
	if err != nil {
		b.users.Done()
		return nil, fmt.Errorf("start a command in the sandbox: %w", err)
	}
	return p, nil
}

func (b *Box) background(ctx context.Context, c Command) (p *Process, err error) {
	if err := b.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-b.turn }()
	dir, err := os.MkdirTemp(b.dir, "background-")
	if err != nil {
		return nil, err
	}
	var roots []folder
	clean := func() error {
		var errs []error
		for _, f := range roots {
			errs = append(errs, f.view.close())
		}
		return errors.Join(append(errs, removeTree(dir))...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, clean())
		}
	}()
	if roots, err = b.backgroundRoots(c, dir); err != nil {
		return nil, err
	}
	output := b.newSpool()
	output.pipe = c.Output
	started := time.Now()
	ch, err := b.startBackground(ctx, c, dir, roots, output)
	if err != nil {
		_, _ = output.close()
		return nil, err
	}
	p = &Process{child: ch, output: output, done: make(chan struct{})}
	var notes []string
	if !c.Live {
		notes = append(notes, "it ran on a copy of the workspace, which is gone with it")
	}
	b.attend(p, c.Timeout, started, notes, clean)
	return p, nil
}

// backgroundRoots makes the workspace folders for a command in the background. On an error, it still returns those that
// were made.
func (b *Box) backgroundRoots(c Command, dir string) (roots []folder, err error) {
	for i, texts := range split(b.roots, c.Overlay) {
		f := b.roots[i]
		if c.Live && (b.report.Level == Full || b.report.Level == Bubblewrap) {
			base, err := b.newBaseView(f.real)
			if err != nil {
				return roots, err
			}
			roots = append(roots, folder{f.given, f.real, &liveView{base}})
			continue
		}
		view, err := b.newCopyView(f.real, filepath.Join(dir, fmt.Sprintf("root%d", i)), b.report.Level == Copy)
		if err != nil {
			return roots, err
		}
		roots = append(roots, folder{f.given, f.real, view})
		if err := view.sync("."); err != nil {
			return roots, fmt.Errorf("copy %s: %w", f.real, err)
		}
		if err := f.view.layOver(view); err != nil {
			return roots, fmt.Errorf("copy what earlier commands left in %s: %w", f.real, err)
		}
		for rel, text := range texts {
			if err := view.seedOne(rel, text); err != nil {
				return roots, err
			}
		}
	}
	return roots, nil
}

// attend waits for the end of a started process, which ends with the box or at the time limit, if any, at the latest.
// Then the notes are added to the result, and clean is called.
func (b *Box) attend(p *Process, limit time.Duration, started time.Time, notes []string, clean func() error) {
	stop := context.AfterFunc(b.ctx, p.child.kill)
	var timer *time.Timer
	if limit > 0 {
		timer = time.AfterFunc(limit, p.child.kill)
	}
	go func() {
		defer b.users.Done()
		defer close(p.done)
		s, err := p.child.wait()
		stop()
		p.result, p.err = b.result(s, p.output)
		p.result.Duration = time.Since(started)
		if timer != nil && !timer.Stop() && !s.Done {
			p.result.TimedOut, err = true, nil
		}
		if !s.Done && s.Step == "" && s.Limit == "" {
			// The process was ended by Kill, the end of the box or the time limit.
			p.result.Exit, p.result.Signal, err = 128+9, "SIGKILL", nil
		}
		p.result.Notes = append(p.result.Notes, notes...)
		p.err = errors.Join(p.err, err, clean())
	}()
}

// Output returns the output behind the first since bytes, and the length so far, to be passed next time. Output that is
// no longer in memory is left out, and a line says so.
func (p *Process) Output(since int64) (output []byte, size int64) { return p.output.since(since) }

// Kill ends the command and all that it started. It does not wait.
func (p *Process) Kill() { p.child.kill() }

// Done is closed when nothing of the command is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the command.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	select {
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-p.done:
		return p.result, p.err
	}
}

// layOver copies what earlier commands left in this copy onto another one.
func (v *copyView) layOver(to *copyView) error {
	return v.layFolder(".", to)
}

func (v *copyView) layFolder(rel string, to *copyView) error {
	entries, err := readDir(v.copy, rel)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		switch {
		case v.isIgnored(name, e.IsDir()) || v.known[name] != fileID{}:
			err = replaceTree(v.copy, to.copy, name)
		case e.IsDir():
			err = v.layFolder(name, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
