package process

import (
	"errors"
	"fmt"
	"os"
)

// Live is a program that runs and is spoken with over its standard input and output.
type Live struct {
	// In is its standard input and Out its standard output. Whoever speaks with it closes both.
	In, Out *os.File
	// Kill ends it and all that it started. It does not wait.
	Kill func()
	// Wait returns when nothing of it is left, and says how it ended, in one line.
	Wait func() string
}

// Pipes are the two ends of a program's standard input and output.
type Pipes struct {
	// In and Out are those of whoever speaks with it, ChildIn and ChildOut its own.
	In, Out, ChildIn, ChildOut *os.File
}

// NewPipes makes them.
func NewPipes() (p Pipes, err error) {
	if p.ChildIn, p.In, err = os.Pipe(); err != nil {
		return p, fmt.Errorf("make a pipe: %w", err)
	}
	if p.Out, p.ChildOut, err = os.Pipe(); err != nil {
		return p, errors.Join(fmt.Errorf("make a pipe: %w", err), p.ChildIn.Close(), p.In.Close())
	}
	return p, nil
}

// Given closes the program's ends once it has them, and all of them where it could not be started, as err says.
func (p Pipes) Given(err error) error {
	closing := errors.Join(p.ChildIn.Close(), p.ChildOut.Close())
	if err != nil {
		return errors.Join(err, closing, p.In.Close(), p.Out.Close())
	}
	return closing
}
