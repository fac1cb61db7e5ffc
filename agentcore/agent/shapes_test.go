package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

func TestShapesOfJSON(t *testing.T) {
	const is = "x for=[subagent] "
	run(t, "x.agents.json", []formatTest{
		{"profiles", "", `{
  "Agents": [
    // the main one
    {
      "Name": "Coder", "CanSpawnSubagents": true, "AllowedTools": ["read", "spawn_subagent"], "Model": "m", "ProviderKey": "openai",
      "MaxIterations": 9, "SystemPrompt": "Do // it, ]",
      "DefaultPermissions": {"Rules": [{"Pattern": "bash:*", "Action": "Deny"}, {"Tool": "edit", "Pattern": "*.go", "Action": "Ask"}]},
      "Timeout": null, /* none, */
    },
    {"Type": "general", "Name": "General Agent", "SystemPrompt": "Do.", "Provider": "openai", "Color": "red",},
  ],
}`, "coder title=Coder for=[primary subagent] model=openai/m turns=9 tools=[read task] to=[*] rules=[{bash * deny} {edit {*,**/*,*/**/*}.go ask}] aliases=[Coder] | Coder | Do // it, ]\n" +
			"general title=General Agent for=[subagent] to=[] color=red | General Agent | Do.\n"},
		{
			"a comment without an end", "", `{"agents": [ /* ]}`,
			"1:14-1:15 error : this is not valid JSON: invalid character '/' looking for beginning of value\n",
		},
		{"a spec", "", `{"name": "x", "description": "d", "systemPrompt": "Do.", "tools": ["read_file"], "model": null, "skills": "go-style", "maxTurns": 3, "apiKey": "secret",
 "model": {"apiUrl": "http://h", "apiKey": "secret", "provider": "openai", "model": "m", "maxTokens": 5}}`, is + "model=openai/m max_tokens=5 turns=3 tools=[read] skills=[go-style] | d | Do.\n" +
			"1:134-1:142 warning apiKey: apiKey is left out: no definition has the key of a " +
			"provider\n2:2-2:9 warning " +
			"model: model is written twice; the last one counts\n" +
			"2:12-2:20 warning model.apiUrl: model.apiUrl is left out: no definition has the address of a " +
			"provider\n2:34-2:42 warning model.apiKey: model.apiKey is left out: no definition has the key of " +
			"a provider\n"},
		{
			"a key in our own", "",
			`{"name": "x", "description": "d", "category": "subagent", "prompt": "Do.", "api_key": "secret"}`,
			is +
				"| d | Do.\n1:76-1:85 warning api_key: api_key is left out: no definition has the key of a provider\n",
		},
		{
			"by name at the top", "",
			`{"x": {"description": "d", "prompt": "Do.", "tools": ["Read", "Bash(git log:*)"], "permissionMode": "acceptEdits"}}`,
			is + "tools=[read bash] rules=[{bash git log* allow}] permission=accept_edits | d | Do.\n",
		},
		{
			"opencode's", "",
			`{"agent": {"x": {"description": "d", "mode": "subagent", "prompt": "Do.", "tools": {"write": false}, "permission": {"bash": {"git push *": "deny", "*": "ask"}}}}, "theme": "t"}`,
			is + "not=[write] rules=[{bash git push* deny} {bash * ask}] | d | Do.\n1:164-1:171 information theme: agentls does not use the key theme of this file\n",
		},
		{
			"in lower case", "",
			`{"agents": {"custom": [{"name": "X", "slug": "x", "systemPrompt": "p", "canSpawnSubagents": true, "tools": {"mode": "OnlyThese", "toolList": ["read"]}}], "defaultAgentSlug": "x"}}`,
			"x title=X for=[primary] tools=[read] to=[*] | X | p\n1:93-1:97 warning CanSpawnSubagents: the agent " +
				"cannot delegate: its tools lack task\n1:155-1:173 information DefaultAgentSlug: agentls " +
				"does not use " +
				"DefaultAgentSlug of this file\n",
		},
		{
			"roles in lower case", "",
			`{"agentRoles": {"defaultMaxIterations": 4, "roles": [{"roleId": "x", "systemPrompt": "p"}]}}`,
			"x for=[primary subagent] turns=4 to=[] | x | p\n",
		},
		{
			"an agent that is named custom", "",
			`{"agents": {"custom": {"category": "primary", "description": "d", "prompt": "p"}}}`,
			"custom for=[primary] | d | p\n",
		},
		{
			"a type of subagents says who starts it", "",
			`{"Agents": [{"Type": "x", "Category": "Primary", "SystemPrompt": "p"}]}`,
			"x for=[primary] to=[] | x | p\n",
		},
		{
			"a type of subagents alone", "",
			`{"Type": "x", "Name": "X", "SystemPrompt": "Do.", "AllowedTools": ["read_file"]}`,
			"x title=X for=[subagent] tools=[read] to=[] | X | Do.\n",
		},
		{
			"types of subagents in a list", "",
			`[{"Type": "x", "Name": "X", "systemPrompt": "Do."}, {"Type": "y", "SystemPrompt": "Do."}]`,
			"x title=X for=[subagent] to=[] | X | Do.\ny for=[subagent] to=[] | y | Do.\n",
		},
		{
			"types of subagents among ours", "", `{"agents": [{"Type": "x", "SystemPrompt": "Do."}]}`,
			"x for=[subagent] to=[] | x | Do.\n",
		},
		{
			"a type of subagents in the folder of another tool", ".claude/agents/y.json",
			`{"Type": "x", "SystemPrompt": "Do."}`, "x for=[subagent] to=[] | x | Do.\n",
		},
		{
			"slugs and names that are none", "",
			`{"Agents": {"Custom": [{"Name": "A", "Slug": "Bad One!", "SystemPrompt": "p"}, {"Name": " ", "Slug": "b", "SystemPrompt": "p"}, {"Name": "C", "SystemPrompt": "p"}, {"Slug": "d", "Name": "D"}]}}`,
			"unusable Bad One! title=A for=[primary] to=[] | A | p\nunusable b for=[primary] to=[] | b | p\nunusable  title=C for=[primary] to=[] | C | p\nunusable d title=D for=[primary] to=[] | D | \n" +
				"1:46-1:56 error Slug: Slug is \"Bad One!\" [Replace \"Bad One!\" by \"bad-one\": 1:46-1:56 " +
				"\"\\\"bad-one\\\"\"]\n1:89-1:92 error Name: Name is empty\n1:129-1:163 error Slug: Slug is " +
				"missing\n1:165-1:191 error prompt: the prompt is empty\n",
		},
		{
			"in the folder of another tool", ".claude/agents/x.json",
			`{"description": "d", "prompt": "Do.", "model": "sonnet"}`,
			is +
				"| d | Do.\n1:48-1:56 information model: there is no preset or provider \"sonnet\"; the model of the " +
				"agent that starts it is used\n",
		},
		{
			"no agent in the folder of another tool", ".claude/agents/x.json", `{"rows": []}`,
			"1:1-1:13 information : there are no agents in this object\n",
		},
		{
			"no agent in ours", ".agentls/agents/x.json", `{"rows": []}`,
			"1:1-1:13 error : there are no agents in this object\n",
		},
		{
			"settings", ".agentls/appsettings.json",
			`{"Logging": {}, "AgentRoles": {"Roles": [{"RoleId": "x", "SystemPrompt": "Do."}]}}`,
			"x for=[primary subagent] to=[] | x | Do.\n",
		},
	})
}

