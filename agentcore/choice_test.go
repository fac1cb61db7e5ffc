package agentcore_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/secret"
)

// configured reads a user's configuration.
func configured(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(config.Sources{UserFile: file})
	for _, p := range problems {
		t.Errorf("the configuration: %s", p)
	}
	return cfg
}

// lender is an editor that lends these models, and nothing else.
type lender struct {
	agentcore.Editor
	models []agentcore.LentModel
}

func (l lender) Lends() ([]agentcore.LentModel, bool) { return l.models, true }

func TestChoice(t *testing.T) {
	const presets = "default_model = \"fast\"\n[presets.fast]\nmodel = \"openai/gpt-5-mini\"\n[presets.empty]\ntemperature = 0\n"
	const added = "[providers.zeta]\nkind = \"openai\"\nbase_url = \"https://z.example\"\nkey_env = \"ZETA\"\nmodels = [\"z\"]\n" +
		"[providers.alpha]\nkind = \"openai\"\nbase_url = \"https://a.example\"\nkey_env = \"ALPHA\"\nmodels = [\"a\"]\n"
	all := agentcore.Choice{Override: "o/1", Definition: "d/1", Parent: "p/1", Former: "f/1"}
	local := func(context.Context, *config.Config) (string, string) { return "box/m", "it answers" }
	for name, test := range map[string]struct {
		config string
		choice agentcore.Choice
		env    string
		editor agentcore.Editor
		local  func(context.Context, *config.Config) (string, string)
		want   string
		preset string
		looked int
	}{
		"the call first":            {presets, all, "", nil, nil, "o/1 of the call", "", 1},
		"then the definition":       {presets, agentcore.Choice{Definition: "d/1", Parent: "p/1"}, "", nil, nil, "d/1 of the agent's definition", "", 2},
		"the parent's in the call":  {presets, agentcore.Choice{Override: "inherit", Definition: "d/1", Parent: "p/1"}, "", nil, nil, "p/1 of the parent run", "", 3},
		"then the parent":           {presets, agentcore.Choice{Parent: "p/1", Former: "f/1"}, "", nil, nil, "p/1 of the parent run", "", 3},
		"then the former run":       {presets, agentcore.Choice{Former: "f/1"}, "", nil, nil, "f/1 of the run that it goes on with", "", 4},
		"then default_model":        {presets, agentcore.Choice{}, "ANTHROPIC_API_KEY", nil, nil, "openai/gpt-5-mini of default_model, preset fast", "fast", 5},
		"a preset anywhere":         {presets, agentcore.Choice{Definition: "fast"}, "", nil, nil, "openai/gpt-5-mini of the agent's definition, preset fast", "fast", 2},
		"a preset of no model":      {presets, agentcore.Choice{Override: "empty", Parent: "p/1"}, "", nil, nil, "p/1 of the parent run", "", 3},
		"a key in the file's order": {added, agentcore.Choice{}, "ALPHA ZETA ANTHROPIC_API_KEY", nil, nil, "zeta/z of the key in ZETA", "", 6},
		"the vendors' order":        {"", agentcore.Choice{}, "GEMINI_API_KEY OPENAI_API_KEY", nil, nil, "openai/gpt-5 of the key in OPENAI_API_KEY", "", 6},
		"then the editor":           {"", agentcore.Choice{}, "", lender{models: []agentcore.LentModel{{ID: "own"}, {ID: "other"}}}, local, "editor/own of the editor lends its model", "", 7},
		"without a list":            {"", agentcore.Choice{}, "", lender{}, local, "editor of the editor lends its model", "", 7},
		"then a local server":       {"", agentcore.Choice{}, "", nil, local, "box/m of it answers", "", 8},
		"then the rules":            {"", agentcore.Choice{}, "", nil, nil, "offline of no model is configured", "", 9},
	} {
		t.Run(name, func(t *testing.T) {
			test.choice.Config = configured(t, test.config)
			getenv := func(name string) string {
				for set := range strings.FieldsSeq(test.env) {
					if set == name {
						return "key"
					}
				}
				return ""
			}
			got := test.choice.Resolve(t.Context(), agentcore.Surroundings{Getenv: getenv, Editor: test.editor, Local: test.local})
			if is := got.Name + " of " + got.Because; is != test.want || got.Preset != test.preset || len(got.Order) != test.looked {
				t.Errorf("%s, preset %q, after %d", is, got.Preset, len(got.Order))
			}
			for i, c := range got.Order {
				if c.Source == "" || c.Chosen != (i == len(got.Order)-1) || c.Chosen != (c.Name != "") || !c.Chosen && c.Reason == "" {
					t.Errorf("candidate %d: %+v", i, c)
				}
			}
		})
	}
}

