package outline

import (
	"fmt"
	"strings"
	"testing"
)

func TestSymbols(t *testing.T) {
	for text, want := range map[string]string{
		"package a\n\nfunc Run(x int) {\n\ty := 1\n}\n\ntype T struct {\n}\n\nfunc (t *T) Do() error {\n": "function Run 2:5, " +
			"class T 6:5, function Do 9:12",
		"export async function load(a) {\n  const b = 1\n}\nexport class Box {\n  open() {\n": "function load 0:22, " +
			"class Box 3:13, method open 4:2",
		"class A:\n    def f(self):\n        return f\n": "class A 0:6, function f 1:8",
		"if (a) {\nwhile (b) {\n":                        "",
	} {
		var got []string
		for _, s := range Symbols(text) {
			got = append(got, fmt.Sprintf("%s %s %d:%d", s.Kind, s.Name, s.Line, s.Column))
		}
		if is := strings.Join(got, ", "); is != want {
			t.Errorf("%q: %s, want %s", text, is, want)
		}
	}
}

func TestWords(t *testing.T) {
	var got []string
	for line, column := range Words("ab a.b ab_ xab\nab(ab)\nabab ab", "ab") {
		got = append(got, fmt.Sprintf("%d:%d", line, column))
	}
	if is := strings.Join(got, " "); is != "0:0 1:0 1:3 2:5" {
		t.Error(is)
	}
	for range Words("a", "") {
		t.Error("an empty word stands nowhere")
	}
}
