package offline

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
			f := newFile(name, x.text)
			f.today = "2026-03-01"
			found := f.check()
			f.fixes(found)
			var got []string
			for _, hit := range found {
				line := fmt.Sprintf("%d %s", hit.line, hit.rule)
				if hit.fix != nil {
					line += "!"
				}
				got = append(got, line)
				for l := golang; l <= other; l <<= 1 {
					if f.language == l {
						hits[fmt.Sprintf("%s %d", hit.rule, family(l))] = true
					}
				}
			}
			for _, line := range got {
				if !slices.Contains(x.want, line) {
					number, _, _ := strings.Cut(line, " ")
					var n int
					_, _ = fmt.Sscan(number, &n)
					t.Errorf("not wanted: %s: %s", line, f.line(n))
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
	for _, r := range ruleTable() {
		if own := family(r.languages); own != 0 && !hits[fmt.Sprintf("%s %d", r.name, own)] {
			t.Errorf("the fixtures have no hit of %s in the languages %d", r.name, own)
		}
		if own := family(r.languages); own == 0 && !slices.ContainsFunc([]language{golang, scripts, python, shell, prose, data}, func(l language) bool { return hits[fmt.Sprintf("%s %d", r.name, l)] }) {
			t.Errorf("the fixtures have no hit of %s", r.name)
		}
	}
}

// family joins JavaScript and TypeScript; 0 for a set of several.
func family(l language) language {
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
	seen := map[string]language{}
	for _, r := range ruleTable() {
		if !kebab.MatchString(r.name) || r.message == "" || r.check == nil || r.languages == 0 {
			t.Errorf("the rule %q is not complete", r.name)
		}
		if seen[r.name]&r.languages != 0 {
			t.Errorf("the rule %q stands twice for a language", r.name)
		}
		seen[r.name] |= r.languages
	}
}

func TestFixes(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"a.md", "the the cat\nof of it", "the cat\nof it"},
		{"b.md", "the the cat\nthe the cat\nof of it", "the the cat\nthe cat\nof it"},
		{"a.py", "def f(a):\n    if a == None:\n        print(\"DEBUG\")\n        return a\n", "def f(a):\n    if a is None:\n        return a\n"},
		{"b.py", "def f(a):\n    if a is 'x':\n        return a\n    return a is not 1\n", "def f(a):\n    if a == 'x':\n        return a\n    return a != 1\n"},
		{"a.js", "f();\ndebugger;\ng();\ndebugger;\ng();\n", "f();\ng();\ng();\n"},
		{"a.go", "package p\n\nimport \"fmt\"\n\nfunc f() {\n\tfmt.Println(\"DEBUG\")\n\tfmt.Print(1)\n}\n", "package p\n\nimport \"fmt\"\n\nfunc f() {\n\tfmt.Print(1)\n}\n"},
		{"b.js", "debugger;", "debugger;"}, // nothing around it makes an empty text of it
	} {
		text := strings.TrimSuffix(c.before, "\n")
		f := newFile(c.name, text)
		found := f.check()
		f.fixes(found)
		slices.Reverse(found)
		for _, hit := range found {
			if hit.fix != nil {
				if n := strings.Count(text, hit.fix.OldString); n != 1 {
					t.Fatalf("%s: %q is there %d times", c.name, hit.fix.OldString, n)
				}
				text = strings.Replace(text, hit.fix.OldString, hit.fix.NewString, 1)
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
		file := newFile(name, text)
		if len(file.code) != len(text) {
			t.Fatalf("the code has %d bytes, the text %d", len(file.code), len(text))
		}
		found := file.check()
		file.fixes(found)
		after := text
		for i, hit := range slices.Backward(found) {
			if hit.line < 1 || hit.endLine < hit.line || hit.endLine > len(file.starts) {
				t.Errorf("%s is at lines %d-%d of %d", hit.rule, hit.line, hit.endLine, len(file.starts))
			}
			if i > 0 && found[i-1].line > hit.line {
				t.Errorf("the findings are not in order at %d", i)
			}
			if hit.fix == nil {
				continue
			}
			if occurrences(text, hit.fix.OldString) != 1 || strings.Count(after, hit.fix.OldString) != 1 {
				t.Errorf("%s: old_string %q is not there once", hit.rule, hit.fix.OldString)
			}
			after = strings.Replace(after, hit.fix.OldString, hit.fix.NewString, 1)
		}
	})
}

// BenchmarkCheck reviews a file of 10,000 lines in each language.
func BenchmarkCheck(b *testing.B) {
	for name, x := range fixtures(b) {
		if !slices.Contains([]string{"calls.go", "calls.js", "calls.py", "remove.sh", "note.md"}, name) {
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
				f := newFile(name, text.String())
				f.fixes(mostSevere(f.check(), maxFindings))
			}
		})
	}
}
