package main

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		for j, part := range []any{m.name, m.value} {
			if j > 0 {
				out.WriteByte(':')
			}
			text, err := encode(part, "")
			if err != nil {
				return nil, err
			}
			out.Write(bytes.TrimSpace(text))
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// encode writes JSON with `<` and `&` as they are, and a line end.
func encode(value any, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
