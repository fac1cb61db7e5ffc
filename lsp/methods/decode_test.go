package methods

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

func TestDecodeNamesTheWrongMember(t *testing.T) {
	for name, test := range map[string]struct {
		raw, path string
		into      any
	}{
		"missing":             {`{}`, "prompt", &RunParams{}},
		"absent params":       {``, "prompt", &RunParams{}},
		"null params":         {` null `, "prompt", &RunParams{}},
		"null":                {`{"prompt":null}`, "prompt", &RunParams{}},
		"other letter case":   {`{"Prompt":"x"}`, "prompt", &RunParams{}},
		"number for a string": {`{"prompt":5}`, "prompt", &RunParams{}},
		"no object":           {`[]`, "", &RunParams{}},
		"no JSON":             {`{"prompt":`, "", &RunParams{}},
		"two values":          {`{"prompt":"x"}{}`, "", &RunParams{}},
		"relative URI":        {`{"prompt":"x","context":{"uri":"main.go"}}`, "context.uri", &RunParams{}},
		"empty URI":           {`{"prompt":"x","context":{"uri":""}}`, "context.uri", &RunParams{}},
		"URI in a list":       {`{"prompt":"x","context":{"uris":["file:///a",{}]}}`, "context.uris[1]", &RunParams{}},
		"list for an object":  {`{"prompt":"x","context":[]}`, "context", &RunParams{}},
		"object for a list":   {`{"prompt":"x","each":{}}`, "each", &RunParams{}},
		"null in a list":      {`{"prompt":"x","each":[null]}`, "each[0]", &RunParams{}},
		"half a range": {
			`{"prompt":"x","context":{"range":{"start":{"line":1,"character":0}}}}`, "context.range.end", &RunParams{},
		},
		"negative line": {
			`{"prompt":"x","context":{"range":{"start":{"line":-1,"character":0}}}}`, "context.range.start.line",
			&RunParams{},
		},
		"negative turns":  {`{"prompt":"x","limits":{"maxTurns":-1}}`, "limits.maxTurns", &RunParams{}},
		"negative tokens": {`{"prompt":"x","limits":{"maxTokens":-1}}`, "limits.maxTokens", &RunParams{}},
		"fraction":        {`{"prompt":"x","limits":{"maxTurns":1.5}}`, "limits.maxTurns", &RunParams{}},
		"huge":            {`{"prompt":"x","limits":{"maxTurns":2147483648}}`, "limits.maxTurns", &RunParams{}},
		"beyond exact": {
			`{"prompt":"x","limits":{"maxTokens":9007199254740993}}`, "limits.maxTokens", &RunParams{},
		},
		"beyond all":           {`{"prompt":"x","limits":{"maxTokens":1e400}}`, "limits.maxTokens", &RunParams{}},
		"string for a number":  {`{"prompt":"x","limits":{"maxCost":"1"}}`, "limits.maxCost", &RunParams{}},
		"string for a boolean": {`{"proposal":"p","overwrite":"true"}`, "overwrite", &AcceptParams{}},
		"token":                {`{"run":"r","workDoneToken":{}}`, "workDoneToken", &WaitParams{}},
		"fraction for a token": {`{"run":"r","workDoneToken":1.5}`, "workDoneToken", &WaitParams{}},
		"time":                 {`{"since":"yesterday"}`, "since", &UsageParams{}},
		"negative sequence":    {`{"session":"s","since":-1}`, "since", &SubscribeParams{}},
		"element of structures": {
			`{"documents":[{"uri":"file:///a","diagnostics":[{"message":"x","severity":"error"}]}]}`,
			"documents[0].diagnostics[0].range", &EditorDiagnostics{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := Decode([]byte(test.raw), test.into)
			var params *ParamsError
			if !errors.As(err, &params) {
				t.Fatalf("the error is %v", err)
			}
			if params.Path != test.path || params.Problem == "" {
				t.Errorf("the path is %q in %q", params.Path, err)
			}
		})
	}
}