// TestShapesWithoutTheirSettings reads what stands inside of another tool's settings, where it is copied out of them.
func TestShapesWithoutTheirSettings(t *testing.T) {
	const custom,
		role = `{"Name": "The X", "Slug": "x", "SystemPrompt": "Do.", "Tools": {"Mode": "OnlyThese", "ToolList": ["read_file"]}, "MaxIterations": 4}`,
		`{"RoleId": "x", "DisplayName": "The X", "SystemPrompt": "Do.", "MaxIterations": 4}`
	const isCustom, isRole = "x title=The X for=[primary] turns=4 tools=[read] to=[] | The X | Do.\n",
		"x title=The X for=[primary subagent] turns=4 to=[] | The X | Do.\n"
	other := strings.NewReplacer(`"x"`, `"y"`)
	isOther := strings.NewReplacer("x title", "y title")
	camelled := strings.NewReplacer("Name", "name", "Slug", "slug", "System", "system", "Tools", "tools", "Max", "max",
		"Role", "role", "DisplayName", "displayName", "Mode", "mode", "ToolL", "toolL")
	for _, path := range []string{".agentls/agents/x.json", ".claude/agents/z.json", "x.agents.json"} {
		run(t, path, []formatTest{
			{"a custom one", "", custom, isCustom},
			{"a custom one in lower case", "", camelled.Replace(custom), isCustom},
			{
				"a custom one by its model", "",
				`{"Name": "The X", "Slug": "x", "ProviderId": "openai", "ModelId": "m", "SystemPrompt": "Do."}`,
				"x title=The X for=[primary] model=openai/m to=[] | The X | Do.\n",
			},
			{
				"custom ones in a list", "", "[" + custom + ", " + other.Replace(custom) + "]",
				isCustom + isOther.Replace(isCustom),
			},
			{
				"custom ones", "", `{"Custom": [` + custom + `], "GlobalPromptVariables": {"a": "1"}}`,
				strings.Replace(isCustom, " |", " variables=map[a:1] |", 1),
			},
			{"custom ones among ours", "", `{"agents": [` + custom + `]}`, isCustom},
			{"a role", "", role, isRole},
			{"a role in lower case", "", camelled.Replace(role), isRole},
			{"roles in a list", "", "[" + role + ", " + other.Replace(role) + "]", isRole + isOther.Replace(isRole)},
			{
				"roles", "", `{"DefaultMaxDurationMs": 1000, "Roles": [` + role + `]}`,
				strings.Replace(isRole, "turns=4", "turns=4 timeout=1s", 1),
			},
			{"roles among ours", "", `{"agents": [` + role + `]}`, isRole},
			{
				"a profile", "",
				`{"Name": "x", "SystemPrompt": "Do.", "ProviderKey": "openai", "Model": "m", "MaxIterations": 4}`,
				"x for=[primary subagent] model=openai/m turns=4 to=[] | x | Do.\n",
			},
			{
				"a profile in a list", "", `[{"Name": "x", "SystemPrompt": "Do."}]`,
				"x for=[primary subagent] to=[] | x | Do.\n",
			},
			{
				"a custom one without a prompt", "", `{"Slug": "x", "Name": "X", "ModelId": "openai/m"}`,
				"unusable x title=X for=[primary] model=openai/m to=[] | X | \n1:1-1:50 error prompt: the " +
					"prompt is empty\n",
			},
		})
	}
	run(t, ".agentls/agents/x.json", []formatTest{
		{
			"roles of something else", "", `{"Roles": [{"name": "admin"}]}`,
			"1:1-1:31 error : there are no agents in this object\n",
		},
		{
			"custom ones of something else", "", `{"custom": ["x"]}`,
			"1:1-1:18 error : there are no agents in this object\n",
		},
	})
}

