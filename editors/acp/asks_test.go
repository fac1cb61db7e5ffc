package acp_test

import (
	"strings"
	"testing"
)

// protected asks for leave, since the editor acts on the file.
const protected = `
turn
call write {"path": ".vscode/x.json", "content": "{}\n"}
turn
expect result write %
text Done.
`

// TestPermission has the user decide on a call. The id of the option decides, wherever it stands.
func TestPermission(t *testing.T) {
	for id, result := range map[string]string{
		"allow_once": "Created", "deny": "denied", "cancelled": "closed the question",
		"no such option": "there is not",
	} {
		t.Run(id, func(t *testing.T) {
			c := connect(t, nil, strings.ReplaceAll(protected, "%", result))
			c.initialize(object{})
			c.chooses(id, "drop")
			session := c.session()
			c.prompt(session, "Write.", "end_turn")
			asked := c.requests("session/request_permission")
			if len(asked) == 0 {
				t.Fatal("it did not ask")
			}
			call, _ := asked[0]["toolCall"].(object)
			begun := c.updates("tool_call")
			if len(begun) != 1 || call["toolCallId"] != begun[0]["toolCallId"] {
				t.Errorf("it asks about %s, and told of %s", text(call), text(begun))
			}
			kinds := map[string]string{}
			options, _ := asked[0]["options"].([]any)
			for _, o := range options {
				o, _ := o.(object)
				kinds[o["optionId"].(string)] = o["kind"].(string)
			}
			if kinds["allow_once"] != "allow_once" || kinds["deny"] != "reject_once" {
				t.Errorf("the options are %s", text(options))
			}
		})
	}
}

// TestPermissionOfSubagent has a subagent ask. The client, which was not told of the call before, is told of its end.
func TestPermissionOfSubagent(t *testing.T) {
	c := connect(t, nil, `
turn match="Delegate."
call task {"agent": "general", "title": "write", "prompt": "Write it."}
turn match="Write it."
call write {"path": ".vscode/x.json", "content": "{}\n"}
turn match="Write it."
expect result write Created
call submit_result {"summary": "Written."}
turn match="Delegate."
text Done.
`)
	c.initialize(object{})
	c.chooses("allow_once", "drop")
	c.prompt(c.session(), "Delegate.", "end_turn")
	asked := c.requests("session/request_permission")
	if len(asked) != 2 {
		t.Fatalf("it asked %s", text(asked))
	}
	call, _ := asked[0]["toolCall"].(object)
	c.updated(object{
		"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "status": "completed",
	})
}

const question = `
turn
call question {"questions": [{"question": "Which name?", "options": [{"label": "old"}, {"label": "new"}]}]}
turn
expect result question %
text Done.
`

// TestQuestion has the user answer what an agent wants to know: by a form where the client has them, else by options.
func TestQuestion(t *testing.T) {
	t.Run("options", func(t *testing.T) {
		c := connect(t, nil, strings.ReplaceAll(question, "%", "→ new"))
		c.initialize(object{})
		c.chooses("answer:new")
		c.prompt(c.session(), "Rename.", "end_turn")
	})
	forms := object{"elicitation": object{"form": object{}}}
	for name, test := range map[string]struct {
		reply  object
		result string
	}{
		"choice":   {object{"action": "accept", "content": object{"answer": "old"}}, "→ old"},
		"words":    {object{"action": "accept", "content": object{"words": "both"}}, "→ both"},
		"declined": {object{"action": "decline"}, "no answer"},
		"unknown":  {object{"action": "later"}, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, nil, strings.ReplaceAll(question, "%", test.result))
			c.answers["elicitation/create"] = func(object) (any, any) { return test.reply, nil }
			c.initialize(forms)
			c.prompt(c.session(), "Rename.", "end_turn")
			if asked := c.requests("elicitation/create"); len(asked) != 1 || asked[0]["message"] != "Which name?" {
				t.Errorf("it asked %s", text(asked))
			}
		})
	}
	t.Run("no form", func(t *testing.T) {
		c := connect(t, nil, `
turn
call question {"questions": [{"question": "Which name?"}]}
turn
expect result question "the next prompt answers it"
text Waiting.
`)
		c.initialize(object{})
		c.prompt(c.session(), "Rename.", "end_turn")
		if said := c.said(); !strings.Contains(said, "Which name?") {
			t.Errorf("the user does not see the question: %q", said)
		}
	})
}

// TestPlan has the user decide on a plan, which he sees whole.
func TestPlan(t *testing.T) {
	c := connect(t, nil, `
turn
call plan_enter {}
turn
call plan_exit {"plan": "# The plan\n\nBe brief.\n"}
turn
expect result plan_exit "accepted"
text Done.
`)
	c.initialize(object{})
	c.chooses("answer:Plan first", "answer:Accept the plan")
	c.prompt(c.session(), "Plan.", "end_turn")
	asked := c.requests("session/request_permission")
	if len(asked) != 2 || !strings.Contains(text(asked[1]["toolCall"]), `Be brief.`) {
		t.Errorf("the user is asked %s", text(asked))
	}
	c.updated(object{"sessionUpdate": "tool_call", "name": "plan_exit", "kind": "switch_mode"})
}

