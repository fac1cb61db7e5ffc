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
		{
			name: "lines between stay as they are", text: "a  \nb \nc\t\nd \n", old: "a\nb\nc\nd\n",
			new:  "A\nb\nc\nD\n",
			want: "A\nb \nc\t\nD\n", tolerated: "trailing spaces", lines: []int{1},
		},
		{
			name: "quotes", text: "\tsay(“hi”)\n\tx() // a – b\n", old: "say(\"hi\")\nx() // a - b",
			new: "say(\"hi\")\ny()", want: "\tsay(“hi”)\n\ty()\n", tolerated: "punctuation", lines: []int{1},
		},
		{name: "a word", text: "one two three\n", old: "two", new: "2", want: "one 2 three\n", lines: []int{1}},
		{name: "a line", text: "a\nb\nc\n", old: "b\n", new: "B\n", want: "a\nB\nc\n", lines: []int{2}},
		{name: "a line deleted", text: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n", lines: []int{2}},
		{
			name: "lines added", text: "a\nb\nc\n", old: "b", new: "b\nb2\nb3", want: "a\nb\nb2\nb3\nc\n",
			lines: []int{2},
		},
		{name: "whole text", text: "a", old: "a", new: "b", want: "b", lines: []int{1}},
		{name: "no final newline kept", text: "a\nb", old: "b", new: "c", want: "a\nc", lines: []int{2}},
		{name: "final newline removed", text: "a\nb\n", old: "b\n", new: "b", want: "a\nb", lines: []int{2}},
		{name: "final newline added", text: "a\nb", old: "b", new: "b\n", want: "a\nb\n", lines: []int{2}},
		{
			name: "several lines", text: tabs, old: "\tif a {\n\t\tb()\n\t}", new: "\tb()",
			want:  "func f() {\n\tb()\n}\n",
			lines: []int{2},
		},
		{name: "characters beyond ASCII", text: "naïve\nçà\n", old: "ça", new: "x", want: "", lines: nil},
		{
			name: "exact before tolerant", text: "x := 1 \nx := 1\n", old: "x := 1\n", new: "y := 1\n",
			want: "x := 1 \ny := 1\n", lines: []int{2},
		},
		{
			name: "exact indentation before another", text: "\ta()\n\tend\na()\nend\n", old: "\ta()\n\tend",
			new: "\tb()\n\tend", want: "\tb()\n\tend\na()\nend\n", lines: []int{1},
		},
		{name: "lone carriage returns", text: "a\rb\rc", old: "b", new: "B\nB", want: "a\rB\rB\rc", lines: []int{2}},

		// Every occurrence.
		{name: "all", text: "x\nx x\n", old: "x", new: "y", all: true, want: "y\ny y\n", lines: []int{1, 2, 2}},
		{name: "all, of one", text: "x\n", old: "x", new: "y", all: true, want: "y\n", lines: []int{1}},
		{
			name: "all, which do not overlap", text: "aaaa", old: "aa", new: "b", all: true, want: "bb",
			lines: []int{1, 1},
		},
		{name: "all, new holds old", text: "a a", old: "a", new: "aa", all: true, want: "aa aa", lines: []int{1, 1}},
		{
			name: "all, other endings", text: "a\r\nb\r\na\r\nb\r\n", old: "a\nb\n", new: "c\n", all: true,
			want: "c\r\nc\r\n", tolerated: "line endings", lines: []int{1, 3},
		},

		// An empty file.
		{name: "new text", text: "", old: "", new: "a\n", want: "a\n", lines: []int{1}},

		// Line endings.
		{
			name: "CRLF file, LF strings", text: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "a\nB\nB2\n",
			want: "a\r\nB\r\nB2\r\nc\r\n", tolerated: "line endings", lines: []int{1},
		},
		{
			name: "CRLF file, one line grows", text: "a\r\nb\r\nc\r\n", old: "b", new: "b\nb2",
			want: "a\r\nb\r\nb2\r\nc\r\n", lines: []int{2},
		},
		{
			name: "CRLF file, last line grows", text: "a\r\nb", old: "b", new: "b\nc", want: "a\r\nb\r\nc",
			lines: []int{2},
		},
		{
			name: "LF file, CRLF strings", text: "a\nb\nc\n", old: "a\r\nb\r\n", new: "x\r\ny\r\n", want: "x\ny\nc\n",
			tolerated: "line endings", lines: []int{1},
		},
		{
			name: "mixed endings stay", text: "a\r\nb\nc\r\nd\n", old: "b\nc\nd", new: "b\nC\nd",
			want:      "a\r\nb\nC\r\nd\n",
			tolerated: "line endings", lines: []int{2},
		},
		{
			name: "a match may not split CRLF", text: "a\r\nb", old: "a\r", new: "x\r", want: "x\r\nb",
			tolerated: "line endings", lines: []int{1},
		},
		{
			name: "part of lines, other endings", text: "foo(a,\r\n  b)\r\n", old: "(a,\n  b", new: "(b,\n  a",
			want: "foo(b,\r\n  a)\r\n", tolerated: "line endings", lines: []int{1},
		},

		// Trailing spaces.
		{
			name: "spaces in the file", text: "a  \nb\t\nc\n", old: "a\nb\n", new: "a\nB\n", want: "a  \nB\nc\n",
			tolerated: "trailing spaces", lines: []int{1},
		},
		{
			name: "spaces in old", text: "a\nb\nc\n", old: "a  \nb \nc", new: "a\nx\nc", want: "a\nx\nc\n",
			tolerated: "trailing spaces", lines: []int{1},
		},
		{
			name: "blank lines with spaces", text: "a\n\t\nb\n", old: "a\n\nb", new: "a\n\nc", want: "a\n\t\nc\n",
			tolerated: "trailing spaces", lines: []int{1},
		},
		{
			name: "spaces and endings", text: "a \r\nb\r\n", old: "a\nb\n", new: "x\nb\n", want: "x\r\nb\r\n",
			tolerated: "trailing spaces", lines: []int{1},
		},

		// Indentation.
		{
			name: "old without indentation", text: tabs, old: "if a {\n\tb()\n}\n", new: "if c {\n\tb()\n\td()\n}\n",
			want: "func f() {\n\tif c {\n\t\tb()\n\t\td()\n\t}\n}\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "old with too much", text: "a:\n  b\n  c\n", old: "    b\n    c", new: "    b\n      x\n    c",
			want: "a:\n  b\n    x\n  c\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "spaces for tabs", text: tabs, old: "    if a {\n        b()\n    }",
			new: "    if a {\n        c()\n    }", want: "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n",
			tolerated: "indentation", lines: []int{2},
		},
		{
			name: "tabs for spaces", text: "  if a:\n    b()\n", old: "\tif a:\n\t\tb()\n", new: "\tif a:\n\t\tc()\n",
			want: "  if a:\n    c()\n", tolerated: "indentation", lines: []int{1},
		},
		{
			name: "blank line inside", text: "\ta\n\n\tb\n", old: "a\n\nb", new: "a\n\nc", want: "\ta\n\n\tc\n",
			tolerated: "indentation", lines: []int{1},
		},
		{
			name: "indentation and CRLF", text: "\ta\r\n\tb\r\n", old: "  a\n  b\n", new: "", want: "",
			tolerated: "indentation", lines: []int{1},
		},
		{
			name: "one line", text: "if x {\n\t\treturn nil\n}\n", old: "  return nil\n", new: "  return err\n",
			want: "if x {\n\t\treturn err\n}\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "all, at their own depths", text: "\ta\n\tb\n\t\ta\n\t\tb\n", old: "  a\n  b", new: "  c\n  b",
			all: true, want: "\tc\n\tb\n\t\tc\n\t\tb\n", tolerated: "indentation", lines: []int{1, 3},
		},
		{
			name: "all, trailing spaces", text: "a \nb\na\nb \n", old: "a\nb  \n", new: "c\n", all: true,
			want:      "c\nc\n",
			tolerated: "trailing spaces", lines: []int{1, 3},
		},
		{
			name: "without indentation and in spaces", text: tabs, old: "if a {\n    b()\n}", new: "if a {\n    c()\n}",
			want: "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "new has the file's indentation", text: "\t\ta()\n\t\tb()\n", old: "a()\nb()\n",
			new: "\t\tc()\n\t\td()\n", want: "\t\tc()\n\t\td()\n", tolerated: "indentation", lines: []int{1},
		},
		{
			name: "new has the file's, old too much", text: "  a\n  b\n", old: "    a\n    b", new: "  c\n    d",
			want: "  c\n    d\n", tolerated: "indentation", lines: []int{1},
		},
		{
			name: "new has the file's tabs, old spaces", text: "\tif a {\n\t\tb()\n\t}\n",
			old: "    if a {\n        b()\n    }", new: "\tif c {\n\t\td()\n\t}", want: "\tif c {\n\t\td()\n\t}\n",
			tolerated: "indentation", lines: []int{1},
		},
		{
			name: "a dedented line grows", text: "func f() {\n\ta()\n}\n", old: "a()", new: "if x {\n\ta()\n}",
			want: "func f() {\n\tif x {\n\t\ta()\n\t}\n}\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "a dedented line grows by others", text: "f:\n    a = 1\n", old: "a = 1\n",
			new:  "b = 2\nc = 3\na = 1\n",
			want: "f:\n    b = 2\n    c = 3\n    a = 1\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "a dedented line grows below a colon", text: "def f():\n    a()\n", old: "a()", new: "if x:\n    a()",
			want: "def f():\n    if x:\n        a()\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "a dedented line grows in spaces", text: "{\n\ta()\n}\n", old: "a()",
			new: "if x {\n  if y {\n    a()\n  }\n}", want: "{\n\tif x {\n\t\tif y {\n\t\t\ta()\n\t\t}\n\t}\n}\n",
			tolerated: "indentation", lines: []int{2},
		},
		{
			name: "a dedented line grows in tabs", text: "{\n  a()\n}\n", old: "a()", new: "if x {\n\ta()\n}",
			want: "{\n  if x {\n    a()\n  }\n}\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "a dedented line grows, the rest as the file", text: "{\n\ta()\n}\n", old: "a()",
			new: "if x {\n\t\ta()\n\t}", want: "{\n\tif x {\n\t\ta()\n\t}\n}\n", lines: []int{2},
		},
		{
			name: "a dedented line grows out of its block", text: "{\n\ta()\n}\n", old: "a()",
			new:  "a()\n}\n\n{\n\tb()",
			want: "{\n\ta()\n}\n\n{\n\tb()\n}\n", lines: []int{2},
		},
		{
			name: "one more case", text: "\tcase 1:\n\t\ta()\n", old: "case 1:", new: "case 0:\n\tcase 1:",
			want: "\tcase 0:\n\tcase 1:\n\t\ta()\n", lines: []int{1},
		},
		{
			name: "a line without its indentation, new with it", text: "{\n\t\ta()\n}\n", old: "a()", new: "\t\tb()",
			want: "{\n\t\tb()\n}\n", tolerated: "indentation", lines: []int{2},
		},
		{
			name: "a first line without its indentation, new with it", text: "{\n\t\ta()\n\t\tb()\n}\n",
			old: "a()\n\t\tb()", new: "\t\tc()\n\t\td()", want: "{\n\t\tc()\n\t\td()\n}\n", tolerated: "indentation",
			lines: []int{2},
		},
		{
			name: "a comment's alignment stays", text: "{\n\ta()\n}\n", old: "a()", new: "/*\n * x\n */\na()",
			want: "{\n\t/*\n\t * x\n\t */\n\ta()\n}\n", tolerated: "indentation", lines: []int{2},
		},

		// Lines that are cut at the ends.
		{
			name: "first line trimmed, spaces for tabs", text: tabs, old: "if a {\n        b()\n    }",
			new: "if c {\n        d()\n    }", want: "func f() {\n\tif c {\n\t\td()\n\t}\n}\n",
			tolerated: "indentation", lines: []int{2},
		},
		{
			name: "first and last lines cut, spaces for tabs", text: "\tx := f(a,\n\t\tb,\n\t\tc) // end\n",
			old: "f(a,\n        b,\n        c)", new: "g(a,\n        b,\n        d)",
			want: "\tx := g(a,\n\t\tb,\n\t\td) // end\n", tolerated: "indentation", lines: []int{1},
		},

		// The end of the file.
		{
			name: "final newline that is not there", text: "a\nb", old: "b\n", new: "c\n", want: "a\nc",
			tolerated: "final newline", lines: []int{2},
		},
		{
			name: "final newline, lines added", text: "a\r\nb", old: "a\nb\n", new: "a\nb\nc\n", want: "a\r\nb\r\nc",
			tolerated: "line endings", lines: []int{1},
		},
		{
			name: "final newline, a line deleted", text: "a\nb", old: "b\n", new: "", want: "a",
			tolerated: "final newline", lines: []int{2},
		},
		{
			name: "final newline and indentation", text: "\ta\n\tb", old: "a\nb\n", new: "a\nc\n", want: "\ta\n\tc",
			tolerated: "indentation", lines: []int{1},
		},
		{
			name: "final newline, all", text: "a\nx\na", old: "a\n", new: "b\n", all: true, want: "b\nx\nb",
			tolerated: "final newline", lines: []int{1, 3},
		},

		// Line numbers.
		{
			name: "line numbers", text: "a\n\tb\nc\n", old: "1\ta\n2\t\tb\n", new: "a\n\tB\n", want: "a\n\tB\nc\n",
			tolerated: "line numbers", lines: []int{1},
		},
		{
			name: "line numbers in new too", text: "a\n\nc\n", old: "1\ta\n2\t\n3\tc", new: "1\tA\n2\t\n3\tC",
			want: "A\n\nC\n", tolerated: "line numbers", lines: []int{1},
		},
		{
			name: "line numbers of another time", text: "a\nb\n", old: "  41→a\n  42→b", new: "c", want: "c\n",
			tolerated: "line numbers", lines: []int{1},
		},
		{
			name: "line numbers with bars", text: "a\n  b\n", old: "1 | a\n2 |   b\n", new: "a\n  c\n",
			want:      "a\n  c\n",
			tolerated: "line numbers", lines: []int{1},
		},
		{
			name: "the number of one line", text: "a\nb\n", old: "2\tb", new: "2\tc", want: "a\nc\n",
			tolerated: "line numbers", lines: []int{2},
		},
		{
			name: "the number that grep shows", text: "a\nb\n", old: "2:b", new: "c", want: "a\nc\n",
			tolerated: "line numbers", lines: []int{2},
		},
		{
			name: "numbers that are the text's", text: "1\ta\n2\tb\n", old: "1\t1\ta\n2\t2\tb", new: "1\tx\n2\ty",
			want: "1\tx\n2\ty\n", tolerated: "line numbers", lines: []int{1},
		},
		{
			name: "numbers of the file first", text: "1\ta\na\n", old: "1\ta", new: "1\tb", want: "1\tb\na\n",
			lines: []int{1},
		},

		// Blank lines around.
		{
			name: "blank line above", text: "    a\n    b\n", old: "\n  a\n  b\n", new: "  c\n  d\n",
			want: "    c\n    d\n", tolerated: "blank lines around it", lines: []int{1},
		},
		{
			name: "blank line above in both", text: "a\nb\n", old: "\na\n", new: "\nc\n", want: "c\nb\n",
			tolerated: "blank lines around it", lines: []int{1},
		},
		{
			name: "blank lines below", text: "a\nb\n", old: "a\n\n", new: "c\n\n", want: "c\nb\n",
			tolerated: "blank lines around it", lines: []int{1},
		},
		{
			name: "blank lines below, deleted", text: "a\nb\n", old: "a\n\n\n", new: "", want: "b\n",
			tolerated: "blank lines around it", lines: []int{1},
		},

		// Lines left out.
		{
			name: "elision", text: "a\nb\nc\nd\ne\n", old: "a\n...\nd\ne\n", new: "A\n...\nd\nE\n",
			want: "A\nb\nc\nd\nE\n", tolerated: "lines left out", lines: []int{1, 4},
		},
		{
			name: "elision as a comment, other endings", text: "f {\r\n\ta\r\n\tb\r\n}\r\n",
			old: "f {\n\t// ...\n\tb\n}",
			new: "g {\n\t// ...\n\tb\n}", want: "g {\r\n\ta\r\n\tb\r\n}\r\n", tolerated: "lines left out",
			lines: []int{1, 3},
		},
		{
			name: "elision at the end", text: "a\nb\n", old: "a\n...\n", new: "x\n...\n", want: "x\nb\n",
			tolerated: "lines left out", lines: []int{1},
		},
		{
			name: "dots of the file", text: "a\n...\nb\n", old: "a\n...\nb", new: "c\n...\nd", want: "c\n...\nd\n",
			lines: []int{1},
		},
		{
			name: "one line, deeper", text: "\ta\n", old: "  a", new: "  b\n  \tc", want: "\tb\n\t\tc\n",
			tolerated: "indentation", lines: []int{1},
		},
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
				t.Errorf("got  %q, tolerated %q, lines %v\nwant %q, tolerated %q, lines %v", got.Text, got.Tolerated,
					got.Lines, test.want, test.tolerated, test.lines)
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
		{
			name: "twice", text: "x\ny\nx\n", old: "x", new: "z", kind: Ambiguous, lines: []int{1, 3},
			says: []string{"2 times", "lines 1, 3", "replace_all"},
		},
		{name: "overlapping", text: "aaa", old: "aa", new: "b", kind: Ambiguous, lines: []int{1, 1}},
		{
			name: "twice with other endings", text: "a\r\nb\r\na\r\nb\r\n", old: "a\nb", new: "c", kind: Ambiguous,
			lines: []int{1, 3}, says: []string{"replace_all"},
		},
		{
			name: "twice with trailing spaces", text: "a \nb\na \nb\n", old: "a\nb", new: "c", kind: Ambiguous,
			lines: []int{1, 3},
		},
		{
			name: "twice with indentation", text: "\ta\n\tb\n\t\ta\n\t\tb\n", old: "  a\n  b", new: "  c\n  b",
			kind: Ambiguous, lines: []int{1, 3},
		},
		{
			name: "punctuation is never for all", text: "say(“a”)\nsay(”a”)\n", old: "say(\"a\")", new: "x", all: true,
			kind: Ambiguous, lines: []int{1, 2},
		},
		{name: "uneven indentation", text: "\ta\n\t\tb\n", old: "a\nb", new: "c\nd", kind: NotFound},
		{name: "the same", text: "a\n", old: "a", new: "a", kind: NoChange},
		{name: "the same but for endings", text: "a\nb\n", old: "a\nb", new: "a\r\nb", kind: NoChange},
		{name: "empty old", text: "a\n", old: "", new: "b", kind: EmptyOld, says: []string{"write"}},
		{name: "empty file", text: "", old: "a", new: "b", kind: NotFound, says: []string{"empty"}},
		{
			name: "a typing error", text: "one\nfunc parse(text string) error {\ntwo\n",
			old: "func parse(txt string) error {", new: "x", kind: NotFound, lines: []int{2},
			says: []string{"2\tfunc parse(text string) error {", "nearest"},
		},
		{
			name: "nothing like it", text: "one\ntwo\n", old: "zzzzzzzzzzzzzzzz", new: "x", kind: NotFound,
			says: []string{"read the file again"},
		},
		{
			name: "line numbers that jump", text: "alpha\nbeta\n", old: "1\talpha\n3\tbeta", new: "1\tx",
			kind:  NotFound,
			lines: []int{1}, says: []string{"line numbers"},
		},
		{
			name: "line numbers in some lines of new", text: "a\nb\n", old: "1\ta\n2\tb", new: "1\ta\nx\n2\tb",
			kind: Unadaptable, lines: []int{1}, says: []string{"not all", "leave the numbers out"},
		},
		{name: "one number that is not the place's", text: "a\nb\n", old: "7\tb", new: "c", kind: NotFound},
		{name: "a number in front of a part of a line", text: "1\ta b\n", old: "1\tb", new: "1\tc", kind: NotFound},
		{
			name: "numbered lines that stand twice", text: "a\nb\na\nb\n", old: "1\ta\n2\tb", new: "x", kind: Ambiguous,
			lines: []int{1, 3},
		},
		{
			name: "blank line above, twice", text: " a\nx\n a\n", old: "\na", new: "\nb", kind: Ambiguous,
			lines: []int{1, 3},
		},
		{
			name: "the end of the file, and another line", text: "a\nx\na", old: "a\n", new: "b\n", kind: Ambiguous,
			lines: []int{1, 3},
		},
		{
			name: "nothing new but the final newline", text: "a\nb", old: "b\n", new: "b", kind: NoChange,
			lines: []int{2},
		},
		{
			name: "one line grows, which may leave its block", text: "def f():\n    return x\n", old: "return x",
			new: "return x\n\ndef g():\n    return y", kind: Unadaptable, lines: []int{2},
			says: []string{"not certain", "whole lines"},
		},
		{
			name: "the indentation that is there", text: "\ta\n", old: "a", new: "\ta", kind: NoChange, lines: []int{1},
			says: []string{"already reads so"},
		},
		{
			name: "unwrapped, in whose indentation", text: "\tif a {\n\t\tb()\n\t}\n", old: "if a {\n\tb()\n}\n",
			new: "\tb()\n", kind: Unadaptable, lines: []int{1}, says: []string{"not certain"},
		},
		{
			name: "elision of lines that go", text: "a\nb\nc\n", old: "a\n...\nc\n", new: "x\n", kind: NotFound,
			says: []string{"line ...", "the same lines"},
		},
		{
			name: "elision, a piece twice", text: "a\nb\na\nc\n", old: "a\n...\nc\n", new: "x\n...\nc\n",
			kind:  Ambiguous,
			lines: []int{1, 3}, says: []string{"piece 1 of 2", "2 times"},
		},
		{
			name: "elision, pieces out of order", text: "a\nb\nc\n", old: "c\n...\na\n", new: "x\n...\ny\n",
			kind: NotFound, lines: []int{1}, says: []string{"above the one before it"},
		},
		{
			name: "elision, a piece missing", text: "alpha\nb\nc\n", old: "alpha\n...\nzz\n", new: "x\n...\ny\n",
			kind: NotFound, says: []string{"piece 2 of 2", "not in the file"},
		},
		{
			name: "escaped twice", text: "say(\"hi\")\nx()\n", old: `say(\"hi\")\nx()`, new: `y()`, kind: NotFound,
			lines: []int{1}, says: []string{"escaped twice", `\n`, "line 1"},
		},
		{
			name: "escaped twice, quotes only", text: "say(\"hi\")\n", old: `say(\"hi\")`, new: `y()`, kind: NotFound,
			lines: []int{1}, says: []string{"escaped twice"},
		},
		{
			name: "escaped as HTML", text: "if a < b && c {\n", old: "if a &lt; b &amp;&amp; c {", new: "x",
			kind: NotFound, lines: []int{1}, says: []string{"escaped twice", "HTML"},
		},
		{
			name: "old goes on behind the end", text: "one line\nand another\n", old: "one line\nand another\nmore\n",
			new: "x", kind: NotFound, lines: []int{1},
			says: []string{"Line 3 is \"\" there and \"more\" in old_string"},
		},
		{
			name: "less indentation than the place can give", text: "a:\n  b\n  c\n", old: "    b\n    c",
			new:  "b\n    c",
			kind: Unadaptable, lines: []int{2}, says: []string{"indentation"},
		},
		{
			name: "indentation that would mix", text: "\t\ta\n", old: "  a", new: "  b\n    c", kind: Unadaptable,
			lines: []int{1},
		},
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
		if got.Tolerated == "lines left out" {
			return
		}
		if len(got.Lines) != 1 {
			t.Fatalf("%d places were changed", len(got.Lines))
		}
		lines := splitLines(text)
		first := got.Lines[0] - 1
		last := min(first+len(contents(old)), len(lines)) - 1
		before, after := text[:lines[first].start], text[lines[last].next:]
		if !strings.HasPrefix(got.Text, before) || !strings.HasSuffix(got.Text, after) ||
			len(got.Text) < len(before)+len(after) {
			t.Fatalf("Replace(%q, %q, %q) = %q changed more than lines %d to %d", text, old, new, got.Text,
				first+1, last+1)
		}
		if got.Tolerated == "" && !strings.Contains(text+new, "\r") && got.Text != strings.Replace(text, old, new, 1) {
			t.Fatalf("Replace(%q, %q, %q) = %q", text, old, new, got.Text)
		}
		unix := !strings.Contains(text, "\r") && strings.Contains(text, "\n")
		if unix && strings.Contains(got.Text, "\r") {
			t.Fatalf("Replace(%q, %q, %q) = %q has other line endings", text, old, new, got.Text)
		}
		dos := strings.ReplaceAll(text, "\r\n", "")
		if strings.Contains(text, "\r\n") && !strings.ContainsAny(dos, "\r\n") &&
			strings.ContainsAny(strings.ReplaceAll(got.Text, "\r\n", ""), "\r\n") {
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
