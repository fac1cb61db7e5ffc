package short_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/lsp/short"
)

func TestShort(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1.0k", 3149: "3.1k", 9949: "9.9k", 9951: "10k", 45_600: "46k", 999_499: "999k",
		999_500: "1.0M", 12_300_000: "12M",
	} {
		if got := short.Tokens(n); got != want {
			t.Errorf("Tokens(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1999 * time.Millisecond: "1 s", 59 * time.Second: "59 s", 65 * time.Second: "1 min 5 s",
		3 * time.Hour: "3 h 0 min",
	} {
		if got := short.Elapsed(d); got != want {
			t.Errorf("Elapsed(%s) = %q, want %q", d, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "", " two\n\twords ": "two words", strings.Repeat("ä", 60): strings.Repeat("ä", 60),
		strings.Repeat("ä", 61): strings.Repeat("ä", 59) + "…",
	} {
		if got := short.Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}