// TestByteOrderMark reads files as some editors of Windows write them. Places count the mark's bytes, as they do in
// Markdown.
func TestByteOrderMark(t *testing.T) {
	const mark = "\uFEFF"
	run(t, ".agentls/appsettings.json", []formatTest{
		{
			"settings", "", mark + `{"AgentRoles": {"Roles": [{"RoleId": "x", "SystemPrompt": "Do."}]}}`,
			"x for=[primary subagent] to=[] | x | Do.\n",
		},
		{
			"a problem on the first line", ".agentls/agents.json", mark + `{"rows": []}`,
			"1:4-1:16 error : there are no agents in this object\n",
		},
		{
			"no JSON", ".agentls/agents.json", mark + "}",
			"1:4-1:5 error : this is not valid JSON: invalid character '}' looking for beginning of value\n",
		},
		{
			"TOML", ".agentls/agents.toml",
			mark + "[[agents]]\nname = \"x\"\ncategory = \"subagent\"\ndescription = \"d\"\nprompt = \"p\"\n",
			"x for=[subagent] | d | p\n",
		},
		{
			"a problem of TOML", ".agentls/agents.toml", mark + "title = 1\n",
			"1:4-1:9 warning title: there is no key \"title\" beside [[agents]]\n",
		},
		{
			"broken TOML", ".agentls/agents.toml", mark + "= 1\n",
			"1:4-1:5 error : this is not valid TOML: unexpected '=': key name appears blank\n",
		},
		{
			"one that is broken in TOML", ".agentls/agents.toml",
			mark +
				"[[agents]]\nname = \n[[agents]]\nname = \"x\"\ncategory = \"subagent\"\ndescription = " +
				"\"d\"\nprompt = \"p\"\n",
			"x for=[subagent] | d | p\n2:8-2:8 error agents.0: this is not valid TOML: expected value but found " +
				"'\\n' instead\n",
		},
		{
			"Markdown", ".claude/agents/x.md", mark + "---\nname: x\ndescription: d\n---\nDo.\n",
			"x for=[subagent] | d | Do.\n",
		},
		{
			"Markdown without a head", ".claude/agents/x.md", mark + "Do.\n",
			"x for=[subagent] | Do. | Do.\n1:4-1:7 warning : the file has no frontmatter; its name is taken from " +
				"the file's\n",
		},
	})
	if f := agent.Parse("",
		mark+`{"name": "x", "category": "subagent", "description": "d", "prompt": "p"}`); len(f.Usable()) != 1 {
		t.Errorf("a text without a path has %v", f.Problems)
	}
	dir := t.TempDir()
	write(t, dir,
		map[string]string{
			"agents.toml": "[[agents]]\nname = \"x\"\ncategory = \"subagent\"\nprompt_file = \"p.md\"\n",
			"p.md":        mark + "Do.\n",
		})
	if f, _ := agent.ReadFile(filepath.Join(dir, "agents.toml"), nil); len(f.Usable()) != 1 ||
		f.Usable()[0].Prompt != "Do." {
		t.Errorf("the file of a prompt is read as %v", f.Definitions)
	}
}

