package beside_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentls/agentls/agentcore/beside"
)

func TestPanicReachesWhoWaits(t *testing.T) {
	var outer beside.Group
	var done atomic.Int32
	outer.Go(func() {
		var inner beside.Group
		inner.Go(func() { panic("injected") })
		inner.Go(func() { done.Add(1) })
		inner.Wait()
	})
	outer.Go(func() { done.Add(1) })
	defer func() {
		p, ok := recover().(*beside.Panic)
		if !ok || p.String() != "injected" || !strings.Contains(p.Stack, "TestPanicReachesWhoWaits.func1.1") {
			t.Errorf("raised is %+v", p)
		}
		if got := p.LogValue().String(); !strings.Contains(got, "injected\n") || !strings.Contains(got, p.Stack) {
			t.Errorf("logged is %q", got)
		}
		if done.Load() != 2 {
			t.Errorf("%d other pieces of work were done, want 2", done.Load())
		}
	}()
	outer.Wait()
}
