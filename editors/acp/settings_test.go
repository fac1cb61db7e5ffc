package acp_test

import (
	"slices"
	"strings"
	"testing"
)

// TestTold tells of subagents, of the plan and of thoughts.
func TestTold(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, `
turn match="Delegate."
reasoning Let me see.
call todo {"items": [{"text": "look", "state": "in_progress"}, {"text": "tell", "state": "pending"}]}
call task {"agent": "explore", "title": "look", "prompt": "Look around."}
turn match="Look around."
call read {"path": "a.txt"}
turn match="Look around."
call submit_result {"summary": "There is an a.", "details": "One a."}
turn match="Delegate."
text Done.
`)
	c.initialize(object{})
	c.prompt(c.session(), "Delegate.", "end_turn")
	c.updated(object{"sessionUpdate": "agent_thought_chunk", "content": object{"type": "text", "text": "Let me see."}})
	c.updated(object{"sessionUpdate": "plan", "entries": []any{
		object{"content": "look", "priority": "medium", "status": "in_progress"},
		object{"content": "tell", "priority": "medium", "status": "pending"},
	}})
	c.updated(object{"sessionUpdate": "tool_call_update", "title": "explore: look"})
	if !slices.ContainsFunc(c.updates("tool_call_update"), func(u object) bool {
		return u["status"] == "completed" && strings.Contains(text(u["content"]), "There is an a.")
	}) {
		t.Errorf("the report is not told: %s", text(c.updates("tool_call_update")))
	}
}

// optionsIn are the current values of the options in a result or update.
func optionsIn(in object) map[string]string {
	values := map[string]string{}
	list, _ := in["configOptions"].([]any)
	for _, o := range list {
		o, _ := o.(object)
		values[o["id"].(string)] = o["currentValue"].(string)
	}
	return values
}

// TestSettings chooses an agent, a mode and an effort. Each answer has all options, and the modes follow.
func TestSettings(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, `
turn
expect tools report_finding
call report_finding {"path": "a.txt", "line": 1, "severity": "warning", "message": "An a."}
turn
text Done.
`)
	c.initialize(object{})
	result := c.do("session/new", object{"cwd": c.dir, "mcpServers": []any{}})
	want := map[string]string{"mode": "default", "agent": "coder", "model": "offline", "effort": "default"}
	if have := optionsIn(result); text(have) != text(want) {
		t.Errorf("the options are %v, want %v", have, want)
	}
	session, _ := result["sessionId"].(string)
	set := func(id, value string) map[string]string {
		t.Helper()
		return optionsIn(c.do("session/set_config_option",
			object{"sessionId": session, "configId": id, "value": value}))
	}
	if have := set("agent", "reviewer"); have["agent"] != "reviewer" {
		t.Errorf("the options are %v", have)
	}
	c.prompt(session, "Review.", "end_turn")
	if said := c.said(); !strings.Contains(said, "- a.txt:1: warning: An a.") {
		t.Errorf("the finding is not told: %q", said)
	}
	c.refused(c.ask("session/set_config_option",
		object{"sessionId": session, "configId": "agent", "value": "coder"}), -32602, `no Agent "coder"`)
	c.refused(c.ask("session/set_config_option",
		object{"sessionId": session, "configId": "color", "value": "red"}), -32602, `no option "color"`)
	if have := set("effort", "high"); have["effort"] != "high" {
		t.Errorf("the options are %v", have)
	}
	if have := set("effort", "default"); have["effort"] != "default" {
		t.Errorf("the options are %v", have)
	}
}

// TestMode changes the mode of a conversation that has begun, both ways, and accepts edits from a question on.
func TestMode(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, `
turn
text Hello.
turn
call edit {"path": "a.txt", "old_string": "a", "new_string": "b"}
turn
expect result edit denied
text Planned.
turn
call edit {"path": "a.txt", "old_string": "a", "new_string": "b"}
turn
text Done.
turn
call edit {"path": "a.txt", "old_string": "b", "new_string": "c"}
turn
text Done.
`)
	c.initialize(object{})
	session := c.session()
	c.prompt(session, "Hello.", "end_turn")
	c.do("session/set_mode", object{"sessionId": session, "modeId": "plan"})
	c.await("the option", func(m object) bool {
		update, _ := updateIn(m)
		return update["sessionUpdate"] == "config_option_update" && optionsIn(update)["mode"] == "plan"
	})
	c.prompt(session, "Change it.", "end_turn")
	c.saved("a.txt", "a\n")
	c.do("session/set_config_option", object{"sessionId": session, "configId": "mode", "value": "default"})
	c.updated(object{"sessionUpdate": "current_mode_update", "currentModeId": "default"})
	c.chooses("write_always")
	c.prompt(session, "Change it.", "end_turn")
	c.saved("a.txt", "b\n")
	c.updated(object{"sessionUpdate": "current_mode_update", "currentModeId": "accept_edits"})
	c.prompt(session, "Change it again.", "end_turn")
	c.saved("a.txt", "c\n")
	if n := len(c.requests("session/request_permission")); n != 1 {
		t.Errorf("it asked %d times", n)
	}
	c.refused(c.ask("session/set_mode", object{"sessionId": session, "modeId": "yolo"}), -32602, `no Mode "yolo"`)
}
