package acp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
)

// TestDaemon: a daemon is in nobody's group, and is found at the end of its agent all the same.
func TestDaemon(t *testing.T) {
	w := ready(t, once(acptest.Daemon("pid"), acptest.Say("begun")), acp.Options{})
	w.prompt(acp.EndTurn)
	w.says("begun")
	id, err := os.ReadFile(filepath.Join(w.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	runs := func() bool { // a process that has ended has no command line
		line, err := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", id))
		return err == nil && strings.Contains(string(line), filepath.Join(w.dir, "pid"))
	}
	if !runs() {
		t.Fatalf("the daemon %s does not run", id)
	}
	w.client.Close()
	if runs() {
		t.Error("the daemon goes on behind the end of its agent")
	}
}
