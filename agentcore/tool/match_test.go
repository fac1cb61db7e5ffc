package tool

import (
	"slices"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	const tabs = "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n"
	for _, test := range []struct {
		name, text, old, new string
		all                  bool
		want                 string
		tolerated            string
		lines                []int
	}{
		// Exact.
		{name: "lines between stay as they are", text: "a  \nb \nc\t\nd \n", old: "a\nb\nc\nd\n", new: "A\nb\nc\nD\n", want: "A\nb \nc\t\nD\n", tolerated: "trailing spaces", lines: []int{1}},
		{name: "quotes", text: "\tsay(“hi”)\n\tx() // a – b\n", old: "say(\"hi\")\nx() // a - b", new: "say(\"hi\")\ny()", want: "\tsay(“hi”)\n\ty()\n", tolerated: "punctuation", lines: []int{1}},
		{name: "a word", text: "one two three\n", old: "two", new: "2", want: "one 2 three\n", lines: []int{1}},
		{name: "a line", text: "a\nb\nc\n", old: "b\n", new: "B\n", want: "a\nB\nc\n", lines: []int{2}},
		{name: "a line deleted", text: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n", lines: []int{2}},
		{name: "lines added", text: "a\nb\nc\n", old: "b", new: "b\nb2\nb3", want: "a\nb\nb2\nb3\nc\n", lines: []int{2}},
		{name: "whole text", text: "a", old: "a", new: "b", want: "b", lines: []int{1}},
		{name: "no final newline kept", text: "a\nb", old: "b", new: "c", want: "a\nc", lines: []int{2}},
		{name: "final newline removed", text: "a\nb\n", old: "b\n", new: "b", want: "a\nb", lines: []int{2}},
		{name: "final newline added", text: "a\nb", old: "b", new: "b\n", want: "a\nb\n", lines: []int{2}},
		{name: "several lines", text: tabs, old: "\tif a {\n\t\tb()\n\t}", new: "\tb()", want: "func f() {\n\tb()\n}\n", lines: []int{2}},
		{name: "characters beyond ASCII", text: "naïve\nçà\n", old: "ça", new: "x", want: "", lines: nil},
		{name: "exact before tolerant", text: "x := 1 \nx := 1\n", old: "x := 1\n", new: "y := 1\n", want: "x := 1 \ny := 1\n", lines: []int{2}},
		{name: "exact indentation before another", text: "\ta()\n\tend\na()\nend\n", old: "\ta()\n\tend", new: "\tb()\n\tend", want: "\tb()\n\tend\na()\nend\n", lines: []int{1}},
		{name: "lone carriage returns", text: "a\rb\rc", old: "b", new: "B\nB", want: "a\rB\rB\rc", lines: []int{2}},

		// Every occurrence.
		{name: "all", text: "x\nx x\n", old: "x", new: "y", all: true, want: "y\ny y\n", lines: []int{1, 2, 2}},
		{name: "all, of one", text: "x\n", old: "x", new: "y", all: true, want: "y\n", lines: []int{1}},
		{name: "all, which do not overlap", text: "aaaa", old: "aa", new: "b", all: true, want: "bb", lines: []int{1, 1}},
		{name: "all, new holds old", text: "a a", old: "a", new: "aa", all: true, want: "aa aa", lines: []int{1, 1}},
		{name: "all, other endings", text: "a\r\nb\r\na\r\nb\r\n", old: "a\nb\n", new: "c\n", all: true, want: "c\r\nc\r\n", tolerated: "line endings", lines: []int{1, 3}},

		// An empty file.
		{name: "new text", text: "", old: "", new: "a\n", want: "a\n", lines: []int{1}},

		// Line endings.
		{name: "CRLF file, LF strings", text: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "a\nB\nB2\n", want: "a\r\nB\r\nB2\r\nc\r\n", tolerated: "line endings", lines: []int{1}},
		{name: "CRLF file, one line grows", text: "a\r\nb\r\nc\r\n", old: "b", new: "b\nb2", want: "a\r\nb\r\nb2\r\nc\r\n", lines: []int{2}},
		{name: "CRLF file, last line grows", text: "a\r\nb", old: "b", new: "b\nc", want: "a\r\nb\r\nc", lines: []int{2}},
		{name: "LF file, CRLF strings", text: "a\nb\nc\n", old: "a\r\nb\r\n", new: "x\r\ny\r\n", want: "x\ny\nc\n", tolerated: "line endings", lines: []int{1}},
		{name: "mixed endings stay", text: "a\r\nb\nc\r\nd\n", old: "b\nc\nd", new: "b\nC\nd", want: "a\r\nb\nC\r\nd\n", tolerated: "line endings", lines: []int{2}},
		{name: "a match may not split CRLF", text: "a\r\nb", old: "a\r", new: "x\r", want: "x\r\nb", tolerated: "line endings", lines: []int{1}},
		{name: "part of lines, other endings", text: "foo(a,\r\n  b)\r\n", old: "(a,\n  b", new: "(b,\n  a", want: "foo(b,\r\n  a)\r\n", tolerated: "line endings", lines: []int{1}},

		// Trailing spaces.
		{name: "spaces in the file", text: "a  \nb\t\nc\n", old: "a\nb\n", new: "a\nB\n", want: "a  \nB\nc\n", tolerated: "trailing spaces", lines: []int{1}},
		{name: "spaces in old", text: "a\nb\nc\n", old: "a  \nb \nc", new: "a\nx\nc", want: "a\nx\nc\n", tolerated: "trailing spaces", lines: []int{1}},
		{name: "blank lines with spaces", text: "a\n\t\nb\n", old: "a\n\nb", new: "a\n\nc", want: "a\n\t\nc\n", tolerated: "trailing spaces", lines: []int{1}},
		{name: "spaces and endings", text: "a \r\nb\r\n", old: "a\nb\n", new: "x\nb\n", want: "x\r\nb\r\n", tolerated: "trailing spaces", lines: []int{1}},

		// Indentation.
		{name: "old without indentation", text: tabs, old: "if a {\n\tb()\n}\n", new: "if c {\n\tb()\n\td()\n}\n", want: "func f() {\n\tif c {\n\t\tb()\n\t\td()\n\t}\n}\n", tolerated: "indentation", lines: []int{2}},
		{name: "old with too much", text: "a:\n  b\n  c\n", old: "    b\n    c", new: "    b\n      x\n    c", want: "a:\n  b\n    x\n  c\n", tolerated: "indentation", lines: []int{2}},
		{name: "spaces for tabs", text: tabs, old: "    if a {\n        b()\n    }", new: "    if a {\n        c()\n    }", want: "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n", tolerated: "indentation", lines: []int{2}},
		{name: "tabs for spaces", text: "  if a:\n    b()\n", old: "\tif a:\n\t\tb()\n", new: "\tif a:\n\t\tc()\n", want: "  if a:\n    c()\n", tolerated: "indentation", lines: []int{1}},
		{name: "blank line inside", text: "\ta\n\n\tb\n", old: "a\n\nb", new: "a\n\nc", want: "\ta\n\n\tc\n", tolerated: "indentation", lines: []int{1}},
		{name: "indentation and CRLF", text: "\ta\r\n\tb\r\n", old: "  a\n  b\n", new: "", want: "", tolerated: "indentation", lines: []int{1}},
		{name: "one line", text: "if x {\n\t\treturn nil\n}\n", old: "  return nil\n", new: "  return err\n", want: "if x {\n\t\treturn err\n}\n", tolerated: "indentation", lines: []int{2}},
		{name: "one line, deeper", text: "\ta\n", old: "  a", new: "  b\n  \tc", want: "\tb\n\t\tc\n", tolerated: "indentation", lines: []int{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Replace(test.text, test.old, test.new, test.all)
			if test.lines == nil {
				if e := AsMatchError(err); e == nil || e.Kind != NotFound {
					t.Fatalf("got %+v, %v; want not found", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != test.want || got.Tolerated != test.tolerated || !slices.Equal(got.Lines, test.lines) {
				t.Errorf("got  %q, tolerated %q, lines %v\nwant %q, tolerated %q, lines %v", got.Text, got.Tolerated, got.Lines, test.want, test.tolerated, test.lines)
			}
		})
	}
}

func TestReplaceRefuses(t *testing.T) {
	for _, test := range []struct {
		name, text, old, new string
		all                  bool
		kind                 MatchErrorKind
		lines                []int
		says                 []string
	}{
		{name: "twice", text: "x\ny\nx\n", old: "x", new: "z", kind: Ambiguous, lines: []int{1, 3}, says: []string{"2 times", "lines 1, 3", "replace_all"}},
		{name: "overlapping", text: "aaa", old: "aa", new: "b", kind: Ambiguous, lines: []int{1, 1}},
		{name: "twice with other endings", text: "a\r\nb\r\na\r\nb\r\n", old: "a\nb", new: "c", kind: Ambiguous, lines: []int{1, 3}, says: []string{"replace_all"}},
		{name: "twice with trailing spaces", text: "a \nb\na \nb\n", old: "a\nb", new: "c", kind: Ambiguous, lines: []int{1, 3}},
		{name: "twice with indentation", text: "\ta\n\tb\n\t\ta\n\t\tb\n", old: "  a\n  b", new: "  c\n  b", kind: Ambiguous, lines: []int{1, 3}},
		{name: "tolerance is never for all", text: "\ta\n\tb\n\t\ta\n\t\tb\n", old: "  a\n  b", new: "  c\n  b", all: true, kind: Ambiguous, lines: []int{1, 3}},
		{name: "uneven indentation", text: "\ta\n\t\tb\n", old: "a\nb", new: "c\nd", kind: NotFound},
		{name: "the same", text: "a\n", old: "a", new: "a", kind: NoChange},
		{name: "the same but for endings", text: "a\nb\n", old: "a\nb", new: "a\r\nb", kind: NoChange},
		{name: "empty old", text: "a\n", old: "", new: "b", kind: EmptyOld, says: []string{"write"}},
		{name: "empty file", text: "", old: "a", new: "b", kind: NotFound, says: []string{"empty"}},
		{name: "a typing error", text: "one\nfunc parse(text string) error {\ntwo\n", old: "func parse(txt string) error {", new: "x", kind: NotFound, lines: []int{2}, says: []string{"2\tfunc parse(text string) error {", "nearest"}},
		{name: "nothing like it", text: "one\ntwo\n", old: "zzzzzzzzzzzzzzzz", new: "x", kind: NotFound, says: []string{"read the file again"}},
		{name: "with line numbers", text: "alpha\nbeta\n", old: "1\talpha\n2\tbeta", new: "1\tx", kind: NotFound, lines: []int{1}, says: []string{"line numbers"}},
		{name: "less indentation than the place can give", text: "a:\n  b\n  c\n", old: "    b\n    c", new: "b\n    c", kind: Unadaptable, lines: []int{2}, says: []string{"indentation"}},
		{name: "indentation that would mix", text: "\t\ta\n", old: "  a", new: "  b\n    c", kind: Unadaptable, lines: []int{1}},
		{name: "only spaces", text: "a\n", old: "   \n", new: "x", kind: NotFound},
		{name: "old is longer than the text", text: "a", old: "a\nb\nc", new: "x", kind: NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Replace(test.text, test.old, test.new, test.all)
			e := AsMatchError(err)
			if e == nil {
				t.Fatalf("got %+v, %v; want it refused", got, err)
			}
			if e.Kind != test.kind || !slices.Equal(e.Lines, test.lines) {
				t.Errorf("got %s at %v, want %s at %v (%v)", e.Kind, e.Lines, test.kind, test.lines, err)
			}
			for _, part := range test.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// FuzzReplace: what lies outside the lines of the match stays byte for byte, an exact match is what
// strings.Replace makes of it, and no text of one kind of line ending gets another.
func FuzzReplace(f *testing.F) {
	f.Add("a\nb\nc\n", "b\n", "x\n")
	f.Add("a\r\nb\r\nc", "a\nb", "x\ny\nz")
	f.Add("\ta \n\t\tb\n", "  a\n\tb", "a")
	f.Add("func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "if a {\n    b()\n}", "if c {\n    d()\n}")
	f.Add("a\rb", "a\r", "\n")
	f.Add("", "", "x")
	f.Fuzz(func(t *testing.T, text, old, new string) {
		got, err := Replace(text, old, new, false)
		if err != nil {
			if AsMatchError(err) == nil || got.Text != "" {
				t.Fatalf("Replace returned %+v and an error of another kind: %v", got, err)
			}
			return
		}
		if got.Text == text {
			t.Fatal("nothing changed and there was no error")
		}
		if text == "" {
			return
		}
		if len(got.Lines) != 1 {
			t.Fatalf("%d places were changed", len(got.Lines))
		}
		lines := splitLines(text)
		first := got.Lines[0] - 1
		last := first + len(contents(old)) - 1
		before, after := text[:lines[first].start], text[lines[last].next:]
		if !strings.HasPrefix(got.Text, before) || !strings.HasSuffix(got.Text, after) || len(got.Text) < len(before)+len(after) {
			t.Fatalf("Replace(%q, %q, %q) = %q changed more than lines %d to %d", text, old, new, got.Text, first+1, last+1)
		}
		if got.Tolerated == "" && !strings.Contains(text+new, "\r") && got.Text != strings.Replace(text, old, new, 1) {
			t.Fatalf("Replace(%q, %q, %q) = %q", text, old, new, got.Text)
		}
		unix := !strings.Contains(text, "\r") && strings.Contains(text, "\n")
		if unix && strings.Contains(got.Text, "\r") {
			t.Fatalf("Replace(%q, %q, %q) = %q has other line endings", text, old, new, got.Text)
		}
		dos := strings.ReplaceAll(text, "\r\n", "")
		if strings.Contains(text, "\r\n") && !strings.ContainsAny(dos, "\r\n") && strings.ContainsAny(strings.ReplaceAll(got.Text, "\r\n", ""), "\r\n") {
			t.Fatalf("Replace(%q, %q, %q) = %q has other line endings", text, old, new, got.Text)
		}
	})
}

// BenchmarkReplaceMiss is the search for similar lines in a large file.
func BenchmarkReplaceMiss(b *testing.B) {
	text := strings.Repeat("\tresult = append(result, transform(element, options...))\n", 50_000)
	for b.Loop() {
		if _, err := Replace(text, "result = push(result, transform(item))", "x", false); err == nil {
			b.Fatal("found")
		}
	}
}
