package acp_test

import (
	"strings"
	"testing"
)

// TestPrompt has an agent answer twice. Nothing is sent for the session before the answer that names it, and all
// updates of the turn come before the answer to its prompt.
func TestPrompt(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, `
turn
expect last Hello?
text "Hello to you.\n"
turn
expect messages 3
expect last And?
text More.
`)
	result := c.initialize(object{})
	if result["protocolVersion"] != 1.0 || len(result["authMethods"].([]any)) != 0 {
		t.Errorf("initialize answers %s", text(result))
	}
	session := c.session()
	_, named := c.await("the answer with the session", func(m object) bool {
		result, _ := m["result"].(object)
		return result["sessionId"] == session
	})
	_, first := c.await("available commands", func(m object) bool {
		update, _ := updateIn(m)
		return update["sessionUpdate"] == "available_commands_update"
	})
	if first < named {
		t.Error("an update came before the answer that names the session")
	}
	id := c.ask("session/prompt", says(session, "Hello?"))
	if result := c.result(id); result["stopReason"] != "end_turn" {
		t.Errorf("the turn ended with %v", result)
	}
	_, answered := c.await("the answer", func(m object) bool { return m["id"] == float64(id) })
	_, piece := c.await("a piece", func(m object) bool {
		update, _ := updateIn(m)
		return update["sessionUpdate"] == "agent_message_chunk"
	})
	if piece < named || piece > answered {
		t.Errorf("the text is frame %d, behind the answer, which is frame %d", piece, answered)
	}
	if said := c.said(); said != "Hello to you.\n" {
		t.Errorf("it said %q", said)
	}
	c.prompt(session, "And?", "end_turn")
	if said := c.said(); !strings.HasSuffix(said, "More.") {
		t.Errorf("it said %q", said)
	}
}
