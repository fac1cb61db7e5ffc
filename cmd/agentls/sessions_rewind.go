package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/workspace"
)

// rewindReport is the output of `agentls sessions rewind --json`.
type rewindReport struct {
	// Runs are the runs that were gone back behind, the oldest first.
	Runs []event.RunID `json:"runs"`
	// After is the run that the next prompt follows, if there is one.
	After    event.RunID    `json:"after,omitzero"`
	Rejected []event.HunkID `json:"rejected"`
	Undone   []event.HunkID `json:"undone"`
	// Left are the accepted edits that stay, since --write was not given.
	Left   []event.HunkID  `json:"left"`
	Failed []rewindFailure `json:"failed"`
}

// rewindFailure is an edit that stays although it was to go.
type rewindFailure struct {
	Hunk   event.HunkID `json:"hunk"`
	Path   string       `json:"path"`
	Reason string       `json:"reason"`
}

func sessionsRewindCommand(p *process, s *settings) *cobra.Command {
	var write, asJSON bool
	c := &cobra.Command{
		Use:   "rewind RUN",
		Short: "Go back to before the prompt of a run",
		Long: `Go back to before the prompt of a run. Its open edits are rejected, with those of the runs that went on with it
and of all their subagents. --write also takes back, in the files, the edits that were written or accepted. What has
changed since stays: an edit whose lines have changed is not taken back, and the command says so.

Nothing is deleted: the runs stay, and an editor can bring the edits back. "agentls run --continue"
and "agentls chat --continue" go on from before the prompt.

Exit codes:
  0  done
  2  there is no going back to before this run, such as one that an editor has open
  3  an edit could not be rejected or taken back`,
		Example: `  agentls sessions rewind r06gztwbxfkd3ntmnvr
  agentls sessions rewind --write r06gztwbxfkd3ntmnvr`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withEngine(c.Context(), s, p.dir, func(engine *agentcore.Engine) error {
				line, before, err := engine.History().Line(c.Context(), event.RunID(args[0]))
				if err != nil {
					return refusal(err)
				}
				report, err := p.rewind(c.Context(), engine, line, write)
				if err != nil {
					return refusal(err)
				}
				if report.After = before; asJSON {
					err = p.printJSON(report)
				} else {
					err = p.print(report.text(line[0].Title))
				}
				return errors.Join(err, report.failure())
			})
		},
	}
	c.Flags().BoolVar(&write, "write", false, "take back, in the files, the edits that were written or accepted")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// refusal makes a refusal in words for a person a usage error.
func refusal(err error) error {
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return &exitError{exitUsage, refused}
	}
	return err
}

// rewind goes back behind runs that have ended, the oldest first.
func (p *process) rewind(ctx context.Context, engine *agentcore.Engine, line []history.Run, write bool,
) (*rewindReport, error) {
	report := &rewindReport{
		Rejected: []event.HunkID{}, Undone: []event.HunkID{}, Left: []event.HunkID{}, Failed: []rewindFailure{},
	}
	for _, r := range line {
		if !r.Status.Final() {
			return nil, usage("%s (%s) is still running; stop it or wait for its end, and rewind then", r.Agent, r.ID)
		}
		report.Runs = append(report.Runs, r.ID)
	}
	info, err := engine.History().Session(ctx, line[0].Session)
	if err != nil {
		return nil, err
	}
	var roots []workspace.Root
	for _, folder := range info.Roots {
		roots = append(roots, workspace.Root{Path: folder})
	}
	view, err := workspace.Open(roots, workspace.Options{})
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	defer view.Close()
	session, err := agentcore.RewindSession(ctx, engine, view, report.Runs...)
	if err != nil {
		return nil, err
	}
	open, shared, err := session.Board().Of(ctx, report.Runs...)
	if err != nil {
		return nil, err
	}
	accepted, both, err := session.Board().AcceptedOf(ctx, report.Runs...)
	if err != nil {
		return nil, err
	}
	if !write {
		report.Left, accepted, both = slices.Concat(report.Left, workspace.IDs(accepted), workspace.IDs(both)), nil, nil
	}
	for _, h := range slices.Concat(shared, both) {
		report.fail(h, "a run before the prompt wrote a part of it")
	}
	defer workspace.Rewinding(session.Board().Proposal(), workspace.IDs(slices.Concat(accepted, open)))()
	// Accepted edits go first, since open ones follow the text.
	if err := report.takeBack(ctx, p.dir, session, accepted); err != nil {
		return nil, err
	}
	failures, err := session.Board().Reject(ctx, workspace.IDs(open))
	report.settle(open, failures, &report.Rejected)
	if err == nil {
		err = agentcore.SetRewound(ctx, engine, true, report.Runs...)
	}
	return report, err
}

