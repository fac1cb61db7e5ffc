package acp_test

import (
	"strings"
	"testing"
)

// editing is what a client announces that reads and writes files.
var editing = object{"fs": object{"readTextFile": true, "writeTextFile": true}}

// buffers answer fs/read_text_file and fs/write_text_file as an editor with these unsaved texts does, which saves what
// is written.
func (c *client) buffers(unsaved map[string]string) {
	c.answers["fs/read_text_file"] = func(params object) (any, any) {
		path, _ := params["path"].(string)
		name := strings.TrimPrefix(path, c.dir+"/")
		c.mu.Lock()
		text, ok := unsaved[name]
		c.mu.Unlock()
		if !ok {
			return nil, object{"code": -32002, "message": "Resource not found"}
		}
		return object{"content": text}, nil
	}
	c.answers["fs/write_text_file"] = func(params object) (any, any) {
		path, _ := params["path"].(string)
		text, _ := params["content"].(string)
		name := strings.TrimPrefix(path, c.dir+"/")
		c.mu.Lock()
		delete(unsaved, name)
		c.mu.Unlock()
		c.save(name, text)
		return object{}, nil
	}
}

// chooses answers permissions by the option with an id, wherever it stands.
func (c *client) chooses(ids ...string) {
	c.answers["session/request_permission"] = func(params object) (any, any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		id := ids[0]
		if len(ids) > 1 {
			ids = ids[1:]
		}
		if id == "cancelled" {
			return object{"outcome": object{"outcome": "cancelled"}}, nil
		}
		return object{"outcome": object{"outcome": "selected", "optionId": id}}, nil
	}
}

// requests are the params of the requests of a method that the agent sent so far.
func (c *client) requests(method string) (list []object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.frames {
		if params, _ := f.object["params"].(object); !f.client && f.object["method"] == method && params != nil {
			list = append(list, params)
		}
	}
	return list
}

// TestEdit has an agent read and edit a file whose text is not saved. It sees the unsaved text, the user is asked with
// the diff, and the edit goes through the editor.
func TestEdit(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "one\ntwo\n"}, `
turn
call read {"path": "a.txt"}
turn
expect result read unsaved
call edit {"path": "a.txt", "old_string": "two", "new_string": "three"}
turn
text Done.
turn
expect last Look again.
call read {"path": "a.txt"}
turn
expect result read three
text Seen.
`)
	c.buffers(map[string]string{"a.txt": "one unsaved\ntwo\n"})
	c.chooses("write")
	c.initialize(editing)
	session := c.session()
	c.prompt(session, "Change it.", "end_turn")
	c.saved("a.txt", "one unsaved\nthree\n")
	asked := c.requests("session/request_permission")
	if len(asked) != 1 {
		t.Fatalf("it asked %d times", len(asked))
	}
	call, _ := asked[0]["toolCall"].(object)
	want := object{
		"type": "diff", "path": c.path("a.txt"), "oldText": "one unsaved\ntwo\n", "newText": "one unsaved\nthree\n",
	}
	if text(call["content"]) != text([]any{want}) {
		t.Errorf("the user is shown %s, want %s", text(call["content"]), text(want))
	}
	for _, want := range []object{
		{"sessionUpdate": "tool_call", "kind": "read", "name": "read", "status": "in_progress"},
		{"sessionUpdate": "tool_call", "kind": "edit", "name": "edit", "status": "in_progress"},
		{"sessionUpdate": "tool_call_update", "title": "Wrote a.txt", "status": "completed"},
	} {
		c.updated(want)
	}
	if calls := c.updates("tool_call"); len(calls) != 2 || text(calls[0]["locations"]) != text(
		[]any{object{"path": c.path("a.txt")}}) {
		t.Errorf("the calls are %s", text(calls))
	}
	c.prompt(session, "Look again.", "end_turn")
	if len(c.written) > 0 {
		t.Errorf("the agent wrote %v itself", c.written)
	}
}

// updated waits for an update with these members.
func (c *client) updated(want object) {
	c.t.Helper()
	c.await("an update "+text(want), func(m object) bool {
		u, ok := updateIn(m)
		for member, value := range want {
			ok = ok && text(u[member]) == text(value)
		}
		return ok
	})
}

