package acp_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// pixel is a picture of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestContent has a prompt bring a link, lines of a file, a text of the editor's, and an image.
func TestContent(t *testing.T) {
	c := connect(t, map[string]string{"a.txt": "one\ntwo\n", "b c.txt": "spaced\n"}, `
turn
expect last See @a.txt:2, @"b c.txt" and [the page](https://example.org/x).
expect last "<attached name=\"a.txt\" about=\"lines 2-2 of 2\">\n2\ttwo\n"
expect last "<attached name=\"b c.txt\">\n1\tspaced\n"
expect last "<attached name=\"a.txt:1-2\">\nunsaved\n"
expect last "This is an image: image/png, 1 × 1 pixels"
text Seen.
`)
	c.initialize(object{})
	session := c.session()
	result := c.do("session/prompt", object{"sessionId": session, "prompt": []any{
		object{"type": "text", "text": "See "},
		object{"type": "resource_link", "name": "a.txt", "uri": "file://" + c.path("a.txt") + "#L2"},
		object{"type": "text", "text": ", "},
		object{"type": "resource_link", "name": "b c.txt", "uri": "file://" + c.path("b%20c.txt")},
		object{"type": "text", "text": " and "},
		object{"type": "resource_link", "name": "the page", "uri": "https://example.org/x"},
		object{"type": "text", "text": "."},
		object{
			"type": "resource", "resource": object{"uri": "file://" + c.path("a.txt") + "#L1:2", "text": "unsaved\n"},
		},
		object{"type": "image", "mimeType": "image/png", "data": pixel},
	}})
	if result["stopReason"] != "end_turn" {
		t.Errorf("the turn ended with %v", result)
	}
}

// TestServers starts a session with an MCP server of the client's, whose tools agents have.
func TestServers(t *testing.T) {
	c := connect(t, nil, "turn\ntext Hello.\n")
	c.initialize(object{})
	server := func(change object) object {
		s := object{"name": "x", "command": "/bin/true", "args": []any{}, "env": []any{}}
		for member, value := range change {
			s[member] = value
		}
		return s
	}
	begin := func(servers ...any) int {
		return c.ask("session/new", object{"cwd": c.dir, "mcpServers": servers})
	}
	c.refused(begin(server(object{"name": ""})), -32602, "params.mcpServers[0].name is missing")
	c.refused(begin(server(nil), server(nil)), -32602, "params.mcpServers[1]: there are two servers")
	sse := object{"type": "sse", "name": "y", "url": "https://example.org/", "headers": []any{}}
	c.refused(begin(sse), -32602, "speaks MCP over SSE")
	id, _ := c.result(begin(server(object{"env": []any{object{"name": "A", "value": "b"}}})))["sessionId"].(string)
	c.prompt(id, "Hello.", "end_turn")
}

// TestBadInput sends what is no message, or no params. Each is answered, and the connection goes on.
func TestBadInput(t *testing.T) {
	c := connect(t, nil, "turn\ntext Well.\n")
	judged := judge
	judge = nil // which these would not pass
	defer func() { judge = judged }()
	c.refused(c.ask("session/new", object{}), -32600, "send initialize first")
	c.refused(c.ask("initialize", object{}), -32602, "params.protocolVersion is missing")
	c.initialize(object{})
	c.refused(c.ask("initialize", object{"protocolVersion": 1}), -32600, "came twice")
	session := c.session()
	prompt := func(blocks ...any) object { return object{"sessionId": session, "prompt": blocks} }
	for _, test := range []struct {
		method string
		params any
		code   float64
		want   string
	}{
		{"session/fly", object{}, -32601, `no method "session/fly"`},
		{"authenticate", object{"methodId": "x"}, -32602, "nothing to log in to"},
		{"session/new", []any{1}, -32602, "params is no object"},
		{"session/new", object{"mcpServers": []any{}}, -32602, "params.cwd is missing"},
		{"session/new", object{"cwd": "a/b", "mcpServers": []any{}}, -32602, "give an absolute path"},
		{"session/new", object{"cwd": c.dir, "additionalDirectories": []any{"/x"}}, -32602, "on one folder"},
		{"session/new", object{"cwd": 3}, -32602, "params.cwd is a number"},
		{"session/new", object{"cwd": c.dir, "mcpServers": []any{object{"name": 1}}}, -32602, "params.mcpServers"},
		{"session/load", object{"cwd": c.dir}, -32602, "params.sessionId is missing"},
		{"session/prompt", prompt(), -32602, "params.prompt is empty"},
		{"session/prompt", object{"prompt": []any{}}, -32602, "params.sessionId is missing"},
		{"session/prompt", prompt(object{"text": "x"}), -32602, "params.prompt[0].type is missing"},
		{"session/prompt", prompt(object{"type": "audio", "data": ""}), -32602, `of the type "audio"`},
		{"session/prompt", prompt(object{"type": "resource"}), -32602, "params.prompt[0].resource is missing"},
		{"session/prompt", prompt(object{"type": "image", "data": "!"}), -32602, "no image in base64"},
		{
			"session/prompt", prompt(object{"type": "image", "data": base64.StdEncoding.EncodeToString([]byte("x"))}),
			-32602, "cannot be sent as an image",
		},
		{"session/prompt", says("s-none", "Hello."), -32002, `no session "s-none"`},
		{"session/set_mode", object{"sessionId": session}, -32602, "params.modeId is missing"},
		{
			"session/set_config_option",
			object{"sessionId": session, "configId": "mode", "value": true},
			-32602,
			"no string",
		},
	} {
		c.refused(c.ask(test.method, test.params), test.code, test.want)
	}
	c.notify("session/cancel", object{"sessionId": "s-none"})
	c.notify("$/other", object{})
	for _, test := range []struct {
		line string
		id   any
		code float64
		want string
	}{
		{`{"jsonrpc": "2.0", "id"`, nil, -32700, "no JSON"},
		{`Content-Length: 20`, nil, -32700, "no JSON"},
		{`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, nil, -32600, "one JSON object"},
		{`7`, nil, -32600, "one JSON object"},
		{`{"jsonrpc":"2.0","id":-5,"method":"no"}`, -5.0, -32601, "no method"},
		{`{"jsonrpc":"2.0","id":"é\"x","method":"no"}`, `é"x`, -32601, "no method"},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"no"}`, nil, -32600, "neither a number nor a string"},
		{`{"jsonrpc":"2.0","id":8}`, 8.0, -32600, "neither method nor result"},
	} {
		c.sendLine("\r\n" + test.line)
		c.await("an answer to "+test.line, func(m object) bool {
			failure, _ := m["error"].(object)
			said, _ := failure["message"].(string)
			return m["id"] == test.id && failure["code"] == test.code && strings.Contains(said, test.want)
		})
	}
	c.prompt(session, "Are you well?", "end_turn")
}

// TestLongLine refuses a line that is too long, and reads the next one.
func TestLongLine(t *testing.T) {
	c := connect(t, nil, "")
	go c.sendLine(strings.Repeat("x", 64<<20+1))
	c.await("a refusal", func(m object) bool {
		failure, _ := m["error"].(object)
		return failure["code"] == -32700.0 && m["id"] == nil
	})
	c.initialize(object{})
}
