package store

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
)

// redact applies the function to every text of a batch: to the fields of type string and JSON of all rows and event
// bodies. Ids and states have types of their own and are left alone. It finds texts by their types, so that no new
// field can be forgotten. Rows belong to the caller, and are copied before they are changed.
func (b *Batch) redact(redact func(string) string) {
	if redact == nil {
		return
	}
	if clean, changed := redactValue(reflect.ValueOf(b).Elem(), redact); changed {
		*b = clean.Interface().(Batch)
	}
}

// redactValue returns the value with its texts redacted, and whether anything has changed.
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
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			// Placeholders have no character that JSON escapes.
			raw := string(v.Bytes())
			if clean := redact(raw); clean != raw {
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
	for _, i := range fieldsWithTexts(v.Type()) {
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

// textFields holds the results of fieldsWithTexts by type: looking through the types for each batch would cost as much
// as looking at the texts.
var textFields sync.Map

// fieldsWithTexts returns the indices of the fields of a struct type that may hold a text.
func fieldsWithTexts(t reflect.Type) []int {
	if known, ok := textFields.Load(t); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && mayHoldTexts(f.Type, nil) {
			fields = append(fields, i)
		}
	}
	textFields.Store(t, fields)
	return fields
}

// mayHoldTexts reports whether redactValue could find a text in a value of a type. above are the types that contain it.
func mayHoldTexts(t reflect.Type, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return false // this type is being looked through already
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.String:
		return t == reflect.TypeFor[string]()
	case reflect.Slice:
		return t == reflect.TypeFor[json.RawMessage]() ||
			t.Elem().Kind() != reflect.Uint8 && mayHoldTexts(t.Elem(), above)
	case reflect.Pointer, reflect.Map:
		return mayHoldTexts(t.Elem(), above)
	case reflect.Interface:
		return t == reflect.TypeFor[event.Body]()
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && mayHoldTexts(f.Type, above) {
				return true
			}
		}
	}
	return false
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
