package event_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestUsageAdds: no figure makes a sum that is negative, turns over or cannot be written down.
func TestUsageAdds(t *testing.T) {
	wild := event.Usage{
		InputTokens: math.MaxInt64, OutputTokens: math.MinInt64, CachedTokens: -1, Cost: new(math.MaxFloat64),
	}
	sum := event.NoUsage()
	for range 100 {
		sum = sum.Add(wild).Add(sum)
	}
	if sum.InputTokens <= 0 || sum.OutputTokens != 0 || sum.CachedTokens != 0 || sum.Cost == nil || *sum.Cost <= 0 {
		t.Errorf("the sum is %+v", sum)
	}
	if _, err := json.Marshal(sum); err != nil {
		t.Error(err)
	}
	for _, cost := range []float64{math.NaN(), -1, math.Inf(-1)} {
		if sum := event.NoUsage().Add(event.Usage{Cost: &cost}); sum.Cost != nil {
			t.Errorf("with %g it costs %g", cost, *sum.Cost)
		}
	}
}
