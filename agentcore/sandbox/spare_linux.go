//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// sparePatience is how long a spare waits for its command, which a model mostly asks for within a few seconds. Before
// one that comes later, Ahead starts another spare.
const sparePatience = 10 * time.Second

// spare is the attendant of a box's next command. It is started ahead, in namespaces of its own, and waits to be told
// what to do, since starting a process with namespaces takes as long as all the rest. It has mounted nothing yet, and
// knows of no command. Its goroutine owns it until a command takes it, it has waited too long, or the box is closed.
type spare struct {
	hand  chan waiting  // unbuffered, so that the receiver owns the spare
	ended chan struct{} // closed when the spare cannot be taken any more
}

// waiting is a running spare.
type waiting struct {
	*confined
	output *relay
	mounts int // a descriptor that reports changes of the mounts since before the spare's start
}

// wait starts an attendant that has no command yet.
func (l *launcher) wait(kind *spec, in *counted) (w waiting, err error) {
	w.output = &relay{}
	if w.mounts, err = unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return w, errors.Join(err, in.remove())
	}
	if w.confined, err = l.begin(kind, nil, in, streams{out: w.output, err: w.output}); err != nil {
		unix.Close(w.mounts)
	}
	return w, err
}

// offer hands the spare over to a command, or ends it.
func (s *spare) offer(ctx context.Context, w waiting, patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s.hand <- w:
	case <-timer.C:
		w.end()
	case <-ctx.Done():
		w.end()
	}
}

// end ends a spare that gets no command, and returns when it has ended.
func (w waiting) end() {
	unix.Close(w.mounts)
	w.kill()
	_, _ = w.wait() // it was killed
}

// waits tells whether the spare can be taken, or soon will be.
func (s *spare) waits() bool {
	if s == nil {
		return false
	}
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// hears waits until a spare has read what it was told. It reports false where the spare does not: it may have been
// killed while it waited.
func (c *confined) hears() bool {
	timer := time.NewTimer(waitDelay)
	defer timer.Stop()
	select {
	case <-c.heard:
	case <-c.ended:
	case <-timer.C:
	}
	select {
	case <-c.heard:
		return true
	default:
		return false
	}
}

// mountsChanged tells whether a mount has come, gone or changed since /proc/self/mountinfo was opened: see
// proc_pid_mounts(5).
func mountsChanged(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}, 0)
	return n != 0 || err != nil
}

// relay writes to a spool that is set later. Output before that is dropped, since it is of no use.
type relay struct{ to atomic.Pointer[spool] }

func (r *relay) Write(p []byte) (int, error) {
	if to := r.to.Load(); to != nil {
		return to.Write(p)
	}
	return len(p), nil
}
