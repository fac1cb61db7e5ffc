package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentls/agentls/agentcore/spelling"
)

// Check judges a call's arguments by the tool's schema, and returns them in the form that Run takes. It corrects usual
// mistakes of models where only one reading is possible: numbers and booleans as strings, whole numbers with a point,
// null for an optional member, camelCase or a usual other name for a known member, JSON inside a string where an object
// or array belongs, and one text where a list belongs. The error, for the model, lists every fault with its place, what
// is expected, and a right call. Check keeps nothing and may be called from any goroutine.
func Check(tool Tool, raw json.RawMessage) (json.RawMessage, error) { return check(tool, raw, nil) }

func check(tool Tool, raw, defaults json.RawMessage) (json.RawMessage, error) {
	name, s, err := shapeOf(tool)
	if err != nil {
		return nil, err
	}
	m := mender{spellings: s.spellings}
	value, err := decode(raw)
	if err != nil {
		m.fault("", fmt.Sprintf("the arguments are not JSON (%v); expected one object", err))
		return nil, m.err(name, s)
	}
	if value == nil {
		value, m.mended = jsonObject{}, true
	}
	if len(defaults) > 0 {
		if own, err := decode(defaults); err != nil || !isObject(own) {
			return nil, fmt.Errorf("the default arguments of %s are no JSON object", name)
		} else if object, ok := m.unwrap(value, isObject).(jsonObject); ok {
			value = m.complete(s.schema, object, own.(jsonObject))
		}
	}
	value = m.mend("", s.schema, value)
	if len(m.faults) > 0 {
		return nil, m.err(name, s)
	}
	// The walk above covers what our own schemas use; the library judges the rest, for schemas of others.
	if err := s.resolved.Validate(plain(value)); err != nil {
		m.fault("", trimValidation(err))
		return nil, m.err(name, s)
	}
	if !m.mended {
		return raw, nil
	}
	text, err := encode(value)
	if err != nil {
		return nil, fmt.Errorf("encode the mended arguments of %s: %w", name, err)
	}
	return json.RawMessage(text), nil
}

// The values of decoded JSON; any stands for one of nil, bool, string, json.Number, jsonArray, jsonObject.
type (
	jsonObject = map[string]any
	jsonArray  = []any
)

func shapeOf(tool Tool) (string, *shape, error) {
	if own, ok := tool.(interface{ checked() *shape }); ok {
		s := own.checked()
		return Brief(tool).Name, s, nil
	}
	spec := tool.Spec()
	s := &shape{schema: &jsonschema.Schema{}, raw: spec.Schema}
	if err := json.Unmarshal(spec.Schema, s.schema); err != nil {
		return "", nil, fmt.Errorf("the tool %s cannot be called: its schema is not valid JSON Schema: %w",
			spec.Name, err)
	}
	resolved, err := s.schema.Resolve(nil)
	if err != nil {
		return "", nil, fmt.Errorf("the tool %s cannot be called: its schema does not resolve: %w", spec.Name, err)
	}
	s.resolved = resolved
	sample := jsonObject{}
	for _, member := range s.schema.Required {
		sample[member] = sampleOf(s.schema.Properties[member])
	}
	if s.example, err = encode(sample); err != nil {
		return "", nil, fmt.Errorf("make an example for the tool %s: %w", spec.Name, err)
	}
	return spec.Name, s, nil
}

// decode reads exactly one JSON value; an empty text is nil.
func decode(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("it ends in the middle, behind %s", before(raw, len(raw)))
		case errors.As(err, &syntax):
			return nil, fmt.Errorf("%w at byte %d, behind %s", err, syntax.Offset, before(raw, int(syntax.Offset)-1))
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the first value")
	}
	return value, nil
}

// before returns the end of the text in front of a byte, so that a model finds the place.
func before(raw []byte, at int) string {
	at = min(max(at, 0), len(raw))
	from, dots := max(0, at-40), ""
	if from > 0 {
		dots = "…"
	}
	return dots + strings.ToValidUTF8(string(raw[from:at]), "")
}

// plain returns a copy of a value with Go's numbers, since the library takes a json.Number for a string. A number
// beyond a float64 stays a json.Number, and so fits no type of number.
func plain(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		if float, err := value.Float64(); err == nil {
			return float
		}
	case jsonArray:
		out := make(jsonArray, len(value))
		for i, item := range value {
			out[i] = plain(item)
		}
		return out
	case jsonObject:
		out := make(jsonObject, len(value))
		for name, member := range value {
			out[name] = plain(member)
		}
		return out
	}
	return value
}