func TestDecodeTakes(t *testing.T) {
	since, zero := uint64(7), uint64(0)
	cost := 0.5
	for name, test := range map[string]struct {
		raw        string
		into, want any
	}{
		"unknown members": {`{"prompt":"x","fromTheFuture":{"a":[1]}}`, &RunParams{}, &RunParams{Prompt: "x"}},
		"null for absent": {
			`{"prompt":"x","agent":null,"each":null,"limits":null}`, &RunParams{}, &RunParams{Prompt: "x"},
		},
		"white space": {" \n{ \"prompt\" : \"x\" }\n", &RunParams{}, &RunParams{Prompt: "x"}},
		"no params":   {``, &NoParams{}, &NoParams{}},
		"numbers": {
			`{"prompt":"x","limits":{"maxTurns":3.0,"timeoutMs":1e3,"maxTokens":9007199254740991,"maxCost":0.5}}`,
			&RunParams{},
			&RunParams{
				Prompt: "x", Limits: &Limits{MaxTurns: 3, TimeoutMs: 1000, MaxTokens: 1<<53 - 1, MaxCost: &cost},
			},
		},
		"unknown value": {
			`{"prompt":"x","permissionMode":"careful"}`, &RunParams{},
			&RunParams{Prompt: "x", PermissionMode: "careful"},
		},
		// As the LSP types have it, so that a document is found by its URI.
		"URI": {
			`{"prompt":"x","context":{"uri":"file:///tmp/my file.go"}}`, &RunParams{},
			&RunParams{Prompt: "x", Context: &RunContext{URI: "file:///tmp/my%20file.go"}},
		},
		"range": {
			`{"prompt":"x","context":{"range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}}}`,
			&RunParams{},
			&RunParams{Prompt: "x", Context: &RunContext{Range: &protocol.Range{
				Start: protocol.Position{Line: 1, Character: 2}, End: protocol.Position{Line: 3, Character: 4},
			}}},
		},
		"token as a number": {
			`{"run":"r","workDoneToken":5}`, &WaitParams{}, &WaitParams{Run: "r", WorkDoneToken: protocol.Integer(5)},
		},
		"token as a string": {
			`{"run":"r","workDoneToken":"é"}`, &WaitParams{},
			&WaitParams{Run: "r", WorkDoneToken: protocol.String("é")},
		},
		"since": {`{"session":"s","since":7}`, &SubscribeParams{}, &SubscribeParams{Session: "s", Since: &since}},
		"since the first": {
			`{"session":"s","since":0}`, &SubscribeParams{}, &SubscribeParams{Session: "s", Since: &zero},
		},
		"time in a zone": {
			`{"since":"2026-01-02T05:04:05+02:00"}`, &UsageParams{},
			&UsageParams{Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		},
		"empty list": {`{"prompt":"x","each":[]}`, &RunParams{}, &RunParams{Prompt: "x", Each: []uri.URI{}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Decode([]byte(test.raw), test.into); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, test.into); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecodeKeepsNothing: params are borrowed until the request is answered.
func TestDecodeKeepsNothing(t *testing.T) {
	raw := []byte(`{"kind":"call","text":"abc","arguments":{"path":"a"}}`)
	var part ModelPart
	if err := Decode(raw, &part); err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] = '!'
	}
	if part.Text != "abc" || string(part.Arguments) != `{"path":"a"}` {
		t.Errorf("the params changed afterwards: %+v", part)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"prompt":"x","context":{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}}}`,
		`{"prompt":"x","limits":{"maxTurns":1e3},"each":["file:///%zz",null]}`,
		`{"run":"r","workDoneToken":-5,"timeoutMs":1.0}`, `{"since":0}`, `null`, ``, `[[[`, `{"prompt":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, into := range []any{
			&RunParams{}, &WaitParams{}, &SubscribeParams{}, &UsageParams{}, &GenerateResult{}, &EditorDiagnostics{},
		} {
			err := Decode(raw, into)
			var params *ParamsError
			if err != nil && !errors.As(err, &params) {
				t.Fatalf("%q: %v is no *ParamsError", raw, err)
			}
			if err == nil {
				if _, err := json.Marshal(into); err != nil {
					t.Fatalf("%q was taken but cannot be written: %v", raw, err)
				}
			}
		}
	})
}
