package mention

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFind: what is a mention, what it names, and what is none.
func TestFind(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"":                                "",
		"@":                               "",
		"@ a":                             "",
		"Explain @src/main.go.":           "src/main.go",
		"@a.go and @b.go":                 "a.go b.go",
		"See @a.go:10-20, then stop":      "a.go:10-20",
		"@a.go:7":                         "a.go:7-7",
		"@a.go#L3-L9 (@b.go#L4)":          "a.go:3-9 b.go:4-4",
		"@a.go#L3-9":                      "a.go:3-9",
		"@a.go:20-10":                     "a.go:20-20",
		"(see @src/)":                     "src/",
		"@\"a b.txt\" is quoted":          "a b.txt",
		"@\"a b.txt\":3-4.":               "a b.txt:3-4",
		"@\"a b.txt":                      "\"a",
		"mail me@example.org":             "",
		"`@a.go` and ``@b`go`` and @c.go": "c.go",
		"```\n@a.go\n```\n@b.go":          "b.go",
		"a ` alone @a.go":                 "a.go",
		"Größe: @ä/ö.go:2 …":              "ä/ö.go:2-2",
		"@diff @diagnostics!":             "diff diagnostics",
		"@C:\\a.go":                       "C:\\a.go",
		"@types/node@1.2":                 "types/node@1.2",
		"@a.go:":                          "a.go",
		"\"@a.go\" '@b.go'":               "a.go b.go",
		"@a::7":                           "a::7",
		"@a.go:99999999999":               "a.go:99999999999",
	} {
		var got []string
		for _, m := range Find(prompt) {
			if !strings.HasPrefix(m.Text(prompt), "@") || !strings.Contains(m.Text(prompt), m.Name) {
				t.Errorf("%q: %q is not where it is said to be: %q", prompt, m.Name, m.Text(prompt))
			}
			name := m.Name
			if m.First > 0 {
				name = fmt.Sprintf("%s:%d-%d", name, m.First, m.Last)
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", prompt, diff)
		}
	}
}

// FuzzFind: a mention is a part of the prompt, they come in order, and nothing goes on for ever.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{"@a.go:1-2 `@b` @\"c d\"#L3", "```@", "@\"\"", "@:1", "@#L1", "@é:3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		end := 0
		for _, m := range Find(prompt) {
			if m.Start < end || m.End <= m.Start || m.End > len(prompt) || prompt[m.Start] != '@' || m.Name == "" {
				t.Fatalf("%q: %+v", prompt, m)
			}
			if m.First > m.Last || m.First < 0 {
				t.Fatalf("%q: lines %+v", prompt, m)
			}
			end = m.End
		}
	})
}
