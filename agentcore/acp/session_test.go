package acp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
)

// able are the capabilities of an agent that can do everything.
var able = acptest.Object{
	"loadSession": true, "promptCapabilities": acptest.Object{"image": true, "embeddedContext": true},
	"sessionCapabilities": acptest.Object{
		"list": acptest.Object{}, "resume": acptest.Object{}, "close": acptest.Object{},
		"additionalDirectories": acptest.Object{},
	},
}

// TestInitialize has agents answer initialize.
func TestInitialize(t *testing.T) {
	me := acp.Implementation{Name: "test", Version: "1"}
	refused := func(version any, words string) func(*testing.T) {
		return func(t *testing.T) {
			w := begin(t, acptest.Play{Version: version}, acp.Options{})
			_, err := w.client.Initialize(w.ctx, me)
			w.failed(err, acp.Unusable, words, "version 1 is needed")
		}
	}
	plays(t, map[string]func(*testing.T){
		"version 2":  refused(2, "it speaks version 2"),
		"version 0":  refused(0, "it speaks version 0"),
		"a text":     refused("1\x1b", `it speaks version "1\u001b"`),
		"no version": refused(acptest.NoVersion, "it speaks no version"),
		"an agent that can do everything": func(t *testing.T) {
			w := begin(t, acptest.Play{Capabilities: able, Logins: []acptest.Object{
				{"id": "key", "name": "API key"}, {"id": "web", "name": "Log in", "type": "terminal"},
			}}, acp.Options{})
			want := acp.Agent{
				Implementation: acp.Implementation{Name: "acptest", Version: "1"},
				Load:           true, Resume: true, List: true, Close: true, More: true, Image: true, Embedded: true,
				Logins: []acp.LoginMethod{{ID: "key", Name: "API key"}, {ID: "web", Name: "Log in", Type: "terminal"}},
			}
			if diff := cmp.Diff(want, w.initialize()); diff != "" {
				t.Error(diff)
			}
		},
		"capabilities of a wrong form": func(t *testing.T) {
			w := begin(t, acptest.Play{Capabilities: acptest.Object{
				"loadSession": "yes", "sessionCapabilities": acptest.Object{"close": true, "list": false},
			}}, acp.Options{})
			if a := w.initialize(); a.Load || a.Resume || a.List || !a.Close {
				t.Errorf("the agent is %+v", a)
			}
		},
		"no answer": func(t *testing.T) {
			w := begin(t, acptest.Play{Mute: []string{"initialize"}}, acp.Options{StartTime: soon})
			_, err := w.client.Initialize(w.ctx, me)
			w.failed(err, acp.Late, soon.String())
			w.client.Close()
			if list := w.got("$/cancel_request"); len(list) != 1 || list[0]["requestId"] != 1.0 {
				t.Errorf("the request was taken back by %v", list)
			}
		},
		"nobody waits": func(t *testing.T) {
			w := begin(t, acptest.Play{Mute: []string{"initialize"}}, acp.Options{})
			ctx, cancel := context.WithCancel(w.ctx)
			cancel()
			if _, err := w.client.Initialize(ctx, me); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
		},
		"a program that is no agent": func(t *testing.T) {
			w := begin(t, acptest.Play{}, acp.Options{})
			w.client.Close()
			if err := os.WriteFile(w.argv[1], []byte("no play"), 0o600); err != nil {
				t.Fatal(err)
			}
			client := acp.Connect(w.ctx, w.start(), acp.Options{})
			defer client.Close()
			_, err := client.Initialize(w.ctx, me)
			w.failed(err, acp.Ended, "ended with exit code 3", "the scripted agent cannot play")
		},
	})
}

