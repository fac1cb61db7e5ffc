package authoring_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/position"
)

const utf8 = position.Encoding(protocol.PositionEncodingKindUTF8)

// builtin is what can be named where there is no file.
func builtin(t testing.TB) *authoring.Vocabulary {
	t.Helper()
	definitions, err := agent.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return &authoring.Vocabulary{
		Registry: agent.NewRegistry(definitions...), Skills: skill.NewSet(skill.Builtin()...), Config: config.Default(),
		Usable: func(cfg *config.Config) agent.Known { return registry.Known(cfg, nil, provider.Surroundings{}) },
	}
}

// plain is for a client that takes no Markdown.
func plain(text string) *protocol.MarkupContent {
	return &protocol.MarkupContent{Kind: protocol.MarkupKindPlainText, Value: text}
}

// edited is what a completion replaces, in bytes, and what by.
func edited(t testing.TB, x *workspace.Index, item protocol.CompletionItem) (start, end int, text string) {
	t.Helper()
	edit, ok := item.TextEdit.(*protocol.TextEdit)
	if !ok {
		t.Fatalf("%s comes without an edit: %+v", item.Label, item.TextEdit)
	}
	return utf8.Offset(x, edit.Range.Start), utf8.Offset(x, edit.Range.End), edit.NewText
}

// TestSelector shows that a client which takes registrations asks about the same documents as all others.
func TestSelector(t *testing.T) {
	const userConfig = "/home/me/dotfiles/agentls.toml"
	for path, want := range map[string]authoring.Kind{
		"/p/.agentls/agents/a.md":                           authoring.Definition,
		"/p/.agentls/agents/team/a.markdown":                authoring.Definition,
		"/home/me/.config/agentls/agents/a.md":              authoring.Definition,
		"/home/me/.config/agentls/plugins/more/agents/a.md": authoring.Definition,
		"/p/.claude/agents/deep/er/a.md":                    authoring.Definition,
		"/p/.opencode/agent/a.md":                           authoring.Definition,
		"/p/.opencode/agents/a.md":                          authoring.Definition,
		"/p/.agentls/agents.toml":                           authoring.Definition,
		"/p/.agentls/agents.json":                           authoring.Definition,
		"/p/my.agents.json":                                 authoring.Definition,
		"/p/.claude/skills/deploy/SKILL.md":                 authoring.Skill,
		"/p/.agentls/config.toml":                           authoring.ProjectConfig,
		"/home/me/dotfiles/agentls.toml":                    authoring.UserConfig,
		"/p/.claude/agents/a.json":                          authoring.Definition,
		"/p/.opencode/agent/a.json":                         authoring.Definition,
		"/p/.agentls/agents/team/a.toml":                    authoring.Definition,
		"/p/.agentls/appsettings.json":                      authoring.Definition,
		"/c/agentls/plugins/x/appsettings.json":             authoring.Definition,
		"/p/appsettings.json":                               authoring.None,
		"/p/.claude/agents/a.toml":                          authoring.None,
		"/p/agents/a.md":                                    authoring.None,
		"/p/.agentls/notes.md":                              authoring.None,
		"/p/.claude/commands/a.md":                          authoring.None,
		"/p/.claude/agents/a.txt":                           authoring.None,
		"/p/config.toml":                                    authoring.None,
		"/p/agents.json":                                    authoring.None,
		"/p/main.go":                                        authoring.None,
		"/p/AGENTS.md":                                      authoring.Instructions,
		"/p/sub/deep/CLAUDE.md":                             authoring.Instructions,
		"/home/me/.claude/CLAUDE.md":                        authoring.Instructions,
		"/p/GEMINI.md":                                      authoring.Instructions,
		"/p/.github/copilot-instructions.md":                authoring.Instructions,
		"/p/.github/instructions/go.instructions.md":        authoring.Instructions,
		"/p/.github/instructions/deep/go.instructions.md":   authoring.None,
		"/p/.github/instructions/notes.md":                  authoring.None,
		"/p/go.instructions.md":                             authoring.None,
		"/p/copilot-instructions.md":                        authoring.None,
		"/p/agents.md":                                      authoring.None,
		"/p/.claude/agents/AGENTS.md":                       authoring.Definition,
		"/p/docs/sums.agentls.md":                           authoring.Conversation,
		"/p/.claude/agents/sums.agentls.md":                 authoring.Conversation,
		"/p/agentls.md":                                     authoring.None,
		"untitled:Untitled-1":                               authoring.None,
	} {
		if got := authoring.KindOf(path, userConfig); got != want {
			t.Errorf("%s is of kind %d, not %d", path, got, want)
		}
		selected := slices.ContainsFunc(authoring.Selector(userConfig), func(f protocol.DocumentFilter) bool {
			pattern, ok := f.(*protocol.TextDocumentFilterPattern).Pattern.(protocol.Pattern)
			match, err := doublestar.Match(string(pattern), path)
			if err != nil || !ok {
				t.Errorf("the pattern %q: %v", pattern, err)
			}
			return match
		})
		if selected != (want != authoring.None) {
			t.Errorf("the selector selects %s: %v", path, selected)
		}
	}
}

