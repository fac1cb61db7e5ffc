package lexer

import (
	"fmt"
	goscanner "go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// marked shows a text with its tokens in marks, by kind: ‹comment›, «string», ‖document‖.
func marked(language, text string) string {
	var b strings.Builder
	end := 0
	for _, t := range Of(language, "").Scan(text) {
		marks := []string{"«", "»"}
		if t.IsComment() {
			marks = []string{"‹", "›"}
		} else if t.Kind == Document {
			marks = []string{"‖", "‖"}
		}
		b.WriteString(text[end:t.Start] + marks[0] + text[t.Start:t.End] + marks[1])
		end = t.End
	}
	return b.String() + text[end:]
}

func TestScan(t *testing.T) {
	for _, test := range []struct{ language, want string }{
		{"go", "s := «\"// no\"» ‹// yes›\nr := «'\"'» + «`\n/*`»"},
		{"go", "s := «\"open»\n‹// yes›"},
		{"go", "‹/* open"},
		{"javascript", "x = a / b; y = «/[/'\"]+/»g; ‹// yes›"},
		{"javascript", "return «/\\/\\/'/».test(s) ‹/* a */› / 2"},
		{"javascript", "f(‹/* a */› «/'/»)"},
		{"javascript", "x = «`a »${b + «\"}\"» + «`c`»}« // no`»"},
		{"javascript", "x = «`»${{ a: {} }.b ‹// '}`›\n}«`»"},
		{"javascript", "<p>It isn't</p> ‹// yes›\nimport x from«'y'»"},
		{"javascript", "‹#!/usr/bin/env node›\n#a"},
		{"python", "x = f«'a#'» ‹# «yes»›\n«\"\"\"\n# no\n\"\"\"»"},
		{"bash", "echo ${#a} $# «\"$(echo \"it's # no\")\"» ‹# yes›"},
		{"bash", "echo \\\" «$'it\\'s'» ‹# yes›"},
		{"bash", "cat <<'A' <<-B >x ‹# yes›\n‖it's «# no»\nA‖\n‖it's\n\tB‖\n‹# yes›"},
		{"bash", "cat <<< «\"x\"»; ((a = 1 << b))\n‹# yes›\nb"},
		{"bash", "cat <<END\nit's # no\n"},
		{"ruby", "x = ?' ‹# yes›"},
		{"rust", "fn f<'a>(x: &'a str) { «'\"'» } ‹// yes›"},
	} {
		want := test.want
		plain := strings.NewReplacer("‹", "", "›", "", "‖", "", "«", "", "»", "").Replace(want)
		// Marks in marks are text.
		want = strings.NewReplacer("# «yes»", "# yes", "«# no»", "# no").Replace(want)
		if strings.HasPrefix(want, "‹/* open") {
			want += "›"
		}
		if got := marked(test.language, plain); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", test.language, got, want)
		}
	}
}

// TestGo compares with Go's own scanner, on this module's sources.
func TestGo(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := token.NewFileSet().AddFile(name, -1, len(text))
		var s goscanner.Scanner
		s.Init(file, text, nil, goscanner.ScanComments)
		var want, got []string
		for pos, kind, literal := s.Scan(); kind != token.EOF; pos, kind, literal = s.Scan() {
			if kind == token.COMMENT || kind == token.STRING || kind == token.CHAR {
				want = append(want, fmt.Sprintf("%d %s", file.Offset(pos), literal))
			}
		}
		for _, found := range Of("go", "").Scan(string(text)) {
			got = append(got, fmt.Sprintf("%d %s", found.Start, text[found.Start:found.End]))
		}
		for i := range min(len(want), len(got)) {
			if want[i] != got[i] {
				t.Errorf("%s: %q, want %q", name, got[i], want[i])
				break
			}
		}
		if len(want) != len(got) {
			t.Errorf("%s has %d tokens, want %d", name, len(got), len(want))
		}
	}
}

// FuzzScan: whatever the text is, the tokens lie in it, in order, with their signs inside.
func FuzzScan(f *testing.F) {
	for _, id := range []string{
		"go", "javascript", "python", "bash", "ruby", "rust", "lua", "haskell", "html", "sql", "yaml", "unheard of",
	} {
		f.Add(id, "a // b\n'c' \"d${e}\" `f${`g`}h` <<X $(i \"$(j)\" # k\nX\n/* l {- m [[ n <!-- o */ /p/ 'q")
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		end := 0
		for i, found := range Of(language, "").Scan(text) {
			if found.Start < end || found.End < found.Start+found.Open+found.Close || found.End > len(text) {
				t.Fatalf("the token %d of %q is %+v, behind %d", i, text, found, end)
			}
			end = found.End
		}
	})
}
