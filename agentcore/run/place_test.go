package run

import (
	"context"
	"testing"

	"github.com/agentls/agentls/agentcore/slot"
)

// testPlace is a place among as many as limit says; what it waits for is sent to the channel.
func testPlace(t *testing.T, pool *slot.Pool) (*place, chan string) {
	t.Helper()
	waiting := make(chan string, 9)
	return &place{
		session: pool, machine: slot.NewMachine(t.TempDir(), func() int { return 9 }),
		waits: func(reason string) { waiting <- reason }, alone: func(err error) { t.Error(err) },
	}, waiting
}

// TestPlaceIsTakenOnce: where a second call of the run waits and ends while the run comes back from a first, it gets
// one place.
func TestPlaceIsTakenOnce(t *testing.T) {
	pool := slot.NewPool(func() int { return 1 })
	p, waiting := testPlace(t, pool)
	if err := p.take(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	first := p.yield()
	if err := pool.Acquire(t.Context(), false, nil); err != nil { // somebody else has it now
		t.Fatal(err)
	}
	back := make(chan error, 2)
	go func() { back <- first(t.Context()) }()
	<-waiting
	second := p.yield()
	go func() { back <- second(t.Context()) }()
	pool.Release()
	for range 2 {
		if err := <-back; err != nil {
			t.Fatal(err)
		}
	}
	p.leave()
	if err := pool.Acquire(t.Context(), false, func(int) { t.Fatal("a place is lost") }); err != nil {
		t.Fatal(err)
	}
}

// TestPlaceOfTheCancelled: who is cancelled while it comes back has no place, and has taken none away.
func TestPlaceOfTheCancelled(t *testing.T) {
	pool := slot.NewPool(func() int { return 1 })
	p, waiting := testPlace(t, pool)
	if err := p.take(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	regain := p.yield()
	if err := pool.Acquire(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	back := make(chan error, 1)
	go func() { back <- regain(ctx) }()
	<-waiting
	cancel()
	if err := <-back; err == nil {
		t.Error("it came back")
	}
	p.leave()
	pool.Release()
	if err := pool.Acquire(t.Context(), false, func(int) { t.Fatal("a place is lost") }); err != nil {
		t.Fatal(err)
	}
}
