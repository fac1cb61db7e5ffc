package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/needs"
)

// unprivileged has root obey the modes of files.
func (d *desk) unprivileged() {
	d.Helper()
	if os.Geteuid() != 0 {
		return
	}
	needs.Program(d, "setpriv", "util-linux")
	const rights = "-dac_override,-dac_read_search"
	d.wrap = []string{"setpriv", "--bounding-set=" + rights, "--inh-caps=" + rights}
}

// needs is for what a test needs itself.
func (d *desk) needs(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// TestOpensLater: a server whose state cannot be opened at first says why and what to do, answers what needs no state,
// and works as soon as the state is there, without a restart.
func TestOpensLater(t *testing.T) {
	for _, test := range []struct {
		name string
		// take takes something away before the server starts; the function gives it back.
		take func(d *desk) (giveBack func(s *served))
		says []string
	}{
		{"a lock", func(d *desk) func(*served) {
			d.must(exitOK, "review", "--fail-on", "never", "a.txt")
			release := d.lock()
			return func(*served) { release() }
		}, []string{"another process has locked the file", "agentls.db", "end the process"}},
		{"a folder that is read-only", func(d *desk) func(*served) {
			d.needs(os.Mkdir(d.state, 0o500))
			d.unprivileged()
			return func(*served) { d.needs(os.Chmod(d.state, 0o700)) }
		}, []string{"permission denied", "writable"}},
		{"a folder that is not there", func(d *desk) func(*served) {
			d.needs(os.WriteFile(d.state, nil, 0o600)) // so that nobody can make it
			return func(*served) { d.needs(os.Remove(d.state)) }
		}, []string{"not a directory", "AGENTLS_STATE"}},
		{"a full disk", func(d *desk) func(*served) {
			d.wrap = []string{"bash", "-c", `ulimit -S -f 0; trap '' XFSZ; exec "$0" "$@"`}
			return func(s *served) {
				_, err := exec.Command("prlimit", "--pid", strconv.Itoa(s.cmd.Process.Pid),
					"--fsize=unlimited:").Output()
				d.needs(err)
			}
		}, []string{"is full", "state"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS != "linux" {
				t.Skip("the faults are made with programs of Linux")
			}
			d := newDesk(t, map[string]string{"a.txt": todo})
			giveBack := test.take(d)
			s := d.serve("rich")
			s.open("a.txt")
			s.told("agentls cannot work")
			for range 2 {
				said := s.refused("agentls.run", `{"agent":"reviewer","prompt":"Review this file."}`)
				for _, want := range append(test.says, d.state, "tries again") {
					if !strings.Contains(said, want) {
						t.Errorf("the user is told %q, without %q", said, want)
					}
				}
			}
			for method, want := range map[string]string{
				"agent/list": `"reviewer"`, "agent/models": `"offline"`, "agent/skills": `"agentls"`,
				"agent/get": `"coder"`, "agent/check": "raed",
			} {
				raw, err := s.Call(d.ctx, method, json.RawMessage(needless[method]))
				if err != nil || !strings.Contains(string(raw), want) {
					t.Errorf("%s answers %.300s, %v", method, raw, err)
				}
			}
			if out, stderr, code := d.run("agents", "list"); code != exitOK || !strings.Contains(out, "reviewer") {
				t.Errorf("the command ends with %d and says %q", code, stderr)
			}
			s.usable("a.txt")
			giveBack(s)
			raw := s.execute("agentls.run",
				`{"agent":"reviewer","prompt":"Review this file.","context":{"uri":"`+string(s.URI("a.txt"))+`"}}`)
			if result := s.wait(decode[struct{ Run event.RunID }](d, raw).Run); result.Status != event.StatusCompleted {
				t.Errorf("when the state is there the review is %+v", result)
			}
			if result := s.wait(s.review("a.txt")); result.Status != event.StatusCompleted {
				t.Errorf("the review that an action starts is %+v", result)
			}
			s.quit()
			if _, err := os.Stat(filepath.Join(d.state, "agentls.db")); err != nil {
				t.Error(err)
			}
		})
	}
}

// needless are the params of requests that need no state.
var needless = map[string]string{
	"agent/list": "{}", "agent/models": "{}", "agent/skills": "{}", "agent/get": `{"agent":"coder"}`,
	"agent/check": `{"text":"---\nname: a\ndescription: d\ncategory: [subagent]\ntools: [raed]\n---\nDo.\n"}`,
}
