package tool_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// TestQuestion: models send what other tools call such a call, and hear what is wrong with one that no person could
// answer.
func TestQuestion(t *testing.T) {
	h := tooltest.New(t, nil)
	result, err := h.Call(t.Context(), "AskUserQuestion", `{"questions":[
		{"question":" Which? ","header":"h","options":[{"label":"a  b","description":"d"},{"label":"c"}],"multiSelect":true},{"question":"Why?"}]}`)
	if err != nil ||
		result.Text != "Which?\n→ a b\nWhy?\n→ no answer: the user leaves it to you. Take the likeliest reading, and "+
			"say so.\n" || result.Summary != "1 of 2 answered" {
		t.Errorf("got %+v, %v", result, err)
	}
	asked := h.Questions
	if len(asked) != 2 || asked[0].Header != "h" || !asked[0].Multiple || asked[0].Options[0].Description != "d" ||
		asked[1].Multiple {
		t.Errorf("asked %+v", asked)
	}
	for arguments, want := range map[string]string{
		`{"questions":[]}`:                                                          "there are 0 questions",
		`{"questions":[{"question":" "}]}`:                                          "a question is empty",
		`{"questions":[{"question":"?","options":[{"label":""}]}]}`:                 "need labels that differ",
		`{"questions":[{"question":"?","options":[{"label":"a"},{"label":" a"}]}]}`: "there twice",
		`{"questions":[` + strings.TrimSuffix(strings.Repeat(`{"question":"?"},`, 9), ",") +
			`]}`: "ask 1 to 8",
		`{"questions":[{"question":"?","options":[` + strings.TrimSuffix(strings.Repeat(`{"label":"a"},`, 13), ",") +
			`]}]}`: "has 13 options",
	} {
		if _, err := h.Call(t.Context(), "question", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
	if n := len(h.Questions); n != 2 {
		t.Errorf("%d questions reached the user", n)
	}
}

func TestPlanTools(t *testing.T) {
	h := tooltest.New(t, nil)
	if result, err := h.Call(t.Context(), "EnterPlanMode", `{"reason":" large "}`); err != nil ||
		!strings.HasSuffix(result.Text, "was: large") || result.Summary != "You are planning now" {
		t.Errorf("got %+v, %v", result, err)
	}
	if _, err := h.Call(t.Context(), "ExitPlanMode", `{"plan":" \n"}`); err == nil ||
		!strings.Contains(err.Error(), "the plan is empty") {
		t.Errorf("an empty plan: %v", err)
	}
	if result, err := h.Call(t.Context(), "ExitPlanMode", `{"plan":"# P"}`); err != nil || h.Plan != "# P" ||
		result.Summary != "The user accepted the plan" {
		t.Errorf("got %+v, %v and the plan %q", result, err, h.Plan)
	}
}
