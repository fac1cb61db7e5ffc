package tool_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

func TestSkill(t *testing.T) {
	host := tooltest.New(t, map[string]string{"main.go": "package main\n"})
	folder := t.TempDir()
	guide := filepath.Join(folder, "guide.md")
	host.Skills = map[string]tooltest.Skill{"pdf": {Text: "Fill the form.", Files: []string{guide}}}
	host.Attachments = map[string]string{guide: "one\ntwo\n"}
	result, err := host.Call(t.Context(), "skill", `{"name":"pdf"}`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(result.Text, "Fill the form.") || !strings.Contains(result.Text, guide+"\n") ||
		result.Summary != "1 file" {
		t.Errorf("unexpected result: %+v", result)
	}
	// The spelling of others.
	if _, err := host.Call(t.Context(), "Skill", `{"skill":"pdf"}`); err != nil {
		t.Error(err)
	}
	if _, err := host.Call(t.Context(), "skill", `{"name":"none"}`); err == nil ||
		!strings.Contains(err.Error(), `no skill "none"`) {
		t.Errorf("an unknown skill: %v", err)
	}
	if result, err = host.Call(t.Context(), "read", `{"path":"`+filepath.ToSlash(guide)+`","offset":2}`); err != nil ||
		!strings.Contains(result.Text, "2\ttwo") {
		t.Errorf("a file of the skill: %+v, %v", result, err)
	}
	if _, err := host.Call(t.Context(), "read",
		`{"path":"`+filepath.ToSlash(filepath.Join(folder, "other.md"))+`"}`); err == nil ||
		!strings.Contains(err.Error(), "outside") {
		t.Errorf("a file outside: %v", err)
	}
	if _, err := host.Call(t.Context(), "edit",
		`{"path":"`+filepath.ToSlash(guide)+`","old_string":"one","new_string":"1"}`); err == nil {
		t.Error("a file of a skill was edited")
	}
}
