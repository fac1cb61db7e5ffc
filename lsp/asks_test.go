package lsp

import (
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
)

func TestPromptsHaveASecondWayInTime(t *testing.T) {
	now := time.Now()
	for _, test := range []struct{ answerTime, left, want time.Duration }{
		{time.Minute, 5 * time.Minute, secondWayTime},
		{time.Minute, 2 * time.Second, time.Second},
		{time.Second, 5 * time.Minute, time.Second},
		{time.Minute, 0, secondWayTime}, // an ask without an end
	} {
		var ask authority.Ask
		if test.left > 0 {
			ask.Expires = now.Add(test.left)
		}
		if got := secondWay(test.answerTime, ask, now); got != test.want {
			t.Errorf("%s left, %s for answers: got %s, want %s", test.left, test.answerTime, got, test.want)
		}
	}
}
