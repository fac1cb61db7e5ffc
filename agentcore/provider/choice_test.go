package provider_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/provider"
)

// lender is an editor that lends these models, and nothing else.
type lender struct {
	provider.Editor
	models []provider.Lent
}

func (l lender) Lends() ([]provider.Lent, bool) { return l.models, true }

func TestChoice(t *testing.T) {
	const presets = "default_model = \"fast\"\n[presets.fast]\nmodel = \"openai/gpt-5-mini\"\n[presets.empty]\ntemperature = 0\n"
	const added = "[providers.zeta]\nkind = \"openai\"\nbase_url = \"https://z.example\"\nkey_env = \"ZETA\"\nmodels = [\"z\"]\n" +
		"[providers.alpha]\nkind = \"openai\"\nbase_url = \"https://a.example\"\nkey_env = \"ALPHA\"\nmodels = [\"a\"]\n"
	all := provider.Choice{Override: "o/1", Definition: "d/1", Parent: "p/1", Former: "f/1"}
	local := func(context.Context, *config.Config) (string, string) { return "box/m", "it answers" }
	for name, test := range map[string]struct {
		config string
		choice provider.Choice
		env    string
		editor provider.Editor
		local  func(context.Context, *config.Config) (string, string)
		want   string
		preset string
		looked int
	}{
		"the call first": {config: presets, choice: all, want: "o/1 of the call", looked: 1},
		"then the definition": {
			config: presets,
			choice: provider.Choice{Definition: "d/1", Parent: "p/1"},
			want:   "d/1 of the agent's definition",
			looked: 2,
		},
		"the parent's in the call": {
			config: presets,
			choice: provider.Choice{Override: "inherit", Definition: "d/1", Parent: "p/1"},
			want:   "p/1 of the parent run",
			looked: 3,
		},
		"then the parent": {
			config: presets,
			choice: provider.Choice{Parent: "p/1", Former: "f/1"},
			want:   "p/1 of the parent run",
			looked: 3,
		},
		"then the former run": {
			config: presets,
			choice: provider.Choice{Former: "f/1"},
			want:   "f/1 of the run that it goes on with",
			looked: 4,
		},
		"then default_model": {
			config: presets,
			env:    "ANTHROPIC_API_KEY",
			want:   "openai/gpt-5-mini of default_model, preset fast",
			preset: "fast",
			looked: 5,
		},
		"a preset anywhere": {
			config: presets,
			choice: provider.Choice{Definition: "fast"},
			want:   "openai/gpt-5-mini of the agent's definition, preset fast",
			preset: "fast",
			looked: 2,
		},
		"a preset of no model": {
			config: presets,
			choice: provider.Choice{Override: "empty", Parent: "p/1"},
			want:   "p/1 of the parent run",
			looked: 3,
		},
		"a key in the file's order": {
			config: added, env: "ALPHA ZETA ANTHROPIC_API_KEY", want: "zeta/z of the key in ZETA", looked: 6,
		},
		"the vendors' order": {
			env: "GEMINI_API_KEY OPENAI_API_KEY", want: "openai/gpt-5 of the key in OPENAI_API_KEY", looked: 6,
		},
		"then the editor": {
			editor: lender{models: []provider.Lent{{ID: "own"}, {ID: "other"}}},
			local:  local,
			want:   "editor/own of the editor lends its model",
			looked: 7,
		},
		"without a list": {
			editor: lender{}, local: local, want: "editor of the editor lends its model", looked: 7,
		},
		"then a local server": {local: local, want: "box/m of it answers", looked: 8},
		"then the rules":      {want: "offline of no model is configured", looked: 9},
	} {
		t.Run(name, func(t *testing.T) {
			test.choice.Config = configtest.User(t, test.config)
			getenv := func(name string) string {
				for set := range strings.FieldsSeq(test.env) {
					if set == name {
						return "key"
					}
				}
				return ""
			}
			got := test.choice.Resolve(t.Context(),
				provider.Surroundings{Getenv: getenv, Editor: test.editor, Local: test.local})
			if is := got.Name + " of " + got.Because; is != test.want ||
				got.Preset != test.preset || len(got.Order) != test.looked {
				t.Errorf("%s, preset %q, after %d", is, got.Preset, len(got.Order))
			}
			for i, c := range got.Order {
				if c.Source == "" || c.Chosen != (i == len(got.Order)-1) ||
					c.Chosen != (c.Name != "") || !c.Chosen && c.Reason == "" {
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
		"one that is set up": {
			silent + "[providers.box]\nkind = \"openai\"\nbase_url = \"" + server.URL + "/v1\"\n", none, "box/m1",
		},
		"with a list of its own": {
			"[providers.box]\nkind = \"openai\"\nbase_url = \"" + server.URL + "/v1\"\nmodels = [\"mine\"]\n", none,
			"box/mine",
		},
		"one with a key is not asked": {
			"[providers.box]\nkind = \"openai\"\nkey_env = \"BOX\"\nbase_url = \"" + server.URL + "/v1\"\n", none, "",
		},
		"one that is elsewhere, either": {
			"[providers.box]\nkind = \"openai\"\nbase_url = \"http://box.example/v1\"\n", none, "",
		},
		"one that does not answer": {silent, none, ""},
		"Ollama where it is known": {"", ollamaThere, "ollama/m1"},
		"Ollama elsewhere": {
			"", func(name string) string { return map[string]string{"OLLAMA_HOST": "192.0.2.1"}[name] }, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			local := &provider.LocalServers{Client: server.Client(), Getenv: test.getenv}
			cfg := configtest.User(t, test.config)
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

// A model may be named without its provider, where one alone of those that can be used serves it.
func TestBareModel(t *testing.T) {
	const text = "[providers.one]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"only\", \"both\", \"keyed\"]\n" +
		"[providers.two]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"both\", \"one\"]\n" +
		"[providers.three]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = \"THREE\"\nmodels = [\"keyed\", \"locked\"]\n" +
		"[presets.only-fast]\nmodel = \"one/only\"\n"
	cfg := configtest.User(t, text)
	in := provider.Surroundings{
		Getenv: func(string) string { return "" }, Editor: lender{models: []provider.Lent{{ID: "lent"}}},
	}
	for name, want := range map[string]string{
		"only": "one/only", "keyed": "one/keyed", "locked": "three/locked", "lent": "editor/lent", "both": "both",
		"one": "one", "none": "none", "two/other": "two/other", "only-fast": "one/only", "offline": "offline",
		"gpt-5": "openai/gpt-5",
	} {
		if got := (provider.Choice{Override: name, Config: cfg}).Resolve(t.Context(), in); got.Name != want {
			t.Errorf("%s is %s, want %s", name, got.Name, want)
		}
	}
}
