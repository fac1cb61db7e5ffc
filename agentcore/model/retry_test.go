package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/model"
)

func TestRetryNext(t *testing.T) {
	policy := model.Retry{MaxAttempts: 6, MaxElapsed: 90 * time.Second}
	overloaded := &model.Error{Kind: model.ErrOverloaded, Provider: "p/m", Detail: "busy", Hint: "wait"}
	asked := func(after time.Duration) *model.Error {
		return &model.Error{Kind: model.ErrRateLimit, Provider: "p/m", Status: 429, RetryAfter: after}
	}
	for _, c := range []struct {
		name        string
		attempts    int
		elapsed     time.Duration
		err         error
		least, most time.Duration // of the delay; both 0 for none
		says        string        // of the error
	}{
		{"first", 1, 0, overloaded, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"third", 3, 0, overloaded, time.Second, 2 * time.Second, ""},
		{"bounded", 5, 0, overloaded, 4 * time.Second, 20 * time.Second, ""},
		{"asked for", 1, 0, asked(8 * time.Second), 8 * time.Second, 8*time.Second + 250*time.Millisecond, ""},
		{"attempts used up", 6, time.Second, overloaded, 0, 0, "busy (asked 6 times in vain)"},
		{"time used up", 2, 90 * time.Second, overloaded, 0, 0, "retry.max_elapsed"},
		{
			"asked for too much", 1, 0, asked(10 * time.Minute), 0, 0,
			"it asks to wait 10m0s, longer than the 1m30s of retry.max_elapsed",
		},
		{"garbled", 3, 0, &model.Error{Kind: model.ErrProtocol, Provider: "p/m"}, 0, 0, "asked 3 times in vain"},
		{
			"garbled once", 1, 0, &model.Error{Kind: model.ErrProtocol, Provider: "p/m"}, 250 * time.Millisecond,
			500 * time.Millisecond, "",
		},
		{"no key", 1, 0, &model.Error{Kind: model.ErrAuth, Provider: "p/m", Detail: "who"}, 0, 0, "who"},
		{"too long", 1, 0, &model.Error{Kind: model.ErrContext, Provider: "p/m", Detail: "long"}, 0, 0, "long"},
		{"unknown", 1, 0, context.Canceled, 0, 0, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			delay, err := policy.Next(c.attempts, c.elapsed, c.err)
			if c.says == "" {
				if err != nil || delay < c.least || delay > c.most {
					t.Errorf("got %s, %v; want %s to %s", delay, err, c.least, c.most)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the error is %v, want %q in it", err, c.says)
			}
			var before, now *model.Error
			if errors.As(c.err, &before) && (!errors.As(err, &now) || now.Kind != before.Kind) {
				t.Errorf("the error %#v lost its kind", err)
			}
		})
	}
}

func TestRetryOnce(t *testing.T) {
	failed := &model.Error{Kind: model.ErrServer, Provider: "p/m", Detail: "down"}
	if _, err := (model.Retry{MaxAttempts: 1, MaxElapsed: time.Minute}).Next(1, 0, failed); err != failed {
		t.Errorf("the error is %v, want the one that came", err)
	}
}
