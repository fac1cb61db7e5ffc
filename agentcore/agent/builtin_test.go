package agent

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// row is what table G of the features says of a built-in agent.
type row struct {
	categories  string
	mode        Mode
	turns       int
	minutes     int
	childTurns  int
	childMins   int
	tools       string // "*" is all
	disallowed  string
	subagents   string // "*" is all
	ofChild     string // "=" is the same
	permissions string
	context     string
	aliases     string
}

var builtinRows = map[string]row{
	"coder": {
		"primary subagent", Agentic, 50, 10, 30, 5, "*", "", "*", "tester", "primary", "none",
		"main build code",
	},
	"planner": {
		"primary", Planning, 20, 5, 20, 5,
		"read glob grep list symbols todo task question plan_enter plan_exit", "", "*", "=", "planner", "none", "",
	},
	"reviewer": {
		"primary subagent", Agentic, 15, 5, 10, 2,
		"read glob grep list symbols diagnostics report_finding", "", "", "=", "explorer", "none", "code-reviewer",
	},
	"explore": {
		"subagent", Agentic, 15, 5, 15, 5, "read glob grep list symbols", "", "", "=", "explorer",
		"none", "Explore",
	},
	"general": {
		"subagent", Agentic, 20, 5, 20, 5, "*", "task question plan_enter plan_exit", "", "=",
		"primary", "summary", "general-purpose",
	},
	"researcher": {
		"subagent", Agentic, 10, 5, 10, 5, "webfetch websearch read", "", "", "=", "researcher",
		"none", "research",
	},
	"plan": {
		"subagent", Planning, 15, 3, 15, 3, "read glob grep list symbols todo plan_exit", "", "", "=",
		"planner", "none", "Plan planner-sub",
	},
	"bash": {"subagent", Agentic, 15, 5, 15, 5, "bash", "", "", "=", "primary", "none", "Bash"},
	"tester": {
		"subagent", Agentic, 20, 3, 20, 3, "read glob grep list edit write patch bash diagnostics", "",
		"", "=", "primary", "none", "test-runner",
	},
	"debugger": {
		"subagent", Agentic, 25, 4, 25, 4, "read glob grep list symbols edit bash diagnostics", "", "",
		"=", "primary", "none", "",
	},
	"critic": {
		"subagent", Agentic, 5, 2, 5, 2, "read glob grep list diagnostics", "", "", "=", "explorer",
		"selective", "self-critic",
	},
	"guide": {
		"subagent", Agentic, 10, 2, 10, 2, "read glob grep list", "", "", "=", "explorer", "none",
		"claude-code-guide",
	},
	"statusline-setup": {"subagent", Agentic, 5, 2, 5, 2, "read statusline", "", "", "=", "primary", "none", ""},
	"compaction":       {"hidden", SingleShot, 1, 2, 1, 2, "", "", "", "=", "", "", ""},
	"summary":          {"hidden", SingleShot, 1, 2, 1, 2, "", "", "", "=", "", "", ""},
	"title":            {"hidden", SingleShot, 1, 2, 1, 2, "", "", "", "=", "", "", ""},
}

func TestBuiltinTable(t *testing.T) {
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	words := func(list []string) string { return strings.Join(list, " ") }
	got := map[string]row{}
	for _, d := range list {
		var categories []string
		for _, c := range d.Categories {
			categories = append(categories, string(c))
		}
		own, child := d.LimitsAt(0), d.LimitsAt(1)
		r := row{
			words(categories), d.Mode, own.MaxTurns, int(own.Timeout / time.Minute), child.MaxTurns,
			int(child.Timeout / time.Minute),
			words(d.Tools), words(d.DisallowedTools), words(d.SubagentsAt(0)), words(d.SubagentsAt(1)), d.Permissions,
			d.ContextMode, words(d.Aliases),
		}
		if d.Tools == nil {
			r.tools = "*"
		}
		if d.SubagentsAt(0) == nil {
			r.subagents = "*"
		}
		if d.SubagentsAt(1) == nil {
			r.ofChild = "*"
		}
		if r.ofChild == r.subagents {
			r.ofChild = "="
		}
		got[d.Slug] = r
	}
	if diff := cmp.Diff(builtinRows, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("built-in agents (-want +got):\n%s", diff)
	}
}

