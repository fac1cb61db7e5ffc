package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const key = `sk-own/key+with"odd&chars=0123456789`

// token36 is put together here, so that no scanner takes this file for a leak.
var token36 = "ghp_" + strings.Repeat("a1B2c3", 6)

func TestForms(t *testing.T) {
	quoted, _ := json.Marshal(key)
	for name, text := range map[string]string{
		"raw":                  key,
		"base64":               base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 of a header":   base64.StdEncoding.EncodeToString([]byte("user:" + key + "\n")),
		"base64, other offset": base64.URLEncoding.EncodeToString([]byte("me:" + key)),
		"hex":                  hex.EncodeToString([]byte(key)),
		"query":                url.QueryEscape(key),
		"path":                 url.PathEscape(key),
		"lower escapes":        strings.ToLower("x") + lowerEscapes(url.QueryEscape(key)),
		"every byte escaped":   percent(key),
		"JSON":                 string(quoted),
	} {
		t.Run(name, func(t *testing.T) {
			var r Redactor
			r.Add("OWN_KEY", key)
			got := r.Text("before " + text + " after")
			if !strings.Contains(got, "[secret OWN_KEY]") {
				t.Fatalf("nothing was redacted in %s", got)
			}
			for _, form := range formsOf(key) {
				if strings.Contains(got, form) {
					t.Errorf("%s still holds the form %s", got, form)
				}
			}
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("what stands around was changed: %s", got)
			}
		})
	}
}

func TestTokensAreKnownByTheirForm(t *testing.T) {
	var r Redactor
	block := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEow+/\n", 8) + "-----END RSA PRIVATE KEY-----"
	got := r.Text("a " + token36 + " b\n" + block + "\nc")
	if want := "a [secret github-token-1] b\n[secret private-key-1]\nc"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	got = r.Text(base64.StdEncoding.EncodeToString([]byte("x" + token36)))
	if !strings.Contains(got, "[secret github-token-1]") {
		t.Errorf("a token that was seen is not known in base64: %s", got)
	}
	for _, harmless := range []string{
		"sk-learn is a library", "ghp_short", "risk-free", "AIza", "npm_config_cache", "xoxo",
	} {
		if got := r.Text(harmless); got != harmless {
			t.Errorf("%q became %q", harmless, got)
		}
	}
}

func TestRestoreStaysInTheFile(t *testing.T) {
	var r Redactor
	r.Add("OWN_KEY", key)
	home := "key = " + key + "\n"
	seen := r.Text(home)
	if got := r.Restore(seen+"more\n", home); got != home+"more\n" {
		t.Errorf("an edit of the file lost the key: %q", got)
	}
	if got := r.Restore(seen, "another file"); strings.Contains(got, key) {
		t.Errorf("the key got into another file: %q", got)
	}
}

// TestStream cuts a text with secrets anywhere: what comes out is the same as of the whole text.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Redactor
		r.Add("OWN_KEY", key)
		piece := rapid.SampledFrom([]string{
			key, base64.StdEncoding.EncodeToString([]byte("xy" + key)), url.QueryEscape(key), token36,
			token36 + "tail_of_a_longer-one", key[:12], "gh", "sk-", " ", "\n", "plain words", "-----BEGIN ",
			"-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----", "漢字", "[secret ",
		})
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		s := r.Stream()
		var out strings.Builder
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "cut")
			out.WriteString(s.Write(rest[:n]))
			rest = rest[n:]
		}
		out.WriteString(s.Flush())
		for _, form := range append(formsOf(key), formsOf(token36)...) {
			if strings.Contains(out.String(), form) {
				t.Fatalf("%q gives away %q", out.String(), form)
			}
		}
		if r.Text(text) == text && out.String() != text {
			t.Fatalf("%q became %q", text, out.String())
		}
	})
}

func TestStreamShowsWordsSoon(t *testing.T) {
	var r Redactor
	r.Add("OWN_KEY", key)
	s := r.Stream()
	if got := s.Write("The function returns nil"); got != "The function returns nil" {
		t.Errorf("harmless words were held back: %q", got)
	}
}

func TestWriter(t *testing.T) {
	var r Redactor
	r.Add("OWN_KEY", key)
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(r.Writer(&out), nil)).Error("the provider said", "body", "no such key "+key)
	if strings.Contains(out.String(), "0123456789") || !json.Valid(out.Bytes()) {
		t.Errorf("the log holds the key, or is broken: %s", out.String())
	}
}

func TestEnviron(t *testing.T) {
	var r Redactor
	r.AddEnviron([]string{
		"MY_SERVICE_TOKEN=0123456789abcdef", "SSH_AUTH_SOCK=/tmp/agent", "TOKEN_FILE=/run/token",
		"AUTH_MODE=enterprise-wide", "DATABASE_URL=postgres://me:correcthorse@db/x",
	})
	got := r.Environ([]string{
		"PATH=/bin", "LC_ALL=C", "LD_PRELOAD=/tmp/evil.so", "AWS_SECRET_ACCESS_KEY=abc", "TERM=0123456789abcdef",
		"EXTRA=1", "=C:=odd", "HOME=/home/me",
	}, "EXTRA")
	if want := []string{"PATH=/bin", "LC_ALL=C", "EXTRA=1", "HOME=/home/me"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := r.Text("/tmp/agent /run/token enterprise-wide"); strings.Contains(got, "[secret") {
		t.Errorf("what is harmless was taken for a secret: %s", got)
	}
	if got := r.Text("password correcthorse"); got != "password [secret DATABASE_URL]" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkText(b *testing.B) {
	var r Redactor
	r.Add("OWN_KEY", key)
	r.Add("OTHER", "another-secret-0123456789")
	text := strings.Repeat("func main() { fmt.Println(\"hello, world\") }\n", 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}
