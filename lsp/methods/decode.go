package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// ParamsError says which member of a message does not have the documented form (JSON-RPC -32602).
type ParamsError struct {
	// Path names the member, such as "context.uris[2]"; it is empty for the whole.
	Path string
	// Problem says what is wrong, such as "want a string, got 5".
	Problem string
}

func (e *ParamsError) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// inArgument puts the place of a command's argument in front of the path of a *ParamsError.
func inArgument(err error) error {
	var params *ParamsError
	if !errors.As(err, &params) {
		return err
	}
	path := "arguments[0]"
	if params.Path != "" {
		path += "." + params.Path
	}
	return &ParamsError{Path: path, Problem: params.Problem}
}

// Decode reads params or a result into one of the structures of this package. It is stricter than
// encoding/json: names are compared exactly, a member without omitempty or omitzero must be there
// and not be null, and numbers must fit. Null counts as absent for the others, unknown members are
// skipped, and URIs come out in the form that the LSP types have, so that they compare equal. All
// errors are *[ParamsError]. The result does not refer to data.
func Decode(data []byte, into any) error {
	if absent(data) {
		data = []byte("{}")
	}
	if !json.Valid(data) {
		return &ParamsError{Problem: "this is no valid JSON"}
	}
	return decode("", bytes.TrimSpace(data), reflect.ValueOf(into).Elem(), nil)
}

func absent(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

var (
	uriType   = reflect.TypeFor[uri.URI]()
	timeType  = reflect.TypeFor[time.Time]()
	rawType   = reflect.TypeFor[json.RawMessage]()
	tokenType = reflect.TypeFor[protocol.ProgressToken]()
)

func decode(path string, raw []byte, into reflect.Value, field *reflect.StructField) error {
	wrong := func(want string) error {
		return &ParamsError{Path: path, Problem: "want " + want + ", got " + excerpt(raw)}
	}
	switch into.Type() {
	case rawType, tokenType, uriType, timeType:
		return decodeKnown(raw, into, wrong)
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return decode(path, raw, into.Elem(), field)
	case reflect.Struct:
		return decodeStruct(path, raw, into)
	case reflect.Slice:
		var items []json.RawMessage
		if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
			return wrong("a list")
		}
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		for i, item := range items {
			if err := decode(path+"["+strconv.Itoa(i)+"]", item, into.Index(i), field); err != nil {
				return err
			}
		}
	case reflect.String:
		var text string
		if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			return wrong("a string")
		}
		into.SetString(text)
	case reflect.Bool:
		if raw[0] != 't' && raw[0] != 'f' {
			return wrong("true or false")
		}
		into.SetBool(raw[0] == 't')
	case reflect.Float64:
		number, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return wrong("a number")
		}
		into.SetFloat(number)
	default:
		return decodeInteger(raw, into, field, wrong)
	}
	return nil
}

// decodeKnown decodes a value of one of the types that have a form of their own on the wire.
func decodeKnown(raw []byte, into reflect.Value, wrong func(want string) error) error {
	switch into.Type() {
	case rawType:
		into.SetBytes(bytes.Clone(raw))
	case tokenType:
		var token struct {
			Token protocol.ProgressToken `json:"token"`
		}
		if err := protocol.Unmarshal([]byte(`{"token":`+string(raw)+`}`), &token); err != nil || token.Token == nil {
			return wrong("a string or a whole number")
		}
		into.Set(reflect.ValueOf(token.Token))
	case uriType:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return wrong("a URI")
		}
		parsed, err := uri.Parse(text)
		if err != nil || parsed.Scheme() == "" || !strings.Contains(text, ":") {
			return wrong("a URI with a scheme, such as file:///dir/name")
		}
		into.Set(reflect.ValueOf(parsed))
	case timeType:
		var at time.Time
		if json.Unmarshal(raw, &at) != nil {
			return wrong("a time as 2026-01-02T03:04:05Z")
		}
		into.Set(reflect.ValueOf(at.UTC()))
	}
	return nil
}

func decodeStruct(path string, raw []byte, into reflect.Value) error {
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return &ParamsError{Path: path, Problem: "want an object, got " + excerpt(raw)}
	}
	for i := range into.NumField() {
		field := into.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		at := name
		if path != "" {
			at = path + "." + name
		}
		member, ok := members[name]
		optional := options != ""
		if optional && absent(member) {
			continue
		}
		if !ok {
			return &ParamsError{Path: at, Problem: "this member is missing"}
		}
		if err := decode(at, bytes.TrimSpace(member), into.Field(i), &field); err != nil {
			return err
		}
	}
	return nil
}

// decodeInteger also takes whole numbers that are written with a fraction or an exponent, as some
// languages write all their numbers.
func decodeInteger(raw []byte, into reflect.Value, field *reflect.StructField, wrong func(string) error) error {
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	switch into.Kind() {
	case reflect.Int64, reflect.Uint64:
		// The largest whole numbers that every JSON reader keeps exact.
		low, high = -(1<<53 - 1), 1<<53-1
	}
	if into.CanUint() || field != nil && field.Tag.Get("min") == "0" {
		low = 0
	}
	want := fmt.Sprintf("a whole number from %d to %d", low, high)
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		float, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || float != math.Trunc(float) || math.Abs(float) > 1<<53 {
			return wrong(want)
		}
		number = int64(float)
	}
	if number < low || number > high {
		return wrong(want)
	}
	if into.CanUint() {
		into.SetUint(uint64(number))
	} else {
		into.SetInt(number)
	}
	return nil
}

// excerpt shortens a value for a message.
func excerpt(raw []byte) string {
	const most = 40
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}
