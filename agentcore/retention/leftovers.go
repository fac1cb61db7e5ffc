package retention

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// keepers are the database, and the folders of a state that hold texts of sessions outside of it. A file that belongs
// to a run, a proposal or a session has its id in its name; a plan without an id is found by the call that wrote it.
type keepers struct {
	stateDir string
	store    *store.Store
}

// keeperNames are the names of the folders.
var keeperNames = []string{"outputs", "documents", "plans"}

// leftovers are the paths of a session's files in the keepers.
type leftovers []string

func (l leftovers) remove() error {
	var problems []error
	for _, path := range l {
		if err := os.RemoveAll(path); err != nil {
			problems = append(problems, fmt.Errorf("remove what a deleted session left: %w", err))
		}
	}
	return errors.Join(problems...)
}

// leftovers finds a session's files in the keepers.
func (k keepers) leftovers(ctx context.Context, id event.SessionID) (leftovers, error) {
	runs, err := k.store.Runs(ctx, id)
	if err != nil {
		return nil, err
	}
	proposals, err := k.store.Proposals(ctx, id)
	if err != nil {
		return nil, err
	}
	ids := []string{string(id)}
	for _, p := range proposals {
		ids = append(ids, string(p.ID))
	}
	var said strings.Builder
	for _, r := range runs {
		ids = append(ids, string(r.ID))
		calls, err := k.store.ToolCalls(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			if c.Tool == tool.PlanExit {
				said.WriteString(c.Output)
				said.WriteByte('\n')
			}
		}
	}
	plans := said.String()
	var left leftovers
	err = k.each(func(path string, _ fs.DirEntry) error {
		named := slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(filepath.Base(path), id) })
		if named || filepath.Base(filepath.Dir(path)) == "plans" && strings.Contains(plans, path) {
			left = append(left, path)
		}
		return nil
	})
	return left, err
}

// each calls do for everything in the keepers, a folder before its contents.
func (k keepers) each(do func(path string, entry fs.DirEntry) error) error {
	for _, name := range keeperNames {
		dir := filepath.Join(k.stateDir, name)
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // nothing was ever kept, or another process has deleted it
			}
			if err != nil || path == dir {
				return err
			}
			return do(path, entry)
		})
		if err != nil {
			return fmt.Errorf("look at what is kept in %s: %w", dir, err)
		}
	}
	return nil
}

// size is the size of all sessions, in bytes: in the database, and in the keepers.
func (k keepers) size(ctx context.Context) (int64, error) {
	size, err := k.store.Size(ctx)
	if err != nil {
		return 0, err
	}
	err = k.each(func(_ string, entry fs.DirEntry) error {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size, err
}

// runInName matches the id of a run in the name of a file, as event.NewRunID makes it.
var runInName = lazyregexp.New(`(?:^|-)(r[0-9a-hjkmnp-tv-z]{18})(?:[-.]|$)`)

// strayAge is the age at which a file without its run is deleted: the row of a younger file's run may not be on the
// disk yet.
const strayAge = time.Hour

// forgetStrays removes the files of runs that are no longer stored, because the process that deleted their session
// ended before it deleted the files.
func (k keepers) forgetStrays(ctx context.Context) error {
	return k.each(func(path string, entry fs.DirEntry) error {
		found := runInName().FindStringSubmatch(entry.Name())
		info, err := entry.Info()
		if found == nil || err != nil || time.Since(info.ModTime()) < strayAge {
			return nil
		}
		if _, err := k.store.Run(ctx, event.RunID(found[1])); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove what a deleted session left: %w", err)
		}
		return nil
	})
}
