package run

import (
	"testing"
	"time"
)

// TestClockSaysWhenItIsLate: once what is kept for the hand-over is all that is left, the run hears of it, while its
// time is not over.
func TestClockSaysWhenItIsLate(t *testing.T) {
	late := make(chan bool, 1)
	c := clock{used: time.Hour - 20*time.Second}
	c.begin(time.Hour, func() { late <- true }, func() { t.Error("the time is over") })
	<-late
	c.end()
	if rest, limited := c.beforeHandOver(); rest >= 0 || !limited || !c.handOverDue() {
		t.Errorf("%v are left before the hand-over, limited: %t", rest, limited)
	}
}
