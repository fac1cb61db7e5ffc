package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An editor that cannot ask whether a folder is trusted has given no answer: nothing is said of one.
func TestTrustThatCannotBeAsked(t *testing.T) {
	r := serveRude(t, time.Hour, improve...)
	file := filepath.Join(r.dir, ".agentls", "agents", "mine.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: mine\ndescription: d\ncategory: [primary]\n---\nDo.\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.answer("", `"result":null`)
	r.answer("window/showMessageRequest", `"error":{"code":-32603,"message":"no window"}`)
	r.initialize(strings.Replace(everything, `"showDocument"`, `"showMessage": {}, "showDocument"`, 1), "")
	r.improved()
	asked := r.asked("window/showMessageRequest")
	if !strings.Contains(string(asked.Params), "Trust it?") {
		t.Fatalf("it asks %s", asked.Params)
	}
	r.call("agent/trust", "{}", nil)
	r.quit()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.got {
		if p.Method == "window/showMessage" && strings.Contains(string(p.Params), "answer") {
			t.Errorf("it says %s", p.Params)
		}
	}
}