// TestCancel cancels a turn: while the model answers, with a subagent at work, and while the user is asked.
func TestCancel(t *testing.T) {
	t.Run("answer", func(t *testing.T) {
		c := connect(t, nil, "turn\nwait never\ntext No.\n")
		c.initialize(object{})
		session := c.session()
		id := c.ask("session/prompt", says(session, "Go."))
		c.reached("never")
		c.notify("session/cancel", object{"sessionId": session})
		if result := c.result(id); result["stopReason"] != "cancelled" {
			t.Errorf("the turn ended with %v", result)
		}
	})
	t.Run("request", func(t *testing.T) {
		c := connect(t, nil, "turn\nwait never\ntext No.\n")
		c.initialize(object{})
		id := c.ask("session/prompt", says(c.session(), "Go."))
		c.reached("never")
		c.notify("$/cancel_request", object{"requestId": id})
		if result := c.result(id); result["stopReason"] != "cancelled" {
			t.Errorf("the turn ended with %v", result)
		}
	})
	t.Run("subagent", func(t *testing.T) {
		c := connect(t, nil, `
turn match="Delegate."
call task {"agent": "explore", "title": "look", "prompt": "Look around."}
turn match="Look around."
wait never
text No.
`)
		c.initialize(object{})
		session := c.session()
		id := c.ask("session/prompt", says(session, "Delegate."))
		c.reached("never")
		c.notify("session/cancel", object{"sessionId": session})
		if result := c.result(id); result["stopReason"] != "cancelled" {
			t.Errorf("the turn ended with %v", result)
		}
	})
	t.Run("question", func(t *testing.T) {
		c := connect(t, nil, "turn\ncall write {\"path\": \".vscode/x.json\", \"content\": \"{}\\n\"}\n")
		c.initialize(object{})
		session, asked := c.session(), make(chan struct{})
		gone := make(chan struct{})
		c.answers["session/request_permission"] = func(object) (any, any) {
			close(asked)
			<-gone
			return object{"outcome": object{"outcome": "cancelled"}}, nil
		}
		id := c.ask("session/prompt", says(session, "Write."))
		<-asked
		c.notify("session/cancel", object{"sessionId": session})
		if result := c.result(id); result["stopReason"] != "cancelled" {
			t.Errorf("the turn ended with %v", result)
		}
		close(gone)
		if told := c.requests("$/cancel_request"); len(told) != 1 {
			t.Errorf("the client is told %s of its question", text(told))
		}
	})
}

// TestCancelReview cancels a turn while the user is asked whether an edit is to be written. It stays proposed.
func TestCancelReview(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, editOnce+"turn\ntext Nothing.\n")
	c.initialize(object{})
	session, asked, gone := c.session(), make(chan struct{}), make(chan struct{})
	c.answers["session/request_permission"] = func(object) (any, any) {
		close(asked)
		<-gone
		return object{"outcome": object{"outcome": "cancelled"}}, nil
	}
	id := c.ask("session/prompt", says(session, "Change it."))
	<-asked
	c.notify("session/cancel", object{"sessionId": session})
	if result := c.result(id); result["stopReason"] != "cancelled" {
		t.Errorf("the turn ended with %v", result)
	}
	close(gone)
	c.saved("a.txt", "a\n")
	c.chooses("write")
	c.prompt(session, "Again.", "end_turn")
	c.saved("a.txt", "b\n")
}

// reached waits until the model holds at a gate.
func (c *client) reached(gate string) {
	c.t.Helper()
	if err := c.model.Reached(c.ctx, gate, 1); err != nil {
		c.t.Fatal(err)
	}
}

// TestDeath has the client die in the middle of a turn: with a question open, and with a command at work. Everything
// stops; TestMain looks for goroutines that are left.
func TestDeath(t *testing.T) {
	t.Run("question", func(t *testing.T) {
		c := connect(t, nil, "turn\ncall write {\"path\": \".vscode/x.json\", \"content\": \"{}\\n\"}\n")
		c.initialize(object{})
		asked, dead := make(chan struct{}), make(chan struct{})
		c.answers["session/request_permission"] = func(object) (any, any) {
			close(asked)
			<-dead
			return nil, object{"code": -32603, "message": "dead"}
		}
		c.ask("session/prompt", says(c.session(), "Wait."))
		<-asked
		c.disconnect()
		close(dead)
	})
	t.Run("command", func(t *testing.T) {
		c := connect(t, nil, "turn\ncall bash {\"command\": \"echo $$ >pid; sleep 600\"}\n")
		c.initialize(object{})
		c.chooses("allow_once")
		c.ask("session/prompt", says(c.session(), "Wait."))
		c.await("the command", func(m object) bool {
			update, _ := updateIn(m)
			return update["kind"] == "execute"
		})
		c.disconnect()
	})
}