// TestBareModels names models without their provider, as a call may.
func TestBareModels(t *testing.T) {
	k := known()
	k.Models = []string{"openai/m2", "openai/two", "local/two", "anthropic/claude-*"}
	for name, test := range map[string]struct{ native, foreign, problem string }{
		"m2":                       {"m2", "m2", ""},
		"claude-sonnet-4-20250514": {"claude-sonnet-4-20250514", "claude-sonnet-4-20250514", ""},
		"two":                      {"", "", "several providers have the model \"two\""},
		"m3":                       {"", "", "there is no preset or provider \"m3\""},
	} {
		for path, model := range map[string]string{
			".agentls/agents/x.md": test.native,
			".claude/agents/x.md":  test.foreign,
		} {
			f := agent.Parse(path, "---\nname: x\ndescription: d\ncategory: subagent\nmodel: "+name+"\n---\nDo.\n")
			f.Validate(k)
			got := ""
			if usable := f.Usable(); len(usable) == 1 {
				got = usable[0].Model
			}
			at := slices.IndexFunc(f.Problems, func(p agent.Problem) bool { return p.Key == "model" })
			if got != model || (at >= 0) != (model == "") || at >= 0 &&
				!strings.HasPrefix(f.Problems[at].Message, test.problem) {
				t.Errorf("%s in %s is %q, not %q: %v", name, path, got, model, f.Problems)
			}
		}
	}
}