// mender checks and corrects one call's arguments.
type mender struct {
	spellings map[*jsonschema.Schema]map[string]string
	faults    []string
	mended    bool
}

func (m *mender) fault(path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	m.faults = append(m.faults, text)
}

func (m *mender) err(name string, s *shape) error {
	return fmt.Errorf("the arguments of %s are wrong:\n- %s\na right call: %s", name,
		strings.Join(m.faults, "\n- "), s.example)
}

func (m *mender) mend(path string, schema *jsonschema.Schema, value any) any {
	if schema == nil {
		return value
	}
	switch schema.Type {
	case "object":
		object, ok := m.unwrap(value, isObject).(jsonObject)
		if !ok {
			m.wrongType(path, schema, value)
			return value
		}
		return m.mendObject(path, schema, object)
	case "array":
		array, ok := m.unwrap(value, isArray).(jsonArray)
		if text, one := value.(string); !ok && one && schema.Items != nil && schema.Items.Type == "string" &&
			strings.TrimSpace(text) != "" {
			array, ok, m.mended = jsonArray{text}, true, true
		}
		if !ok {
			m.wrongType(path, schema, value)
			return value
		}
		for i, item := range array {
			array[i] = m.mend(fmt.Sprintf("%s[%d]", path, i), schema.Items, item)
		}
		return array
	case "integer", "number":
		number, ok := m.mendNumber(value, schema.Type == "integer")
		if !ok {
			m.wrongType(path, schema, value)
			return value
		}
		m.bounds(path, schema, number)
		return number
	case "boolean":
		if text, ok := value.(string); ok && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) {
			m.mended = true
			return strings.EqualFold(text, "true")
		}
		if _, ok := value.(bool); !ok {
			m.wrongType(path, schema, value)
		}
		return value
	case "string":
		text, ok := value.(string)
		if !ok {
			m.wrongType(path, schema, value)
			return value
		}
		return m.mendEnum(path, schema, text)
	}
	return value
}

func (m *mender) mendObject(path string, schema *jsonschema.Schema, object jsonObject) jsonObject {
	open := isOpen(schema)
	out := make(jsonObject, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value := object[key]
		name := key
		if schema.Properties[key] == nil {
			if name = knownName(schema, key, m.spellings[schema]); name != "" && name != key {
				if _, taken := object[name]; taken {
					name = ""
				} else if _, taken := out[name]; taken {
					name = ""
				}
			}
			if name == "" {
				if open {
					out[key] = value
				} else {
					m.fault(join(path, key), "unknown"+suggestion(schema, key))
				}
				continue
			}
			m.mended = true
		}
		member := schema.Properties[name]
		if value == nil && !slices.Contains(schema.Required, name) && !allowsNull(member) {
			m.mended = true
			continue
		}
		out[name] = m.mend(join(path, name), member, value)
	}
	for _, name := range schema.Required {
		if _, ok := out[name]; !ok {
			m.fault(join(path, name), "missing; expected "+expected(schema.Properties[name]))
		}
	}
	return out
}

