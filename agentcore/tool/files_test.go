package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// call runs a tool that must succeed.
func call(t *testing.T, h *tooltest.Host, name, arguments string) tool.Result {
	t.Helper()
	result, err := h.Call(t.Context(), name, arguments)
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return result
}

// refused runs a tool that must fail with an error that says all of parts.
func refused(t *testing.T, h *tooltest.Host, name, arguments string, parts ...string) {
	t.Helper()
	result, err := h.Call(t.Context(), name, arguments)
	if err == nil {
		t.Errorf("%s %s succeeded: %s", name, arguments, result.Text)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s %s: %q does not say %q", name, arguments, err, part)
		}
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRead(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		"a.txt":         "one\n\ttwo\nthree\n",
		"crlf.txt":      "one\r\ntwo\r\n",
		"end.txt":       "one\ntwo",
		"empty.txt":     "",
		"bin.dat":       "a\x00b",
		"long.txt":      strings.Repeat("é", 2500) + "\nshort\n",
		"many.txt":      strings.Repeat("line\n", 2500),
		"wide.txt":      strings.Repeat(strings.Repeat("w", 1000)+"\n", 100),
		"dir/inner.txt": "x\n",
	})
	for _, test := range []struct{ name, args, want, summary string }{
		{"all", `{"path":"a.txt"}`, "1\tone\n2\t\ttwo\n3\tthree\n", "3 lines"},
		{"absolute", `{"path":` + quote(h.Path("a.txt")) + `}`, "1\tone\n2\t\ttwo\n3\tthree\n", "3 lines"},
		{
			"part", `{"path":"a.txt","offset":2,"limit":1}`, "2\t\ttwo\n(lines 2-2 of 3; read on with offset 3)\n",
			"1 line",
		},
		{"from", `{"path":"a.txt","offset":3}`, "3\tthree\n", "1 line"},
		{"offset 0 is the start", `{"path":"a.txt","offset":0,"limit":9}`, "1\tone\n2\t\ttwo\n3\tthree\n", "3 lines"},
		{"CRLF", `{"path":"crlf.txt"}`, "1\tone\n2\ttwo\n", "2 lines"},
		{"no final newline", `{"path":"end.txt"}`, "1\tone\n2\ttwo\n", "2 lines"},
		{"empty", `{"path":"empty.txt"}`, "(the file is empty)", "empty"},
		{
			"long line", `{"path":"long.txt"}`,
			"1\t" + strings.Repeat("é", 1999) +
				"…\n2\tshort\n(lines that end in … are longer than 2000 characters and were cut)\n", "2 lines",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := call(t, h, "read", test.args)
			same(t, "text", result.Text, test.want)
			same(t, "summary", result.Summary, test.summary)
			if len(result.Paths) != 1 || !filepath.IsAbs(result.Paths[0]) {
				t.Errorf("paths are %v", result.Paths)
			}
		})
	}
	if text := call(t, h, "read", `{"path":"many.txt"}`).Text; !strings.HasSuffix(text,
		"\n2000\tline\n(lines 1-2000 of 2500; read on with offset 2001)\n") {
		t.Errorf("a file of many lines ends with %q", text[len(text)-80:])
	}
	// The next offset goes on without a gap where the size ended the answer.
	text := call(t, h, "read", `{"path":"wide.txt"}`).Text
	var next int
	if _, err := fmt.Sscanf(text[strings.LastIndex(text, "offset"):], "offset %d)", &next); err != nil ||
		len(text) > 51_000 {
		t.Fatalf("%d bytes, ending in %q: %v", len(text), text[len(text)-80:], err)
	}
	if rest := call(t, h, "read", fmt.Sprintf(`{"path":"wide.txt","offset":%d}`, next)).Text; !strings.HasPrefix(rest,
		fmt.Sprintf("%d\tw", next)) {
		t.Errorf("the rest begins with %q", rest[:10])
	}
	refused(t, h, "read", `{"path":"a.txt","offset":4}`, "offset 4 is past the end", "a.txt has 3 lines")
	refused(t, h, "read", `{"path":"dir"}`, "is a folder", "use list")
	refused(t, h, "read", `{"path":"b.txt"}`, "b.txt: does not exist", "a.txt")
	refused(t, h, "read", `{"path":"nowhere/zzzzzzzzz.txt"}`, "does not exist", "glob")
	refused(t, h, "read", `{"path":"../outside"}`, "outside")
	refused(t, h, "read", `{"path":"/etc/passwd"}`, "outside")
	refused(t, h, "read", `{"path":"bin.dat"}`, "not a text file")
}

