package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var mark = regexp.MustCompile(` ?«([a-z-]+)(!?)»$`)

// fixtures reads the files of testdata with the hits that they are marked with, as "line rule" or "line rule!".
func fixtures(t testing.TB) map[string]fixture {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	found := map[string]fixture{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range txtar.Parse(raw).Files {
			var x fixture
			var lines []string
			for i, line := range strings.Split(strings.TrimSuffix(string(part.Data), "\n"), "\n") {
				if match := mark.FindStringSubmatch(line); match != nil {
					x.want = append(x.want, fmt.Sprintf("%d %s%s", i+1, match[1], match[2]))
					line = strings.TrimSuffix(line, match[0])
				}
				lines = append(lines, line)
			}
			x.text = strings.Join(lines, "\n")
			found[part.Name] = x
		}
	}
	return found
}

type fixture struct {
	text string
	want []string
}

func TestRules(t *testing.T) {
	hits := map[string]bool{}
	for name, x := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			f := NewFile(name, x.text)
			found := f.Check()
			f.Fix(found)
			var got []string
			for _, hit := range found {
				line := fmt.Sprintf("%d %s", hit.Line, hit.Rule)
				if hit.Fix != nil {
					line += "!"
				}
				got = append(got, line)
				for l := Go; l <= Other; l <<= 1 {
					if f.Language == l {
						hits[fmt.Sprintf("%s %d", hit.Rule, family(l))] = true
					}
				}
			}
			for _, line := range got {
				if !slices.Contains(x.want, line) {
					number, _, _ := strings.Cut(line, " ")
					var n int
					_, _ = fmt.Sscan(number, &n)
					t.Errorf("not wanted: %s: %s", line, f.Line(n))
				}
			}
			for _, line := range x.want {
				if !slices.Contains(got, line) {
					t.Errorf("missing: %s", line)
				}
			}
		})
	}
	// Each rule has at least one hit above, in each family of languages that it has a check of its own for.
	for _, r := range Rules() {
		if own := family(r.Languages); own != 0 && !hits[fmt.Sprintf("%s %d", r.Name, own)] {
			t.Errorf("the fixtures have no hit of %s in the languages %d", r.Name, own)
		}
		if own := family(r.Languages); own == 0 &&
			!slices.ContainsFunc([]Language{Go, scripts, Python, Shell, Prose, Data},
				func(l Language) bool { return hits[fmt.Sprintf("%s %d", r.Name, l)] }) {
			t.Errorf("the fixtures have no hit of %s", r.Name)
		}
	}
}

// family joins JavaScript and TypeScript; 0 for a set of several.
func family(l Language) Language {
	if l&scripts == l {
		return scripts
	}
	if l&(l-1) != 0 {
		return 0
	}
	return l
}

func TestRuleTable(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]Language{}
	for _, r := range Rules() {
		if !kebab.MatchString(r.Name) || r.Message == "" || r.check == nil || r.Languages == 0 {
			t.Errorf("the rule %q is not complete", r.Name)
		}
		if seen[r.Name]&r.Languages != 0 {
			t.Errorf("the rule %q stands twice for a language", r.Name)
		}
		seen[r.Name] |= r.Languages
	}
}

func TestFixes(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"a.md", "the the cat\nof of it", "the cat\nof it"},
		{"b.md", "the the cat\nthe the cat\nof of it", "the the cat\nthe cat\nof it"},
		{
			"a.py", "def f(a):\n    if a == None:\n        print(\"DEBUG\")\n        return a\n",
			"def f(a):\n    if a is None:\n        return a\n",
		},
		{"a.js", "f();\ndebugger;\ng();\ndebugger;\ng();\n", "f();\ng();\ng();\n"},
		{
			"a.go", "package p\n\nimport \"fmt\"\n\nfunc f() {\n\tfmt.Println(\"DEBUG\")\n\tfmt.Print(1)\n}\n",
			"package p\n\nimport \"fmt\"\n\nfunc f() {\n\tfmt.Print(1)\n}\n",
		},
		{"b.js", "debugger;", "debugger;"}, // nothing around it makes an empty text of it
	} {
		text := strings.TrimSuffix(c.before, "\n")
		f := NewFile(c.name, text)
		found := f.Check()
		f.Fix(found)
		slices.Reverse(found)
		for _, hit := range found {
			if hit.Fix != nil {
				if n := strings.Count(text, hit.Fix.OldString); n != 1 {
					t.Fatalf("%s: %q is there %d times", c.name, hit.Fix.OldString, n)
				}
				text = strings.Replace(text, hit.Fix.OldString, hit.Fix.NewString, 1)
			}
		}
		if c.name == "b.js" {
			continue
		}
		if want := strings.TrimSuffix(c.after, "\n"); text != want {
			t.Errorf("%s: fixed to %q, want %q", c.name, text, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for name, x := range fixtures(f) {
		f.Add(name, x.text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		text = strings.ReplaceAll(text, "\r", "")
		file := NewFile(name, text)
		if len(file.code) != len(text) {
			t.Fatalf("the code has %d bytes, the text %d", len(file.code), len(text))
		}
		found := file.Check()
		file.Fix(found)
		after := text
		for i, hit := range slices.Backward(found) {
			if hit.Line < 1 || hit.EndLine < hit.Line || hit.EndLine > len(file.starts) {
				t.Errorf("%s is at lines %d-%d of %d", hit.Rule, hit.Line, hit.EndLine, len(file.starts))
			}
			if i > 0 && found[i-1].Line > hit.Line {
				t.Errorf("the findings are not in order at %d", i)
			}
			if hit.Fix == nil {
				continue
			}
			if occurrences(text, hit.Fix.OldString) != 1 || strings.Count(after, hit.Fix.OldString) != 1 {
				t.Errorf("%s: old_string %q is not there once", hit.Rule, hit.Fix.OldString)
			}
			after = strings.Replace(after, hit.Fix.OldString, hit.Fix.NewString, 1)
		}
	})
}

// BenchmarkCheck reviews a file of 10,000 lines in each language.
func BenchmarkCheck(b *testing.B) {
	for name, x := range fixtures(b) {
		if !slices.Contains([]string{"calls.go", "calls.js", "calls.py", "download.sh", "note.md"}, name) {
			continue
		}
		lines := strings.Count(x.text, "\n") + 1
		var text strings.Builder
		head, body, found := strings.Cut(x.text, "\nfunc ")
		if found {
			// Go has its package clause and imports once.
			text.WriteString(head)
			body = "\nfunc " + body
		} else {
			body = x.text + "\n"
		}
		for range 10_000 / lines {
			text.WriteString(body)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f := NewFile(name, text.String())
				f.Fix(f.Check())
			}
		})
	}
}

