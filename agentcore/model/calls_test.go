package model

import (
	"encoding/json"
	"testing"
)

func TestObject(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, ` `: `{}`, `{"a":1}`: `{"a":1}`, " {}\n": `{}`,
		`{"a":`:       `{"invalid_arguments":"{\"a\":"}`,
		`"{\"a\":"`:   `{"invalid_arguments":"{\"a\":"}`,
		`[1]`:         `{"invalid_arguments":"[1]"}`,
		`null`:        `{"invalid_arguments":""}`,
		`{"a":1}junk`: `{"invalid_arguments":"{\"a\":1}junk"}`,
	} {
		if got := Object(json.RawMessage(in)); string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