func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestLayeredView: unsaved text wins over the disk, and the run's own edits over both.
func TestLayeredView(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "disk needle\n", "b.go": "b\n"})
	h.Type("a.go", "typed needle\n")
	h.Type("new.go", "not on disk, needle\n")
	same(t, "read", call(t, h, "read", `{"path":"a.go"}`).Text, "1\ttyped needle\n")
	same(t, "grep", call(t, h, "grep", `{"pattern":"needle"}`).Text,
		"a.go\n1:typed needle\nnew.go\n1:not on disk, needle\n")
	same(t, "glob", call(t, h, "glob", `{"pattern":"*.go"}`).Text, "a.go\nb.go\nnew.go\n")
	call(t, h, "edit", `{"path":"a.go","old_string":"typed","new_string":"edited"}`)
	call(t, h, "write", `{"path":"lib/c.go","content":"written needle\n"}`)
	same(t, "read", call(t, h, "read", `{"path":"a.go"}`).Text, "1\tedited needle\n")
	same(t, "grep", call(t, h, "grep", `{"pattern":"needle"}`).Text,
		"a.go\n1:edited needle\nlib/c.go\n1:written needle\nnew.go\n1:not on disk, needle\n")
	same(t, "list", call(t, h, "list", `{}`).Text, "a.go\nb.go\nlib/\n  c.go\nnew.go\n")
}

func TestGlob(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		".gitignore": "out/\n*.log\n", "main.go": "", "main_test.go": "", "cmd/a/main.go": "", "cmd/b/x.txt": "",
		"out/gen.go": "", "x.log": "", "web/a.ts": "", "web/b.tsx": "", "web/deep/er/c.ts": "",
	})
	for _, test := range []struct{ args, want string }{
		{`{"pattern":"*.go"}`, "cmd/a/main.go\nmain.go\nmain_test.go\n"},
		{`{"pattern":"**/*.go"}`, "cmd/a/main.go\nmain.go\nmain_test.go\n"},
		{`{"pattern":"cmd/*/main.go"}`, "cmd/a/main.go\n"},
		{`{"pattern":"./cmd/**"}`, "cmd/a/main.go\ncmd/b/x.txt\n"},
		{`{"pattern":"*.{ts,tsx}","path":"web"}`, "web/a.ts\nweb/b.tsx\nweb/deep/er/c.ts\n"},
		{`{"pattern":"*.ts,*.tsx"}`, "web/a.ts\nweb/b.tsx\nweb/deep/er/c.ts\n"},
		{`{"pattern":"web/*.ts","path":"web"}`, "web/a.ts\n"},
		{`{"pattern":` + quote(h.Path("web")+"/*.ts") + `}`, "web/a.ts\n"},
		{`{"pattern":"*.rs"}`, "No file matches; files that git ignores are left out."},
	} {
		same(t, test.args, call(t, h, "glob", test.args).Text, test.want)
	}
	refused(t, h, "glob", `{"pattern":"[a"}`, "is no glob pattern")
	refused(t, h, "glob", `{"pattern":"`+strings.Repeat("{a,b}", 30)+`"}`, "too many braces")
	refused(t, h, "glob", `{"pattern":" "}`, "the pattern is empty")
	refused(t, h, "glob", `{"pattern":"*","path":"../.."}`, "outside")
	refused(t, h, "glob", `{"pattern":"*","path":"none"}`, "none")
}

func TestGlobManyFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("f%03d.txt", i)] = ""
	}
	h := tooltest.New(t, files)
	result := call(t, h, "glob", `{"pattern":"*.txt"}`)
	if n := strings.Count(result.Text, ".txt\n"); n != 500 ||
		!strings.HasSuffix(result.Text, "(100 more match; narrow the pattern)\n") || result.Summary != "600 files" {
		t.Errorf("%d files, %q, %q", n, result.Text[len(result.Text)-60:], result.Summary)
	}
	list := call(t, h, "list", `{}`)
	if n := strings.Count(list.Text, ".txt\n"); n != 500 || !strings.Contains(list.Text, "(100 more;") {
		t.Errorf("list shows %d", n)
	}
}

func TestList(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		".gitignore": "out\n", "a/b/c/d.txt": "", "a/b.txt": "", "a-b.txt": "", "a.txt": "", "out/x": "", "z": "",
		"void/.gitignore": "*",
	})
	for _, test := range []struct{ args, want string }{
		{`{"path":"a"}`, "b/\n  c/\nb.txt\n"},
		{`{"path":"a","depth":1}`, "b/\nb.txt\n"},
		{`{"path":"a","depth":9}`, "b/\n  c/\n    d.txt\nb.txt\n"},
		{`{"path":"void"}`, "(the folder is empty, but for what git ignores)"},
	} {
		same(t, test.args, call(t, h, "list", test.args).Text, test.want)
	}
	// Every entry stands below its folder, however their names sort.
	text := call(t, h, "list", `{"depth":4}`).Text
	if !strings.Contains(text, "a/\n  b/\n    c/\n      d.txt\n  b.txt\n") || strings.Contains(text, "out") {
		t.Errorf("the tree is\n%s", text)
	}
	refused(t, h, "list", `{"path":"z"}`, "z is a file; use read")
	refused(t, h, "list", `{"path":"none"}`, "none")
}

