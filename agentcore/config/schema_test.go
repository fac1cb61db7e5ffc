package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write schema/config.schema.json anew")

func TestSchemaIsFresh(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "..", "schema", "config.schema.json")
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("schema/config.schema.json is stale: run go generate ./agentcore/config")
	}
}

// TestSchemaAgreesWithLoad compares the schema, read by a validator, with what Load says of the same text.
func TestSchemaAgreesWithLoad(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		"":                                           true,
		"max_depth = 3":                              true,
		"max_depth = 0":                              false,
		"max_depth = 65":                             false,
		"max_dept = 3":                               false,
		"default_agent = ''":                         false,
		"ask_timeout = '1m30s'":                      true,
		"ask_timeout = '1.5h'":                       true,
		"ask_timeout = 'soon'":                       false,
		"ask_timeout = '-5s'":                        false,
		"ask_timeout = 5":                            false,
		"sandbox = 'off'":                            true,
		"sandbox = 'on'":                             false,
		"code_lens = 1":                              false,
		"retention.size = '1GiB'":                    true,
		"retention.size = ' 5 kB'":                   true,
		"retention.size = 1024":                      true,
		"retention.size = -1":                        false,
		"retention.size = '1 XB'":                    false,
		"budget.cost = 1.5":                          true,
		"budget.cost = -1":                           false,
		"budget.costs = 1":                           false,
		"network.allow = ['a']":                      true,
		"network.allow = 'a'":                        false,
		"[providers.openai]\napi = 'responses'":      true,
		"[providers.openai]\napi = 'x'":              false,
		"[providers.openai.headers]\nX = 'y'":        true,
		"[providers.openai.headers]\nX = 1":          false,
		"[presets.p]\ntemperature = 3":               false,
		"[prices.'a/*']\ninput = 0\noutput = 0.5":    true,
		"[prices.a]\ninput = 1":                      false,
		"[prices.a]\ninput = -1\noutput = 1":         false,
		"[[permission]]\ntool = 'a'\naction = 'ask'": true,
		"[[permission]]\ntool = 'a'":                 false,
		"[[hooks.Stop]]\ncommand = 'a'":              true,
		"[[hooks.Stop]]\ncommand = ['a', 'b']":       true,
		"[[hooks.Stop]]\ncommand = []":               false,
		"[[hooks.Stop]]\ncommand = ''":               false,
		"[[hooks.Stopp]]\ncommand = 'a'":             false,
		"[mcp.a]\ncommand = 'x'":                     true,
		"[mcp.a]\nurl = 'http://x'\ncommand = 'x'":   false,
		"[mcp.a]":                     false,
		"[prompt.variables]\nx = 'y'": true,
		"[prompt.variables]\nx = 1":   false,
	} {
		var decoded map[string]any
		if _, err := toml.Decode(text, &decoded); err != nil {
			t.Fatal(err)
		}
		if decoded == nil {
			decoded = map[string]any{}
		}
		encoded, err := json.Marshal(decoded)
		if err != nil {
			t.Fatal(err)
		}
		var instance any
		if err := json.Unmarshal(encoded, &instance); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(instance); (err == nil) != valid {
			t.Errorf("%q by the schema: %v, want valid %v", text, err, valid)
		}
		if problems := Check([]byte(text), LayerUser, "f"); (len(problems) == 0) != valid {
			t.Errorf("%q by Load: %v, want valid %v", text, problems, valid)
		}
	}
}

// TestStructDocs compares the comments of the structs with the documentation of the keys.
func TestStructDocs(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					// lines end anywhere
					docs[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
				}
			}
		}
		return true
	})
	used := map[string]bool{
		"Permission.Origin": true, "Hook.Origin": true, "MCPServer.Origin": true,
		"Config.origins": true,
	}
	check := func(f *field, owner any) {
		name := structField(owner, f.at(owner))
		used[name] = true
		if docs[name] != strings.Join(strings.Fields(f.doc), " ") {
			t.Errorf("the comment of %s is %q, the table of keys says %q", name, docs[name], f.doc)
		}
	}
	for _, f := range settings() {
		check(&f, new(Config))
		for i := range f.entries {
			check(&f.entries[i], f.entry())
		}
	}
	for name := range docs {
		if !used[name] {
			t.Errorf("%s has no key", name)
		}
	}
}

// structField names the field of a struct that a pointer points to.
func structField(owner, pointer any) string {
	v := reflect.ValueOf(owner).Elem()
	for i := range v.NumField() {
		if f := v.Field(i).Addr(); f.Pointer() == reflect.ValueOf(pointer).Pointer() &&
			f.Type() == reflect.TypeOf(pointer) {
			return v.Type().Name() + "." + v.Type().Field(i).Name
		}
		if v.Type().Field(i).Anonymous {
			if name := structField(v.Field(i).Addr().Interface(), pointer); name != "" {
				return name
			}
		}
	}
	return ""
}

func TestKeys(t *testing.T) {
	keys := map[string]Key{}
	for k := range Keys() {
		if k.Doc == "" || k.Type == "" || keys[k.Name].Name != "" {
			t.Errorf("incomplete or double: %+v", k)
		}
		keys[k.Name] = k
	}
	for name, want := range map[string][2]string{
		"max_depth":               {"integer", "3"},
		"retention.size":          {"size", `"1GiB"`},
		"default_timeout":         {"duration", `"5m"`},
		"network.allow":           {"list of strings", "[]"},
		"providers.NAME.headers":  {"table of strings", ""},
		"permission[].action":     {"string", ""},
		"hooks.EVENT[].command":   {"list of strings or string", ""},
		"hooks.EVENT[].timeout":   {"duration", `"1m"`},
		"mcp.NAME.url":            {"string", ""},
		"prompt.variables":        {"table of strings", ""},
		"presets.NAME.max_tokens": {"integer", ""},
	} {
		if k := keys[name]; k.Type != want[0] || k.Default != want[1] {
			t.Errorf("%s: %+v", name, k)
		}
	}
	if v := keys["permission[].action"].Values; strings.Join(v, " ") != "allow ask deny" {
		t.Errorf("values = %v", v)
	}
}
