package wire

import (
	"context"
	"errors"
	"time"
)

// pollEvery is how often a process is looked for where the system cannot announce its end.
const pollEvery = 3 * time.Second

// errNoParent says that the client's process is not there at the first look. It may have a number of another PID
// namespace, as that of an editor outside of the server's container has, so that it is no proof that the client has
// died: the end of the input, which a client that has died leaves behind, has to do.
var errNoParent = errors.New("there is no such process here; the server ends with its input alone")

// waitFunc waits until a process that was there when it was made has exited, and lets go of what it holds of the
// process. It is called once. The error is ctx's.
type waitFunc func(ctx context.Context) error

// pollExit waits until alive says no. It looks at every interval. The error is ctx's.
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