// TestSessions opens sessions.
func TestSessions(t *testing.T) {
	early := []acptest.Step{
		acptest.Say("one "),
		acptest.Update(acptest.Object{"sessionUpdate": "available_commands_update", "availableCommands": []any{
			acptest.Object{"name": "init", "description": "Begins.", "input": acptest.Object{"hint": "what"}},
		}}),
		acptest.Say("two "),
	}
	plays(t, map[string]func(*testing.T){
		"updates before the answer": func(t *testing.T) {
			play := once(acptest.Say("three"))
			play.Before = early
			w := ready(t, play, acp.Options{})
			w.prompt(acp.EndTurn)
			w.says("one two three")
			if w.updates[1].Kind != acp.CommandsListed || w.updates[1].Commands[0].Name != "init" {
				t.Errorf("the second update is %+v", w.updates[1])
			}
			w.nothingOdd()
		},
		"more before the answer than is kept": func(t *testing.T) {
			w := ready(t, acptest.Play{Before: []acptest.Step{acptest.Flood(3000)}}, acp.Options{})
			w.strange("more before its session began than is kept")
			if len(w.updates) != 1000 || w.updates[999].Content.Text != "999" {
				t.Errorf("%d updates were kept", len(w.updates))
			}
		},
		"updates of another session before the answer": func(t *testing.T) {
			w := ready(t, acptest.Play{Before: []acptest.Step{acptest.Notify("session/update", acptest.Object{
				"sessionId": "other", "update": acptest.Say("x").Message,
			})}}, acp.Options{})
			w.strange("was not begun")
			w.says("")
		},
		"a session that is refused": func(t *testing.T) {
			w := begin(t, acptest.Play{Before: early, Fail: map[string]acptest.Failure{
				"session/new": {Code: -32603, Message: "no", Data: "the disk is full"},
			}}, acp.Options{})
			w.initialize()
			_, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir})
			w.failed(err, acp.Refused, "session/new: no: the disk is full")
		},
		"a session that needs a login": func(t *testing.T) {
			w := begin(t, acptest.Play{
				Logins: []acptest.Object{{"id": "web", "name": "In the browser"}, {"id": "key", "name": "API key"}},
				Fail:   map[string]acptest.Failure{"session/new": {Code: -32000, Message: "Authentication required"}},
			}, acp.Options{})
			w.initialize()
			_, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir})
			failed := w.failed(err, acp.LoginNeeded, "Authentication required")
			if diff := cmp.Diff([]string{"In the browser", "API key"}, failed.Logins); diff != "" {
				t.Error(diff)
			}
		},
		"a session without an id": func(t *testing.T) {
			w := begin(t, acptest.Play{Session: acptest.Object{"sessionId": ""}}, acp.Options{})
			w.initialize()
			_, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir})
			w.failed(err, acp.Unusable, "no id")
		},
		"a session that does not begin": func(t *testing.T) {
			w := begin(t, acptest.Play{Mute: []string{"session/new"}}, acp.Options{CallTime: soon})
			w.initialize()
			_, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir})
			w.failed(err, acp.Late, "session/new")
		},
		"several folders": func(t *testing.T) {
			w := begin(t, acptest.Play{Capabilities: able}, acp.Options{})
			w.initialize()
			if _, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir, More: []string{"/more"}}); err != nil {
				t.Fatal(err)
			}
			want := acptest.Object{"cwd": w.dir, "additionalDirectories": []any{"/more"}, "mcpServers": []any{}}
			if diff := cmp.Diff(want, w.got("session/new")[0]); diff != "" {
				t.Error(diff)
			}
		},
		"a history": func(t *testing.T) {
			w := begin(t, acptest.Play{Capabilities: able, History: early}, acp.Options{})
			w.initialize()
			s, err := w.client.LoadSession(w.ctx, "old", acp.Place{Folder: w.dir})
			if err != nil || s.ID != "old" {
				t.Fatalf("the session is %+v, %v", s, err)
			}
			w.says("one two ")
			if reason, _, err := w.client.Prompt(w.ctx, "old", nil); reason != acp.EndTurn || err != nil {
				t.Errorf("the prompt ended with %q, %v", reason, err)
			}
			_, err = w.client.LoadSession(w.ctx, "old", acp.Place{Folder: w.dir})
			w.failed(err, acp.Unusable, "is open")
		},
		"a session that cannot be loaded": func(t *testing.T) {
			w := begin(t, acptest.Play{Capabilities: able, Fail: map[string]acptest.Failure{
				"session/load": {Code: -32002, Message: "Resource not found"},
			}}, acp.Options{})
			w.initialize()
			_, err := w.client.LoadSession(w.ctx, "old", acp.Place{Folder: w.dir})
			if failed := w.failed(err, acp.Refused, "not found"); failed.Code != -32002 {
				t.Errorf("the code is %d", failed.Code)
			}
			if _, err := w.client.ResumeSession(w.ctx, "old", acp.Place{Folder: w.dir}); err != nil {
				t.Error(err)
			}
		},
		"an agent that cannot load": func(t *testing.T) {
			w := ready(t, acptest.Play{}, acp.Options{})
			_, err := w.client.LoadSession(w.ctx, "old", acp.Place{Folder: w.dir})
			w.failed(err, acp.Unusable, "session/load", "cannot do this")
			_, err = w.client.ResumeSession(w.ctx, "old", acp.Place{Folder: w.dir})
			w.failed(err, acp.Unusable, "session/resume")
			if err := w.client.CloseSession(w.ctx, first); err != nil {
				t.Error(err)
			}
			w.fails(acp.Unusable, "no session")
			if len(w.got("session/load"))+len(w.got("session/close")) > 0 {
				t.Error("the agent was asked for what it cannot do")
			}
		},
	})
}

