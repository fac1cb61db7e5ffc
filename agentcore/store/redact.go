package store

import (
	"encoding/json"
	"reflect"

	"github.com/agentls/agentls/agentcore/event"
)

// redacted returns a batch in which redact has seen every text: the fields of type string and JSON, of all rows
// and event bodies. Ids and states have types of their own and stay. It goes by the types, so that a new field
// cannot be forgotten. Rows are the caller's and are copied before they are changed.
func redacted(b Batch, redact func(string) string) Batch {
	if redact == nil {
		return b
	}
	clean, changed := redactValue(reflect.ValueOf(b), redact)
	if !changed {
		return b
	}
	return clean.Interface().(Batch)
}

// redactValue returns the value with its texts redacted, and whether that is another one.
func redactValue(v reflect.Value, redact func(string) string) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[string]() {
			return v, false
		}
		if clean := redact(v.String()); clean != v.String() {
			return reflect.ValueOf(clean), true
		}
	case reflect.Slice:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			// Placeholders have no character that JSON escapes.
			if clean := redact(string(raw)); clean != string(raw) {
				return reflect.ValueOf(json.RawMessage(clean)), true
			}
			return v, false
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v, false
		}
		return redactList(v, redact)
	case reflect.Struct:
		return redactStruct(v, redact)
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		if clean, changed := redactValue(v.Elem(), redact); changed {
			next := reflect.New(v.Type().Elem())
			next.Elem().Set(clean)
			return next, true
		}
	case reflect.Interface:
		if v.IsNil() || v.Type() != reflect.TypeFor[event.Body]() {
			break
		}
		return redactValue(v.Elem(), redact)
	case reflect.Map:
		return redactMap(v, redact)
	}
	return v, false
}

func redactList(v reflect.Value, redact func(string) string) (reflect.Value, bool) {
	copied := false
	for i := range v.Len() {
		clean, changed := redactValue(v.Index(i), redact)
		if !changed {
			continue
		}
		if !copied {
			next := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(next, v)
			v, copied = next, true
		}
		v.Index(i).Set(clean)
	}
	return v, copied
}

func redactStruct(v reflect.Value, redact func(string) string) (reflect.Value, bool) {
	var next reflect.Value
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		clean, changed := redactValue(v.Field(i), redact)
		if !changed {
			continue
		}
		if !next.IsValid() {
			next = reflect.New(v.Type()).Elem()
			next.Set(v)
		}
		next.Field(i).Set(clean)
	}
	if next.IsValid() {
		return next, true
	}
	return v, false
}

func redactMap(v reflect.Value, redact func(string) string) (reflect.Value, bool) {
	copied := false
	for _, key := range v.MapKeys() {
		clean, changed := redactValue(v.MapIndex(key), redact)
		if !changed {
			continue
		}
		if !copied {
			next := reflect.MakeMap(v.Type())
			for _, k := range v.MapKeys() {
				next.SetMapIndex(k, v.MapIndex(k))
			}
			v, copied = next, true
		}
		v.SetMapIndex(key, clean)
	}
	return v, copied
}
