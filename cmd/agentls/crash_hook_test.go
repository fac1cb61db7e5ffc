package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/crash"
)

// crashVariable makes the command kill itself: POINT N is the n-th time that it reaches a point.
const crashVariable = "AGENTLS_TEST_CRASH"

// crashing is the hook that the variable asks for.
func crashing(wanted string) crash.Hook {
	point, times, found := strings.Cut(wanted, " ")
	n, err := strconv.ParseInt(times, 10, 64)
	if !found || err != nil {
		return nil
	}
	var left atomic.Int64
	left.Store(n)
	return func(p crash.Point) {
		if string(p) != point || left.Add(-1) != 0 {
			return
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // the step behind the point must not begin
	}
}
