package wire

import (
	"errors"
	"reflect"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// codec encodes and decodes params and results by the protocol package, since union types need its methods.
type codec struct{}

var _ jsonrpc2.Codec = codec{}

// Marshal implements jsonrpc2.Codec. A nil pointer, map, or raw message becomes null; the protocol package decides on a
// nil slice.
func (codec) Marshal(v any) ([]byte, error) {
	if raw, ok := v.(jsonrpc2.RawMessage); ok && raw != nil {
		return raw, nil
	}
	if rv := reflect.ValueOf(v); !rv.IsValid() || (rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Map) &&
		rv.IsNil() {
		return []byte("null"), nil
	}
	return protocol.Marshal(v)
}

// Unmarshal implements jsonrpc2.Codec. What it decodes does not alias data.
func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = append((*raw)[:0:0], data...)
		return nil
	}
	return protocol.Unmarshal(data, v)
}

// Decode decodes a message's params into v, a pointer. Absent params count as an empty object. The error is already
// wrapped by InvalidParams. What it decodes does not alias params.
func Decode(params jsonrpc2.RawMessage, v any) error {
	if len(params) == 0 {
		params = jsonrpc2.RawMessage("{}")
	}
	if params[0] != '{' {
		return InvalidParams(errors.New("expected an object"))
	}
	if err := (codec{}).Unmarshal(params, v); err != nil {
		return InvalidParams(err)
	}
	return nil
}
