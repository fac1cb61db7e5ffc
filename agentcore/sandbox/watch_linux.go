//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/beneath"
)

// watch has the kernel tell which folders of a tree have changed (inotify(7)), so that the others need not be looked
// at. What a call has changed is told before the call returns; what is lost where there is too much of it is told as
// such. A folder that cannot be watched is looked at each time.
type watch struct {
	fd    int
	taken atomic.Int64 // of the watches of this process

	mu    sync.Mutex // guards all below
	nodes map[int32][]*node
	local map[uint64]bool // devices of whose changes all are told
	full  bool            // no more can be had
}

const (
	// watchFrom is how many folders a tree has that is watched: looking at fewer takes no longer than a millisecond,
	// and what is watched takes the kernel's memory.
	watchFrom = 250
	// maxWatches bounds the watches of this process, and watchPart is its part of those that a user has on the
	// machine: an editor needs some, too.
	maxWatches = 64 << 10
	watchPart  = 4
)

// watches are those that this process has.
var watches atomic.Int64

// watchLimit is how many it may have.
var watchLimit = sync.OnceValue(func() int64 {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return min(n/watchPart, maxWatches)
})

// watchedChanges are what can give a folder another entry, or another owner. Whether the content of a file changes is
// of no matter.
const watchedChanges = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// newWatch returns nil where the machine has no watches left.
func newWatch() *watch {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	return &watch{fd: fd, nodes: map[int32][]*node{}, local: map[uint64]bool{}}
}

func (w *watch) close() error {
	watches.Add(-w.taken.Load())
	return os.NewSyscallError("close", unix.Close(w.fd))
}

// localKinds are the file systems whose changes all go through this machine's kernel, each with its name there.
var localKinds = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC,
}

// tellsAll reports whether all changes of a folder's file system are told. The lock is held.
func (w *watch) tellsAll(folder *beneath.Folder, device uint64) bool {
	known, ok := w.local[device]
	if !ok {
		var s unix.Statfs_t
		known = unix.Fstatfs(folder.Descriptor(), &s) == nil && slices.Contains(localKinds, int64(s.Type))
		w.local[device] = known
	}
	return known
}

// hopeless reports whether no folder of a device can be watched.
func (w *watch) hopeless(device uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	local, known := w.local[device]
	return w.full || known && !local
}

// add watches an open folder from now on, if it can.
func (w *watch) add(n *node, folder *beneath.Folder, self beneath.Look) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full || !w.tellsAll(folder, self.Device) {
		return false
	}
	if watches.Load() >= watchLimit() {
		w.full = true
		return false
	}
	id, err := unix.InotifyAddWatch(w.fd, fmt.Sprintf("/proc/self/fd/%d", folder.Descriptor()), watchedChanges)
	if err != nil {
		w.full = true
		return false
	}
	nodes, had := w.nodes[int32(id)]
	if !had {
		watches.Add(1)
		w.taken.Add(1)
	}
	// One folder may be at several places, by mounts or since it was moved.
	if !slices.Contains(nodes, n) {
		w.nodes[int32(id)] = append(nodes, n)
	}
	return true
}

// changed takes what the kernel has told since the last time: those folders are no longer watched, nor is believed what
// is known of them. It reports false where something was lost.
func (w *watch) changed() bool {
	var buffer [64 << 10]byte
	for {
		n, err := unix.Read(w.fd, buffer[:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return true
		case err != nil || n <= 0:
			return false
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			id := int32(binary.NativeEndian.Uint32(rest[unsafe.Offsetof(unix.InotifyEvent{}.Wd):]))
			mask := binary.NativeEndian.Uint32(rest[unsafe.Offsetof(unix.InotifyEvent{}.Mask):])
			name := binary.NativeEndian.Uint32(rest[unsafe.Offsetof(unix.InotifyEvent{}.Len):])
			rest = rest[unix.SizeofInotifyEvent+int(name):]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				return false
			}
			for _, n := range w.nodes[id] {
				n.read, n.watched = beneath.Look{}, false
			}
			if w.nodes[id] != nil {
				w.nodes[id] = nil
			}
			if mask&unix.IN_IGNORED != 0 {
				if _, had := w.nodes[id]; had {
					watches.Add(-1)
					w.taken.Add(-1)
				}
				delete(w.nodes, id) // it is gone, with its number
			}
		}
	}
}
