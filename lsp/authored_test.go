package lsp

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/config"
)

// TestSelector shows that a client which takes registrations asks about the same documents as all others.
func TestSelector(t *testing.T) {
	s := &Server{options: Options{Dirs: config.Dirs{Config: "/home/me/.config/agentls", File: "/home/me/dotfiles/agentls.toml"}}}
	for path, want := range map[string]authored{
		"/p/.agentls/agents/a.md":                           definitionText,
		"/p/.agentls/agents/team/a.markdown":                definitionText,
		"/home/me/.config/agentls/agents/a.md":              definitionText,
		"/home/me/.config/agentls/plugins/more/agents/a.md": definitionText,
		"/p/.claude/agents/deep/er/a.md":                    definitionText,
		"/p/.opencode/agent/a.md":                           definitionText,
		"/p/.opencode/agents/a.md":                          definitionText,
		"/p/.agentls/agents.toml":                           definitionText,
		"/p/.agentls/agents.json":                           definitionText,
		"/p/my.agents.json":                                 definitionText,
		"/p/.claude/skills/deploy/SKILL.md":                 skillText,
		"/p/.agentls/config.toml":                           configText,
		"/home/me/dotfiles/agentls.toml":                    configText,
		"/p/.claude/agents/a.json":                          definitionText,
		"/p/.opencode/agent/a.json":                         definitionText,
		"/p/.agentls/agents/team/a.toml":                    definitionText,
		"/p/.agentls/appsettings.json":                      definitionText,
		"/c/agentls/plugins/x/appsettings.json":             definitionText,
		"/p/appsettings.json":                               notOurs,
		"/p/.claude/agents/a.toml":                          notOurs,
		"/p/agents/a.md":                                    notOurs,
		"/p/.agentls/notes.md":                              notOurs,
		"/p/.claude/commands/a.md":                          notOurs,
		"/p/.claude/agents/a.txt":                           notOurs,
		"/p/config.toml":                                    notOurs,
		"/p/agents.json":                                    notOurs,
		"/p/main.go":                                        notOurs,
		"untitled:Untitled-1":                               notOurs,
	} {
		if got := s.authoredKind(path); got != want {
			t.Errorf("%s is of kind %d, not %d", path, got, want)
		}
		selected := slices.ContainsFunc(s.selector(), func(f protocol.DocumentFilter) bool {
			pattern, ok := f.(*protocol.TextDocumentFilterPattern).Pattern.(protocol.Pattern)
			match, err := doublestar.Match(string(pattern), path)
			if err != nil || !ok {
				t.Errorf("the pattern %q: %v", pattern, err)
			}
			return match
		})
		if selected != (want != notOurs) {
			t.Errorf("the selector selects %s: %v", path, selected)
		}
	}
}

