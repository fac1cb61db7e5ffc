package secret

import (
	"regexp"
	"slices"
	"strings"
)

// issuers are forms of tokens that nothing else has. The sources are the issuers' own pages on secret scanning
// and token formats. The order matters where one begins like another.
var issuers = []struct{ name, form string }{
	{"private-key", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[^-]{20,}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`},
	{"anthropic-key", `sk-ant-[A-Za-z0-9_-]{24,}`},
	{"openai-key", `sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{24,}`},
	{"github-token", `gh[pousr]_[A-Za-z0-9]{36,}`},
	{"github-token", `github_pat_[A-Za-z0-9_]{36,}`},
	{"gitlab-token", `glpat-[A-Za-z0-9_-]{20,}`},
	{"slack-token", `xox[abeoprs]-[A-Za-z0-9-]{20,}`},
	{"stripe-key", `[rs]k_live_[A-Za-z0-9]{20,}`},
	{"google-key", `AIza[A-Za-z0-9_-]{35}`},
	{"npm-token", `npm_[A-Za-z0-9]{36}`},
	{"pypi-token", `pypi-[A-Za-z0-9_-]{50,}`},
	{"huggingface-token", `\bhf_[A-Za-z0-9]{34,}`},
}

var (
	token    = regexp.MustCompile(join())
	byIssuer = compile()
)

// hints begin tokens.
var hints = []string{"-----BEGIN ", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "rk_live_", "sk_live_", "AIza", "npm_", "pypi-", "hf_"}

// hinted reports whether a text may hold a token.
func hinted(text string) bool {
	return slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(text, hint) })
}

func join() string {
	all := ""
	for i, issuer := range issuers {
		if i > 0 {
			all += "|"
		}
		all += issuer.form
	}
	return all
}

func compile() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(issuers))
	for i, issuer := range issuers {
		list[i] = regexp.MustCompile("^(?:" + issuer.form + ")$")
	}
	return list
}

func issuerOf(found string) string {
	for i, form := range byIssuer {
		if form.MatchString(found) {
			return issuers[i].name
		}
	}
	return "token"
}
