package slot_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/slot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func limit(n int) func() int { return func() int { return n } }

// waits starts an Acquire and returns when it is in the queue.
func waits(t *testing.T, p *slot.Pool, ctx context.Context, first bool, got func(error)) {
	t.Helper()
	queued := make(chan struct{})
	var once sync.Once
	go func() {
		got(p.Acquire(ctx, first, func(int) { once.Do(func() { close(queued) }) }))
	}()
	<-queued
}

func TestOrder(t *testing.T) {
	p := slot.NewPool(limit(1))
	if err := p.Acquire(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 3)
	for _, name := range []string{"a", "b"} {
		waits(t, p, t.Context(), false, func(error) { order <- name })
	}
	waits(t, p, t.Context(), true, func(error) { order <- "back" })
	var got []string
	for range 3 {
		p.Release()
		got = append(got, <-order)
	}
	if want := []string{"back", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPositions(t *testing.T) {
	p := slot.NewPool(limit(1))
	if err := p.Acquire(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	first, second := make(chan error, 1), make(chan error, 1)
	waits(t, p, t.Context(), false, func(err error) { first <- err })
	positions := make(chan int, 9)
	go func() { second <- p.Acquire(t.Context(), false, func(n int) { positions <- n }) }()
	if n := <-positions; n != 2 {
		t.Errorf("it begins at %d", n)
	}
	p.Release()
	<-first
	if n := <-positions; n != 1 {
		t.Errorf("then it is at %d", n)
	}
	p.Release()
	<-second
	p.Release()
	if n := p.Waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

func TestCancelledWaiterLosesNoSlot(t *testing.T) {
	p := slot.NewPool(limit(2))
	for range 2 {
		if err := p.Acquire(t.Context(), false, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	waits(t, p, ctx, false, func(err error) { gone <- err })
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	p.Release()
	p.Release()
	for range 2 {
		if err := p.Acquire(t.Context(), false, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyCancelled lets waiters come and go at random: no slot is lost, and no more are out than there are.
func TestManyCancelled(t *testing.T) {
	p := slot.NewPool(limit(3))
	var held, most atomic.Int32
	var all sync.WaitGroup
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			defer cancel()
			if p.Acquire(ctx, i%5 == 0, nil) != nil {
				return
			}
			n := held.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			held.Add(-1)
			p.Release()
		})
		if i%3 == 0 {
			all.Go(cancel)
		}
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d were out at once", most.Load())
	}
	for range 3 {
		if err := p.Acquire(t.Context(), false, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMachine has two processes, each of which is a Machine here, since locks are of open files.
func TestMachine(t *testing.T) {
	dir := t.TempDir()
	one, other := slot.NewMachine(dir, limit(2)), slot.NewMachine(dir, limit(2))
	var releases []func()
	for _, m := range []*slot.Machine{one, other} {
		release, err := m.Acquire(t.Context(), false, func() { t.Error("it waits for a free slot") })
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	waiting, got := make(chan struct{}), make(chan func(), 1)
	go func() {
		release, err := other.Acquire(t.Context(), false, func() { close(waiting) })
		if err != nil {
			t.Error(err)
		}
		got <- release
	}()
	<-waiting
	releases[0]()
	(<-got)()
	releases[1]()
}

func TestMachineWithoutFolder(t *testing.T) {
	m := slot.NewMachine("/dev/null/slots", limit(2))
	for range 3 { // a failure keeps no slot
		if _, err := m.Acquire(t.Context(), false, nil); err == nil {
			t.Fatal("a folder that cannot be made is no error")
		}
	}
}

// TestReserved: who has reserved a place gets his slot in that order, whoever comes first; a place that is given up
// holds nobody.
func TestReserved(t *testing.T) {
	p := slot.NewPool(limit(1))
	first, gone, last := p.Reserve(), p.Reserve(), p.Reserve()
	order := make(chan string, 3)
	come := func(name string, r *slot.Reservation) {
		queued := make(chan struct{})
		var once sync.Once
		go func() {
			err := p.AcquireReserved(t.Context(), r, func(int) { once.Do(func() { close(queued) }) })
			if err != nil {
				t.Error(err)
			}
			order <- name
		}()
		<-queued // it waits, although the slot is free
	}
	come("last", last)
	waits(t, p, t.Context(), false, func(error) { order <- "late" })
	if err := p.AcquireReserved(t.Context(), first, nil); err != nil {
		t.Fatal(err)
	}
	p.Release()
	gone.Drop()
	gone.Drop()
	var got []string
	for range 2 {
		got = append(got, <-order)
		p.Release()
	}
	if want := []string{"last", "late"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := p.AcquireReserved(t.Context(), gone, nil); err != nil { // at the end of the queue
		t.Error(err)
	}
	p.Release()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.AcquireReserved(ended, p.Reserve(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := p.Waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestPositionsBehindAReservation: who waits for somebody to come, with slots free for both, is told no number; who is
// behind is told how many go ahead of it among those without a slot.
func TestPositionsBehindAReservation(t *testing.T) {
	p := slot.NewPool(limit(2))
	first, second, third := p.Reserve(), p.Reserve(), p.Reserve()
	got := make(chan error, 2)
	told := make(chan int, 9)
	go func() { got <- p.AcquireReserved(t.Context(), third, func(n int) { told <- n }) }()
	if n := <-told; n != 1 {
		t.Errorf("the first one for whom no slot is left is told number %d", n)
	}
	go func() {
		got <- p.AcquireReserved(t.Context(), second, func(n int) { t.Errorf("the second one is told number %d", n) })
	}()
	first.Drop()
	for range 2 {
		if err := <-got; err != nil {
			t.Error(err)
		}
		p.Release()
	}
}
