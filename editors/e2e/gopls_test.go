//go:build e2e

package e2e

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// TestGopls has an agent ask a real gopls about text that is proposed and not on the disk: its own, and, by a child,
// that of its parent.
func TestGopls(t *testing.T) {
	t.Parallel()
	server, gopls := setting(t, "AGENTLS_BIN"), setting(t, "AGENTLS_GOPLS")
	dir, home := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.24\n")
	write(filepath.Join(dir, "shop.go"),
		"package shop\n\n// Buy buys.\nfunc Buy(n int) int {\n\treturn price(n)\n}\n\nfunc price(n int) int { return 2 * n }\n")
	// In a sandbox only the tools of one's own home folder are seen.
	tools := filepath.Join(home, "go", "bin")
	if err := os.CopyFS(tools, os.DirFS(gopls)); err != nil {
		t.Fatal(err)
	}
	untouched := tree(t, dir)
	ask := func(arguments string) []script.Step {
		return []script.Step{script.Call{Name: "symbols", Arguments: arguments}}
	}
	turns := []script.Turn{
		{
			Match:  "MAIN",
			Expect: []script.Expect{script.Tools("symbols")},
			Answer: []script.Step{
				script.Call{
					Name:      "write",
					Arguments: `{"path":"sell.go","content":"package shop\n\n// Sell sells: ünï.\nfunc Sell() int {\n\treturn Buy(1) + Buy(2)\n}\n"}`,
				},
				script.Call{
					Name:      "edit",
					Arguments: `{"path":"shop.go","old_string":"package shop\n","new_string":"package shop\n\n// proposed line\n"}`,
				},
			},
		},
		{Match: "MAIN", Answer: ask(`{"kind":"references","name":"Buy","path":"shop.go"}`)},
		{Match: "MAIN", Expect: []script.Expect{
			script.Result("symbols", "sell.go:5:9: | return Buy(1) + Buy(2)\n"),
			script.Result("symbols", "sell.go:5:18:"), script.Result("symbols", "shop.go:6:6: | func Buy(n int) int {"),
			script.Result("symbols", "By gopls."),
		}, Answer: ask(`{"kind":"definition","path":"sell.go","line":5,"name":"Buy"}`)},
		{
			Match: "MAIN",
			Expect: []script.Expect{
				script.Result("symbols", "shop.go:6:6: | func Buy(n int) int {"), script.Result("symbols", "By gopls."),
			},
			Answer: ask(`{"kind":"document","path":"sell.go"}`),
		},
		{
			Match:  "MAIN",
			Expect: []script.Expect{script.Result("symbols", "sell.go:4:6: function Sell\nBy gopls.")},
			Answer: ask(`{"kind":"workspace","name":"Sell"}`),
		},
		{
			Match: "MAIN",
			Expect: []script.Expect{
				script.Result("symbols", "sell.go:4:6: function"), script.Result("symbols", "By gopls."),
			},
			Answer: []script.Step{
				script.Call{
					Name: "task", Arguments: `{"subagent_type":"explore","prompt":"CHILD","description":"look"}`,
				},
			},
		},
		{Match: "CHILD", Answer: ask(`{"kind":"references","name":"price"}`)},
		{
			Match: "CHILD",
			Expect: []script.Expect{
				script.Result("symbols", "shop.go:7:9: | return price(n)"), script.Result("symbols", "By gopls."),
			},
			Answer: []script.Step{
				script.Call{Name: "submit_result", Arguments: `{"status":"success","summary":"Seen."}`},
			},
		},
		{Match: "MAIN", Answer: []script.Step{script.Text("All is found.")}},
	}
	s := script.New("gopls", turns...)
	vendor := httptest.NewServer(wiretest.OpenAIHandler(s))
	defer vendor.Close()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, server, args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"PATH=" + tools + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home,
			"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "AGENTLS_STATE=" + filepath.Join(home, "state"),
			"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + vendor.URL + "/v1", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local",
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("agentls %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("trust", "--yes")
	if out := run("run", "--agent", "coder", "MAIN: look around."); !strings.Contains(out, "All is found.") {
		t.Errorf("the run says:\n%s", out)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if now := tree(t, dir); len(now) != len(untouched) {
		t.Error("the workspace on disk has changed")
	}
}
