package slot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/filelock"
)

// retryInterval is how often a process looks for a slot that others hold, since it is not told when they release it.
const retryInterval = 100 * time.Millisecond

// Machine bounds the slots of all processes that share a state folder: each slot is a locked file. Within the process,
// slots are given in the order of the requests. Its methods may be called from any goroutine.
type Machine struct {
	dir   string
	limit func() int
	local *Pool

	mu   sync.Mutex
	held map[int]*os.File // by number
}

// NewMachine makes the slots in a folder, which is created when it is first needed.
func NewMachine(dir string, limit func() int) *Machine {
	return &Machine{dir: dir, limit: limit, local: NewPool(limit), held: map[int]*os.File{}}
}

// Acquire waits for a slot and returns a function that gives it back. waits may be nil; it is called once, on the
// caller's goroutine, if no slot is free at once. The error is ctx's, or says why the folder cannot be used.
func (m *Machine) Acquire(ctx context.Context, first bool, waits func()) (release func(), err error) {
	told := false
	tell := func() {
		if !told && waits != nil {
			waits()
		}
		told = true
	}
	if err := m.local.Acquire(ctx, first, func(int) { tell() }); err != nil {
		return nil, err
	}
	number, err := m.lock(ctx, tell)
	if err != nil {
		m.local.Release()
		return nil, err
	}
	return func() {
		m.unlock(number)
		m.local.Release()
	}, nil
}

// lock locks any file that is free.
func (m *Machine) lock(ctx context.Context, tell func()) (number int, err error) {
	var timer *time.Timer
	for {
		number, err := m.tryAll()
		if err != nil || number >= 0 {
			return number, err
		}
		tell()
		wait := retryInterval/2 + rand.N(retryInterval) // random, so that processes do not try at the same time
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return -1, ctx.Err()
		}
	}
}

// tryAll returns the number of a file that it could lock, -1 if others hold all.
func (m *Machine) tryAll() (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for number := range max(1, m.limit()) {
		if m.held[number] != nil {
			continue
		}
		f, err := m.open(number)
		if err != nil {
			return -1, err
		}
		locked, err := filelock.Try(f, true)
		if err != nil || !locked {
			if err = errors.Join(err, f.Close()); err != nil {
				return -1, fmt.Errorf("lock the slot %s: %w", f.Name(), err)
			}
			continue
		}
		m.held[number] = f
		return number, nil
	}
	return -1, nil
}

func (m *Machine) open(number int) (*os.File, error) {
	name := filepath.Join(m.dir, strconv.Itoa(number))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(m.dir, 0o700); err == nil {
			f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open a slot of the machine: %w", err)
	}
	return f, nil
}

func (m *Machine) unlock(number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Closing drops the lock; nothing was written that could be lost.
	_ = m.held[number].Close()
	delete(m.held, number)
}
