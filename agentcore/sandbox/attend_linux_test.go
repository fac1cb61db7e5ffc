//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerKilledOnACopy is TestServerKilled for commands without walls: the process that attends to them ends them.
func TestServerKilledOnACopy(t *testing.T) { testServerKilled(t, atLevel(Copy)) }

// TestAttendantKilled runs commands without walls whose processes leave their group, have no environment, or kill the
// process that attends to them.
func TestAttendantKilled(t *testing.T) {
	b, _ := open(t, nil, atLevel(Copy), func(o *Options) { o.Run = "attended" })
	for name, test := range map[string]struct {
		script, signal string
		output         string
	}{
		"another session": {`(setsid sh -c 'trap "" TERM HUP; sleep 1000; sleep 1000' &); echo begun`, "", "begun\n"},
		"no parent":       {`(sh -c 'sleep 1000 & sleep 1000' &); echo begun; exec >&- 2>&-`, "", "begun\n"},
		"the attendant ended": {
			`(setsid sh -c 'sleep 1000; sleep 1000' &); echo begun; kill -9 $PPID; sleep 1000; true`, "SIGKILL",
			"begun\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := sh(t, b, test.script)
			if r.Signal != test.signal || string(r.Output) != test.output || r.TimedOut {
				t.Errorf("exit %d, signal %q, output %q, notes %q", r.Exit, r.Signal, r.Output, r.Notes)
			}
			waitFor(t, func() bool { return len(processesOf(t, "attended")) == 0 })
		})
	}
	// Processes without an environment are found as children.
	r := sh(t, b, `(setsid env -i /bin/sh -c 'echo > ready; while :; do /bin/sleep 1000; done; : '"$TMPDIR" &); until [ -e ready ]; do :; done; echo begun`)
	if string(r.Output) != "begun\n" {
		t.Errorf("output %q", r.Output)
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), filepath.Join(b.dir, "tmp")) {
			t.Errorf("%s is left: %q", file, line)
		}
	}
}
