package acp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
)

// soon is a time after which an agent is given up that is known to do nothing.
const soon = 300 * time.Millisecond

// TestTurns has agents work on prompts.
func TestTurns(t *testing.T) {
	say, none := acptest.Say, acp.Usage{}
	plays(t, map[string]func(*testing.T){
		"updates come in order and before the answer": func(t *testing.T) {
			w := ready(t, acptest.Play{Prompts: [][]acptest.Step{
				{say("one "), say("two ")},
				{say("three")},
			}}, acp.Options{})
			if usage := w.prompt(acp.EndTurn); usage != none {
				t.Errorf("the usage is %+v, which nobody told", usage)
			}
			w.says("one two ")
			w.prompt(acp.EndTurn)
			w.says("one two three")
			w.nothingOdd()
		},
		"usage and a reason that nobody knows": func(t *testing.T) {
			told := acptest.Object{"inputTokens": 7, "outputTokens": 0, "thoughtTokens": nil}
			w := ready(t, acptest.Play{Prompts: [][]acptest.Step{
				{acptest.AnswerWith(acptest.Object{"stopReason": "bored", "usage": told})},
				{acptest.AnswerWith(acptest.Object{"stopReason": "end_turn", "usage": "much"})},
			}}, acp.Options{})
			usage := w.prompt("bored")
			seven, zero := int64(7), int64(0)
			if !cmp.Equal(usage, acp.Usage{Input: &seven, Output: &zero}) {
				t.Errorf("the usage is %+v", usage)
			}
			if usage := w.prompt(acp.EndTurn); usage != none {
				t.Errorf("the usage is %+v, which is nonsense", usage)
			}
		},
		"an answer without a reason": func(t *testing.T) {
			w := ready(t, once(acptest.AnswerWith(acptest.Object{})), acp.Options{})
			w.fails(acp.Unusable, "why it stopped")
			w.prompt(acp.EndTurn)
		},
		"an answer of a wrong form": func(t *testing.T) {
			w := ready(t, once(acptest.AnswerWith(acptest.Object{"stopReason": 7})), acp.Options{})
			w.fails(acp.Unusable, "stopReason is a number")
		},
		"an answer that is an error": func(t *testing.T) {
			w := ready(t, once(acptest.Refuse(acptest.Failure{
				Code: -32603, Message: "Internal error", Data: acptest.Object{"details": "no\x1b[2J credit\nleft"},
			})), acp.Options{})
			if err := w.fails(acp.Refused, `Internal error: no\x1b[2J credit\nleft`); err.Code != -32603 {
				t.Errorf("the code is %d", err.Code)
			}
			w.prompt(acp.EndTurn)
		},
		"updates behind the answer": func(t *testing.T) {
			w := ready(t, once(acptest.Answer("end_turn"), say("late")), acp.Options{})
			w.prompt(acp.EndTurn)
			w.until("a late update", func() bool { return len(w.updates) == 1 })
			w.nothingOdd()
		},
		"one prompt at a time": func(t *testing.T) {
			w := ready(t, once(say("begun"), acptest.Hold()), acp.Options{})
			ended := make(chan error, 1)
			go func() {
				_, _, err := w.client.Prompt(w.ctx, first, []acp.Content{acp.Text("Go.")})
				ended <- err
			}()
			w.until("an update", func() bool { return len(w.updates) > 0 })
			w.fails(acp.Unusable, "has not answered the prompt before")
			w.client.Cancel(first)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			w.client.Cancel(first) // there is nothing to cancel
			w.prompt(acp.EndTurn)
			if list := w.got("session/cancel"); len(list) != 1 {
				t.Errorf("the agent was told to cancel %d times", len(list))
			}
		},
		"a session that is not open": func(t *testing.T) {
			w := begin(t, acptest.Play{}, acp.Options{})
			w.initialize()
			w.fails(acp.Unusable, "no session")
		},
		"a flood comes whole and in order": func(t *testing.T) {
			const count = 50_000
			next, wrong := 0, 0
			w := ready(t, once(acptest.Flood(count)), acp.Options{Update: func(_ string, u acp.Update) {
				if u.Content.Text != strconv.Itoa(next) {
					wrong++
				}
				next++
			}})
			w.prompt(acp.EndTurn)
			if next != count || wrong != 0 {
				t.Errorf("%d updates came, %d of them not in order", next, wrong)
			}
		},
		"a prompt of all kinds of content": func(t *testing.T) {
			w := ready(t, acptest.Play{}, acp.Options{})
			words := "fn main() {}"
			_, _, err := w.client.Prompt(w.ctx, first, []acp.Content{
				acp.Text("<b> & "), acp.Text(""),
				{Kind: acp.ImageContent, Data: "AA==", MIME: "image/png"},
				{Kind: acp.LinkContent, URI: "file:///a.go", Name: "a.go"},
				{Kind: acp.ResourceContent, Resource: &acp.Resource{URI: "file:///b.go", Text: &words}},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := []any{
				acptest.Object{"type": "text", "text": "<b> & "},
				acptest.Object{"type": "text", "text": ""},
				acptest.Object{"type": "image", "data": "AA==", "mimeType": "image/png"},
				acptest.Object{"type": "resource_link", "uri": "file:///a.go", "name": "a.go"},
				acptest.Object{"type": "resource", "resource": acptest.Object{"uri": "file:///b.go", "text": words}},
			}
			if diff := cmp.Diff(want, w.got("session/prompt")[0]["prompt"]); diff != "" {
				t.Error(diff)
			}
		},
	})
}

// TestAgainstTheProtocol has agents do in a turn what they must not do.
func TestAgainstTheProtocol(t *testing.T) {
	say, object := acptest.Say, acptest.Update
	plays(t, map[string]func(*testing.T){
		"methods that were not announced": func(t *testing.T) {
			w := ready(t, once(
				acptest.Request("fs/write_text_file", acptest.Object{"path": "/a", "content": "x"}),
				acptest.Request("terminal/create", acptest.Object{"command": "sh"}),
				acptest.Request("elicitation/create", acptest.Object{"mode": "form", "message": "?"}),
				acptest.Notify("_news", acptest.Object{}), say("done"),
			), acp.Options{})
			w.prompt(acp.EndTurn)
			for _, method := range []string{"fs/write_text_file", "terminal/create", "elicitation/create"} {
				failure, _ := w.answer(method)["error"].(acptest.Object)
				if failure["code"] != -32601.0 {
					t.Errorf("the answer to %s is %v", method, failure)
				}
			}
			w.says("done")
			sent := w.got("initialize")[0]["clientCapabilities"].(acptest.Object)
			if sent["terminal"] != false || sent["elicitation"] != nil ||
				!cmp.Equal(sent["fs"], any(acptest.Object{"readTextFile": false, "writeTextFile": false})) {
				t.Errorf("it was announced %v", sent)
			}
		},
		"wrong updates are left out": func(t *testing.T) {
			w := ready(t, once(
				say("a"),
				object(acptest.Object{"sessionUpdate": "agent_message_chunk"}),
				object(acptest.Object{"sessionUpdate": "agent_message_chunk", "content": "text"}),
				object(acptest.Object{"sessionUpdate": "tool_call", "title": "no id"}),
				object(acptest.Object{"sessionUpdate": "tool_call", "toolCallId": 7, "title": "x"}),
				object(acptest.Object{"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": "x"}),
				object(acptest.Object{"sessionUpdate": "usage_update", "used": -1, "size": 2}),
				object(acptest.Object{"sessionUpdate": "usage_update", "size": 2}),
				object(acptest.Object{"sessionUpdate": "plan", "entries": "none"}),
				object(acptest.Object{"sessionUpdate": 3}), object(acptest.Object{}),
				acptest.Notify("session/update", acptest.Object{"sessionId": 3, "update": "x"}),
				acptest.Line(`{"jsonrpc":"2.0","method":"session/update"}`),
				acptest.Line(`{"jsonrpc":"2.0","method":"session/update","params":[1]}`),
				acptest.Line(`{"jsonrpc":"2.0","id":77,"result":{}}`),
				acptest.Notify("session/update", acptest.Object{"sessionId": "other", "update": say("x").Message}),
				say("b"),
			), acp.Options{})
			w.prompt(acp.EndTurn)
			w.says("ab")
			if len(w.odd) != 15 {
				t.Errorf("%d things were odd: %q", len(w.odd), w.odd)
			}
			w.strange("content is missing")
			w.strange("it was not asked")
			w.strange("that is not open: other")
		},
		"what is odd is told in a bounded number": func(t *testing.T) {
			steps := make([]acptest.Step, 300)
			for i := range steps {
				steps[i] = object(acptest.Object{"sessionUpdate": 1})
			}
			w := ready(t, once(append(steps, say("end"))...), acp.Options{})
			w.prompt(acp.EndTurn)
			w.says("end")
			if len(w.odd) != acp.MaxOdd {
				t.Errorf("%d things were told", len(w.odd))
			}
		},
	})
}

// TestCancels cancels turns.
func TestCancels(t *testing.T) {
	say := acptest.Say
	plays(t, map[string]func(*testing.T){
		"a cancelled context stops the turn": func(t *testing.T) {
			play := once(say("begun"), acptest.Hold())
			play.OnCancel = []acptest.Step{say(" and stopped")}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w := ready(t, play, acp.Options{Update: func(string, acp.Update) { cancel() }})
			reason, _, err := w.client.Prompt(ctx, first, []acp.Content{acp.Text("Go.")})
			if reason != acp.Cancelled || err != nil {
				t.Errorf("the turn ended with %q, %v", reason, err)
			}
			w.says("begun and stopped")
			if _, _, err := w.client.Prompt(ctx, first, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("a prompt whose context has ended fails with %v", err)
			}
			if list := w.got("session/prompt"); len(list) != 1 {
				t.Errorf("the agent got %d prompts", len(list))
			}
		},
		"a cancel from an update": func(t *testing.T) {
			var w *world
			opened := make(chan struct{})
			w = ready(t, once(say("begun"), acptest.Hold()), acp.Options{Update: func(session string, _ acp.Update) {
				<-opened
				w.client.Cancel(session)
			}})
			close(opened)
			w.prompt(acp.Cancelled)
		},
		"a cancel that is ignored": func(t *testing.T) {
			play := once(say("begun"), acptest.Await("go", "on"), say(" on"))
			play.IgnoreCancel = true
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w := ready(t, play, acp.Options{CancelTime: soon, Update: func(string, acp.Update) { cancel() }})
			_, _, err := w.client.Prompt(ctx, first, []acp.Content{acp.Text("Go.")})
			w.failed(err, acp.Late, "session/prompt", soon.String())
			w.fails(acp.Unusable, "has not answered") // it still works on it
			w.write("go", "on")
			w.until("the end of the turn", func() bool { return len(w.updates) == 2 })
		},
	})
}

// TestSteps has the agent do each step on files, so that tests can rely on it.
func TestSteps(t *testing.T) {
	const count = 10_000
	w := ready(t, once(
		acptest.Write("sub/a.txt", "one\n"), acptest.Append("sub/a.txt", "two\n"), acptest.Read("sub/a.txt"),
		acptest.Write("b.txt", "b"), acptest.Rename("b.txt", "c.txt"), acptest.Chmod("c.txt", 0o600),
		acptest.Symlink("c.txt", "link"), acptest.Write("d.txt", ""), acptest.Delete("d.txt"),
		acptest.Files("many", count), acptest.Read("d.txt"),
	), acp.Options{})
	w.prompt(acp.EndTurn)
	if said := w.said(); !strings.HasPrefix(said, "one\ntwo\n") || !strings.Contains(said, "read d.txt: ") {
		t.Errorf("it said %q", said)
	}
	if target, err := os.Readlink(filepath.Join(w.dir, "link")); target != "c.txt" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if info, err := os.Stat(filepath.Join(w.dir, "c.txt")); err != nil || info.Mode() != 0o600 {
		t.Errorf("c.txt is %v, %v", info, err)
	}
	if list, err := os.ReadDir(filepath.Join(w.dir, "many")); len(list) != count {
		t.Errorf("there are %d files, %v", len(list), err)
	}
	for _, name := range []string{"b.txt", "d.txt"} {
		if _, err := os.Lstat(filepath.Join(w.dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	steps := acptest.Log(t, w.argv)
	if last := steps[len(steps)-2]; last.Did != "read" || last.Path != "d.txt" || last.Error == "" {
		t.Errorf("the log ends with %+v", last)
	}
}
