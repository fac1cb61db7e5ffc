package wire

import (
	"context"
	"errors"
	"time"
)

// pollEvery is how often a process is checked on systems that cannot announce its end.
const pollEvery = 3 * time.Second

// errNoParent says that the client's process does not exist at the first look. That is no proof that the client has
// died, since its number may belong to another PID namespace, for example if the server runs in a container and the
// editor does not. The server relies on the end of the input then, which closes when the client dies.
var errNoParent = errors.New("the editor's process is not on this machine, so the server ends only when its input ends")

// waitFunc waits until a process has exited that existed when the function was made, and releases the process's handle.
// It is called once. The error is ctx's.
type waitFunc func(ctx context.Context) error

// pollExit waits until alive says no, which it checks at every interval. The error is ctx's.
func pollExit(ctx context.Context, every time.Duration, alive func() bool) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !alive() {
			return nil
		}
	}
}
