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

// Whoever says that it delegates does so as a child, too; who leaves it open does for the user alone.
func TestSubagentsAt(t *testing.T) {
	for head, want := range map[string][2]string{
		"":                                              {"all", "none"},
		"subagents: ['*']\n":                            {"all", "all"},
		"subagents: [explore, '*']\n":                   {"all", "all"},
		"subagents: [explore]\n":                        {"explore", "explore"},
		"subagents: []\n":                               {"none", "none"},
		"can_delegate: true\n":                          {"all", "all"},
		"can_delegate: true\nsubagents: [x]\n":          {"x", "x"},
		"can_delegate: false\n":                         {"none", "none"},
		"as_child: {subagents: ['*']}\n":                {"all", "all"},
		"as_child: {subagents: [explore]}\n":            {"all", "explore"},
		"as_child: {subagents: []}\n":                   {"all", "none"},
		"tools: [read, task]\n":                         {"all", "all"},
		"tools: [read]\n":                               {"none", "none"},
		"tools: ['task(explore)']\n":                    {"explore", "explore"},
		"disallowed_tools: [task]\n":                    {"none", "none"},
		"mode: single_shot\n":                           {"none", "none"},
		"subagents: []\nas_child: {subagents: ['*']}\n": {"none", "all"},
	} {
		d := ParseAs(Native, "x.md", "---\nname: x\ncategory: [subagent]\n"+head+"---\nDo.\n").Definitions[0]
		raw, err := d.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*Definition{d, ParseAs(JSON, "x.json", string(raw)).Definitions[0]} {
			var got [2]string
			for depth := range got {
				switch list := d.SubagentsAt(depth); {
				case list == nil:
					got[depth] = "all"
				case len(list) == 0:
					got[depth] = "none"
				default:
					got[depth] = strings.Join(list, " ")
				}
			}
			if got != want {
				t.Errorf("%q delegates to %v, want %v", head, got, want)
			}
		}
	}
}

func TestSlugBeatsAlias(t *testing.T) {
	r := NewRegistry(&Definition{Slug: "a", Aliases: []string{"b"}, Categories: []Category{Primary}},
		&Definition{Slug: "b", Categories: []Category{Primary}})
	if d, err := r.Find("b"); err != nil || d.Slug != "b" {
		t.Errorf("b found %v, %v", d, err)
	}
}

// TestReplacedBuiltin: who replaces a built-in agent is what others reach by the built-in's other names, where these
// are free.
func TestReplacedBuiltin(t *testing.T) {
	builtin := &Definition{Slug: "explore", Aliases: []string{"Explore", "search"}, Categories: []Category{Subagent}}
	own := &Definition{Slug: "explore", Categories: []Category{Subagent}, Source: Source{Layer: LayerUser}}
	other := &Definition{
		Slug: "finder", Aliases: []string{"search"}, Categories: []Category{Subagent},
		Source: Source{Layer: LayerUser},
	}
	r := NewRegistry(builtin, own, other)
	for name, want := range map[string]*Definition{
		"explore": own, "Explore": own, "EXPLORE": own, "search": other,
		"Finder": other, "Search": other,
	} {
		if d, err := r.Find(name); d != want {
			t.Errorf("%s is %v, %v", name, d, err)
		}
	}
	if d, err := NewRegistry(builtin, own).Find("search"); d != own {
		t.Errorf("search is %v, %v", d, err)
	}
	// An earlier definition of the user's own is not that: an alias that was taken out is gone.
	gone := &Definition{
		Slug: "explore", Aliases: []string{"scout"}, Categories: []Category{Subagent},
		Source: Source{Layer: LayerUser},
	}
	if d, err := NewRegistry(gone,
		&Definition{Slug: "explore", Source: Source{Layer: LayerProject}}).Find("scout"); err == nil {
		t.Errorf("scout is %v", d)
	}
	// Where letters' case tells agents apart, it counts.
	r = NewRegistry(&Definition{Slug: "a", Aliases: []string{"Bee"}}, &Definition{Slug: "c", Aliases: []string{"bEE"}})
	if d, err := r.Find("bEE"); err != nil || d.Slug != "c" {
		t.Errorf("bEE is %v, %v", d, err)
	}
	if d, err := r.Find("BEE"); err == nil {
		t.Errorf("BEE is %v", d)
	}
	f := Parse("agents.toml",
		"[[agents]]\nname = 'x'\ncategory = 'primary'\ndescription = 'd'\nprompt = 'p'\nsubagents = "+
			"['EXPLORE', 'nobody']\n")
	f.Validate(Known{Agents: NewRegistry(builtin, own).Names()})
	if len(f.Problems) != 1 || f.Problems[0].Key != "subagents" || f.Definitions[0].Subagents == nil {
		t.Errorf("the problems are %v", f.Problems)
	}
}