// TestComplete puts the cursor at the ‸ of a text and looks at what begins the list, or at the text with the first candidate of a
// name in its place.
func TestComplete(t *testing.T) {
	const native, claude, opencode = "/p/.agentls/agents/a.md", "/p/.claude/agents/a.md", "/p/.opencode/agent/a.md"
	v := *builtinVocabulary()
	v.config = config.Default()
	v.config.Presets = map[string]config.Preset{"quick": {Model: "openai/small"}}
	v.config.Providers = map[string]config.Provider{"openai": {Models: []string{"small", "large"}}}
	v.config.PromptVariables = map[string]string{"team": "blue"}
	for _, test := range []struct{ path, text, choose, want string }{
		{native, "---\nto‸\n---\n", "tools", "---\ntools: \n---\n"},
		{native, "---\nas_ch‸\n---\n", "as_child", "---\nas_child:\n---\n"},
		{native, "---\nto‸: x\n---\n", "tools", "---\ntools: x\n---\n"},
		{native, "---\nas_child:\n  max‸\n---\n", "max_turns", "---\nas_child:\n  max_turns: \n---\n"},
		{native, "---\ntools: [read, g‸]\n---\n", "grep", "---\ntools: [read, grep]\n---\n"},
		{native, "---\ntools: ‸\n---\n", "*", "---\ntools: \"*\"\n---\n"},
		{native, "---\ntools:\n  - g‸\n---\n", "glob", "---\ntools:\n  - glob\n---\n"},
		{native, "---\ntools:\n  ‸\n---\n", "glob", "---\ntools:\n  - glob\n---\n"},
		{native, "---\nsubagents: exp‸\n---\n", "explore", "---\nsubagents: explore\n---\n"},
		{native, "---\nmodel: qu‸\n---\n", "quick", "---\nmodel: quick\n---\n"},
		{native, "---\nmodel: openai/s‸\n---\n", "openai/small", "---\nmodel: openai/small\n---\n"},
		{native, "---\ncan_delegate: ‸\n---\n", "false", "---\ncan_delegate: false\n---\n"},
		{native, "---\nskills: ‸\n---\n", "agentls", "---\nskills: agentls\n---\n"},
		{native, "---\ntool_options:\n  re‸\n---\n", "read", "---\ntool_options:\n  read:\n---\n"},
		{native, "---\nvariables:\n  mood: glad\n---\n{{mo‸}}", "mood", "---\nvariables:\n  mood: glad\n---\n{{mood}}"},
		{native, "---\nname: x\n---\n{{#if te‸", "team", "---\nname: x\n---\n{{#if team"},
		{native, "---\nname: x\n---\n\\{{te‸", "", ""},
		{native, "---\nname: x\n---\nte‸", "", ""},
		{native, "---\ndescription: re‸\n---\n", "", ""},
		{claude, "---\ndisal‸\n---\n", "disallowedTools", "---\ndisallowedTools: \n---\n"},
		{claude, "---\ntools: Read, gr‸\n---\n", "grep", "---\ntools: Read, grep\n---\n"},
		{opencode, "---\nst‸\n---\n", "steps", "---\nsteps: \n---\n"},
		{"/p/.agentls/agents.toml", "[[agents]]\nto‸\n", "tools", "[[agents]]\ntools = \n"},
		{"/p/.agentls/agents.toml", "[[agents]]\ntools = [‸]\n", "read", "[[agents]]\ntools = [\"read\"]\n"},
		{"/p/.agentls/agents.toml", "[[agents]]\nprompt = \"\"\"\n{{ag‸\n\"\"\"\n", "agent", "[[agents]]\nprompt = \"\"\"\n{{agent\n\"\"\"\n"},
		{"/p/.agentls/agents.toml", "to‸\n", "", ""},
		{"/p/x.agents.json", `{"agents": [{‸}]}`, "tools", `{"agents": [{"tools": }]}`},
		{"/p/x.agents.json", `{"mode": "‸"}`, "planning", `{"mode": "planning"}`},
		{"/p/.agentls/config.toml", "[providers.mine]\nk‸\n", "kind", "[providers.mine]\nkind = \n"},
		{"/p/.agentls/config.toml", "default_agent = ‸\n", "coder", "default_agent = \"coder\"\n"},
		{"/p/.agentls/config.toml", "[[permission]]\ntool = \"ba‸\"\n", "bash", "[[permission]]\ntool = \"bash\"\n"},
		{"/p/.agentls/config.toml", "[pro‸\n", "providers", "[providers\n"},
		{"/p/.claude/skills/x/SKILL.md", "---\nallowed-tools: Re‸\n---\n", "read", "---\nallowed-tools: read\n---\n"},
	} {
		before, after, _ := strings.Cut(test.text, "‸")
		s := &Server{options: Options{Dirs: config.Dirs{File: "/home/me/config.toml"}}}
		sheet := newSheet(s.authoredKind(test.path), test.path, before+after)
		list := sheet.complete(&v, len(before))
		if test.choose == "" {
			if len(list) > 0 {
				t.Errorf("%q completes to %q", test.text, list[0].name)
			}
			continue
		}
		i := slices.IndexFunc(list, func(c candidate) bool { return c.name == test.choose })
		if i < 0 {
			t.Errorf("%q: %s is not among %d candidates", test.text, test.choose, len(list))
			continue
		}
		whole := before + after
		got := whole[:list[i].replaces.Start] + list[i].insert + whole[list[i].replaces.End:]
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

// FuzzExplain shows that nothing which is typed, and no place of the cursor, is too much for what explains it.
func FuzzExplain(f *testing.F) {
	for _, seed := range []string{
		"---\nname: x\ntools: [read, \n---\n{{#if a", "[[agents]]\nname = \"x\"\nprompt = \"\"\"{{", `{"agents": [{"name": "x"}, {"tools": {"a": 1`,
		"[presets.a]\nmodel = \"b\"\n[[permission]]\ntool = \"c", "---\n- - a: b\n---",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			return
		}
		for _, path := range []string{"/p/.agentls/agents/a.md", "/p/.agentls/agents.toml", "/p/x.agents.json", "/p/.agentls/config.toml", "/p/x/SKILL.md"} {
			s := &Server{}
			sheet := newSheet(s.authoredKind(path), path, text)
			for offset := range len(text) + 1 {
				for _, c := range sheet.complete(builtinVocabulary(), offset) {
					if c.replaces.Start > offset || c.replaces.End < offset || c.replaces.End > len(text) {
						t.Fatalf("%s: a candidate at %d replaces %v", path, offset, c.replaces)
					}
				}
			}
			for _, n := range sheet.outline.Nodes {
				sheet.explain(builtinVocabulary(), n.Name.Start)
				sheet.explain(builtinVocabulary(), n.Value.End)
			}
		}
	})
}
