package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

// RoleHidden is the role of runs of the engine's own agents, which are stored but in no list.
const RoleHidden = "hidden"

// WorksAs is what an agent works as, as event.RunCreated tells it. role is the run's own, which is stored.
func WorksAs(role string, depth int) string {
	switch {
	case role == RoleHidden:
		return RoleHidden
	case depth == 0:
		return "primary"
	}
	return "subagent"
}

// Run is what a listing says of a run.
type Run struct {
	ID         event.RunID
	Session    event.SessionID
	Parent     event.RunID // empty for a root
	Agent      string
	Role       string // primary, subagent or hidden, as in event.RunCreated
	Depth      int
	Title      string
	Model      string
	Status     event.Status
	Reason     string
	Created    time.Time
	Finished   time.Time // zero while it has not ended
	Turns      int
	BudgetUsed int // percent
	Message    string
	Usage      event.Usage
	Place
	Resumes    event.RunID // the run that it goes on with; empty for none
	Background bool        // whether the run that started it does not wait for it
	Output     string      // absolute path of the file for the result of a run in the background; empty for others
	Working    string      // absolute path of the file that its newest call on one names; empty for none
	// Instructions say which files instruct the run, and which do not, and why. Nobody changes them, and they are not
	// stored.
	Instructions []string
	// Rewound says that the user went back to before the run's prompt, and has not brought back what it did.
	Rewound bool
	// Outcome is how far the run's task is done, empty while the run has not ended.
	Outcome event.ChildStatus
	// Files are the files that the run changed or made, once it has ended, from the workspace folder.
	Files []string
}

// Place is what a run was launched on.
type Place struct {
	Path      string // of the document it was launched on; empty for none
	StartLine int    // of the lines of it that the run is about, 1-based; 0 for the whole document
}

// RunOf is what is stored of a run, for a listing.
func RunOf(r store.Run) Run {
	info := Run{
		ID: r.ID, Session: r.Session, Parent: r.Parent, Agent: r.Agent, Role: WorksAs(r.Role, r.Depth), Depth: r.Depth,
		Title: r.Title, Model: r.Model,
		Status: r.Status, Reason: r.Reason, Created: r.Created, Finished: r.Completed, Turns: r.Turns, Usage: r.Usage,
		Message:    r.Summary,
		BudgetUsed: r.BudgetUsed, Background: r.Background, Rewound: r.Rewound,
	}
	if r.URI != "" {
		info.Path = event.FilePath(r.URI)
	}
	info.Outcome = r.Outcome()
	return info
}

// ChangedFiles are the files of a stored list as people name them: from the folder of the session, behind its name
// where there are several.
func ChangedFiles(roots []string, stored json.RawMessage) []string {
	var paths []string
	if json.Unmarshal(stored, &paths) != nil {
		return nil // there is no list
	}
	for i, path := range paths {
		for _, root := range roots {
			rel, err := filepath.Rel(root, path)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			if len(roots) > 1 {
				rel = filepath.Join(filepath.Base(root), rel)
			}
			paths[i] = filepath.ToSlash(rel)
			break
		}
	}
	return paths
}

// Run returns a stored run; one that is not stored, and one of agentls's own, is an Error of the kind not_found. It
// waits until what was submitted so far is durable.
func (h *Reader) Run(ctx context.Context, id event.RunID) (store.Run, error) {
	if err := h.flush(ctx); err != nil {
		return store.Run{}, err
	}
	return h.run(ctx, id)
}

// run is Run for those who have waited already.
func (h *Reader) run(ctx context.Context, id event.RunID) (store.Run, error) {
	row, err := h.store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && row.Role == RoleHidden {
		return store.Run{}, fault.Missing("run", string(id), "list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("read the run %s: %w", id, err)
	}
	return row, nil
}

// Resumptions returns what goes on with the runs of a session, in whatever session, in the order of its creation. It
// reads the store.
func (h *Reader) Resumptions(ctx context.Context, session event.SessionID) (map[event.RunID][]store.Resumption, error) {
	return h.store.Resumptions(ctx, session)
}