// TestTokens has a token of each form found that the redactor keeps from models.
func TestTokens(t *testing.T) {
	// They are put together here, so that no scanner takes this file for a leak.
	letters := func(n int) string { return "Zq8" + strings.Repeat("a1B2c3D4e5F6g7H8", n/16+1)[:n-3] }
	begin := "-----BEGIN RSA PRIVATE " + "KEY-----\\n"
	for token, rule := range map[string]string{
		"sk-ant-" + letters(40): "secret", "sk-proj-" + letters(40): "secret", "sk-svcacct-" + letters(40): "secret",
		"sk-admin-" + letters(40): "secret",
		"ghp_" + letters(36):      "secret", "github_pat_" + letters(60): "secret", "glpat-" + letters(20): "secret",
		"xoxb-" + letters(24): "secret",
		"xoxe-" + letters(24): "secret", "sk_live_" + letters(24): "secret", "rk_live_" + letters(24): "secret",
		"AIza" + letters(35): "secret",
		"npm_" + letters(36): "secret", "pypi-" + letters(60): "secret", "hf_" + letters(34): "secret",
		"AKIA" + strings.ToUpper(letters(16)): "secret", "SG." + letters(22) + "." + letters(43): "secret",
		begin + letters(64): "private-key", begin + letters(64) + "\\n-----END RSA PRIVATE " +
			"KEY-----": "private-key",
	} {
		found := NewFile("settings.yaml", "a: 1\nb: \""+token+"\"\nc: 2").Check()
		if len(found) != 1 || found[0].Rule != rule || found[0].Line != 2 {
			t.Errorf("%q has the diagnostics %+v", token, found)
		}
		if found := NewFile("settings.yaml", "b: \"x"+token+"\"").Check(); rule == "secret" && len(found) != 0 {
			t.Errorf("%q within a word has the diagnostics %+v", token, found)
		}
	}
}

// TestCombine has a checker and a rule that mean the same: the checker's words stay, once.
func TestCombine(t *testing.T) {
	for _, c := range []struct {
		name, text, source, code string
		line                     int
	}{
		{"a.py", "if a == None:\n    f()\n", "ruff", "E711", 1},
		{"a.py", "eval(a)\n", "ruff", "S307", 1},
		{"a.py", "f()\nprint('DEBUG')\n", "ruff", "T201", 2},
		{"a.py", "def f(a=[]):\n    a.append(1)\n", "ruff", "B006", 1},
		{"a.go", "package p\n\nfunc f() {\n\tos.Rename(a, b)\n}\n", "golangci-lint", "errcheck", 4},
		{"a.js", "f();\ndebugger;\n", "eslint", "no-debugger", 2},
	} {
		own := NewFile(c.name, strings.TrimSuffix(c.text, "\n")).Check()
		if len(own) != 1 || own[0].Line != c.line {
			t.Errorf("%s: the rules say %+v of %q", c.code, own, c.text)
		}
		checked := []Diagnostic{{
			Line: c.line, EndLine: c.line, Severity: Warning, Rule: c.code, Source: c.source,
			Message: "It says so.",
		}}
		if got := Combine(checked, own); len(got) != 1 || got[0].Source != c.source {
			t.Errorf("%s: together they are %+v", c.code, got)
		}
	}
}
