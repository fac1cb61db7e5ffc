//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// maxTrees bounds for how many folders trees are kept: one tree may watch as many folders as the machine permits.
const maxTrees = 16

// trees are the trees of workspace folders, by path.
type trees struct {
	mu     sync.Mutex // guards all below
	byRoot map[string]*sharedTree
	ended  bool
}

// sharedTree is the tree of one folder.
type sharedTree struct {
	turn chan struct{} // is full while somebody scans, who then owns all below
	disk *os.Root
	tree *tree // nil before the first scan
}

// scan scans the tree of a folder, which it makes if there is none. If ctx ends, it ends the scan, or the wait for
// another scan of the same folder.
func (t *trees) scan(ctx context.Context, root string, disk *os.Root, secret func(path string) bool,
) (secrets, foreign []string, err error) {
	s, kept := t.of(root)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("wait for another look at %s: %w", root, context.Cause(ctx))
	}
	defer func() { <-s.turn }()
	if err := s.open(root, disk, secret); err != nil {
		return nil, nil, err
	}
	secrets, foreign, err = s.tree.scan(ctx)
	if !kept {
		err = errors.Join(err, s.close())
	}
	return secrets, foreign, err
}

// of is the tree of a folder. It is not kept if there are too many trees, or if trees were closed.
func (t *trees) of(root string) (s *sharedTree, kept bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.byRoot[root]; ok {
		return s, true
	}
	s = &sharedTree{turn: make(chan struct{}, 1)}
	if t.ended || len(t.byRoot) >= maxTrees {
		return s, false
	}
	if t.byRoot == nil {
		t.byRoot = map[string]*sharedTree{}
	}
	t.byRoot[root] = s
	return s, true
}

// open makes the tree. It makes a new one if another folder has taken the path since: disk is the folder that counts.
// The caller has the turn.
func (s *sharedTree) open(root string, disk *os.Root, secret func(path string) bool) error {
	if s.tree != nil {
		now, err := disk.Stat(".")
		if err != nil {
			return fmt.Errorf("look at %s: %w", root, err)
		}
		if before, err := s.disk.Stat("."); err == nil && os.SameFile(now, before) {
			return nil
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	own, err := disk.OpenRoot(".")
	if err != nil {
		return fmt.Errorf("open %s: %w", root, err)
	}
	tree, err := newTree(root, own, secret)
	if err != nil {
		return errors.Join(err, own.Close())
	}
	s.disk, s.tree = own, tree
	return nil
}

// close drops the tree. The caller has the turn.
func (s *sharedTree) close() error {
	if s.tree == nil {
		return nil
	}
	err := errors.Join(s.tree.close(), s.disk.Close())
	s.tree, s.disk = nil, nil
	return err
}

func (t *trees) close() error {
	t.mu.Lock()
	all := t.byRoot
	t.byRoot, t.ended = nil, true
	t.mu.Unlock()
	var errs []error
	for _, s := range all {
		s.turn <- struct{}{} // boxes are closed before, which ends their looks
		errs = append(errs, s.close())
		<-s.turn
	}
	return errors.Join(errs...)
}
