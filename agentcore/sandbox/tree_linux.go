//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/beneath"
	"github.com/agentls/agentls/agentcore/beside"
)

// tree is what is known of a workspace folder on the disk: the files that may hold secrets, and the files of owners
// that the user namespace does not know. A folder that has not changed since it was read is not read again. Scans are
// made one after the other.
type tree struct {
	root   string // an absolute path
	below  *beneath.Root
	secret func(path string) bool // nil if secrets are not looked for
	owners bool                   // whether there are owners that the namespace does not know
	// uid and gid are the ones that the namespace knows in that case.
	uid, gid uint32
	// settled is how old a change has to be for another one to leave a different time.
	settled time.Duration
	top     *node

	folders int          // how many folders there were when they were last counted
	reads   atomic.Int64 // folders that were read
	// watchFrom is from how many folders on the tree is watched. watch watches it, or is nil.
	watchFrom int
	watch     atomic.Pointer[watch]
}

// node is a folder of a tree.
type node struct {
	rel string
	// read is the state of the folder when it was read. It is zero where that could not show a later change.
	read beneath.Look
	// secrets are its files that may hold secrets, absolute.
	secrets []string
	// foreign are its files of unknown owners, relative to the root. stranger says that the folder itself has an
	// unknown owner.
	foreign  []string
	stranger bool
	folders  []*node // by name
	// watched says that a change of the folder will be reported, so that it need not be looked at as long as no folder
	// above it changes.
	watched bool
}

func newTree(root string, disk *os.Root, secret func(path string) bool) (*tree, error) {
	_, _, all := idMaps()
	below, err := beneath.New(disk)
	if err != nil {
		return nil, err
	}
	return &tree{
		root: root, below: below, secret: secret, owners: !all, settled: settled, top: &node{rel: "."},
		watchFrom: watchFrom,
		uid:       uint32(os.Geteuid()), gid: uint32(os.Getegid()),
	}, nil
}

func (t *tree) close() error {
	err := t.below.Close()
	if w := t.watch.Load(); w != nil {
		err = errors.Join(w.close(), err)
	}
	return err
}

// scan updates the tree. It returns the files that may hold secrets, absolute, and the paths with an unknown owner or
// group, relative. If ctx ends before it is done, the next scan goes on with the rest.
func (t *tree) scan(ctx context.Context) (secrets, foreign []string, err error) {
	if t.secret == nil && !t.owners {
		return nil, nil, nil
	}
	t.heed()
	if err := t.update(ctx, unwatched(nil, t.top)); err != nil {
		return nil, nil, err
	}
	t.folders = 0
	var gather func(n *node)
	gather = func(n *node) {
		t.folders++
		if n.stranger && n != t.top {
			foreign = append(foreign, n.rel)
		}
		secrets, foreign = append(secrets, n.secrets...), append(foreign, n.foreign...)
		for _, f := range n.folders {
			gather(f)
		}
	}
	gather(t.top)
	return secrets, foreign, nil
}

// heed takes in the changes that were reported since the last scan, and starts watching where that is worth it.
func (t *tree) heed() {
	w := t.watch.Load()
	if w == nil {
		if t.folders >= t.watchFrom && t.folders > 0 {
			t.watch.Store(newWatch())
		}
		return
	}
	if w.changed() {
		return
	}
	// Everything is looked at again, and watched from the next scan on, whether or not the descriptor could be closed.
	_ = w.close()
	t.watch.Store(nil)
	var forget func(n *node)
	forget = func(n *node) {
		n.watched = false
		for _, f := range n.folders {
			forget(f)
		}
	}
	forget(t.top)
}

// unwatched appends the uppermost folders, n or below it, that have to be looked at.
func unwatched(to []*node, n *node) []*node {
	if !n.watched {
		return append(to, n)
	}
	for _, f := range n.folders {
		to = unwatched(to, f)
	}
	return to
}

// update reads folders and those below them again, on all processors.
func (t *tree) update(ctx context.Context, nodes []*node) error {
	v := visit{ctx: ctx, tree: t, shared: nodes, workers: runtime.GOMAXPROCS(0)}
	v.more = sync.NewCond(&v.mu)
	var workers beside.Group
	for range v.workers {
		workers.Go(func() {
			defer v.stop() // after a panic nobody waits for the rest
			v.work()
		})
	}
	workers.Wait()
	return v.err
}

// visit is a running call of update. Each of its workers has a stack of its own, and gives work to those that have
// none.
type visit struct {
	ctx     context.Context
	tree    *tree
	workers int
	idle    atomic.Int32

	mu     sync.Mutex // guards all below
	more   *sync.Cond
	shared []*node
	done   bool
	err    error
}

func (v *visit) work() {
	for own := v.take(); len(own) > 0; {
		n := own[len(own)-1]
		own = own[:len(own)-1]
		err := v.ctx.Err()
		if err == nil {
			err = v.tree.look(n)
		}
		if err != nil {
			v.mu.Lock()
			v.err = err
			v.mu.Unlock()
			return
		}
		for _, f := range n.folders {
			own = unwatched(own, f)
		}
		if len(own) > 1 && v.idle.Load() > 0 {
			half := len(own) / 2
			v.give(own[:half])
			own = slices.Clone(own[half:])
		}
		if len(own) == 0 {
			own = v.take()
		}
	}
}

