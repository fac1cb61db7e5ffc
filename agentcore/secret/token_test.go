package secret

import (
	"strings"
	"testing"
)

// letters is a part of a token, put together here, so that no scanner takes this file for a leak.
func letters(n int) string { return strings.Repeat("a1B2c3", n/6+1)[:n] }

// samples are tokens of every form, with the names that they get.
var samples = []struct{ issuer, token string }{
	{"anthropic-key", "sk-ant-" + letters(40)},
	{"openai-key", "sk-proj-" + letters(40)},
	{"openai-key", "sk-svcacct-" + letters(40)},
	{"openai-key", "sk-admin-" + letters(40)},
	{"github-token", "ghp_" + letters(36)},
	{"github-token", "github_pat_" + letters(60)},
	{"gitlab-token", "glpat-" + letters(20)},
	{"slack-token", "xoxb-" + letters(24)},
	{"slack-token", "xoxe-" + letters(24)},
	{"stripe-key", "sk_live_" + letters(24)},
	{"stripe-key", "rk_live_" + letters(24)},
	{"google-key", "AIza" + letters(35)},
	{"npm-token", "npm_" + letters(36)},
	{"pypi-token", "pypi-" + letters(60)},
	{"huggingface-token", "hf_" + letters(34)},
	{"aws-access-key", "AKIA" + strings.ToUpper(letters(16))},
	{"sendgrid-key", "SG." + letters(22) + "." + letters(43)},
	{"private-key", "-----BEGIN PRIVATE " + "KEY-----\n" + letters(64) + "\n-----END PRIVATE " + "KEY-----"},
	// cut off, as a file that is read in parts
	{"private-key", "-----BEGIN RSA PRIVATE " + "KEY-----\n" + letters(64) + "\n" + letters(64)},
}

// TestIssuers has a token of each form redacted: in a text, and in a stream that is cut anywhere.
func TestIssuers(t *testing.T) {
	named := map[string]bool{}
	for _, s := range samples {
		named[s.issuer] = true
		text := "key = \"" + s.token + "\"\nThe rest stays."
		want := "key = \"[secret " + s.issuer + "-1]\"\nThe rest stays."
		if got := new(Redactor).Text(text); got != want {
			t.Errorf("%s: the text is %q", s.issuer, got)
		}
		for cut := range text {
			stream := new(Redactor).Stream()
			if got := stream.Write(text[:cut]) + stream.Write(text[cut:]) + stream.Flush(); got != want {
				t.Errorf("%s: the stream that is cut at %d is %q", s.issuer, cut, got)
				break
			}
		}
		found := Tokens(text)
		if len(found) != 1 || found[0].Issuer != s.issuer || text[found[0].Start:found[0].End] != s.token {
			t.Errorf("%s: the tokens are %+v", s.issuer, found)
		}
	}
	for _, issuer := range issuers {
		if !named[issuer.name] {
			t.Errorf("there is no sample of %s", issuer.name)
		}
	}
}
