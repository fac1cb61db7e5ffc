package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Model is agent.metamodel.json: the LSP metaModel format (metaModel.schema.json of the LSP
// specification, 3.18), as far as this protocol uses it.
type Model struct {
	MetaData struct {
		Version string `json:"version"`
	} `json:"metaData"`
	Requests      []*Message     `json:"requests"`
	Notifications []*Message     `json:"notifications"`
	Structures    []*Structure   `json:"structures"`
	Enumerations  []*Enumeration `json:"enumerations"`
	TypeAliases   []*TypeAlias   `json:"typeAliases"`

	structures   map[string]*Structure
	enumerations map[string]*Enumeration
	aliases      map[string]*TypeAlias
}

// Message is a request or, without Result, a notification. A proposed request is in the protocol
// but not served yet.
type Message struct {
	Method           string `json:"method"`
	TypeName         string `json:"typeName"`
	MessageDirection string `json:"messageDirection"`
	Params           *Type  `json:"params"`
	Result           *Type  `json:"result"`
	ErrorData        *Type  `json:"errorData"`
	ServerCapability string `json:"serverCapability"`
	ClientCapability string `json:"clientCapability"`
	Documentation    string `json:"documentation"`
}

// Name is the message's name in code: the type name without its ending.
func (m *Message) Name() string {
	return strings.TrimSuffix(strings.TrimSuffix(m.TypeName, "Request"), "Notification")
}

// ToServer reports whether the client sends the message.
func (m *Message) ToServer() bool { return m.MessageDirection == "clientToServer" }

// Structure is an object.
type Structure struct {
	Name          string      `json:"name"`
	Extends       []*Type     `json:"extends"`
	Properties    []*Property `json:"properties"`
	Documentation string      `json:"documentation"`
}

// Property is a member of a structure.
type Property struct {
	Name          string `json:"name"`
	Type          *Type  `json:"type"`
	Optional      bool   `json:"optional"`
	Documentation string `json:"documentation"`
}

// Enumeration is a set of strings; a receiver keeps values that are not in it.
type Enumeration struct {
	Name                 string  `json:"name"`
	Type                 *Type   `json:"type"`
	Values               []Entry `json:"values"`
	SupportsCustomValues bool    `json:"supportsCustomValues"`
	Documentation        string  `json:"documentation"`
}

// Entry is a value of an enumeration.
type Entry struct {
	Name          string `json:"name"`
	Value         string `json:"value"`
	Documentation string `json:"documentation"`
}

// TypeAlias names a type.
type TypeAlias struct {
	Name          string `json:"name"`
	Type          *Type  `json:"type"`
	Documentation string `json:"documentation"`
}

// Type is one of the kinds base, reference, array, map (of strings), or, and stringLiteral. The
// format's other kinds are not used, and refused.
type Type struct {
	Kind    string
	Name    string  // of base and reference
	Literal string  // of stringLiteral
	Items   []*Type // of or
	Element *Type   // of array and map
}

// UnmarshalJSON reads a type.
func (t *Type) UnmarshalJSON(data []byte) error {
	var raw struct {
		Kind    string          `json:"kind"`
		Name    string          `json:"name"`
		Items   []*Type         `json:"items"`
		Element *Type           `json:"element"`
		Key     *Type           `json:"key"`
		Value   json.RawMessage `json:"value"`
	}
	if err := decodeStrict(data, &raw); err != nil {
		return err
	}
	*t = Type{Kind: raw.Kind, Name: raw.Name, Items: raw.Items, Element: raw.Element}
	switch raw.Kind {
	case "base", "reference":
		if raw.Name == "" {
			return fmt.Errorf("a %s type has no name", raw.Kind)
		}
	case "array":
		if raw.Element == nil {
			return errors.New("an array type has no element")
		}
	case "or":
		if len(raw.Items) < 2 {
			return errors.New("an or type has less than two items")
		}
	case "map":
		if raw.Key == nil || raw.Key.Name != "string" {
			return errors.New("the keys of a map type must be strings")
		}
		return json.Unmarshal(raw.Value, &t.Element)
	case "stringLiteral":
		return json.Unmarshal(raw.Value, &t.Literal)
	default:
		return fmt.Errorf("types of the kind %q are not used here", raw.Kind)
	}
	return nil
}

// Literals returns the values of an or of string literals.
func (t *Type) Literals() ([]string, bool) {
	if t.Kind != "or" {
		return nil, false
	}
	var values []string
	for _, item := range t.Items {
		if item.Kind != "stringLiteral" {
			return nil, false
		}
		values = append(values, item.Literal)
	}
	return values, true
}

// Nullable returns X of the type X | null.
func (t *Type) Nullable() (*Type, bool) {
	if t.Kind == "or" && len(t.Items) == 2 && t.Items[1].isNull() {
		return t.Items[0], true
	}
	return nil, false
}

func (t *Type) isNull() bool { return t.Kind == "base" && t.Name == "null" }

func decodeStrict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is something behind the document's end")
	}
	return nil
}