// TestModelsWithoutAKey: a definition of ours keeps its model, and one of another tool gets that of the run that starts
// it.
func TestModelsWithoutAKey(t *testing.T) {
	k := known()
	k.Presets = append(k.Presets, "deep")
	k.Models, k.Keyless = []string{"anthropic/claude-*"}, []string{"openai/gpt-*"}
	k.Locked = map[string]string{"openai/": "OPENAI_API_KEY", "deep": "OPENAI_API_KEY"}
	for model, message := range map[string]string{
		"openai/gpt-9": "the provider openai has no key", "openai": "the provider openai has no key",
		"gpt-9": "the provider openai has no key",
		"deep":  "the provider of the preset deep has no key", "fast": "", "anthropic/m": "", "claude-9": "",
		"offline": "", "inherit": "",
	} {
		for _, strict := range []bool{false, true} {
			for _, path := range []string{".agentls/agents/x.md", ".opencode/agent/x.md"} {
				f := agent.Parse(path, "---\nname: x\ndescription: d\ncategory: subagent\nmodel: "+model+"\n---\nDo.\n")
				k.Strict = strict
				f.Validate(k)
				leaves := f.Format.Foreign() && !strict
				want := model
				if leaves && message != "" {
					want = ""
				}
				var told []agent.Problem
				for _, p := range f.Problems {
					if p.Key == "model" {
						told = append(told, p)
					}
				}
				if usable := f.Usable(); len(usable) != 1 || usable[0].Model != want || len(told) > 1 ||
					(len(told) == 1) != (message != "") {
					t.Errorf("%s in %s, strict %t: %v of %v", model, path, strict, told, usable)
					continue
				}
				for _, p := range told {
					if !strings.HasPrefix(p.Message, message) || !strings.HasPrefix(p.Hint, "set OPENAI_API_KEY") ||
						p.Severity != "warning" ||
						p.Locked == leaves || p.Span.StartLine != 4 || p.Fix != nil {
						t.Errorf("%s in %s, strict %t: %+v", model, path, strict, p)
					}
				}
			}
		}
	}
}

func TestPermissionsInJSON(t *testing.T) {
	const before, is = `{"name": "x", "description": "d", "category": "subagent", "prompt": "Do.", `,
		"x for=[subagent] "
	run(t, "x.agents.json", []formatTest{
		{
			"a table", "", before + `"permission": {"bash": {"git *": "allow"}, "edit": "deny"}}`,
			is + "rules=[{bash git* allow} {edit * deny}] | d | Do.\n",
		},
		{
			"in the plural", "", before + `"permissions": {"run_command": {"git push *": "deny"}}}`,
			is + "rules=[{bash git push* deny}] | d | Do.\n",
		},
		{
			"a list", "",
			before +
				`"permission": [{"tool": "bash", "pattern": "git *", "action": "allow"}, {"permission": "edit", "action": "deny"}, {"Pattern": "read:*.env", "Action": "Deny"}]}`,
			is + "rules=[{bash git* allow} {edit * deny} {read {*,**/*,*/**/*}.env deny}] | d | Do.\n",
		},
		{
			"rules", "", before + `"permissions": {"Rules": [{"Pattern": "bash:*", "Action": "Deny"}]}}`,
			is + "rules=[{bash * deny}] | d | Do.\n",
		},
		{
			"settings of Claude Code", "",
			before + `"permissions": {"allow": ["Bash(git log:*)", "Read"], "deny": ["WebFetch"]}}`,
			is + "rules=[{bash git log* allow} {read  allow} {webfetch  deny}] | d | Do.\n",
		},
		{"a name", "", before + `"permissions": "planner"}`, is + "permissions=planner | d | Do.\n"},
		{
			"a name in another case", "",
			`{"Agents": {"Custom": [{"Slug": "x", "Name": "X", "SystemPrompt": "p", "Permissions": "Planner"}]}}`,
			"x title=X for=[primary] to=[] permissions=planner | X | p\n",
		},
		{"an action", "", before + `"permission": "ask"}`, is + "rules=[{* * ask}] | d | Do.\n"},
		{
			"faults", "",
			before + `"permission": {"baash": "deny", "bash": ["x"], "edit": "alow"}, "permissions": "planer"}`,
			"unusable " + is + "| d | Do.\n" +
				"1:91-1:98 error permission.baash: there is no tool \"baash\" [Replace \"baash\" by " +
				"\"bash\": 1:92-1:97 " +
				"\"bash\"]\n1:116-1:121 error permission.bash: permission.bash is a list\n1:131-1:137 error " +
				"permission.edit: permission.edit is \"alow\" [Replace \"alow\" by \"allow\": 1:132-1:136 " +
				"\"allow\"]\n1:155-1:163 error permissions: permissions is \"planer\" [Replace \"planer\" by " +
				"\"planner\": 1:156-1:162 \"planner\"]\n",
		},
		{
			"faults in a list", "",
			before + `"permission": [{"tool": "raed_file", "action": "deny"}, {"tool": "bash"}, 3]}`,
			"unusable " + is + "| d | Do.\n" +
				"1:100-1:111 error permission.0: there is no tool \"raed_file\" [Replace \"raed_file\" by " +
				"\"read_file\": " +
				"1:101-1:110 \"read_file\"]\n1:132-1:148 error permission.1: permission.1 has no action\n1:150-1:151 " +
				"error permission.2: permission.2 is \"3\"\n",
		},
	})
}

