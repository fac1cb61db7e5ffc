package transport

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/model"
)

func TestParseFault(t *testing.T) {
	for raw, want := range map[string]Fault{
		`{"error":{"type":"a","code":"b","message":"c"}}`:  {Type: "a", Code: "b", Message: "c"},
		`{"error":{"type":null,"code":429,"message":"c"}}`: {Code: "429", Message: "c"},
		`{"error":"c"}`:                       {Message: "c"},
		`{"error":{"detail":"c"}}`:            {Message: "c"},
		`{"error":["c"]}`:                     {Message: `["c"]`},
		`{"message":"c","type":"a"}`:          {Type: "a", Message: "c"},
		`{"detail":[{"msg":"c"}]}`:            {Message: `[{"msg":"c"}]`},
		`{"object":"error","message":"c"}`:    {Message: "c"},
		`{"error":false,"message":"c"}`:       {Message: "c"},
		`{"error":{"message":"","type":"a"}}`: {Type: "a", Message: `{"message":"","type":"a"}`},
		// Google's.
		`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"c","details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`: {
			"RESOURCE_EXHAUSTED", "429", "c", 34500 * time.Millisecond,
		},
		`{"error":{"message":"Please try again in 1m0.5s. Or not."}}`: {
			Message: "Please try again in 1m0.5s. Or not.", After: 60500 * time.Millisecond,
		},
		`{"error":{"message":"Please retry in 20ms.","details":"nothing"}}`: {
			Message: "Please retry in 20ms.",
			After:   20 * time.Millisecond,
		},
		`{"error":"try again in a while"}`: {Message: "try again in a while"},
	} {
		if got, ok := ParseFault([]byte(raw)); !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", raw, got, ok, want)
		}
	}
	for _, raw := range []string{``, `x`, `[]`, `{}`, `{"error":null}`, `{"id":"x"}`} {
		if got, ok := ParseFault([]byte(raw)); ok {
			t.Errorf("%s passes for a fault: %+v", raw, got)
		}
	}
}

// TestOverflow holds what vendors and servers say of a conversation that is too long, and what must not pass for it.
func TestOverflow(t *testing.T) {
	for said, want := range map[string]model.ErrorKind{
		"prompt is too long: 205000 tokens > " +
			"200000 maximum": model.ErrContext,
		"input length and `max_tokens` exceed context limit: 190000 + 20000 " +
			"> 200000": model.ErrContext,
		"This model's maximum context length is 128000 tokens. However, your messages resulted in " +
			"205000 tokens.": model.ErrContext,
		"the request exceeds the available context size. try increasing the context size or enable " +
			"context shift": model.ErrContext,
		"Your input exceeds the context window of this model. Please adjust your input and " +
			"try again.": model.ErrContext,
		"The input token count (1200000) exceeds the maximum number of tokens allowed " +
			"(1048576).": model.ErrContext,
		"max_tokens: 100000 > 8192, which is the maximum allowed number of " +
			"output tokens": model.ErrInvalid,
		"tools.0.custom.name: String should " +
			"match pattern": model.ErrInvalid,
		"The string in the field context is " +
			"too short": model.ErrInvalid,
	} {
		if got := (Fault{Message: said}).Sort(http.StatusBadRequest); got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	u := &Upstream{
		secrets: secrets("k+/=secret", map[string]string{"Authorization": "Bearer other-secret", "X": "short"}),
	}
	got := u.clean("a\nk+/=secret k%2B%2F%3Dsecret other-secret short\xff")
	if got != "a [key] [key] [key] short\ufffd" {
		t.Errorf("%q", got)
	}
	if got := u.clean(strings.Repeat("ä", 300)); len(got) > maxDetail || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestClientStaysAndKeepsItsBase(t *testing.T) {
	base := &http.Client{}
	client := newClient(base)
	if base.CheckRedirect != nil || client == base || client.CheckRedirect == nil {
		t.Error("the client that was given has changed, or the new one follows redirects")
	}
}

func TestKeyHint(t *testing.T) {
	for provider, want := range map[string]string{
		"openai": "check the key of the provider openai: set OPENAI_API_KEY, or key_env in [providers.openai]",
		// the vendor's key is not sent there
		"local": "check the key of the provider local: it is in the variable that key_env in [providers.local] names",
	} {
		if got := keyHint(provider, "openai", "OPENAI_API_KEY"); got != want {
			t.Errorf("%s: %s", provider, got)
		}
	}
}

// TestAddress has the addresses that requests go to: below the base URL, and at no other host.
func TestAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                    "https://v.example/v1/a/b",
		"http://h":            "http://h/a/b",
		"http://h/":           "http://h/a/b",
		"http://h:1/v1//":     "http://h:1/v1/a/b",
		"http://h/v1?k=1#f":   "http://h/v1/a/b",
		"http://h//other//v1": "http://h//other//v1/a/b",
		"http://h/x%2Fy/v1":   "http://h/x%2Fy/v1/a/b",
		"http://h/ü:z":        "http://h/%C3%BC:z/a/b",
		"http://h/x/../v1":    "http://h/v1/a/b",
		"http://h/%":          "",
	} {
		at := Vendor{URL: "https://v.example/v1"}.Endpoint(Options{BaseURL: base})
		if got := at.At("a/b"); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

// TestHeader has what requests carry: the configured headers win.
func TestHeader(t *testing.T) {
	vendor := Vendor{
		KeyHeader: "Authorization", KeyScheme: "Bearer ", Header: http.Header{"Accept": {"a/b"}, "X-Version": {"1"}},
	}
	for want, o := range map[string]Options{
		"a/b|application/json|agentls||1":         {},
		"a/b|application/json|agentls|Bearer k|1": {Key: "k"},
		"c/d|application/json|u|Basic x|2": {
			Key: "k",
			Headers: map[string]string{
				"authorization": "Basic x", "user-agent": "u", "ACCEPT": "c/d", "x-version": "2",
			},
		},
	} {
		var got []string
		header := vendor.Endpoint(o).Header
		for _, name := range []string{"Accept", "Content-Type", "User-Agent", "Authorization", "X-Version"} {
			got = append(got, strings.Join(header[name], "+"))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
