package agent

import (
	"strings"
	"testing"
)

func TestBuiltinAgentsAreSound(t *testing.T) {
	list, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	r := NewRegistry(list...)
	reviewer, err := r.Find("code-reviewer")
	if err != nil {
		t.Fatal(err)
	}
	if got := reviewer.LimitsAt(1).MaxTurns; got != 10 {
		t.Errorf("a reviewer as a child has %d turns, want 10", got)
	}
	if reviewer.Allows("edit") || !reviewer.Allows("report_finding") {
		t.Error("the reviewer's tools are wrong")
	}
	coder, err := r.Find("coder")
	if err != nil {
		t.Fatal(err)
	}
	if !coder.Allows("edit") || !coder.Is(Primary) || !coder.Is(Subagent) {
		t.Error("the coder lacks a tool or a category")
	}
	if _, err := r.Find("nobody"); err == nil || !strings.Contains(err.Error(), "reviewer") {
		t.Errorf("an unknown agent's error names no agents: %v", err)
	}
}

func TestParseReportsEveryFault(t *testing.T) {
	f := ParseAs(Native, "x.md", "---\nname: Bad Name\ntimeout: soon\n---\n")
	var all strings.Builder
	for _, p := range f.Problems {
		all.WriteString(p.String() + "\n")
	}
	for _, want := range []string{"name is", "timeout is", "category is missing", "prompt is empty"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is not in: %v", want, all.String())
		}
	}
}

func TestEmptyToolsAreNotAbsentTools(t *testing.T) {
	parse := func(head string) *Definition {
		t.Helper()
		f := ParseAs(Native, "x.md", "---\nname: x\ncategory: [primary]\n"+head+"---\nDo.\n")
		if Failed(f.Problems) {
			t.Fatal(f.Problems)
		}
		return f.Definitions[0]
	}
	if parse("tools: []\n").Allows("read") || !parse("").Allows("read") {
		t.Error("an empty list must mean no tools, an absent one all")
	}
	if parse("mode: single_shot\n").Allows("read") {
		t.Error("a single-shot agent has no tools")
	}
}

func TestSlugBeatsAlias(t *testing.T) {
	r := NewRegistry(&Definition{Slug: "a", Aliases: []string{"b"}, Categories: []Category{Primary}}, &Definition{Slug: "b", Categories: []Category{Primary}})
	if d, err := r.Find("b"); err != nil || d.Slug != "b" {
		t.Errorf("b found %v, %v", d, err)
	}
}