// takeBack writes the files of a session without accepted edits.
func (r *rewindReport) takeBack(ctx context.Context, dir string, session *agentcore.Session,
	accepted []workspace.Hunk,
) error {
	proposal := session.Board().Proposal()
	edits, failures := proposal.UndoEdits(workspace.IDs(accepted))
	reasons := map[string]string{}
	var paths []string
	for _, root := range session.View().Roots() {
		w := newResult(dir, session, "")
		w.root = root
		for _, e := range edits {
			if inside(root.Path, e.Path) && !slices.Contains(paths, e.Path) {
				w.edits = append(w.edits, e)
			}
		}
		w.read(session.View())
		changed, refused := w.write()
		paths = append(paths, changed...)
		for _, e := range w.edits {
			if !w.written[e.Path] {
				reasons[e.Path] = refused.Error()
			}
		}
	}
	var made []event.HunkID
	for _, h := range accepted {
		failed := slices.ContainsFunc(failures, func(f workspace.HunkFailure) bool { return f.ID == h.ID })
		switch reason := reasons[h.Path]; {
		case failed:
		case reason != "":
			failures = append(failures, workspace.HunkFailure{ID: h.ID, Reason: reason})
		default:
			made = append(made, h.ID)
		}
	}
	proposal.ConfirmUndo(made, true, "")
	if err := settle(ctx, session, paths); err != nil {
		return fmt.Errorf("the edits were taken back in the files, but the state folder still lists them as accepted: %w", err)
	}
	r.settle(accepted, failures, &r.Undone)
	return nil
}

// settle notes which hunks have failed; done gets the others.
func (r *rewindReport) settle(hunks []workspace.Hunk, failures []workspace.HunkFailure, done *[]event.HunkID) {
	for _, h := range hunks {
		at := slices.IndexFunc(failures, func(f workspace.HunkFailure) bool { return f.ID == h.ID })
		if at < 0 {
			*done = append(*done, h.ID)
			continue
		}
		r.fail(h, failures[at].Reason)
	}
}

func (r *rewindReport) fail(h workspace.Hunk, reason string) {
	r.Failed = append(r.Failed, rewindFailure{h.ID, h.Path, reason})
}

// failure says which edits stay; nil for none.
func (r *rewindReport) failure() error {
	if len(r.Failed) == 0 {
		return nil
	}
	var list []error
	for _, f := range r.Failed {
		list = append(list, fmt.Errorf("an edit of %s stays: %s", oneLine(f.Path), oneLine(f.Reason)))
	}
	return &exitError{exitFailed, errors.Join(list...)}
}

// text says what was done, and how to go on.
func (r *rewindReport) text(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Went back to before %q (%s): %s rejected, %s taken back.\n", oneLine(title),
		count(len(r.Runs), "run"), count(len(r.Rejected), "edit"), count(len(r.Undone), "edit"))
	if n := len(r.Left); n > 0 {
		fmt.Fprintf(&b, "%s in the files; --write takes back what was written.\n", stay(n))
	}
	if r.After != "" {
		fmt.Fprintf(&b, "The next prompt follows %s: agentls sessions resume %s \"PROMPT\"\n", r.After, r.After)
	} else {
		b.WriteString("The conversation began with this prompt: agentls run \"PROMPT\" begins it anew.\n")
	}
	return b.String()
}

func stay(n int) string {
	if n == 1 {
		return "1 edit stays"
	}
	return fmt.Sprintf("%d edits stay", n)
}
