package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commandsOf are the processes that agents of this desk have started.
func (d *desk) commandsOf() []string {
	d.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		d.Fatal(err)
	}
	var found []string
	for _, name := range environs {
		environ, err := os.ReadFile(name)
		text := "\x00" + string(environ)
		if err == nil && strings.Contains(text, "\x00AGENTLS_RUN=") &&
			strings.Contains(text, "\x00HOME="+d.home+"\x00") {
			found = append(found, name)
		}
	}
	return found
}

// waitFor polls for something that no event tells.
func (d *desk) waitFor(what string, happened func() bool) {
	d.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-d.ctx.Done():
			d.Fatalf("%s: it did not happen; processes: %q", what, d.commandsOf())
		}
	}
}

// TestKilledWithCommands kills the process in the middle of a command: nothing of that is left. Without a sandbox the
// next process clears away what left its group.
func TestKilledWithCommands(t *testing.T) {
	const command = `sleep 1000 & (setsid sleep 1000 &); trap '' TERM; sleep 1000; true`
	for _, test := range []struct {
		name, config string
		next         bool
	}{
		{"sandboxed", "", false},
		{"without a sandbox", "sandbox = \"off\"\n[[permission]]\ntool = \"bash\"\naction = \"allow\"\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.txt": "a\n"})
			d.configure(test.config)
			turns := filepath.Join(d.home, "model")
			d.write(turns, "turn times=any\n"+`call bash {"command":"`+command+`"}`+"\n")
			d.env = append(d.env, scriptVariable+"="+turns)
			d.must(exitOK, "trust", d.dir, "--yes")
			cmd := d.command("run", "--agent", "coder", "Go.")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d.waitFor("the command runs", func() bool { return len(d.commandsOf()) >= 4 })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the process was not killed")
			}
			if test.next {
				d.env = nil
				d.must(exitOK, "review", filepath.Join(d.dir, "a.txt"))
			}
			d.waitFor("all of it ends", func() bool { return len(d.commandsOf()) == 0 })
			d.unchanged("a.txt", "a\n")
		})
	}
}