// TestSettings reads and sets what a session offers.
func TestSettings(t *testing.T) {
	play := acptest.Play{Capabilities: able, Session: acptest.Object{
		"modes": acptest.Object{"currentModeId": "ask", "availableModes": []any{
			acptest.Object{"id": "ask", "name": "Ask"},
			acptest.Object{"id": "auto", "name": "Auto", "description": "All."},
		}},
		"configOptions": []any{
			acptest.Object{
				"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "b",
				"options": []any{
					acptest.Object{"group": "x", "name": "X", "options": []acptest.Object{{"value": "a", "name": "A"}}},
					acptest.Object{"group": "y", "name": "Y", "options": []acptest.Object{{"value": "b", "name": "B"}}},
				},
			},
			acptest.Object{"id": "fast", "name": "Fast", "type": "boolean", "currentValue": true},
			acptest.Object{"id": "new", "name": "New", "type": "slider", "currentValue": 3},
		},
	}}
	w := begin(t, play, acp.Options{})
	w.initialize()
	options := []acp.ConfigOption{
		{
			ID: "model", Name: "Model", Category: "model", Type: "select", Current: "b",
			Values: []acp.ConfigValue{{Value: "a", Name: "A"}, {Value: "b", Name: "B"}},
		},
		{ID: "fast", Name: "Fast", Type: "boolean", On: true},
		{ID: "new", Name: "New", Type: "slider"},
	}
	want := acp.Session{
		ID: first, Mode: "ask", Options: options,
		Modes: []acp.Mode{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto", Description: "All."}},
	}
	if diff := cmp.Diff(want, w.session()); diff != "" {
		t.Error(diff)
	}
	if err := w.client.SetMode(w.ctx, first, "auto"); err != nil {
		t.Error(err)
	}
	for _, set := range []func() ([]acp.ConfigOption, error){
		func() ([]acp.ConfigOption, error) { return w.client.SetConfigOption(w.ctx, first, "model", "a") },
		func() ([]acp.ConfigOption, error) { return w.client.SetConfigSwitch(w.ctx, first, "fast", false) },
	} {
		have, err := set()
		if diff := cmp.Diff(options, have); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if err := w.client.CloseSession(w.ctx, first); err != nil {
		t.Error(err)
	}
	for method, want := range map[string][]acptest.Object{
		"session/set_mode": {{"sessionId": first, "modeId": "auto"}},
		"session/set_config_option": {
			{"sessionId": first, "configId": "model", "value": "a"},
			{"sessionId": first, "configId": "fast", "type": "boolean", "value": false},
		},
		"session/close": {{"sessionId": first}},
	} {
		if diff := cmp.Diff(want, w.got(method)); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
}

// TestUpdates takes each kind of update apart.
func TestUpdates(t *testing.T) {
	update := func(kind string, members acptest.Object) acptest.Step {
		members["sessionUpdate"] = kind
		return acptest.Update(members)
	}
	text := acptest.Object{"type": "text", "text": "x"}
	w := ready(t, once(
		update("agent_thought_chunk", acptest.Object{"content": text, "messageId": "m"}),
		update("user_message_chunk", acptest.Object{"content": acptest.Object{"type": "hologram", "text": 3}}),
		update("tool_call", acptest.Object{
			"toolCallId": "c", "title": "Edit a.go", "kind": "edit", "status": "pending",
			"rawInput":  acptest.Object{"a": 1},
			"locations": []any{acptest.Object{"path": "/a.go", "line": 3}, acptest.Object{"path": "/b.go"}},
			"content": []any{
				acptest.Object{"type": "diff", "path": "/a.go", "oldText": nil, "newText": ""},
				acptest.Object{"type": "content", "content": text},
				acptest.Object{"type": "terminal", "terminalId": "t"},
				acptest.Object{"type": "chart", "path": 1},
			},
		}),
		update("tool_call_update", acptest.Object{
			"toolCallId": "c", "title": nil, "content": []any{}, "locations": nil,
		}),
		update("plan", acptest.Object{"entries": []any{
			acptest.Object{"content": "Look.", "priority": "high", "status": "pending"},
		}}),
		update("current_mode_update", acptest.Object{"currentModeId": "plan"}),
		update("config_option_update", acptest.Object{"configOptions": []any{}}),
		update("session_info_update", acptest.Object{"title": "Greets."}),
		update("usage_update", acptest.Object{
			"used": 1, "size": 2, "cost": acptest.Object{"amount": .5, "currency": "USD"},
		}),
		update("usage_update", acptest.Object{"used": 0, "size": 2}),
		update("notice", acptest.Object{"severity": "warning", "title": "Old."}),
		update("moon_phase", acptest.Object{"content": 1, "entries": "x"}),
	), acp.Options{})
	w.prompt(acp.EndTurn)
	w.nothingOdd()
	x, title, line, empty := acp.Text("x"), "Greets.", 3, []acp.ToolContent{}
	want := []acp.Update{
		{Kind: acp.ThoughtChunk, Content: &x, Message: "m"},
		{Kind: acp.UserChunk, Content: &acp.Content{Kind: "hologram", Raw: []byte(`{"text":3,"type":"hologram"}`)}},
		{Kind: acp.CallBegun, Call: &acp.ToolCall{
			ID: "c", Title: "Edit a.go", Kind: "edit", Status: "pending", Input: []byte(`{"a":1}`),
			Locations: []acp.Location{{Path: "/a.go", Line: &line}, {Path: "/b.go"}},
			Content: []acp.ToolContent{
				{Kind: acp.DiffContent, Path: "/a.go"},
				{Kind: acp.SaidContent, Content: &x},
				{Kind: acp.TerminalContent, Terminal: "t"},
				{Kind: "chart", Raw: []byte(`{"path":1,"type":"chart"}`)},
			},
		}},
		{Kind: acp.CallChanged, Call: &acp.ToolCall{ID: "c", Content: empty}},
		{Kind: acp.PlanChanged, Plan: []acp.PlanEntry{{Content: "Look.", Priority: "high", Status: "pending"}}},
		{Kind: acp.ModeChanged, Mode: "plan"},
		{Kind: acp.OptionsChanged, Options: []acp.ConfigOption{}},
		{Kind: acp.InfoChanged, Title: &title},
		{Kind: acp.UsageChanged, Window: &acp.Window{Used: 1, Size: 2, Cost: &acp.Cost{Amount: .5, Currency: "USD"}}},
		{Kind: acp.UsageChanged, Window: &acp.Window{Size: 2}},
		{Kind: acp.NoticeGiven, Notice: &acp.Notice{Severity: "warning", Title: "Old."}},
		{Kind: "moon_phase", Raw: []byte(`{"content":1,"entries":"x","sessionUpdate":"moon_phase"}`)},
	}
	if diff := cmp.Diff(want, w.updates); diff != "" {
		t.Error(diff)
	}
}

// TestUnderstandable: what is told of a wrong value has no names of Go's.
func TestUnderstandable(t *testing.T) {
	w := ready(t, once(acptest.Update(acptest.Object{"sessionUpdate": "plan", "entries": 1})), acp.Options{})
	w.prompt(acp.EndTurn)
	if told := fmt.Sprint(w.odd); strings.Contains(told, "Go") || !strings.Contains(told, "entries is a number") {
		t.Errorf("it is told %s", told)
	}
}
