package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentls/agentls/schema"
)

// schemaDocument is agent.schema.json, as far as it is needed here.
type schemaDocument struct {
	Methods  map[string]map[string]*jsonschema.Schema `json:"methods"`
	Commands map[string]map[string]*jsonschema.Schema `json:"commands"`
	Defs     map[string]*jsonschema.Schema            `json:"$defs"`

	mu       sync.Mutex // guards resolved
	resolved map[string]*jsonschema.Resolved
}

// resolve returns the schema of a part of a message, ready for use.
func (d *schemaDocument) resolve(name, part string) (*jsonschema.Resolved, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := name + " " + part
	if r := d.resolved[key]; r != nil {
		return r, nil
	}
	parts, known := d.Methods[name]
	if !known {
		parts = d.Commands[name]
	}
	if parts[part] == nil {
		return nil, errors.New("agent.schema.json does not know it")
	}
	wrapped := &jsonschema.Schema{Defs: d.Defs, AllOf: []*jsonschema.Schema{parts[part]}}
	r, err := wrapped.CloneSchemas().Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve the schema: %w", err)
	}
	d.resolved[key] = r
	return r, nil
}

var loadSchemas = sync.OnceValues(func() (*schemaDocument, error) {
	d := &schemaDocument{resolved: map[string]*jsonschema.Resolved{}}
	if err := json.Unmarshal(schema.Agent, d); err != nil {
		return nil, fmt.Errorf("decode agent.schema.json: %w", err)
	}
	return d, nil
})

// conforms checks the params or the result of a custom method, or the result of a command, against agent.schema.json.
// The server reads and writes through generated Go types, so this is a second opinion.
func conforms(name, part string, value json.RawMessage) error {
	d, err := loadSchemas()
	if err != nil {
		return err
	}
	resolved, err := d.resolve(name, part)
	if err != nil {
		return err
	}
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	var instance any
	if err := json.Unmarshal(value, &instance); err != nil {
		return err
	}
	if err := resolved.Validate(instance); err != nil {
		return fmt.Errorf("%w in %s", err, shorten(string(value)))
	}
	return nil
}

// errorKinds are the kinds of errors that agent.schema.json names.
func errorKinds() ([]string, error) {
	d, err := loadSchemas()
	if err != nil {
		return nil, err
	}
	var kinds []string
	for _, value := range d.Defs["ErrorKind"].Enum {
		kind, _ := value.(string)
		kinds = append(kinds, kind)
	}
	return kinds, nil
}
