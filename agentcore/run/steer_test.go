package run_test

import (
	"testing"

	"github.com/agentls/agentls/agentcore/run"
)

// TestUnwrapped reads what the user has told a run: once, twice before it read, and what is no such message.
func TestUnwrapped(t *testing.T) {
	const french = "<message from=\"the user\">\nIn French.\n</message>"
	const orders = "<message from=\"coder\">\nIn French.\n</message>"
	for _, test := range []struct{ text, want string }{
		{french, "In French."},
		{french + "\n\n" + french, "In French.\n\nIn French."},
		{orders, orders},
		{"In French.", "In French."},
	} {
		if got := run.Unwrapped(test.text); got != test.want {
			t.Errorf("Unwrapped(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}
