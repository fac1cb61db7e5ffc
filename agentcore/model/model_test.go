package model

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartsRoundTrip(t *testing.T) {
	in := []Part{
		Text{Text: "hello", Summary: true},
		Reasoning{Text: "hm", Signature: "sig"},
		Call{ID: "1", Name: "read", Arguments: json.RawMessage(`{"command":"a && b > c"}`)},
		Result{ID: "1", Name: "read", Text: "error: no", Error: true},
	}
	raw, err := EncodeParts(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := DecodeParts(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Errorf("parts changed on the way (-in +out):\n%s", diff)
	}
}

func TestBrokenArgumentsAreKept(t *testing.T) {
	raw, err := EncodeParts([]Part{Call{ID: "1", Name: "read", Arguments: json.RawMessage(`{"path":`)}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := DecodeParts(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out[0].(Call).Arguments); got != `"{\"path\":"` {
		t.Errorf("arguments are %s", got)
	}
}

func TestRetryable(t *testing.T) {
	for kind, want := range map[ErrorKind]bool{
		ErrRateLimit: true, ErrNetwork: true, ErrAuth: false, ErrInvalid: false,
		ErrContext: false,
	} {
		if got := Retryable(fmt.Errorf("turn 3: %w", &Error{Kind: kind})); got != want {
			t.Errorf("Retryable(%s) = %v", kind, got)
		}
	}
}

func TestPlausibleUsage(t *testing.T) {
	request, answer := &Request{System: strings.Repeat("s", 400)}, Message{
		Role:  RoleAssistant,
		Parts: []Part{Text{Text: strings.Repeat("a", 80)}},
	}
	for _, c := range []struct{ said, want, whole Usage }{
		{
			Usage{Input: 5, Output: 6, Cached: 7, Written: 3},
			Usage{Input: 5, Output: 6, Cached: 7, Written: 3},
			Usage{Input: 5, Output: 6, Cached: 7, Written: 3},
		},
		{Usage{}, Usage{}, Usage{Input: 100, Output: 20}},
		{Usage{Input: -1, Output: 3}, Usage{Input: 100, Output: 3}, Usage{Input: 100, Output: 3}},
		{Usage{Input: 4, Output: math.MaxInt64, Written: -9}, Usage{Input: 4, Output: 20}, Usage{Input: 4, Output: 20}},
		{
			Usage{Input: 4, Output: 1, Written: 9},
			Usage{Input: 4, Output: 1, Written: 4},
			Usage{Input: 4, Output: 1, Written: 4},
		},
		{Usage{Cached: math.MinInt64}, Usage{}, Usage{Input: 100, Output: 20}},
		{Usage{Cached: 30, Output: -2}, Usage{Cached: 30, Output: 20}, Usage{Cached: 30, Output: 20}},
	} {
		if got := c.said.Plausible(request, answer); got != c.want || got.Complete(request, answer) != c.whole {
			t.Errorf("%+v: %+v, %+v", c.said, got, got.Complete(request, answer))
		}
	}
}