// knownName finds the one member of which key is another spelling, or "".
func knownName(schema *jsonschema.Schema, key string, aliases map[string]string) string {
	if name, ok := aliases[key]; ok {
		return name
	}
	found := ""
	for name := range schema.Properties {
		if fold(name) == fold(key) {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	if found == "" {
		for alias, name := range aliases {
			if fold(alias) == fold(key) {
				return name
			}
		}
	}
	return found
}

// separators removes the characters in which the spellings of a name differ. It is costly to make.
var separators = strings.NewReplacer("_", "", "-", "")

// fold makes oldString, old-string and old_string the same.
func fold(name string) string { return strings.ToLower(separators.Replace(name)) }

func (m *mender) mendNumber(value any, whole bool) (json.Number, bool) {
	number, ok := value.(json.Number)
	if !ok {
		text, isText := value.(string)
		if !isText {
			return "", false
		}
		if parsed, err := decode([]byte(text)); err != nil {
			return "", false
		} else if number, ok = parsed.(json.Number); !ok {
			return "", false
		}
		m.mended = true
	}
	if _, err := number.Int64(); err == nil {
		return number, true
	}
	float, err := number.Float64()
	if err != nil {
		return "", false
	}
	if !whole {
		return number, true
	}
	if float != math.Trunc(float) || math.Abs(float) > 1<<53 {
		return "", false
	}
	m.mended = true
	return json.Number(strconv.FormatInt(int64(float), 10)), true
}

func (m *mender) bounds(path string, schema *jsonschema.Schema, number json.Number) {
	float, err := number.Float64()
	if err != nil {
		return
	}
	if schema.Minimum != nil && float < *schema.Minimum || schema.Maximum != nil && float > *schema.Maximum {
		m.fault(path, fmt.Sprintf("%s is out of range; expected %s", number, expected(schema)))
	}
}

func (m *mender) mendEnum(path string, schema *jsonschema.Schema, text string) any {
	if len(schema.Enum) == 0 || slices.Contains(schema.Enum, any(text)) {
		return text
	}
	for _, allowed := range schema.Enum {
		if name, ok := allowed.(string); ok && fold(name) == fold(text) {
			m.mended = true
			return name
		}
	}
	for word, value := range m.spellings[schema] {
		if fold(word) == fold(text) {
			m.mended = true
			return value
		}
	}
	m.fault(path, fmt.Sprintf("%q is not allowed; expected %s", clip(text, 40), expected(schema)))
	return text
}

// unwrap replaces a string that holds JSON of the wanted kind by the decoded JSON.
func (m *mender) unwrap(value any, wanted func(any) bool) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	inner, err := decode([]byte(text))
	if err != nil || !wanted(inner) {
		return value
	}
	m.mended = true
	return inner
}

func isObject(value any) bool { _, ok := value.(jsonObject); return ok }
func isArray(value any) bool  { _, ok := value.(jsonArray); return ok }

func (m *mender) wrongType(path string, schema *jsonschema.Schema, value any) {
	text, err := encode(value)
	if err != nil {
		text = "the value"
	}
	m.fault(path, fmt.Sprintf("%s does not fit; expected %s", clip(text, 40), expected(schema)))
}

func allowsNull(schema *jsonschema.Schema) bool {
	// A schema without types accepts null; our own always name types.
	return schema.Type == "" && (len(schema.Types) == 0 || slices.Contains(schema.Types, "null")) ||
		schema.Type == "null"
}

// expected says what a member should be, with an example.
func expected(schema *jsonschema.Schema) string {
	if schema == nil {
		return "a value"
	}
	text := "a value"
	switch schema.Type {
	case "string":
		text = "a string"
	case "integer":
		text = "a whole number, such as 10"
	case "number":
		text = "a number, such as 1.5"
	case "boolean":
		text = "true or false"
	case "array":
		text = "an array"
	case "object":
		text = "an object"
	}
	if len(schema.Enum) > 0 {
		names := make([]string, len(schema.Enum))
		for i, allowed := range schema.Enum {
			names[i] = fmt.Sprint(allowed)
		}
		text = "one of " + strings.Join(names, ", ")
	}
	if schema.Minimum != nil {
		text += fmt.Sprintf(", at least %s", new(big.Float).SetFloat64(*schema.Minimum).Text('g', 10))
	}
	if schema.Maximum != nil {
		text += fmt.Sprintf(", at most %s", new(big.Float).SetFloat64(*schema.Maximum).Text('g', 10))
	}
	if schema.Description != "" {
		text += " (" + clip(schema.Description, 80) + ")"
	}
	return text
}

func suggestion(schema *jsonschema.Schema, key string) string {
	names := namesOf(schema)
	if len(names) == 0 {
		return "; it takes no arguments"
	}
	if near := spelling.Nearest(key, names); near != "" {
		return fmt.Sprintf("; did you mean %s? Known: %s", near, strings.Join(names, ", "))
	}
	return "; known: " + strings.Join(names, ", ")
}

// sampleOf makes a value that fits a schema's type.
func sampleOf(schema *jsonschema.Schema) any {
	if schema == nil {
		return "…"
	}
	if len(schema.Enum) > 0 {
		return schema.Enum[0]
	}
	switch schema.Type {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "array":
		return jsonArray{}
	case "object":
		return jsonObject{}
	}
	return "…"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// trimValidation shortens the library's error to its last part, which names the fault.
func trimValidation(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "validating root: "); ok {
		return after
	}
	return text
}

// Parse judges a model's arguments as [Check] does, and decodes them. defaults is a JSON object or empty: the call gets
// those of its members that the call does not set under any of their names, or sets to null. The defaults are judged as
// a part of the call.
func Parse(t Tool, raw, defaults json.RawMessage) (Call, error) {
	arguments, err := check(t, raw, defaults)
	if err != nil {
		return Call{}, err
	}
	return t.Decode(arguments)
}
