package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxOutputSchema bounds an output schema, in bytes: the model reads it in every request of the run.
const MaxOutputSchema = 16 << 10

// OutputSchema is a JSON Schema of an object that the final answer of a run is held to. It is never changed.
type OutputSchema struct {
	text     string
	resolved *jsonschema.Resolved
}

// ReadOutputSchema reads a schema. The error is for a person. Nothing is loaded from elsewhere.
func ReadOutputSchema(raw json.RawMessage) (*OutputSchema, error) {
	if len(raw) > MaxOutputSchema {
		return nil, fmt.Errorf("it has %d bytes; at most %d are taken", len(raw), MaxOutputSchema)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if text.Len() == 0 || text.Bytes()[0] != '{' {
		return nil, errors.New("it is no JSON object")
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text.Bytes(), &schema); err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	if schema.Type != "" && schema.Type != "object" || len(schema.Types) > 0 {
		return nil, errors.New(`its root describes no object: write "type": "object" there`)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	return &OutputSchema{text.String(), resolved}, nil
}

// Told is what a model hears of the schema, behind its task.
func (s *OutputSchema) Told() string {
	return "\n\n<output_schema>\n" + s.text + "\n</output_schema>\nYour final answer is read by a program: one JSON " +
		"object that fits this JSON Schema, and nothing else, no fence and no word around it."
}

// Read finds the object in an answer: the whole of it, or what is fenced in it, or what stands behind other text. The
// error, for the model, says what does not fit.
func (s *OutputSchema) Read(answer string) (json.RawMessage, error) {
	if len(answer) > maxHandedOver {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", len(answer), maxHandedOver)
	}
	var first error
	for object := range objectsIn(answer) {
		err := s.fits(object)
		if err == nil {
			return object, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New("it holds no JSON object")
	}
	return nil, first
}

func (s *OutputSchema) fits(object json.RawMessage) error {
	value, err := decode(object)
	if err != nil {
		return err
	}
	if err := s.resolved.Validate(plain(value)); err != nil {
		return errors.New(trimValidation(err))
	}
	return nil
}

// objectsIn yields the JSON objects that begin a line of a text, up to maxObjects of them, each without those inside
// of it.
func objectsIn(text string) func(yield func(json.RawMessage) bool) {
	return func(yield func(json.RawMessage) bool) {
		for range maxObjects {
			begin := 0
			for begin < len(text) && !strings.HasPrefix(strings.TrimLeft(text[begin:], " \t"), "{") {
				line := strings.IndexByte(text[begin:], '\n')
				if line < 0 {
					return
				}
				begin += line + 1
			}
			text = text[begin:]
			decoder := json.NewDecoder(strings.NewReader(text))
			var object json.RawMessage
			if decoder.Decode(&object) != nil {
				_, text, _ = strings.Cut(text, "\n")
				continue
			}
			if !yield(object) {
				return
			}
			text = text[decoder.InputOffset():]
		}
	}
}
