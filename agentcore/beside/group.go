// Package beside does pieces of work beside each other for somebody who waits for all of them. A panic in one of them
// is raised again where that somebody waits, and so answered by whoever answers for his panics, as an internal error of
// one request or run: in a goroutine of its own it would end the process.
package beside

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Group is some pieces of work. Its zero value has none.
type Group struct {
	wait  sync.WaitGroup
	first sync.Once
	fault *Panic
}

// Panic is what [Group.Wait] raises: the value that a piece of work panicked with, and where it did.
type Panic struct {
	Value any
	Stack string
}

// String is the value alone, for people.
func (p *Panic) String() string { return fmt.Sprint(p.Value) }

// LogValue has the place, too: the stack of the one who waits does not tell it.
func (p *Panic) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(p.Value, "\n", p.Stack)) }

// Go does a piece of work in a goroutine of its own.
func (g *Group) Go(work func()) {
	g.wait.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.first.Do(func() { g.fault = raised(p) })
			}
		}()
		work()
	})
}

// raised is a panic of a piece of work, which may have waited for pieces of its own.
func raised(p any) *Panic {
	if of, ok := p.(*Panic); ok {
		return of
	}
	return &Panic{p, string(debug.Stack())}
}

// Wait returns once all is done, or panics with the first *Panic.
func (g *Group) Wait() {
	g.wait.Wait()
	if g.fault != nil {
		panic(g.fault)
	}
}
