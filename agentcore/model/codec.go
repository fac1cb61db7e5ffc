package model

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// taggedPart is the stored form of a part: its kind and the one member that is set.
type taggedPart struct {
	Kind      string     `json:"kind"`
	Text      *Text      `json:"textPart,omitempty"`
	Picture   *Picture   `json:"picture,omitempty"`
	Reasoning *Reasoning `json:"reasoning,omitempty"`
	Call      *Call      `json:"call,omitempty"`
	Result    *Result    `json:"result,omitempty"`
}

// EncodeParts returns the parts as JSON, for the store and for transcripts. Arguments of a call that
// are no valid JSON are kept as a JSON string.
func EncodeParts(parts []Part) (json.RawMessage, error) {
	tagged := make([]taggedPart, 0, len(parts))
	for _, part := range parts {
		switch p := part.(type) {
		case Text:
			tagged = append(tagged, taggedPart{Kind: "text", Text: &p})
		case Picture:
			tagged = append(tagged, taggedPart{Kind: "picture", Picture: &p})
		case Reasoning:
			tagged = append(tagged, taggedPart{Kind: "reasoning", Reasoning: &p})
		case Call:
			if !json.Valid(p.Arguments) {
				quoted, err := json.Marshal(string(p.Arguments))
				if err != nil {
					return nil, fmt.Errorf("quote the arguments of call %s: %w", p.ID, err)
				}
				p.Arguments = quoted
			}
			tagged = append(tagged, taggedPart{Kind: "call", Call: &p})
		case Result:
			tagged = append(tagged, taggedPart{Kind: "result", Result: &p})
		}
	}
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false) // otherwise people would read \u003e in commands and code
	if err := encoder.Encode(tagged); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return bytes.TrimSuffix(raw.Bytes(), []byte("\n")), nil
}

// DecodeParts reads what EncodeParts wrote.
func DecodeParts(raw json.RawMessage) ([]Part, error) {
	var tagged []taggedPart
	if err := json.Unmarshal(raw, &tagged); err != nil {
		return nil, fmt.Errorf("decode a message: %w", err)
	}
	parts := make([]Part, 0, len(tagged))
	for _, t := range tagged {
		switch {
		case t.Text != nil:
			parts = append(parts, *t.Text)
		case t.Picture != nil:
			parts = append(parts, *t.Picture)
		case t.Reasoning != nil:
			parts = append(parts, *t.Reasoning)
		case t.Call != nil:
			parts = append(parts, *t.Call)
		case t.Result != nil:
			parts = append(parts, *t.Result)
		default:
			return nil, fmt.Errorf("decode a message: unknown part %q", t.Kind)
		}
	}
	return parts, nil
}