// TestEditIsDropped drops one edit, leaves one, and writes one on the disk, where the editor writes no files.
func TestEditIsDropped(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}, `
turn
call write {"path": "new.txt", "content": "new\n"}
call edit {"path": "a.txt", "old_string": "a", "new_string": "A"}
turn
text Done.
turn
text Nothing.
`)
	c.initialize(object{})
	session := c.session()
	c.chooses("drop", "leave")
	c.prompt(session, "Go.", "end_turn")
	c.saved("a.txt", "a\n")
	c.saved("new.txt", "")
	if said := c.said(); !strings.Contains(said, "The edits of 1 file are proposed, and not written.") {
		t.Errorf("it said %q", said)
	}
	c.chooses("write")
	c.prompt(session, "Go on.", "end_turn")
	c.saved("a.txt", "a\n")
	c.saved("new.txt", "new\n")
}

// TestMention has a prompt bring a file whose text is not saved, later another text of it, and then what is on
// the disk.
func TestMention(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "saved\r\n"}, `
turn
expect last "1\tunsaved\n"
text One.
turn
expect last "1\tunsaved again\n"
text Two.
turn
expect last "1\tsaved\n"
text Three.
`)
	texts := map[string]string{"a.txt": "unsaved\n"}
	c.buffers(texts)
	c.initialize(editing)
	session := c.session()
	c.prompt(session, "What is in @a.txt?", "end_turn")
	c.mu.Lock()
	texts["a.txt"] = "unsaved again\n"
	c.mu.Unlock()
	c.prompt(session, "And now, in @a.txt?", "end_turn")
	c.mu.Lock()
	texts["a.txt"] = "saved\n" // as editors have it that keep lines without their endings
	c.mu.Unlock()
	c.prompt(session, "And now, in @a.txt?", "end_turn")
	if n := len(c.requests("fs/read_text_file")); n != 3 {
		t.Errorf("the client was asked %d times", n)
	}
}

// TestSteer tells the run under way what a second prompt says, and answers both with its end.
func TestSteer(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, `
turn
call read {"path": "a.txt"}
turn
wait told
call read {"path": "a.txt"}
turn
expect last Also b.
text Both.
`)
	c.initialize(object{})
	session := c.session()
	first := c.ask("session/prompt", says(session, "Look at a."))
	c.updated(object{"sessionUpdate": "tool_call"}) // the run is known
	c.reached("told")
	second := c.ask("session/prompt", says(session, "Also b."))
	// It is answered with the turn, so what comes behind it shows that it was taken.
	c.do("session/set_mode", object{"sessionId": session, "modeId": "default"})
	c.model.Release("told")
	for _, id := range []int{first, second} {
		if result := c.result(id); result["stopReason"] != "end_turn" {
			t.Errorf("the turn ended with %v", result)
		}
	}
}

// editOnce has an agent edit a file.
const editOnce = `
turn
call edit {"path": "a.txt", "old_string": "a", "new_string": "b"}
turn
text Done.
`

// TestEditorRefuses has the editor fail to write an edit, which stays proposed, and then write it.
func TestEditorRefuses(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, editOnce+"turn\ntext Nothing.\n")
	c.buffers(map[string]string{})
	write := c.answers["fs/write_text_file"]
	c.answers["fs/write_text_file"] = func(object) (any, any) {
		return nil, object{"code": -32603, "message": "the buffer is read-only"}
	}
	c.chooses("write")
	c.initialize(editing)
	session := c.session()
	c.prompt(session, "Change it.", "end_turn")
	c.updated(object{"sessionUpdate": "tool_call_update", "status": "failed", "title": "Not written: a.txt"})
	c.saved("a.txt", "a\n")
	c.answers["fs/write_text_file"] = write
	c.prompt(session, "Again.", "end_turn")
	c.saved("a.txt", "b\n")
}

// TestEditMeetsTyping has the user type where an edit is to be made, while he is asked about it: it is not written over
// what he typed.
func TestEditMeetsTyping(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "a\n"}, editOnce)
	texts := map[string]string{"a.txt": "a\n"}
	c.buffers(texts)
	c.initialize(editing)
	c.answers["session/request_permission"] = func(object) (any, any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		texts["a.txt"] = "typed\n"
		return object{"outcome": object{"outcome": "selected", "optionId": "write"}}, nil
	}
	c.prompt(c.session(), "Change it.", "end_turn")
	c.updated(object{"sessionUpdate": "tool_call_update", "status": "failed", "title": "Not written: a.txt"})
	c.saved("a.txt", "a\n")
}

// TestUsage tells how full the model's context is.
func TestUsage(t *testing.T) {
	c := connect(t, nil, "turn\nusage input=100 cached=20 output=5\ntext Hello.\n")
	c.environ = map[string]string{"ANTHROPIC_API_KEY": "key"}
	c.initialize(object{})
	c.prompt(c.session(), "Hello.", "end_turn")
	c.updated(object{"sessionUpdate": "usage_update", "used": 125})
}
