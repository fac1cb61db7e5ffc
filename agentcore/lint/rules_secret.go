package lint

import (
	"math"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lexer"
	"github.com/agentls/agentls/agentcore/secret"
)

var secretRules = []Rule{
	{
		Name: "secret", Languages: all &^ Prose, Severity: Error, check: shipped(secrets),
		Message: "This looks like a secret. Whoever reads the file has it: withdraw it, and read it from the " +
			"environment or a secret store.",
		same: []string{"S105", "S106", "S107", "G101"},
	},
	{
		Name: privateKey, Languages: all, Severity: Error, check: shipped(privateKeys),
		Message: "A private key stands in this file. Whoever reads the file has it: replace the key, and " +
			"keep the new one out of the sources.",
	},
}

// secretName matches names of secrets, as a group of an expression.
const secretName = `([\w.-]*(?:passw(?:or)?d|secret|token|(?:api|access|private|auth)_?-?key)[\w.-]*)`

var (
	secretNames = []string{
		"assword", "ASSWORD", "asswd", "ASSWD", "ecret", "ECRET", "oken", "OKEN", "Key", "_key",
		"_KEY", "-key", "apikey", "APIKEY",
	}

	// secretAssignment matches a secret's name with a literal value.
	secretAssignment = lazyregexp.New(`(?i)(?:^|[^\w:/.-])` + secretName +
		"[\"']?\\]?\\s*(?::\\s*(?:string|str)\\s*)?(?::=|=>|=|:)\\s*[bru]?[\"'`]([^\"'`\\s]{8,200})[\"'`]")
	// secretSetting is the same without quotes, for settings and scripts.
	secretSetting = lazyregexp.New(`(?i)^\s*(?:export\s+)?` + secretName +
		`\s*[=:]\s*([A-Za-z0-9+/=_.~!@#%^&*-]{12,200})\s*$`)
	// placeholder matches text in the place of a value, and UUIDs, which are names.
	placeholder = lazyregexp.New(
		`(?i)example|sample|dummy|placeholder|change.?me|replace|insert|your|xxx|test|fake|mock|todo|secret|passw|` +
			`redacted|1234|abcd|foobar|not.?set|undefined|default|null|none|\.\.\.|\*\*\*|` +
			`^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$`)
)

// secrets finds known keys everywhere, and random values under names of secrets.
func secrets(f *File) []hit {
	var hits []hit
	for _, t := range secret.Tokens(f.text) {
		found := f.text[t.Start:t.End]
		alone := t.Start == 0 || !lexer.IsWordByte(f.text[t.Start-1])
		if t.Issuer != privateKey && alone && !placeholder().MatchString(found) && entropy(found) > 3 {
			hits = append(hits, hit{line: f.lineAt(t.Start)})
		}
	}
	for number := range f.containing(f.text, secretNames) {
		line := f.Line(number)
		match := secretAssignment().FindStringSubmatch(line)
		if match == nil && f.Language&(Data|Shell|Other) != 0 {
			match = secretSetting().FindStringSubmatch(line)
		}
		if match != nil && isRandom(match[1], match[2]) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

// isRandom reports whether the value under a name is probably a real secret: no placeholder, name, path, address or
// reference to something else.
func isRandom(name, value string) bool {
	lower := strings.ToLower(name)
	for _, word := range []string{
		"file", "path", "url", "uri", "name", "type", "field", "header", "prefix", "regex",
		"pattern", "label", "public", "kind", "hash", "algorithm", "endpoint", "tokenizer", "next",
		"continuation", "page",
	} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	if placeholder().MatchString(value) || strings.ContainsAny(value, "${}<>()[] \\") ||
		strings.Contains(value, "://") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") {
		return false
	}
	letters, digits, others := 0, 0, 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		default:
			others++
		}
	}
	if strings.Contains(lower, "passw") && len(value) < 16 {
		// Passwords that people make up have letters, digits and other characters.
		return letters >= 4 && digits >= 1 && others >= 1 && !strings.ContainsAny(value, "./:_-")
	}
	return len(value) >= 16 && letters >= 4 && digits >= 3 && entropy(value) >= 3.4 && others*4 <= len(value)
}

// entropy is in bits per character, by the frequencies in the text itself.
func entropy(text string) float64 {
	counts := map[rune]int{}
	n := 0
	for _, c := range text {
		counts[c]++
		n++
	}
	sum := 0.0
	for _, count := range counts {
		p := float64(count) / float64(n)
		sum -= p * math.Log2(p)
	}
	return sum
}

// privateKey is the name of the form for private keys.
const privateKey = "private-key"

// keyBody matches the body of a real key, which placeholders do not have.
var keyBody = lazyregexp.New(`-----[\s"'+\\n]*[A-Za-z0-9+/]{40,}`)

// privateKeys looks for private keys in PEM, whole or cut off.
func privateKeys(f *File) []hit {
	var hits []hit
	for _, t := range secret.Tokens(f.text) {
		if t.Issuer == privateKey && keyBody().MatchString(f.text[t.Start:t.End]) {
			hits = append(hits, hit{line: f.lineAt(t.Start)})
		}
	}
	return hits
}
