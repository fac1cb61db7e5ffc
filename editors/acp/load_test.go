package acp_test

import (
	"strings"
	"testing"
)

// TestLoad goes on with a conversation in another process, under the same id: what was said is told again before the
// answer, what was proposed is proposed, and the mode is that of then. A load that fails leaves the connection well.
func TestLoad(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, `
turn
reasoning Let me see.
call edit {"path": "a.txt", "old_string": "a", "new_string": "b"}
call todo {"items": [{"text": "look", "state": "done"}]}
turn
text Proposed.
turn
expect messages 6
text "I said so.\n"
`)
	c.initialize(object{})
	session := c.session()
	c.chooses("leave")
	c.do("session/set_mode", object{"sessionId": session, "modeId": "default"})
	c.prompt(session, "Change it, please.", "end_turn")
	c.prompt(session, "What did you say?", "end_turn")
	c.disconnect()

	c.begin(`
turn
expect messages 8
call read {"path": "a.txt"}
turn
expect result read b
text Once more.
turn
expect messages 12
text Last.
`)
	c.initialize(object{})
	list, _ := c.do("session/list", object{"cwd": c.dir})["sessions"].([]any)
	if len(list) != 1 || list[0].(object)["sessionId"] != session || list[0].(object)["cwd"] != c.dir {
		t.Errorf("the sessions are %s, want %s", text(list), session)
	}
	here := object{"sessionId": session, "cwd": c.dir, "mcpServers": []any{}}
	c.refused(c.ask("session/load", object{"sessionId": "s-none", "cwd": c.dir, "mcpServers": []any{}}), -32002,
		`no session "s-none"`)
	c.refused(c.ask("session/load", object{"sessionId": session, "cwd": t.TempDir(), "mcpServers": []any{}}), -32602,
		"load it there")
	c.refused(c.ask("session/prompt", says(session, "Not open.")), -32002, "no session")
	id := c.ask("session/load", here)
	if have := optionsIn(c.result(id)); have["mode"] != "default" || have["agent"] != "coder" {
		t.Errorf("the options are %v", have)
	}
	var told []string
	_, answered := c.await("the answer", func(m object) bool { return m["id"] == float64(id) })
	c.mu.Lock()
	for _, f := range c.frames[:answered] {
		if u, ok := updateIn(f.object); ok {
			content, _ := u["content"].(object)
			told = append(told, strings.Trim(u["sessionUpdate"].(string)+": "+text(content["text"]), `"`))
		}
	}
	c.mu.Unlock()
	want := []string{
		`user_message_chunk: "Change it, please.`, `agent_thought_chunk: "Let me see.`, `tool_call: null`,
		`agent_message_chunk: "Proposed.`, `user_message_chunk: "What did you say?`,
		`agent_message_chunk: "I said so.\n`,
	}
	if text(told) != text(want) {
		t.Errorf("it is told\n%s, want\n%s", text(told), text(want))
	}
	c.chooses("leave")
	c.prompt(session, "Again.", "end_turn")
	c.disconnect()

	c.begin(`
turn
text Last.
`)
	c.initialize(object{})
	c.do("session/resume", here)
	if n := len(c.updates("user_message_chunk")); n > 0 {
		t.Errorf("session/resume tells %d messages again", n)
	}
	c.chooses("write")
	c.prompt(session, "End.", "end_turn")
	c.saved("a.txt", "b\n")
	list, _ = c.do("session/list", object{})["sessions"].([]any)
	if len(list) != 1 || list[0].(object)["sessionId"] != session {
		t.Errorf("the sessions are %s, want %s", text(list), session)
	}
}

// TestClose closes a session with a turn under way, and loads it again.
func TestClose(t *testing.T) {
	c := connect(t, nil, "turn\ntext Hello.\nturn\nwait never\ntext No.\nturn\nexpect last Again.\ntext Yes.\n")
	c.initialize(object{})
	session := c.session()
	c.prompt(session, "Hello.", "end_turn")
	id := c.ask("session/prompt", says(session, "Go."))
	c.reached("never")
	c.do("session/close", object{"sessionId": session})
	if result := c.result(id); result["stopReason"] != "cancelled" {
		t.Errorf("the turn ended with %v", result)
	}
	c.refused(c.ask("session/prompt", says(session, "Go.")), -32002, "no session")
	c.refused(c.ask("session/load", object{"sessionId": session, "cwd": t.TempDir(), "mcpServers": []any{}}), -32602,
		"load it there")
	c.do("session/load", object{"sessionId": session, "cwd": c.dir, "mcpServers": []any{}})
	c.prompt(session, "Again.", "end_turn")
}

// TestFolders has two sessions on two folders work at the same time, each with what lies in its own, and lists each.
func TestFolders(t *testing.T) {
	c := connect(t, map[string]string{"one/a.txt": "one\n", "two/a.txt": "two\n"}, `
turn match="first"
wait both
call read {"path": "a.txt"}
turn match="second"
wait both
call read {"path": "a.txt"}
turn match="first"
expect result read "1\tone\n"
text One.
turn match="second"
expect result read "1\ttwo\n"
text Two.
`)
	c.initialize(object{})
	begin := func(name string) string {
		t.Helper()
		id, _ := c.do("session/new", object{"cwd": c.path(name), "mcpServers": []any{}})["sessionId"].(string)
		return id
	}
	one, two := begin("one"), begin("two")
	first := c.ask("session/prompt", says(one, "The first."))
	second := c.ask("session/prompt", says(two, "The second."))
	if err := c.model.Reached(c.ctx, "both", 2); err != nil {
		t.Fatal(err)
	}
	c.model.Release("both")
	for _, id := range []int{first, second} {
		if result := c.result(id); result["stopReason"] != "end_turn" {
			t.Errorf("the turn ended with %v", result)
		}
	}
	for name, session := range map[string]string{"one": one, "two": two} {
		list, _ := c.do("session/list", object{"cwd": c.path(name)})["sessions"].([]any)
		if len(list) != 1 || list[0].(object)["sessionId"] != session {
			t.Errorf("the sessions on %s are %s, want %s", name, text(list), session)
		}
	}
}
