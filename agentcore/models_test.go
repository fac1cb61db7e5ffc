package agentcore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/secret"
)

// A model that several providers serve is named with each of them, since no run could take it.
func TestModelOfSeveralProviders(t *testing.T) {
	cfg := configtest.User(t,
		"[providers.one]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"only\", \"both\"]\n"+
			"[providers.two]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"both\"]\n")
	options := agentcore.Options{
		StateDir: t.TempDir(), Config: cfg, Getenv: func(string) string { return "" },
		Agents: agent.NewRegistry(own("coder")),
	}
	if _, _, err := agentcore.ModelsWith(t.Context(), options, "coder", "only"); err != nil {
		t.Error(err)
	}
	_, resolved, err := agentcore.ModelsWith(t.Context(), options, "coder", "both")
	if err != nil || !strings.Contains(resolved.Because, "one/both or two/both") {
		t.Errorf("of two that serve it, it is told %q, %v", resolved.Because, err)
	}
}

// TestDefinitionsNameModelsAsCallsDo: a name that one provider alone serves stands in a definition, too, and comes to
// the same model; without the provider's key it is left out of a definition of another tool.
func TestDefinitionsNameModelsAsCallsDo(t *testing.T) {
	cfg := configtest.User(t, "[providers.mine]\nkind = \"openai\"\nbase_url = \"http://h\"\nmodels = [\"m2\"]\n")
	for _, test := range []struct{ model, key, want string }{
		{"m2", "", "mine/m2"},
		{"claude-sonnet-4-20250514", "ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-20250514"},
		{"claude-sonnet-4-20250514", "", ""},
		{"m3", "ANTHROPIC_API_KEY", ""},
	} {
		in := provider.Surroundings{Getenv: func(name string) string {
			if name == test.key {
				return "k"
			}
			return ""
		}}
		text := "---\nname: x\ndescription: d\nmodel: " + test.model + "\n---\nDo.\n"
		file := registry.Check(registry.Known(cfg, nil, in), agent.Claude, "x.md", text)
		got := ""
		if d := file.Usable()[0]; d.Model != "" {
			got = provider.Choice{Config: cfg, Definition: d.Model, Parent: "offline"}.Resolve(t.Context(), in).Name
		}
		if got != test.want {
			t.Errorf("%s with the key %q is %q, not %q: %v", test.model, test.key, got, test.want, file.Problems)
		}
	}
}

// TestKeyringIsNotAskedForDefinitions: definitions are read when a server starts, where nobody expects to unlock a
// keyring.
func TestKeyringIsNotAskedForDefinitions(t *testing.T) {
	cfg := configtest.User(t,
		"[providers.mine]\nkind = \"openai\"\nbase_url = \"http://h\"\nkey_env = \"keyring:mine\"\nmodels = [\"m2\"]\n")
	known := registry.Known(cfg, nil, provider.Surroundings{Getenv: func(name string) string {
		if secret.InKeyring(name) {
			t.Error("the keyring was asked for", name)
		}
		return ""
	}})
	if !slices.Contains(known.Models, "mine/m2") {
		t.Error("the models that can be used are", known.Models)
	}
}
