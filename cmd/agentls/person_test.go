package main

import (
	"strings"
	"testing"
)

// TestHintsForPeople names a folder, and a file that is not there: a person at a shell gets other hints than a model.
func TestHintsForPeople(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "package a\n"})
	for name, want := range map[string]string{
		".":       "is a folder; name the files in it that are to be worked on\n",
		"none.go": "no such file; check its name\n",
	} {
		if _, stderr := d.must(exitUsage, "run", "Explain this.", name); !strings.HasSuffix(stderr, want) {
			t.Errorf("run %s: %q", name, stderr)
		}
	}
}

// TestUnreachableModel runs an agent whose model's server is not there: the user hears of it with the first try, once,
// and what to do names the setting once.
func TestUnreachableModel(t *testing.T) {
	d := newDesk(t, nil)
	d.configure(
		"default_model = \"local/x\"\n[providers.local]\nkind = \"openai\"\nbase_url = " +
			"\"http://127.0.0.1:1/v1\"\n[retry]\nmax_attempts = 3\n")
	_, stderr := d.must(exitFailed, "run", "hello")
	told, after, found := strings.Cut(stderr, "local/x cannot be reached")
	if !found || strings.Count(told, "asks again in") != 1 || !strings.Contains(after, "asks again in") ||
		strings.Contains(after, "cannot be reached") {
		t.Errorf("told:\n%s", stderr)
	}
	hint := "nothing listens there: start the server; base_url of [providers.local] is the server's address"
	if strings.Count(stderr, hint) != 2 {
		t.Errorf("the hint is not %q:\n%s", hint, stderr)
	}
}
