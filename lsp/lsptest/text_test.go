package lsptest

import (
	"strings"
	"testing"
)

func TestOffset(t *testing.T) {
	const content = "aé\r\n😀b\rc\n"
	for _, test := range []struct {
		encoding        Encoding
		line, character uint32
		want            int
		wrong           string
	}{
		{UTF8, 0, 0, 0, ""},
		{UTF8, 0, 3, 3, ""},
		{UTF8, 0, 2, 0, "is inside 'é'"},
		{UTF8, 0, 4, 0, "beyond the end of line 0"},
		{UTF8, 1, 4, 9, ""},
		{UTF8, 1, 2, 0, "is inside '😀'"},
		{UTF16, 0, 2, 3, ""},
		{UTF16, 0, 3, 0, "beyond the end"},
		{UTF16, 1, 1, 0, "is inside '😀'"},
		{UTF16, 1, 2, 9, ""},
		{UTF16, 1, 3, 10, ""},
		{UTF32, 1, 1, 9, ""},
		{UTF32, 1, 2, 10, ""},
		{UTF32, 1, 3, 0, "beyond the end"},
		{UTF32, 2, 1, 12, ""},
		{UTF32, 3, 0, 13, ""},
		{UTF32, 4, 0, 0, "outside a text of 4 lines"},
	} {
		got, err := test.encoding.Offset(content, Position{test.line, test.character})
		switch {
		case test.wrong != "":
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s %d:%d: the error is %v, not %q", test.encoding, test.line, test.character, err, test.wrong)
			}
		case err != nil || got != test.want:
			t.Errorf("%s %d:%d = %d, %v, want %d", test.encoding, test.line, test.character, got, err, test.want)
		default:
			if back := test.encoding.Position(content, got); back != (Position{test.line, test.character}) {
				t.Errorf("%s: the position of %d is %v, not %d:%d", test.encoding, got, back, test.line, test.character)
			}
		}
	}
	if _, _, err := UTF16.Span(content, Range{Position{1, 0}, Position{0, 0}}); err == nil {
		t.Error("an inverted range was taken")
	}
}

func TestReplace(t *testing.T) {
	got, _, err := replace("abcdef", []replacement{{4, 5, "E"}, {1, 1, "1"}, {1, 1, "2"}, {1, 2, "B"}})
	if err != nil || got != "a12BcdEf" {
		t.Errorf("%q, %v", got, err)
	}
	if _, _, err := replace("abc", []replacement{{0, 2, ""}, {1, 3, ""}}); err == nil {
		t.Error("overlapping edits were taken")
	}
}

func TestLookup(t *testing.T) {
	raw := encode(struct {
		A []struct{ B string } `json:"a"`
	}{[]struct{ B string }{{"x"}, {"y"}}})
	for path, want := range map[string]string{"a.1.B": `"y"`, "a.-1.B": `"y"`, "a.2.B": "", "b": "", "a.B": ""} {
		if got := string(lookup(raw, path)); got != want {
			t.Errorf("lookup %s = %q, want %q", path, got, want)
		}
	}
}

func TestParseLine(t *testing.T) {
	l, err := parseLine(`[!neovim,helix] command agentls.run "a \"b\"" {"x": [1, 2]}`)
	if err != nil || l.verb != "command" || len(l.args) != 3 || l.args[1] != `a "b"` || l.args[2] != `{"x": [1, 2]}` {
		t.Errorf("%+v, %v", l, err)
	}
	if l.isFor("helix") || !l.isFor("rich") {
		t.Error("the condition is the wrong way round")
	}
	for _, bad := range []string{`open "x`, `[rich open x`, `init {"a": 1} # why`, `settings [1] {}`} {
		if _, err := parseLine(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestSpan(t *testing.T) {
	const content = "one\ntwö three\n"
	for where, want := range map[string]string{
		"1": "one", "2:1-2:4": "twö", "2:5": "", "three": "three", "all": content,
	} {
		start, end, err := span(content, where)
		if err != nil || content[start:end] != want {
			t.Errorf("%s is %q, %v", where, content[start:end], err)
		}
	}
	for _, bad := range []string{"9", "1:9", "four"} {
		if _, _, err := span(content, bad); err == nil {
			t.Errorf("%s was found", bad)
		}
	}
}
