package acp_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
)

// place is the place of the first line of a log that the agent got and that has a text; -1 for none.
func place(log []acptest.Entry, text string) int {
	for i, e := range log {
		if bytes.Contains(e.Got, []byte(text)) {
			return i
		}
	}
	return -1
}

// TestEnds has the connection end in the middle of a prompt.
func TestEnds(t *testing.T) {
	ending := func(failure acp.Failure, words string, o acp.Options, steps ...acptest.Step) func(*testing.T) {
		return func(t *testing.T) {
			w := ready(t, once(append([]acptest.Step{acptest.Say("begun")}, steps...)...), o)
			w.fails(failure, words)
			w.says("begun")
			w.ends()
			w.fails(acp.Ended)
			if _, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir}); err == nil {
				t.Error("an agent that has ended begins a session")
			}
		}
	}
	none, never := acp.Options{}, acptest.Never()
	plays(t, map[string]func(*testing.T){
		"an exit code with last words": ending(acp.Ended, "the agent ended with exit code 7: no\\x1b[2J memory", none,
			acptest.Complain("no\x1b[2J\nmemory"), acptest.Exit(7)),
		"an exit with success": ending(acp.Ended, "exit code 0", none, acptest.Exit(0)),
		"a kill":               ending(acp.Ended, "was ended by SIGKILL", none, acptest.Kill()),
		"a line that is no JSON": ending(acp.Ended, `no message of the protocol: "Loading\x1b[31m…"`, none,
			acptest.Line("Loading\x1b[31m…"), never),
		"a line that is cut off": ending(acp.Ended, `no message of the protocol: "{\"jsonrpc\":"`, none,
			acptest.Line(`{\"jsonrpc\":`), never),
		"a text of JSON":            ending(acp.Ended, `protocol: ""hello""`, none, acptest.Line(`"hello"`), never),
		"a batch":                   ending(acp.Ended, "no message of the protocol", none, acptest.Line(`[]`), never),
		"an object that is nothing": ending(acp.Ended, `none of JSON-RPC: "{"level"`, none, acptest.Line(`{"level":1}`), never),
		"an id that is an object": ending(acp.Ended, "none of JSON-RPC", none,
			acptest.Line(`{"jsonrpc":"2.0","id":{},"method":"x"}`), never),
		"a line of 20 MiB": ending(acp.Ended, `more than 16 MiB, which begins with "{"jsonrpc":`, none,
			acptest.Long(20<<20), never),
		"half a line": ending(acp.Ended, `ended within a line, which begins with "{"jsonrpc":"2.0"`, none,
			acptest.Half(`{"jsonrpc":"2.0"`), acptest.HangUp(), never),
		"a closed output": ending(acp.Ended, "exit code 0", none, acptest.HangUp(), never),
		"a closed output of an agent that stays": func(t *testing.T) {
			play := once(acptest.HangUp(), never)
			play.Stays = true
			w := ready(t, play, acp.Options{EndTime: soon})
			w.fails(acp.Ended, "closed its input or output and did not end")
		},
		"a closed input": func(t *testing.T) {
			w := ready(t, once(acptest.Deafen(), acptest.Say("begun"), acptest.Never()), acp.Options{EndTime: soon})
			go func() {
				w.until("an update", func() bool { return len(w.updates) > 0 })
				w.client.Cancel(first)
			}()
			w.fails(acp.Ended, "did not end")
		},
		"messages that are not read": func(t *testing.T) {
			o := acp.Options{WriteTime: soon, EndTime: soon}
			w := ready(t, once(acptest.Ignore(), acptest.Say("begun"), never), o)
			go func() {
				w.until("an update", func() bool { return len(w.updates) > 0 })
				// More than a pipe holds. How it fails is seen by the prompt.
				_ = w.client.SetMode(w.ctx, first, strings.Repeat("x", 4<<20))
			}()
			w.fails(acp.Ended, "did not read a message within "+soon.String())
		},
		"an output that a process holds open": func(t *testing.T) {
			w := begin(t, once(acptest.Clinging("pid"), acptest.Say("begun"), acptest.Exit(4)), none)
			w.client.Close()
			w.mark = "" // so that nobody finds it
			w.connect(acp.Options{EndTime: soon})
			w.initialize()
			w.session()
			w.fails(acp.Ended, "exit code 4")
			w.says("begun")
			w.ends()
		},
		"what was said before the end is heard": func(t *testing.T) {
			const count = 5000
			w := ready(t, once(acptest.Flood(count), acptest.Exit(3)), acp.Options{})
			w.fails(acp.Ended, "exit code 3")
			if len(w.updates) != count {
				t.Errorf("%d updates came", len(w.updates))
			}
		},
		"the end of the context": func(t *testing.T) {
			w := begin(t, acptest.Play{}, acp.Options{})
			w.client.Close()
			ctx, cancel := context.WithCancel(context.Background())
			client := acp.Connect(ctx, w.start(), acp.Options{})
			cancel()
			<-client.Ended()
			client.Close()
			_, err := client.Initialize(w.ctx, acp.Implementation{})
			w.failed(err, acp.Ended, "the connection was closed")
		},
		"a close in a turn": func(t *testing.T) {
			w := ready(t, once(acptest.Say("begun"), acptest.Never()), acp.Options{})
			go func() {
				w.until("an update", func() bool { return len(w.updates) > 0 })
				w.client.Close()
			}()
			w.fails(acp.Ended, "exit code 0")
		},
		"a close that the agent ignores": func(t *testing.T) {
			w := ready(t, acptest.Play{Stays: true}, acp.Options{EndTime: soon})
			w.client.Close()
			w.client.Close()
			w.fails(acp.Ended, "the connection was closed")
		},
	})
}
