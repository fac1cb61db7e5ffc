// Package vscode_test checks what the extension for VS Code says of itself in package.json.
package vscode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:generate go test -run ^TestSettingsAreFresh$ -update .

var update = flag.Bool("update", false, "write the settings in package.json anew")

// shared are the settings that a workspace may bring along. All others are the user's own, as in the configuration of
// a project: what runs programs, reaches hosts or widens what is allowed is not taken from a folder.
var shared = []string{
	"ask_timeout", "budget.cost", "budget.tokens", "code_lens", "default_agent", "default_max_turns", "default_model",
	"default_timeout", "inlay_status", "max_children_per_session", "max_depth", "prompt.variables",
}

// schema is a part of config.schema.json.
type schema struct {
	Type       any                `json:"type,omitempty"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Items      *schema            `json:"items,omitempty"`
}

// section reports whether the object only groups settings.
func (s *schema) section() bool {
	if s.Type != "object" || len(s.Properties) == 0 {
		return false
	}
	for _, p := range s.Properties {
		if p.Type == "array" && p.Items != nil && p.Items.Type == "object" {
			return false
		}
	}
	return true
}

// settings are the settings by their names in VS Code, each as the schema has it.
func settings(t *testing.T) map[string]json.RawMessage {
	text, err := os.ReadFile("../../schema/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{
		"agentls.path":         json.RawMessage(`{"description": "The program agentls: a path, or a name on PATH. Empty: the one that came with the extension, else agentls on PATH.", "type": "string", "default": "", "scope": "machine"}`),
		"agentls.trace.server": json.RawMessage(`{"description": "What of the conversation with the server is written to the log.", "type": "string", "enum": ["off", "messages", "verbose"], "default": "off", "scope": "window"}`),
	}
	var add func(prefix string, raw json.RawMessage)
	add = func(prefix string, raw json.RawMessage) {
		var s schema
		var parts struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		var members map[string]json.RawMessage
		for _, into := range []any{&s, &parts, &members} {
			if err := json.Unmarshal(raw, into); err != nil {
				t.Fatalf("read the schema of %s: %v", prefix, err)
			}
		}
		if prefix == "" || s.section() {
			for name, part := range parts.Properties {
				add(strings.TrimPrefix(prefix+"."+name, "."), part)
			}
			return
		}
		members["scope"] = json.RawMessage(`"machine"`)
		if slices.Contains(shared, prefix) {
			members["scope"] = json.RawMessage(`"window"`)
		}
		if description := members["description"]; bytes.Contains(description, []byte("`")) {
			members["markdownDescription"] = description
			delete(members, "description")
		}
		all["agentls."+camel(prefix)] = encoded(t, members)
		if camel(prefix) != prefix {
			all["agentls."+prefix] = encoded(t, map[string]json.RawMessage{
				"type": members["type"], "scope": members["scope"],
				"deprecationMessage": json.RawMessage(`"Its name is agentls.` + camel(prefix) + ` now."`),
			})
		}
	}
	add("", text)
	return all
}

// camel is a key of config.toml as VS Code names settings. It shows ask_timeout as "Ask_timeout", and askTimeout as
// "Ask Timeout". What stands under the name as in config.toml is still read.
func camel(key string) string {
	head, rest, _ := strings.Cut(key, "_")
	for part := range strings.SplitSeq(rest, "_") {
		if part != "" {
			head += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return head
}

func encoded(t *testing.T, members map[string]json.RawMessage) json.RawMessage {
	t.Helper()
	setting, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return setting
}

// TestSettingsReadWell expects of each setting that VS Code shows a label of words for it, which it makes of the name.
func TestSettingsReadWell(t *testing.T) {
	for name, setting := range manifestSettings(t) {
		if strings.Contains(name, "_") && setting["deprecationMessage"] == nil {
			t.Errorf("%s reads badly on the page of settings: its words are not to be joined by _", name)
		}
		if strings.Contains(fmt.Sprint(setting["description"]), "`") {
			t.Errorf("%s shows backticks: its description is Markdown", name)
		}
	}
}

// TestSettingsAreFresh compares the settings of the extension with the configuration's schema.
func TestSettingsAreFresh(t *testing.T) {
	text, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Contributes struct {
			Configuration struct {
				Properties json.RawMessage `json:"properties"`
			} `json:"configuration"`
		} `json:"contributes"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	properties := manifest.Contributes.Configuration.Properties
	want, err := json.Marshal(settings(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, want, "      ", "  "); err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, append([]byte(`"properties": `), properties...),
			append([]byte(`"properties": `), pretty.Bytes()...), 1)
		if err := os.WriteFile("package.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(decoded(t, want), decoded(t, properties)); diff != "" {
		t.Errorf("the settings in package.json do not fit schema/config.schema.json: run go generate ./editors/vscode (-schema +package.json):\n%s", diff)
	}
}

// manifestSettings are the settings that package.json declares.
func manifestSettings(t *testing.T) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Contributes struct {
			Configuration struct {
				Properties map[string]map[string]any `json:"properties"`
			} `json:"configuration"`
		} `json:"contributes"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Contributes.Configuration.Properties
}

func decoded(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestLockFileNamesNoRegistry expects that what is installed comes from the registry that the machine uses.
func TestLockFileNamesNoRegistry(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(`"resolved"`)) {
		t.Error("package-lock.json names addresses: npm install with the .npmrc of this folder leaves them out")
	}
}
