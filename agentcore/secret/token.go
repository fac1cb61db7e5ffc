package secret

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// issuers are forms that only tokens have, without groups, with the text at the beginning of each. The sources are the
// issuers' own pages on secret scanning and token formats. The order matters for forms that begin alike.
var issuers = []struct {
	name  string
	begin []string
	form  string
}{
	{"private-key", []string{"-----BEGIN "}, privateKey},
	{"anthropic-key", []string{"sk-ant-"}, `sk-ant-[A-Za-z0-9_-]{24,}`},
	{"openai-key", []string{"sk-"}, `sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{24,}`},
	{"github-token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, `gh[pousr]_[A-Za-z0-9]{36,}`},
	{"github-token", []string{"github_pat_"}, `github_pat_[A-Za-z0-9_]{36,}`},
	{"gitlab-token", []string{"glpat-"}, `glpat-[A-Za-z0-9_-]{20,}`},
	{"slack-token", []string{"xox"}, `xox[abeoprs]-[A-Za-z0-9-]{20,}`},
	{"stripe-key", []string{"rk_live_", "sk_live_"}, `[rs]k_live_[A-Za-z0-9]{20,}`},
	{"google-key", []string{"AIza"}, `AIza[A-Za-z0-9_-]{35}`},
	{"npm-token", []string{"npm_"}, `npm_[A-Za-z0-9]{36}`},
	{"pypi-token", []string{"pypi-"}, `pypi-[A-Za-z0-9_-]{50,}`},
	{"huggingface-token", []string{"hf_"}, `\bhf_[A-Za-z0-9]{34,}`},
	{"aws-access-key", []string{"AKIA"}, `\bAKIA[A-Z0-9]{16}\b`},
	{"sendgrid-key", []string{"SG."}, `\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`},
}

// privateKey matches a key in PEM, whole or cut off: if the end is missing, as in a file that is read in parts, the
// lines of its body count.
const privateKey = `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----` +
	`(?:[^-]{20,}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:[\s"'+\\n]*[A-Za-z0-9+/]{40,}=*)+)`

// token matches a token of any issuer, with a group for each.
var token = lazyregexp.New(join())

// hints are the beginnings of tokens.
var hints = begins()

// byThird are the hints by their third byte: each hint has one, and few texts contain many of these bytes.
var byThird = func() (list [256][]string) {
	for _, hint := range hints {
		list[hint[2]] = append(list[hint[2]], hint)
	}
	return list
}()

// hinted reports whether a text may contain a token. It is called for all texts of all runs, mostly more than once.
// Therefore it reads each text once, and not once for each hint.
func hinted(text string) bool {
	for i := 2; i < len(text); i++ {
		for _, hint := range byThird[text[i]] {
			if text[i-2] == hint[0] && strings.HasPrefix(text[i-2:], hint) {
				return true
			}
		}
	}
	return false
}

func begins() []string {
	var list []string
	for _, issuer := range issuers {
		list = append(list, issuer.begin...)
	}
	return list
}

func join() string {
	forms := make([]string, len(issuers))
	for i, issuer := range issuers {
		forms[i] = "(" + issuer.form + ")"
	}
	return strings.Join(forms, "|")
}

// Token is a place in a text that has the form of a token of a well-known issuer.
type Token struct {
	// Issuer names the form, such as "github-token" or "private-key".
	Issuer string
	// Start and End are bytes of the text.
	Start, End int
}

// Tokens returns the tokens in a text, in order. A form within a longer word counts, too: a caller that wants whole
// words must check what precedes the token.
func Tokens(text string) []Token {
	if !hinted(text) {
		return nil
	}
	var list []Token
	for _, at := range token().FindAllStringIndex(text, -1) {
		list = append(list, Token{issuerOf(text[at[0]:at[1]]), at[0], at[1]})
	}
	return list
}

// issuerOf names the form of a token. Since groups cost time in a long text, they are matched only in the token itself.
func issuerOf(found string) string {
	groups := token().FindStringSubmatchIndex(found)
	for i, issuer := range issuers {
		if at := 2*i + 2; at < len(groups) && groups[at] >= 0 {
			return issuer.name
		}
	}
	return "token"
}