// TestComplete puts the cursor at the ‸ of a text and looks at what begins the list, or at the text with the first
// candidate of a name in its place.
func TestComplete(t *testing.T) {
	const native, claude, opencode = "/p/.agentls/agents/a.md", "/p/.claude/agents/a.md", "/p/.opencode/agent/a.md"
	v := builtin(t)
	v.Config.Presets = map[string]config.Preset{"quick": {Model: "openai/small"}}
	v.Config.Providers = map[string]config.Provider{"openai": {Models: []string{"small", "large"}}}
	v.Config.PromptVariables = map[string]string{"team": "blue"}
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
		{
			"/p/.agentls/agents.toml", "[[agents]]\nprompt = \"\"\"\n{{ag‸\n\"\"\"\n", "agent",
			"[[agents]]\nprompt = \"\"\"\n{{agent\n\"\"\"\n",
		},
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
		whole := before + after
		x := workspace.NewIndex(whole)
		sheet := authoring.NewSheet(authoring.KindOf(test.path, ""), test.path, x, utf8)
		list := sheet.Complete(v, utf8.At(x, len(before)), plain).Items
		if test.choose == "" {
			if len(list) > 0 {
				t.Errorf("%q completes to %q", test.text, list[0].Label)
			}
			continue
		}
		i := slices.IndexFunc(list, func(c protocol.CompletionItem) bool { return c.Label == test.choose })
		if i < 0 {
			t.Errorf("%q: %s is not among %d candidates", test.text, test.choose, len(list))
			continue
		}
		start, end, text := edited(t, x, list[i])
		got := whole[:start] + text + whole[end:]
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestProblems: a key that only the user may set is wrong in a project's configuration, and right in his own.
func TestProblems(t *testing.T) {
	const text = "max_children_per_machine = 20\ndefault_agent = \"codr\"\n"
	for path, want := range map[string][]string{
		"/p/.agentls/config.toml": {"max_children_per_machine", "default_agent"},
		"/home/me/agentls.toml":   {"default_agent"},
	} {
		kind := authoring.KindOf(path, "/home/me/agentls.toml")
		var keys []string
		for _, p := range authoring.NewSheet(kind, path, workspace.NewIndex(text), utf8).Problems(builtin(t)) {
			keys = append(keys, p.Key)
		}
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%s has problems with (-want +got):\n%s", path, diff)
		}
		if kind.Code() != "config" {
			t.Errorf("%s is called %q", path, kind.Code())
		}
	}
}

// TestSymbols: a client that takes no trees gets the same symbols, each with the name of the one that it is in.
func TestSymbols(t *testing.T) {
	const path = "/p/.agentls/agents.toml"
	text := workspace.NewIndex(
		"[[agents]]\nname = \"one\"\n[agents.as_child]\nmax_turns = 2\n[[agents]]\nname = \"two\"\n")
	tree := authoring.NewSheet(authoring.Definition, path, text, utf8).Symbols()
	var got []string
	for _, s := range authoring.Flattened(tree, "file://"+path) {
		in := ""
		if s.ContainerName != nil {
			in = *s.ContainerName
		}
		got = append(got, in+">"+s.Name)
	}
	want := []string{">one", "one>name", ">agents.as_child", "agents.as_child>max_turns", ">two", "two>name"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if at := tree[0].SelectionRange; len(tree) != 3 || at.Start.Line != 0 || at.Start.Character != 2 ||
		at.End.Character != 8 {
		t.Errorf("the first of %d is selected at %+v", len(tree), at)
	}
}

// FuzzExplain shows that nothing which is typed, and no place of the cursor, is too much for what explains it.
func FuzzExplain(f *testing.F) {
	for _, seed := range []string{
		"---\nname: x\ntools: [read, \n---\n{{#if a", "[[agents]]\nname = \"x\"\nprompt = \"\"\"{{",
		`{"agents": [{"name": "x"}, {"tools": {"a": 1`,
		"[presets.a]\nmodel = \"b\"\n[[permission]]\ntool = \"c", "---\n- - a: b\n---",
	} {
		f.Add(seed)
	}
	v := builtin(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			return
		}
		for _, path := range []string{
			"/p/.agentls/agents/a.md", "/p/.agentls/agents.toml", "/p/x.agents.json",
			"/p/.agentls/config.toml", "/p/x/SKILL.md",
		} {
			x := workspace.NewIndex(text)
			sheet := authoring.NewSheet(authoring.KindOf(path, ""), path, x, utf8)
			for offset := range len(text) + 1 {
				at := utf8.At(x, offset)
				for _, item := range sheet.Complete(v, at, plain).Items {
					if start, end, _ := edited(t, x, item); start > utf8.Offset(x, at) || end < utf8.Offset(x, at) ||
						end > len(text) {
						t.Fatalf("%s: a candidate at %d replaces %d to %d", path, offset, start, end)
					}
				}
				sheet.Explain(v, at)
			}
			sheet.Symbols()
		}
	})
}
