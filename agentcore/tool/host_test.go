package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// bell is a face that no Host of the engine's has.
type bell interface{ Ring() string }

type ringing struct{ *tooltest.Host }

func (ringing) Ring() string { return "ding" }

// TestFaces: a tool gets the face that its definition names, and a host without it is told of in words.
func TestFaces(t *testing.T) {
	made := func(definition tool.Tool) tool.Call {
		t.Helper()
		call, err := tool.Parse(definition, json.RawMessage(`{}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	ring := made(tool.New(tool.Definition[struct{}, bell]{
		Name: "ring",
		Run: func(_ context.Context, host bell, _ struct{}) (tool.Result, error) {
			return tool.Result{Text: host.Ring()}, nil
		},
	}))
	h := tooltest.New(t, nil)
	if result, err := ring.Run(t.Context(), ringing{h}); err != nil || result.Text != "ding" {
		t.Errorf("a host with the face: %+v, %v", result, err)
	}
	for _, host := range []tool.Host{h, nil} {
		_, err := ring.Run(t.Context(), host)
		if err == nil || !strings.Contains(err.Error(), "ring cannot run here, since it needs tool_test.bell") {
			t.Errorf("a host without the face: %v", err)
		}
	}
	nothing := made(tool.New(tool.Definition[struct{}, any]{
		Name: "nothing",
		Run:  func(context.Context, any, struct{}) (tool.Result, error) { return tool.Result{Text: "done"}, nil },
	}))
	if result, err := nothing.Run(t.Context(), h); err != nil || result.Text != "done" {
		t.Errorf("a tool that needs nothing: %+v, %v", result, err)
	}
}
