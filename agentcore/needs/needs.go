// Package needs says aloud what a test needs of the machine that runs it. Where that is missing the test is skipped,
// and fails in a continuous integration (CI=true in the environment), which must have all of it: a test that nobody
// runs finds nothing. What a system can never have is no need: such a test is left out by the name of its file or by
// testing.TB.Skip with the reason.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Root is for a test that takes root's rights to make its situation.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "it takes root to make this situation; run the tests as root")
	}
}

// Program is for a test that runs a program of the machine, which a Debian package brings.
func Program(t testing.TB, name, debian string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name+" is missing: install it (Debian package "+debian+")")
	}
}

// missing ends the test. In CI it fails.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}