// ReadModel reads and checks a metamodel.
func ReadModel(data []byte) (*Model, error) {
	m := &Model{
		structures: map[string]*Structure{}, enumerations: map[string]*Enumeration{},
		aliases: map[string]*TypeAlias{},
	}
	if err := decodeStrict(data, m); err != nil {
		return nil, fmt.Errorf("read the metamodel: %w", err)
	}
	for _, s := range m.Structures {
		m.structures[s.Name] = s
	}
	for _, e := range m.Enumerations {
		m.enumerations[e.Name] = e
	}
	for _, a := range m.TypeAliases {
		m.aliases[a.Name] = a
	}
	if err := errors.Join(m.faults()...); err != nil {
		return nil, fmt.Errorf("check the metamodel:\n%w", err)
	}
	return m, nil
}

// Messages returns the requests, then the notifications.
func (m *Model) Messages() []*Message { return slices.Concat(m.Requests, m.Notifications) }

// Events returns the structures of the alias Event, the closed set of events. Each of them has a
// property `type` whose type is its own name as a literal.
func (m *Model) Events() []*Structure {
	var events []*Structure
	for _, item := range m.aliases["Event"].Type.Items {
		events = append(events, m.structures[item.Name])
	}
	return events
}

// Properties returns the properties of a structure behind those of the structures that it extends.
func (m *Model) Properties(s *Structure) []*Property {
	var all []*Property
	for _, parent := range s.Extends {
		all = append(all, m.Properties(m.structures[parent.Name])...)
	}
	return append(all, s.Properties...)
}

// Optional reports whether a structure has no member that must be there.
func (m *Model) Optional(t *Type) bool {
	s := m.structures[t.Name]
	return s != nil && !slices.ContainsFunc(m.Properties(s), func(p *Property) bool { return !p.Optional })
}

var (
	methodPattern   = regexp.MustCompile(`^agent(/[a-z]+)+$`)
	typePattern     = regexp.MustCompile(`^[A-Z][A-Za-z]*$`)
	propertyPattern = regexp.MustCompile(`^[a-z][A-Za-z]*$`)
	baseTypes       = []string{"string", "boolean", "integer", "uinteger", "decimal", "null", "DocumentUri"}
)

func (m *Model) faults() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	once := func(what, name, documentation string) {
		if seen[what+" "+name] {
			fault("the %s %s is there twice", what, name)
		}
		seen[what+" "+name] = true
		if !strings.HasSuffix(documentation, ".") {
			fault("the documentation of the %s %s is no sentence", what, name)
		}
	}
	var check func(at string, t *Type)
	check = func(at string, t *Type) {
		switch t.Kind {
		case "base":
			if !slices.Contains(baseTypes, t.Name) {
				fault("%s: the base type %q is not used here", at, t.Name)
			}
		case "reference":
			if m.structures[t.Name] == nil && m.enumerations[t.Name] == nil && m.aliases[t.Name] == nil {
				fault("%s: there is no type %q", at, t.Name)
			}
		case "array", "map":
			check(at, t.Element)
		case "or":
			for _, item := range t.Items {
				check(at, item)
			}
		}
	}
	for _, r := range m.Messages() {
		once("method", r.Method, r.Documentation)
		once("type name", r.TypeName, ".")
		if !methodPattern.MatchString(r.Method) {
			fault("%q is no name of a method of this protocol", r.Method)
		}
		if r.Name() == r.TypeName || !typePattern.MatchString(r.TypeName) {
			fault("%s: the type name %q does not end in Request or Notification", r.Method, r.TypeName)
		}
		if r.MessageDirection != "clientToServer" && r.MessageDirection != "serverToClient" {
			fault("%s: the direction %q is not used here", r.Method, r.MessageDirection)
		}
		if r.Params == nil || r.Params.Kind != "reference" {
			fault("%s: the params are no reference", r.Method)
		} else {
			check(r.Method, r.Params)
		}
		if r.Result != nil {
			check(r.Method, r.Result)
		}
	}
	for _, s := range m.Structures {
		once("type", s.Name, s.Documentation)
		if !typePattern.MatchString(s.Name) {
			fault("%q is no name of a type", s.Name)
		}
		for _, parent := range s.Extends {
			if m.structures[parent.Name] == nil {
				fault("%s extends %q, which is no structure", s.Name, parent.Name)
				return faults
			}
		}
		for _, p := range m.Properties(s) {
			at := s.Name + "." + p.Name
			once("property", at, p.Documentation)
			if !propertyPattern.MatchString(p.Name) {
				fault("%s is no name of a property", at)
			}
			check(at, p.Type)
		}
	}
	for _, e := range m.Enumerations {
		once("type", e.Name, e.Documentation)
		if e.Type == nil || e.Type.Name != "string" || !e.SupportsCustomValues {
			fault("%s must be an enumeration of strings that supports custom values", e.Name)
		}
		for _, v := range e.Values {
			once("value", e.Name+"."+v.Name, v.Documentation)
		}
	}
	for _, a := range m.TypeAliases {
		once("type", a.Name, a.Documentation)
		check(a.Name, a.Type)
	}
	return append(faults, m.eventFaults()...)
}

func (m *Model) eventFaults() []error {
	alias := m.aliases["Event"]
	if alias == nil || alias.Type.Kind != "or" {
		return []error{errors.New("there is no alias Event of all events")}
	}
	var faults []error
	for _, item := range alias.Type.Items {
		s := m.structures[item.Name]
		if s == nil ||
			!slices.ContainsFunc(s.Properties,
				func(p *Property) bool { return p.Name == "type" && p.Type.Literal == s.Name }) {
			faults = append(faults,
				fmt.Errorf("the event %q is no structure whose property type is its own name", item.Name))
		}
	}
	return faults
}
