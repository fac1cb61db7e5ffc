package glob

import (
	"strings"
	"testing"
)

// TestValid: a glob that could be read in very many ways is none.
func TestValid(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"":                                      true,
		"**/*.{go,mod}":                         true,
		"{a,b}/{c,d}/*.{go,mod}":                true,
		"[a":                                    false,
		"{a":                                    false,
		strings.Repeat("{a,b}", 9):              true,
		strings.Repeat("{a,b}", 30):             false,
		strings.Repeat("{a,", 2000):             false,
		"{" + strings.Repeat("a,", 999):         false,
		"{" + strings.Repeat("a,", 500) + "a}":  true,
		"{" + strings.Repeat("a,", 2000) + "a}": false,
	} {
		if got := Valid(pattern); got != want {
			t.Errorf("Valid(%.30q) is %t", pattern, got)
		}
	}
}
