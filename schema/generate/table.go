package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Table is agent.table.json: what the metaModel format has no place for.
type Table struct {
	// Types says how types of the metamodel that are not generated look elsewhere.
	Types map[string]ForeignType `json:"types"`
	// ConstantPrefixes are the beginnings of the Go constants of enumerations, where they are not
	// the enumeration's name.
	ConstantPrefixes map[string]string `json:"constantPrefixes"`
	// CommandNames are the commands of methods, where they do not follow from the method's name.
	CommandNames map[string]string `json:"commandNames"`
	// Commands are those that are no methods.
	Commands []Command `json:"commands"`
	// ErrorCodes are the JSON-RPC codes of the values of ErrorKind.
	ErrorCodes map[string]int `json:"errorCodes"`
	// Errors are the kinds of errors of methods and commands, beside those that every one has.
	Errors map[string][]string `json:"errors"`
	// CommonErrors are the kinds of errors that every method has.
	CommonErrors []string `json:"commonErrors"`
	// Samples are values for the examples: of a type ("RunID"), of properties of some name ("title"),
	// or of one property ("Hunk.before"), the last winning.
	Samples map[string]json.RawMessage `json:"samples"`
	// Apart are optional members of structures that examples leave out, since they do not go with the others: a run
	// that has completed has no error.
	Apart map[string][]string `json:"apart"`
}

// whole is the table with which an example has every member.
func (t Table) whole() *Table {
	t.Apart = nil
	return &t
}

// ForeignType is a type that is written by hand, or that another module has.
type ForeignType struct {
	// Go is the type with its package, such as "event.RunID".
	Go string `json:"go"`
	// Pointer says that an optional member is a pointer, since the zero value means something.
	Pointer bool `json:"pointer"`
	// Schema is the JSON Schema, where it does not follow from the metamodel.
	Schema json.RawMessage `json:"schema"`
}

// Command is a command for workspace/executeCommand that is no method.
type Command struct {
	Command       string `json:"command"`
	Name          string `json:"name"`
	Params        string `json:"params"`
	Result        string `json:"result"`
	Documentation string `json:"documentation"`
}

// ReadTable reads the table that goes with a metamodel.
func ReadTable(data []byte, m *Model) (*Table, error) {
	t := &Table{}
	if err := decodeStrict(data, t); err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	if err := errors.Join(t.faults(m)...); err != nil {
		return nil, fmt.Errorf("check the table:\n%w", err)
	}
	return t, nil
}

// CommandName is the command of a method that the client sends: "agentls.proposal.accept" for
// "agent/proposal/accept".
func (t *Table) CommandName(method string) string {
	if name := t.CommandNames[method]; name != "" {
		return name
	}
	return "agentls." + strings.ReplaceAll(strings.TrimPrefix(method, "agent/"), "/", ".")
}

func (t *Table) faults(m *Model) []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for name := range t.Types {
		if m.aliases[name] == nil && m.structures[name] == nil {
			fault("types: there is no alias or structure %q", name)
		}
	}
	for name, members := range t.Apart {
		s := m.structures[name]
		for _, member := range members {
			if s == nil ||
				!slices.ContainsFunc(m.Properties(s),
					func(p *Property) bool { return p.Name == member && p.Optional }) {
				fault("apart: there is no optional member %s.%s", name, member)
			}
		}
	}
	for name := range t.ConstantPrefixes {
		if m.enumerations[name] == nil {
			fault("constantPrefixes: there is no enumeration %q", name)
		}
	}
	known := map[string]bool{}
	commands := map[string]bool{}
	for _, r := range m.Messages() {
		known[r.Method] = true
		if r.ToServer() {
			if commands[t.CommandName(r.Method)] {
				fault("commands: %s is there twice", t.CommandName(r.Method))
			}
			commands[t.CommandName(r.Method)] = true
		}
	}
	for _, c := range t.Commands {
		if commands[c.Command] {
			fault("commands: %s is there twice", c.Command)
		}
		commands[c.Command], known[c.Command] = true, true
		if m.structures[c.Params] == nil || m.structures[c.Result] == nil {
			fault("commands: %s has params or a result of an unknown structure", c.Command)
		}
	}
	for method := range t.CommandNames {
		if !known[method] {
			fault("commandNames: there is no method %q", method)
		}
	}
	kinds := m.enumerations["ErrorKind"]
	if kinds == nil {
		return append(faults, errors.New("there is no enumeration ErrorKind"))
	}
	isKind := func(kind string) bool {
		return slices.ContainsFunc(kinds.Values, func(e Entry) bool { return e.Value == kind })
	}
	for _, e := range kinds.Values {
		if t.ErrorCodes[e.Value] == 0 {
			fault("errorCodes: the kind %q has no code", e.Value)
		}
	}
	for name, list := range t.Errors {
		if !known[name] {
			fault("errors: there is no method or command %q", name)
		}
		for _, kind := range list {
			if !isKind(kind) {
				fault("errors: %s: there is no kind %q", name, kind)
			}
		}
	}
	return append(faults, t.sampleFaults(m)...)
}

// sampleFaults finds samples of nothing.
func (t *Table) sampleFaults(m *Model) []error {
	used := map[string]bool{}
	for _, name := range baseTypes {
		used[name] = true
	}
	for _, a := range m.TypeAliases {
		used[a.Name] = true
	}
	for _, s := range m.Structures {
		used[s.Name] = true
		for _, p := range m.Properties(s) {
			used[p.Name], used[s.Name+"."+p.Name] = true, true
		}
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(t.Samples)) {
		if !used[name] {
			faults = append(faults, fmt.Errorf("samples: there is no type or property %q", name))
		}
	}
	return faults
}