// TestSpellingsOfTools has tools under the names of others where a definition says more of them than their name.
func TestSpellingsOfTools(t *testing.T) {
	run(t, ".claude/agents/x.md", []formatTest{
		{
			"delegation", "", "---\nname: x\ndescription: d\ntools: read_file, spawn_subagent\n---\nDo.\n",
			"x for=[subagent] tools=[read task] | d | Do.\n",
		},
		{
			"delegation to some", "",
			"---\nname: x\ndescription: d\ntools: delegate_to_agent(tester), run_command(git log:*)\n---\nDo.\n",
			"x for=[subagent] tools=[task bash] to=[tester] rules=[{bash git log* allow}] | d | Do.\n",
		},
	})
	f := agent.Parse(".claude/agents/x.md",
		"---\nname: x\ndescription: d\ntools: read_file, spawn_subagent\n---\nDo.\n")
	f.Validate(known())
	if d := f.Definitions[0]; d.SubagentsAt(1) != nil {
		t.Errorf("as a child it may start %v, not all", d.SubagentsAt(1))
	}
	f = agent.Parse("x.md", "---\nname: x\ndescription: d\ncategory: subagent\ntools: [run_comand, zzz]\n---\nDo.\n")
	f.Validate(known())
	if p := f.Problems[0]; p.Hint != "did you mean run_command, which is bash here?" || p.Fix == nil ||
		p.Fix.New != "run_command" {
		t.Errorf("a misspelt alias: %+v", p)
	}
}

// TestLoaderReadsEveryFormatInAgents puts one file of each kind into folders of agents.
func TestLoaderReadsEveryFormatInAgents(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".agentls/agents/a.json": `{"name": "a", "description": "d", "category": "subagent", "prompt": "Do."}`,
		".agentls/agents/b.toml": "[[agents]]\nname = \"b\"\ndescription = \"d\"\ncategory = " +
			"\"subagent\"\nprompt = \"Do.\"\n",
		".agentls/agents/c.yaml":    "name: c\n",
		".agentls/appsettings.json": `{"Agents": [{"Name": "d", "SystemPrompt": "Do."}], "Logging": {}}`,
		".claude/agents/e.json":     `{"name": "e", "description": "d", "systemPrompt": "Do."}`,
		".claude/agents/f.yml":      "name: f\n",
		".opencode/agent/g.json":    `{"description": "d", "mode": "subagent", "prompt": "Do."}`,
	} {
		name = filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := new(agent.Loader).Load(context.Background(), agent.StandardFolders("", "", home), known())
	if err != nil {
		t.Fatal(err)
	}
	for _, slug := range []string{"a", "b", "d", "e", "g"} {
		if !slices.Contains(registry.Names(), slug) {
			t.Errorf("there is no agent %s", slug)
		}
	}
	var told []string
	for _, p := range registry.Problems() {
		told = append(told, string(p.Severity)+" "+filepath.Base(p.File))
	}
	slices.Sort(told)
	if !slices.Equal(told, []string{"error c.yaml", "warning f.yml"}) {
		t.Errorf("the problems are of %v: %v", told, registry.Problems())
	}
}
