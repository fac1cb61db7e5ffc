package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/mcp/mcptest"
)

// TestKilledWithServers kills the process in the middle of a call of an MCP server that ignores signals and the end of
// its input: nothing of it is left. Without a sandbox the next process clears it away.
func TestKilledWithServers(t *testing.T) {
	for _, sandbox := range []string{"auto", "off"} {
		t.Run(sandbox, func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.txt": "a\n"})
			program := mcptest.Program(t, d.dir)
			d.configure(
				fmt.Sprintf(
					"sandbox = %q\n[mcp.srv]\ncommand = %q\nenv = { %s = \"clinging\" }\n[[permission]]\ntool = "+
						"\"*\"\naction = \"allow\"\n", sandbox, program, mcptest.Variable))
			turns := filepath.Join(d.home, "model")
			d.write(turns,
				"turn\ncall mcp__srv__act {}\nturn\nexpect result mcp__srv__act done\ncall bash {\"command\":\"echo; "+
					"sleep 1000\"}\n")
			d.env = append(d.env, scriptVariable+"="+turns)
			d.must(exitOK, "trust", d.dir, "--yes")
			cmd := d.command("run", "--agent", "coder", "Go.")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d.waitFor("the server and the command run", func() bool {
				all := ""
				for _, file := range d.commandsOf() {
					line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
					if err == nil {
						all += string(line) + "\n"
					}
				}
				return strings.Contains(all, "mcp-server") && strings.Contains(all, "sleep\x001000")
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the process was not killed")
			}
			if sandbox == "off" {
				d.env = nil
				d.must(exitOK, "review", filepath.Join(d.dir, "a.txt"))
			}
			d.waitFor("all of it ends", func() bool { return len(d.commandsOf()) == 0 })
		})
	}
}