func TestLocalServers(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"embed-1"},{"id":"m1"}]}`))
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	none := func(string) string { return "" }
	ollamaThere := func(name string) string {
		if name == "OLLAMA_HOST" {
			return host
		}
		return ""
	}
	silent := "[providers.silent]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n"
	for name, test := range map[string]struct {
		config string
		getenv func(string) string
		want   string
	}{
		"one that is set up":            {silent + "[providers.box]\nkind = \"openai\"\nbase_url = \"" + server.URL + "/v1\"\n", none, "box/m1"},
		"with a list of its own":        {"[providers.box]\nkind = \"openai\"\nbase_url = \"" + server.URL + "/v1\"\nmodels = [\"mine\"]\n", none, "box/mine"},
		"one with a key is not asked":   {"[providers.box]\nkind = \"openai\"\nkey_env = \"BOX\"\nbase_url = \"" + server.URL + "/v1\"\n", none, ""},
		"one that is elsewhere, either": {"[providers.box]\nkind = \"openai\"\nbase_url = \"http://box.example/v1\"\n", none, ""},
		"one that does not answer":      {silent, none, ""},
		"Ollama where it is known":      {"", ollamaThere, "ollama/m1"},
		"Ollama elsewhere":              {"", func(name string) string { return map[string]string{"OLLAMA_HOST": "192.0.2.1"}[name] }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			local := &agentcore.LocalServers{Client: server.Client(), Getenv: test.getenv}
			cfg := configured(t, test.config)
			got, reason := local.Find(t.Context(), cfg)
			if got != test.want || reason == "" {
				t.Errorf("%q, %q", got, reason)
			}
			before := asked
			if again, _ := local.Find(t.Context(), cfg); again != got || asked != before {
				t.Errorf("a second look found %q, with %d requests", again, asked-before)
			}
		})
	}
}

// TestDefinitionsNameModelsAsCallsDo: a name that one provider alone serves stands in a definition, too, and comes to the same
// model; without the provider's key it is left out of a definition of another tool.
func TestDefinitionsNameModelsAsCallsDo(t *testing.T) {
	cfg := configured(t, "[providers.mine]\nkind = \"openai\"\nbase_url = \"http://h\"\nmodels = [\"m2\"]\n")
	for _, test := range []struct{ model, key, want string }{
		{"m2", "", "mine/m2"},
		{"claude-sonnet-4-20250514", "ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-20250514"},
		{"claude-sonnet-4-20250514", "", ""},
		{"m3", "ANTHROPIC_API_KEY", ""},
	} {
		in := agentcore.Surroundings{Getenv: func(name string) string {
			if name == test.key {
				return "k"
			}
			return ""
		}}
		text := "---\nname: x\ndescription: d\nmodel: " + test.model + "\n---\nDo.\n"
		file := agentcore.CheckAgent(agentcore.Known(cfg, nil, in), agent.Claude, "x.md", text)
		got := ""
		if d := file.Usable()[0]; d.Model != "" {
			got = agentcore.Choice{Config: cfg, Definition: d.Model, Parent: "offline"}.Resolve(t.Context(), in).Name
		}
		if got != test.want {
			t.Errorf("%s with the key %q is %q, not %q: %v", test.model, test.key, got, test.want, file.Problems)
		}
	}
}

// TestKeyringIsNotAskedForDefinitions: definitions are read when a server starts, where nobody expects to unlock a keyring.
func TestKeyringIsNotAskedForDefinitions(t *testing.T) {
	cfg := configured(t, "[providers.mine]\nkind = \"openai\"\nbase_url = \"http://h\"\nkey_env = \"keyring:mine\"\nmodels = [\"m2\"]\n")
	known := agentcore.Known(cfg, nil, agentcore.Surroundings{Getenv: func(name string) string {
		if secret.InKeyring(name) {
			t.Error("the keyring was asked for", name)
		}
		return ""
	}})
	if !slices.Contains(known.Models, "mine/m2") {
		t.Error("the models that can be used are", known.Models)
	}
}
