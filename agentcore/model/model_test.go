package model

import (
	"encoding/json"
	"fmt"
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
	for kind, want := range map[ErrorKind]bool{ErrRateLimit: true, ErrNetwork: true, ErrAuth: false, ErrInvalid: false, ErrContext: false} {
		if got := Retryable(fmt.Errorf("turn 3: %w", &Error{Kind: kind})); got != want {
			t.Errorf("Retryable(%s) = %v", kind, got)
		}
	}
}
