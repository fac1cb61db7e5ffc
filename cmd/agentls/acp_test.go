package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestACP has an editor accept an edit, which the command writes by the same rules as --write does: a file that was
// changed meanwhile is left alone. The editor dies in the middle of a turn, which ends the command.
func TestACP(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := newCall(t, map[string]string{"a.txt": "a\r\n", "b.txt": "b\n", "AGENTS.md": "Speak.\n"}, `
turn
call edit {"path": "a.txt", "old_string": "a", "new_string": "A"}
call edit {"path": "b.txt", "old_string": "b", "new_string": "B"}
turn
text Done.
turn
expect system Speak.
text I speak.
turn times=any
wait never
text No.
`, "acp", "--set", "default_agent=coder")
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	c.stdin, c.stdout.Writer = in, out
	ended := make(chan int, 1)
	go func() {
		ended <- c.run(t.Context())
		out.Close()
	}()
	send := func(format string, args ...any) {
		t.Helper()
		if _, err := fmt.Fprintf(toAgent, format+"\n", args...); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(fromAgent)
	lines.Buffer(nil, 1<<20)
	notices := 0
	until := func(id string) string {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), "is not trusted; `agentls trust` shows and trusts them") {
				notices++
			}
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ ToolCall struct{ Title string } }
				Result struct{ SessionID string }
			}
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			switch {
			case m.Method == "session/request_permission":
				if strings.HasSuffix(m.Params.ToolCall.Title, "b.txt") {
					if err := os.WriteFile(filepath.Join(c.dir, "b.txt"), []byte("b, changed\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				send(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"write"}}}`, m.ID)
			case m.Method == "" && string(m.ID) == id:
				return m.Result.SessionID
			}
		}
		t.Fatalf("there was no answer to %s: %v\n%s", id, lines.Err(), c.err.String())
		return ""
	}
	folder, err := json.Marshal(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	send(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`, folder)
	session := until("2")
	const prompt = `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[` +
		`{"type":"text","text":"Go."}]}}`
	send(prompt, 3, session)
	until("3")
	for name, want := range map[string]string{"a.txt": "A\r\n", "b.txt": "b, changed\n"} {
		if have, err := os.ReadFile(filepath.Join(c.dir, name)); string(have) != want {
			t.Errorf("%s is %q, want %q (%v)", name, have, want, err)
		}
	}
	if notices != 1 {
		t.Errorf("the user is told %d times that the folder is not trusted", notices)
	}
	trusts := *c.process // another process, in which the user trusts the folder
	trusts.args, trusts.stdout.Writer = []string{"trust", "--yes"}, io.Discard
	if code := trusts.run(t.Context()); code != exitOK {
		t.Fatalf("agentls trust: exit code %d\n%s", code, c.err.String())
	}
	send(`{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":%s,"mcpServers":[]}}`, folder)
	trusted := until("5")
	send(prompt, 6, trusted)
	until("6")
	if notices != 1 {
		t.Errorf("a new session has the trust of before")
	}
	send(prompt, 4, session)
	toAgent.Close()
	go func() { _, _ = io.Copy(io.Discard, fromAgent) }() // until the command has ended
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d\n%s", code, c.err.String())
	}
}
