package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"default_model", "default_agent", "retry.max_attempts", "read", "report_finding", "go"}
	for _, c := range []struct{ word, want string }{
		{"default_modle", "default_model"},
		{"DefaultModel", "default_model"},
		{"max_attempts", "retry.max_attempts"},
		{"rep", "report_finding"},
		{"raed", "read"},
		{"xyz", ""},
		{"g", ""},
		{"", ""},
		{strings.Repeat("default_model", 9), ""},
	} {
		if got := Nearest(c.word, known); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
	if got := Nearest("read", []string{strings.Repeat("read", 99)}); got != "" {
		t.Errorf("a word that is too long was compared: %q", got)
	}
}