func TestGrep(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		".gitignore": "out/\n",
		"a.go":       "package a\n\nfunc Foo() {}\nfunc Bar() {}\n\n\n\n\nfunc Baz() {}\n",
		"b/b.ts":     "function foo() {}\r\nfoo(\r\n  1)\r\n",
		"out/c.go":   "func Foo() {}\n",
		"bin":        "func Foo\x00",
		"long.txt":   strings.Repeat("x", 500) + "NEEDLE" + strings.Repeat("é", 500) + "\n",
		"paren.txt":  "call(a[0]\n",
	})
	for _, test := range []struct{ name, args, want string }{
		{"matches", `{"pattern":"func \\w+"}`, "a.go\n3:func Foo() {}\n4:func Bar() {}\n9:func Baz() {}\n"},
		{"case", `{"pattern":"(?i)foo\\(\\)"}`, "a.go\n3:func Foo() {}\nb/b.ts\n1:function foo() {}\n"},
		{"include", `{"pattern":"foo","include":"*.ts"}`, "b/b.ts\n1:function foo() {}\n2:foo(\n"},
		{"include by path", `{"pattern":"(?i)foo","include":"b/**"}`, "b/b.ts\n1:function foo() {}\n2:foo(\n"},
		{"folder", `{"pattern":"foo","path":"b"}`, "b/b.ts\n1:function foo() {}\n2:foo(\n"},
		{"one file", `{"pattern":"Foo","path":"a.go"}`, "a.go\n3:func Foo() {}\n"},
		{
			"context", `{"pattern":"Bar|Baz","context":1}`,
			"a.go\n3-func Foo() {}\n4:func Bar() {}\n5-\n--\n8-\n9:func Baz() {}\n",
		},
		{
			"context joins", `{"pattern":"Foo|Bar","context":2,"path":"a.go"}`,
			"a.go\n1-package a\n2-\n3:func Foo() {}\n4:func Bar() {}\n5-\n6-\n",
		},
		{
			"limit", `{"pattern":"func","limit":2}`,
			"a.go\n3:func Foo() {}\n4:func Bar() {}\n(there are more than these 2 matches; narrow the pattern or " +
				"path, or raise limit)\n",
		},
		{
			"limit at a file's end", `{"pattern":"func","limit":3}`,
			"a.go\n3:func Foo() {}\n4:func Bar() {}\n9:func Baz() {}\n(there are more than these 3 matches; narrow " +
				"the pattern or path, or raise limit)\n",
		},
		{"limit met exactly", `{"pattern":"Ba","limit":2}`, "a.go\n4:func Bar() {}\n9:func Baz() {}\n"},
		{"over lines", `{"pattern":"foo\\(\\n\\s*1"}`, "b/b.ts\n2:foo(\n"},
		{"end of a CRLF line", `{"pattern":"\\{\\}$","path":"b"}`, "b/b.ts\n1:function foo() {}\n"},
		{
			"no RE2", `{"pattern":"call(a[0]"}`,
			"(the pattern is no RE2 expression, missing closing ): `call(a[0]`; it was searched as plain " +
				"text)\nparen.txt\n1:call(a[0]\n",
		},
		{"long line", `{"pattern":"NEEDLE"}`, "long.txt\n1:…" + strings.Repeat("x", 80) + "NEEDLE" +
			strings.Repeat("é", 163) + "…\n"},
		{
			"none", `{"pattern":"nothing of the kind"}`,
			"No match; files that git ignores and binary files were left out.\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) { same(t, "text", call(t, h, "grep", test.args).Text, test.want) })
	}
	same(t, "summary", call(t, h, "grep", `{"pattern":"(?i)func"}`).Summary, "4 matches in 2 files")
	refused(t, h, "grep", `{"pattern":""}`, "pattern is empty")
	refused(t, h, "grep", `{"pattern":"x","include":"[a"}`, "include", "no glob pattern")
	refused(t, h, "grep", `{"pattern":"x","path":"none"}`, "none")
	refused(t, h, "grep", `{"pattern":"x","path":"bin"}`, "not a text file")
}

// TestGrepIsDeterministic: many files, searched at once, come in one order.
func TestGrepIsDeterministic(t *testing.T) {
	files := map[string]string{}
	var want strings.Builder
	for i := range 300 {
		name := fmt.Sprintf("d%d/f%03d.txt", i/100, i)
		files[name] = strings.Repeat("filler\n", (i*37)%200) + "needle\n"
		fmt.Fprintf(&want, "%s\n%d:needle\n", name, (i*37)%200+1)
	}
	h := tooltest.New(t, files)
	for range 5 {
		same(t, "text", call(t, h, "grep", `{"pattern":"needle","limit":1000}`).Text, want.String())
	}
	// An early end leaves no goroutine behind, as TestMain sees.
	call(t, h, "grep", `{"pattern":"needle","limit":1}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Call(ctx, "grep", `{"pattern":"needle"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search gave %v", err)
	}
}

func TestSeveralRoots(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "needle\n"})
	h.AddRoot("other", map[string]string{"a.go": "needle too\n", "lib/b.go": "x\n"})
	same(t, "glob", call(t, h, "glob", `{"pattern":"*.go"}`).Text, "project/a.go\nother/a.go\nother/lib/b.go\n")
	same(t, "grep", call(t, h, "grep", `{"pattern":"needle"}`).Text,
		"project/a.go\n1:needle\nother/a.go\n1:needle too\n")
	same(t, "list", call(t, h, "list", `{}`).Text, "project/\n  a.go\nother/\n  a.go\n  lib/\n    b.go\n")
	same(t, "read", call(t, h, "read", `{"path":"other/a.go"}`).Text, "1\tneedle too\n")
	same(t, "include", call(t, h, "grep", `{"pattern":"x","include":"other/**"}`).Text, "other/lib/b.go\n1:x\n")
}
