package wire

import (
	"context"
	"time"
)

// pollEvery is how often a process is looked for where the system cannot announce its end.
const pollEvery = 3 * time.Second

// pollExit waits until alive says no, looking at once and then at every interval. It returns false when ctx ended first.
func pollExit(ctx context.Context, every time.Duration, alive func() bool) bool {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for alive() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}