// give hands nodes to other workers.
func (v *visit) give(nodes []*node) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shared = append(v.shared, nodes...)
	v.more.Broadcast()
}

// take waits for nodes to work on; there are none when nobody works on any.
func (v *visit) take() []*node {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.idle.Add(1)
	for len(v.shared) == 0 && !v.done && int(v.idle.Load()) < v.workers {
		v.more.Wait()
	}
	if len(v.shared) == 0 || v.done {
		v.done = true
		v.more.Broadcast()
		return nil
	}
	v.idle.Add(-1)
	half := (len(v.shared) + 1) / 2
	own := slices.Clone(v.shared[:half])
	v.shared = slices.Clone(v.shared[half:])
	return own
}

func (v *visit) stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = true
	v.more.Broadcast()
}

// settled is how old a change must be so that another change certainly gets a different time: several changes may
// happen within a clock's tick, and some file systems count in steps of two seconds.
const settled = 2 * time.Second

// look reads a folder again if it has changed, which it checks by the folder's path. If a folder above it has become a
// link meanwhile, that folder has changed, and is read before what lies below it counts.
func (t *tree) look(n *node) error {
	if w := t.watch.Load(); w != nil && n.read != (beneath.Look{}) && t.follow(w, n) {
		return nil
	}
	if n.read != (beneath.Look{}) {
		look, err := t.below.Look(n.rel)
		switch {
		case err == nil && look == n.read:
			return nil
		case err != nil && !gone(err) && !errors.Is(err, fs.ErrPermission):
			return err
		}
	}
	return t.read(n)
}

// follow makes changes of the folder be reported from now on, if it has not changed since it was read.
func (t *tree) follow(w *watch, n *node) bool {
	if w.hopeless(n.read.Device) {
		return false
	}
	folder, err := t.below.Open(n.rel, beneath.Refuse)
	if err != nil {
		return false
	}
	defer folder.Close()
	self, err := folder.Self()
	if err != nil || self != n.read || !w.add(n, folder, self) {
		return false
	}
	// The folder may have changed before it was watched.
	self, err = folder.Self()
	n.watched = err == nil && self == n.read
	return n.watched
}

// read reads a folder; a folder that is gone or cannot be read counts as empty.
func (t *tree) read(n *node) error {
	before := n.folders
	*n = node{rel: n.rel}
	folder, err := t.below.Open(n.rel, beneath.Refuse)
	if gone(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	self, err := folder.Self()
	if err != nil {
		return err
	}
	n.watched = t.watching(n, folder, self) // before the reading, so that changes during it are reported
	now := time.Now()
	entries, err := folder.Entries()
	if gone(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		n.watched = false // the folder could not be read
		return err
	}
	n.stranger = t.strange(self)
	above := t.root + "/"
	if n != t.top {
		above += n.rel + "/"
	}
	for _, e := range entries {
		t.entry(n, folder, above, e)
	}
	slices.Sort(n.secrets)
	slices.Sort(n.foreign)
	slices.SortFunc(n.folders, byName)
	for i, f := range n.folders {
		// What is known of a folder holds if it is still the same folder, which is checked next.
		at, ok := slices.BinarySearchFunc(before, f, byName)
		if ok {
			n.folders[i] = before[at]
			n.folders[i].watched = false
		}
	}
	if now.Sub(time.Unix(self.Changed.Unix())) > t.settled {
		n.read = self
	}
	return nil
}

// watching makes changes of a folder be reported that is about to be read, once the tree turns out to be large.
func (t *tree) watching(n *node, folder *beneath.Folder, self beneath.Look) bool {
	w := t.watch.Load()
	if w == nil && t.folders == 0 && t.reads.Add(1) > int64(t.watchFrom) {
		if w = newWatch(); w != nil && !t.watch.CompareAndSwap(nil, w) {
			_ = w.close() // another worker has already made a watch
			w = t.watch.Load()
		}
	}
	return w != nil && w.add(n, folder, self)
}

func byName(a, b *node) int { return strings.Compare(a.rel, b.rel) }

// entry adds an entry of a folder. above is the folder's path with a slash at its end.
func (t *tree) entry(n *node, folder *beneath.Folder, above string, e beneath.Entry) {
	abs := above + e.Name
	rel := abs[len(abs)-len(e.Name):]
	if n != t.top {
		rel = abs[len(abs)-len(e.Name)-1-len(n.rel):]
	}
	if e.Type.IsDir() {
		n.folders = append(n.folders, &node{rel: rel})
		return
	}
	if t.secret != nil && t.secret(abs) {
		n.secrets = append(n.secrets, abs)
	}
	if !t.owners {
		return
	}
	if look, err := folder.Look(e.Name); err == nil && t.strange(look) { // an error means that it is gone
		n.foreign = append(n.foreign, rel)
	}
}

// strange reports whether something has an owner or a group that the user namespace does not know.
func (t *tree) strange(look beneath.Look) bool {
	return t.owners && (look.UID != t.uid || look.GID != t.gid)
}