func TestBuiltinAgentsAreSoundTogether(t *testing.T) {
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	registry := NewRegistry(list...)
	orders := map[int]string{}
	for _, d := range list {
		if other := orders[d.Order]; other != "" {
			t.Errorf("%s and %s have the same place in lists", d.Slug, other)
		}
		orders[d.Order] = d.Slug
		if d.Title == "" || d.Description == "" || strings.Contains(d.Description, "\n") {
			t.Errorf("%s lacks a title or a description of one line", d.Slug)
		}
		for _, name := range append(append([]string{}, d.SubagentsAt(0)...), d.SubagentsAt(1)...) {
			if child, err := registry.Find(name); err != nil || !child.Is(Subagent) || child.Slug != name {
				t.Errorf("%s delegates to %s, which is no subagent: %v", d.Slug, name, err)
			}
		}
		for _, alias := range d.Aliases {
			if found, err := registry.Find(alias); err != nil || found != d {
				t.Errorf("the alias %s of %s finds %v, %v", alias, d.Slug, found, err)
			}
		}
		if d.AsChild.Agent != "" {
			if child, err := registry.Find(d.AsChild.Agent); err != nil || !child.Is(Subagent) {
				t.Errorf("as a child %s is %s: %v", d.Slug, d.AsChild.Agent, err)
			}
		}
		// Who only reads, for another agent, is reminded of that in front of each task.
		if slices.Contains([]string{"explore", "plan", "guide"}, d.Slug) != (d.Reminder != "") {
			t.Errorf("the reminder of %s is %q", d.Slug, d.Reminder)
		}
		if len([]rune(d.Description)) > 1024 {
			t.Errorf("the description of %s is longer than a model sees", d.Slug)
		}
		template, problems := ParseTemplate(d.Prompt)
		if problems = append(problems,
			template.Unknown(slices.Collect(maps.Keys(d.Variables))...)...); len(problems) > 0 {
			t.Errorf("the prompt of %s: %+v", d.Slug, problems)
		}
		// Who may delegate is told when to and when not, and only where it can.
		told := strings.Contains(template.Expand(map[string]string{"can_delegate": "true", "subagents": "x"}),
			"Delegat")
		delegates := template.Expand(map[string]string{"can_delegate": "true"})
		if strings.Contains(delegates, "`task`") != strings.Contains(delegates, "Do not delegate") {
			t.Errorf("%s is not told when not to delegate", d.Slug)
		}
		if may := d.SubagentsAt(0) == nil || len(d.SubagentsAt(0)) > 0; told != may ||
			strings.Contains(template.Expand(map[string]string{"can_delegate": "false"}), "`task`") {
			t.Errorf("%s may delegate: %v, is told so: %v", d.Slug, may, told)
		}
		// A prompt names no tool that its agent never has.
		for _, name := range []string{
			"edit", "write", "bash", "task", "question", "grep", "glob", "report_finding",
			"todo", "diagnostics", "plan_exit", "statusline",
		} {
			if strings.Contains(d.Prompt, "`"+name+"`") && !d.Allows(name) {
				t.Errorf("the prompt of %s names the tool %s, which it has not", d.Slug, name)
			}
		}
	}
	for _, d := range registry.List("") {
		if d.Is(Hidden) {
			t.Errorf("the hidden agent %s is listed", d.Slug)
		}
	}
	if planner, _ := registry.Find("planner"); planner.AsChild.Agent != "plan" {
		t.Errorf("as a child the planner is %q, want plan", planner.AsChild.Agent)
	}
}
