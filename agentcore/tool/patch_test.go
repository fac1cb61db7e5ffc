package tool_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
	"github.com/agentls/agentls/agentcore/workspace"
)

// arguments encodes one text argument.
func arguments(t testing.TB, name, text string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]string{name: text})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const patchedGo = `package a

func f() {
	one()
	return
}

func g() {
	two()
	return
}
`

func TestPatch(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		"a.go": patchedGo, "old.txt": "x\n", "gone.txt": "x\n",
		"same.txt": "keep\n",
	})
	result := call(t, h, "patch", arguments(t, "patch", `*** Begin Patch
*** Add File: docs/new.md
+# New
+
+text
*** Update File: a.go
@@ func g() {
 	two()
-	return
+	return // from g
 }
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: new.txt
@@
-x
+y
*** Update File: same.txt
*** Move to: moved/same.txt
*** End Patch`))
	same(t, "text", result.Text, "Added docs/new.md, 3 lines.\nUpdated a.go at line 10.\nDeleted gone.txt.\n"+
		"Moved old.txt to new.txt, changed at line 1.\nMoved same.txt to moved/same.txt.")
	same(t, "summary", result.Summary, "7 files +5 -3")
	same(t, "a.go", h.Text("a.go"), strings.Replace(patchedGo, "two()\n\treturn", "two()\n\treturn // from g", 1))
	same(t, "docs/new.md", h.Text("docs/new.md"), "# New\n\ntext\n")
	same(t, "new.txt", h.Text("new.txt"), "y\n")
	same(t, "moved/same.txt", h.Text("moved/same.txt"), "keep\n")
	for _, gone := range []string{"gone.txt", "old.txt", "same.txt"} {
		refused(t, h, "read", arguments(t, "path", gone), "does not exist")
		if _, err := os.Stat(h.Path(gone)); err != nil {
			t.Errorf("the file on disk: %v", err)
		}
	}
	moved := map[string]string{}
	for _, file := range h.Files().Saved() {
		if file.MovedFrom != "" {
			moved[file.MovedFrom] = file.Path
		}
	}
	if want := map[string]string{
		h.Path("old.txt"):  h.Path("new.txt"),
		h.Path("same.txt"): h.Path("moved/same.txt"),
	}; !maps.Equal(moved, want) {
		t.Errorf("moved are %v, want %v", moved, want)
	}
	// What the run patched it knows.
	call(t, h, "write", `{"path":"docs/new.md","content":"short\n"}`)
}

// TestPatchAccepts: what models send besides the plain format.
func TestPatchAccepts(t *testing.T) {
	const text = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return " +
		"1\n\nclass B:\n    " +
		"def f(self):\n        return 1\n"
	at := func(n int) string { // the text with its nth "return 1" made 2
		parts := strings.SplitAfter(text, "return 1")
		parts[n] = strings.TrimSuffix(parts[n], "1") + "2"
		return strings.Join(parts, "")
	}
	const update = "*** Update File: a.py\n@@ class B:\n@@ def f(self):\n-        return 1\n+        return 2\n"
	for _, test := range []struct{ name, text, patch, want, says string }{
		{
			"nested lines above", text, "*** Begin Patch\n" + update + "*** End Patch\n", at(2),
			"Updated a.py at line 10.",
		},
		{
			"a part of a line above", text,
			"*** Begin Patch\n*** Update File: a.py\n@@ def g\n-        return 1\n+        return 2\n*** End Patch",
			at(1), "",
		},
		{
			"the body begins with the line above", text,
			"*** Begin Patch\n*** Update File: a.py\n@@ class B:\n class B:\n     def f(self):\n-        return " +
				"1\n+        " +
				"return 2\n*** End Patch", at(2), "",
		},
		{
			"the class named again", text,
			"*** Begin Patch\n*** Update File: a.py\n@@ class A:\n@@ def f(self):\n-        return " +
				"1\n+        return " +
				"2\n@@ class A:\n@@ def g(self):\n-        return 1\n+        return 3\n*** End Patch",
			strings.Replace(at(0), "return 1", "return 3", 1), "Updated a.py at line 3, 6.",
		},
		{"here-document", text, "apply_patch <<'EOF'\n*** Begin Patch\n" + update + "*** End Patch\nEOF\n", at(2), ""},
		{
			"here-document without End Patch", text, "cat <<EOF | apply_patch\n*** Begin Patch\n" + update + "EOF",
			at(2),
			"End Patch was missing",
		},
		{"fence", text, "Here it is:\n```diff\n*** Begin Patch\n" + update + "*** End Patch\n```\nDone.", at(2), ""},
		{"no beginning", text, update + "*** End Patch", at(2), ""},
		{"fence without End Patch", text, "```\n*** Begin Patch\n" + update + "```\n", at(2), "End Patch was missing"},
		{
			"padded markers", text,
			"  *** Begin Patch  \n ***  update file : a.py \n @@ class B:\n@@ def f(self):\n-        return " +
				"1\n+        " +
				"return 2\n  *** End Patch ***\n", at(2), "",
		},
		{"indented as a whole", text, "\t*** Begin Patch\n\t" + strings.ReplaceAll(update, "\n", "\n\t") +
			"*** End Patch\n", at(2), ""},
		{"CRLF", text, strings.ReplaceAll("*** Begin Patch\n"+update+"*** End Patch\n", "\n", "\r\n"), at(2), ""},
		{
			"no @@", text,
			"*** Begin Patch\n*** Update File: a.py\n class B:\n     def f(self):\n-        return " +
				"1\n+        return " +
				"2\n*** End Patch", at(2), "",
		},
		{
			"blank context without its space", text,
			"*** Begin Patch\n*** Update File: a.py\n@@\n         return 1\n\n class B:\n     def f(self):\n-        " +
				"return 1\n+        return 2\n\n*** End Patch", at(2), "",
		},
		{
			"two patches", text,
			"*** Begin Patch\n" + update +
				"*** End Patch\n*** Begin Patch\n*** Update File: a.py\n@@\n-class B:\n+class C:\n*** End Patch",
			strings.Replace(at(2), "class B", "class C", 1), "line 8",
		},
		{
			"end of file", text,
			"*** Begin Patch\n*** Update File: a.py\n@@\n     def f(self):\n-        return 1\n+        " +
				"return 2\n*** " +
				"End of File\n*** End Patch", at(2), "",
		},
		{
			"appended", text, "*** Begin Patch\n*** Update File: a.py\n@@\n+# end\n*** End Patch", text + "# end\n",
			"put at the end",
		},
		{
			"inserted below a line", text,
			"*** Begin Patch\n*** Update File: a.py\n@@ class B:\n+    x = 1\n*** End Patch",
			strings.Replace(text, "class B:\n", "class B:\n    x = 1\n", 1), "",
		},
		{
			"spaces for tabs", "\tif a {\n\t\tb()\n\t}\n",
			"*** Begin Patch\n*** Update File: a.py\n     if a {\n-        b()\n+        " +
				"c()\n+\n+            d()\n     " +
				"}\n*** End Patch", "\tif a {\n\t\tc()\n\n\t\t\td()\n\t}\n", "indentation",
		},
		{
			"lines that come have the file's indentation", "\t\ta()\n\t\tb()\n",
			"*** Begin Patch\n*** Update File: a.py\n-a()\n-b()\n+\t\tc()\n+\t\t\td()\n*** End Patch",
			"\t\tc()\n\t\t\td()\n", "indentation",
		},
		{
			"trailing spaces", "a  \nb\nc\t\n", "*** Begin Patch\n*** Update File: a.py\n a\n-b\n+B\n c\n*** End Patch",
			"a  \nB\nc\t\n", "trailing spaces",
		},
		{
			"punctuation", "say(“a – b”)\nx\n",
			"*** Begin Patch\n*** Update File: a.py\n say(\"a - b\")\n-x\n+y\n*** End Patch", "say(“a – b”)\ny\n",
			"punctuation",
		},
		{
			"line endings of the file", "a\r\nb\r\n",
			"*** Begin Patch\n*** Update File: a.py\n a\n-b\n+c\n+d\n*** End Patch", "a\r\nc\r\nd\r\n", "",
		},
		{
			"no ending at the end", "a\nb", "*** Begin Patch\n*** Update File: a.py\n b\n+c\n*** End Patch",
			"a\nb\nc", "",
		},
		{
			"only the last line's ending", "a\nb",
			"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-a\n+A\n-b\n\\ No newline at end of file\n+b\n", "A\nb\n", "",
		},
		{
			"chunks out of order", "a\nb\nc\nd\n",
			"*** Begin Patch\n*** Update File: a.py\n@@\n-d\n+D\n@@\n-a\n+A\n*** End Patch", "A\nb\nc\nD\n",
			"above the chunk before it",
		},
		{
			"chunks that share context", "a\nb\nc\n",
			"*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+A\n b\n@@\n b\n-c\n+C\n*** End Patch", "A\nb\nC\n", "",
		},
		{
			"context as the chunk before made it", "a\nb\nc\n",
			"*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+A\n@@\n A\n b\n-c\n+C\n*** End Patch", "A\nb\nC\n", "",
		},
		{
			"a line above that the chunk before changed", text,
			"*** Begin Patch\n*** Update File: a.py\n@@\n-class B:\n+class C:\n@@ class B:\n-        return " +
				"1\n+        " +
				"return 2\n*** End Patch", strings.Replace(at(2), "class B", "class C", 1), "",
		},
		{
			"a line above that is in the chunk", text,
			"*** Begin Patch\n*** Update File: a.py\n@@ class B:\n \n class B:\n-    def f(self):\n+    def " +
				"h(self):\n*** End Patch", strings.Replace(text, "class B:\n    def f", "class B:\n    def h", 1), "",
		},
		{
			"chunks out of order below one line", "fn b\n1\n2\n",
			"*** Begin Patch\n*** Update File: a.py\n@@ fn b\n-2\n+3\n@@ fn b\n-1\n+0\n*** End Patch",
			"fn b\n0\n3\n", "",
		},
		{
			"an unfinished header of a unified diff", text,
			"*** Begin Patch\n*** Update File: a.py\n@@ -10,1 +10,1\n-        return 1\n+        return 2\n*** " +
				"End Patch", at(2), "",
		},
		{
			"headers of a unified diff", text,
			"*** Begin Patch\n*** Update File: a.py\n--- a.py\n+++ a.py\n@@ -10,1 +10,1 @@ class B:\n-        return " +
				"1\n+        return 2\n*** End Patch", at(2), "",
		},
		{
			"a unified diff", text,
			"diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -6 +6 @@\n-        return " +
				"1\n+        " +
				"return 2\n", at(1), "",
		},
		{"a unified diff that inserts", "a\nb\n", "--- a/a.py\n+++ b/a.py\n@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n", ""},
		{
			"a unified diff whose last line looks like a marker", "*** End Patch\n",
			"--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n+x\n *** End Patch\n", "x\n*** End Patch\n", "",
		},
		{
			"a unified diff with markers around it", "a\nb\n",
			"*** Begin Patch\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n *** End Patch\n", "A\nb\n", "",
		},
		{
			"lines that look like markers", "*** End Patch\nx\n",
			"*** Begin Patch\n*** Update File: a.py\n *** End Patch\n-x\n+*** Update File: y\n*** End Patch",
			"*** End Patch\n*** Update File: y\n", "",
		},
		{
			"lines that look like headers", "-- a\n++ b\n",
			"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n--- a\n+++ c\n ++ b\n", "++ c\n++ b\n", "",
		},
		{
			"one file in two sections", "a\nb\n",
			"*** Begin Patch\n*** Update File: a.py\n-a\n+A\n*** Update File: a.py\n A\n-b\n+B\n*** End Patch",
			"A\nB\n", "line 2",
		},
		{
			"deleted and made anew", "a\n",
			"*** Begin Patch\n*** Delete File: a.py\n*** Add File: a.py\n+new\n*** End Patch", "new\n",
			"Added a.py, 1 line.",
		},
		{
			"a new text for an empty file", "", "*** Begin Patch\n*** Update File: a.py\n+new\n*** End Patch", "new\n",
			"",
		},
		{"quoted path", "a\n", "*** Begin Patch\n*** Update File: `a.py`\n-a\n+b\n*** End Patch", "b\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := tooltest.New(t, map[string]string{"a.py": test.text})
			result := call(t, h, "apply_patch", arguments(t, "input", test.patch))
			same(t, "the file", h.Text("a.py"), test.want)
			if !strings.Contains(result.Text, test.says) || test.says == "" && strings.Contains(result.Text, "\n") {
				t.Errorf("the answer is %q, want %q in it", result.Text, test.says)
			}
		})
	}
}

// TestPatchRefuses: nothing changes where anything is wrong, and the error says what, where and what to do.
func TestPatchRefuses(t *testing.T) {
	update := func(path, body string) string {
		return "*** Begin Patch\n*** Update File: " + path + "\n" + body + "*** End Patch"
	}
	for _, test := range []struct {
		name, patch string
		says        []string
	}{
		{"no patch", "please change it", []string{"there is no patch in it", "*** Begin Patch\n*** Update File: path"}},
		{"no file", "*** Begin Patch\n*** End Patch", []string{"names no file", "*** Update File: path"}},
		{
			"no path", "*** Begin Patch\n*** Update File:\n-a\n+b\n*** End Patch",
			[]string{"line 2 of the patch", "names no file"},
		},
		{
			"stray lines", "*** Begin Patch\n-a\n+b\n*** Update File: a.go\n-\tone()\n+\t1()\n*** End Patch",
			[]string{`line 2 of the patch: "-a" belongs to no file`, "*** Update File: path"},
		},
		{
			"behind the end", update("a.go", "-\tone()\n+\t1()\n") + "\n*** Delete File: a.go",
			[]string{"line 6 of the patch", "*** End Patch"},
		},
		{
			"unknown marker", "*** Begin Patch\n*** Update File: a.go\n*** Copy to: b.go\n-a\n+b\n*** End Patch",
			[]string{"line 3 of the patch", "no marker", "*** Move to:"},
		},
		{"empty chunk", update("a.go", "@@ func f\n"), []string{"line 3 of the patch", "a.go", "no lines", "(+)"}},
		{
			"new file without plus", "*** Begin Patch\n*** Add File: b.go\n+package b\nvar x int\n*** End Patch",
			[]string{`line 4 of the patch: "var x int", in the new file b.go, does not begin with +`},
		},
		{
			"not found", update("a.go", "@@ func f\n func f() {\n-\tonce()\n+\ttwice()\n"),
			[]string{
				"a.go, chunk 1 of 1 (line 3 of the patch, @@ func f)", "do not stand in the file",
				"The nearest lines are:\n3\tfunc f() {\n4\t\tone()\n",
				`Line 4 is "\tone()" there and "\tonce()" in the patch`, "Copy the text", "send all of it again",
			},
		},
		{
			"indentation that varies", update("a.go", " func f() {\n-one()\n+two()\n"),
			[]string{"do not stand in the file", "3\tfunc f() {"},
		},
		{
			"ambiguous", update("a.go", "-\treturn\n+\treturn // x\n"),
			[]string{"stand 2 times, at lines 5, 10", "add lines of context", "@@"},
		},
		{
			"ambiguous but for spaces", update("a.go", "-    return\n+    return // x\n"),
			[]string{"stand 2 times, but for their indentation, at lines 5, 10"},
		},
		{
			"two problems", update("a.go", "-\tonce()\n+\ttwice()\n@@\n-\treturn\n+\treturn // x\n"),
			[]string{"since not all fits:\n- a.go", "chunk 1 of 2", "chunk 2 of 2", `which begins with "\treturn"`},
		},
		{
			"many problems",
			"*** Delete File: none\n*** Update File: a.go\n-nope nope\n+x\n*** Delete File: n1\n*** Delete File: " +
				"n2\n*** Delete File: n3\n*** Delete File: n4\n*** Delete File: n5\n*** End Patch",
			[]string{"since not all fits", "(and more)"},
		},
		{
			"done already", update("a.go", " func f() {\n-\tzero()\n+\tone()\n"),
			[]string{"stands at line 3 already", "leave it out"},
		},
		{
			"line numbers", update("a.go", " 3\tfunc f() {\n-4\t\tone()\n+4\t\ttwo()\n"),
			[]string{"line numbers that read shows: leave them out"},
		},
		{"no change", update("a.go", " func f() {\n"), []string{"a.go", "changes nothing", "no line with - or +"}},
		{
			"only blank context", update("a.go", " \n \n \n-\n+x\n"),
			[]string{"only blank lines as context", "add a line with text"},
		},
		{
			"a name that is missing", update("a.go", "@@ func h() {\n+\tthree()\n"),
			[]string{`no line reads or begins "func h() {"`, "3\tfunc f() {"},
		},
		{
			"no place for an insertion", update("a.go", "@@ -3,2 +3,3 @@\n+\tthree()\n"),
			[]string{"only lines that come", "context"},
		},
		{
			"a line number beyond the end", "--- a/a.go\n+++ b/a.go\n@@ -70,0 +71 @@\n+x\n",
			[]string{"line 70", "11 lines", "context"},
		},
		{"empty file", update("empty.txt", "-a\n+b\n"), []string{"the file is empty", "lines with + only"}},
		{
			"missing file", update("b.go", "-a\n+b\n"),
			[]string{"b.go: does not exist", "near it are a.go", "*** Add File"},
		},
		{"delete a missing file", "*** Delete File: zzz/none.txt\n*** End Patch", []string{"does not exist", "glob"}},
		{
			"cut off",
			"*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n-\tone()\n+\t1()\n@@ func g() {\n-\ttwo()",
			[]string{"line 7 of the patch", "may be cut off", "*** End Patch as the last line"},
		},
		{
			"cut off in a new file", "*** Begin Patch\n*** Add File: b.go\n+package b\n+fu",
			[]string{"line 4 of the patch", "may be cut off"},
		},
		{
			"cut off, without a beginning", "*** Update File: a.go\n-\tone()\n+\t1()\n",
			[]string{"line 3 of the patch", "may be cut off"},
		},
		{
			"lines above what the chunk names", update("a.go", "@@ func g() {\n-\tone()\n+\t1()\n"),
			[]string{"its lines stand at line 4, but not below \"func g() {\"", "name a line that stands above them"},
		},
		{
			"lines above what the chunk names, with other spaces",
			update("a.go", "@@ func g() {\n-    one()\n+    1()\n"),
			[]string{"do not stand in the file"},
		},
		{
			"the end of the file above what the chunk names", update("a.go", "@@ func h\n-}\n+})\n*** End of File\n"),
			[]string{"no line reads or begins \"func h\""},
		},
		{
			"a line above that is missing", update("a.go", "@@ func h() {\n-\tone()\n+\t1()\n"),
			[]string{"no line reads or begins \"func h() {\"", "name one that does, or leave the name out"},
		},
		{
			"one of two lines above missing", update("a.go", "@@ func g() {\n@@ func f() {\n-\treturn\n+\treturn 1\n"),
			[]string{"no line reads or begins \"func f() {\""},
		},
		{
			"escaped twice", `*** Begin Patch\n*** Update File: a.go\n-\tone()\n+\t1()\n*** End Patch`,
			[]string{"where a line ending", "escaped twice", "one escaping less"},
		},
		{
			"lines escaped twice", update("a.go", "-\\tone()\n+\\t1()\n"),
			[]string{"do not stand in the file; it seems to be escaped twice"},
		},
		{
			"a blank line behind the end", update("a.go", "-func g() {\n-\ttwo()\n-\treturn\n-}\n-\n+b\n"),
			[]string{"The file ends there, but the patch goes on with \"\""},
		},
		{
			"add over a file", "*** Add File: a.go\n+x\n*** End Patch",
			[]string{"a.go exists and you have not read it", "read it first", "*** Update File"},
		},
		{
			"add over a file of the patch", "*** Add File: n.go\n+x\n*** Add File: n.go\n+y\n*** End Patch",
			[]string{"n.go is made or changed by the patch above already", "say once"},
		},
		{"add over a folder", "*** Add File: dir\n+x\n*** End Patch", []string{"dir: is a folder"}},
		{
			"add below a file", "*** Add File: a.go/b.go\n+x\n*** End Patch",
			[]string{"is a file, not a folder", "choose another folder"},
		},
		{
			"move onto a file", "*** Update File: a.go\n*** Move to: empty.txt\n*** End Patch",
			[]string{
				"a.go cannot move to empty.txt: empty.txt exists and you have not read it",
				"read it first, or choose another name",
			},
		},
		{"move outside", "*** Update File: a.go\n*** Move to: ../x\n*** End Patch", []string{"outside"}},
		{"outside", update("../x", "-a\n+b\n"), []string{"outside"}},
		{"protected", update(".git/config", "-[core]\n+x\n"), []string{"protected"}},
		{"binary", update("bin.dat", "-a\n+b\n"), []string{"bin.dat", "is not a text file"}},
		{
			"binary in a diff", "diff --git a/bin.dat b/bin.dat\nBinary files a/bin.dat and b/bin.dat differ\n",
			[]string{"binary file", "leave that file out"},
		},
		{
			"end of file before a chunk", "*** Update File: a.go\n*** End of File\n*** End Patch",
			[]string{"line 2 of the patch", "move it behind the last chunk"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := tooltest.New(t, map[string]string{
				"a.go": patchedGo, "empty.txt": "", "bin.dat": "a\x00b", "dir/x": "",
				".git/config": "[core]\n", "good.txt": "a\n",
			})
			// What is right besides must not be done either.
			patch := "*** Add File: good.md\n+x\n*** Update File: good.txt\n-a\n+b\n*** Move to: better.txt\n" +
				strings.TrimPrefix(test.patch, "*** Begin Patch\n")
			if !strings.Contains(test.patch, "***") || strings.HasPrefix(test.name, "stray") ||
				strings.HasPrefix(test.patch, "*** Begin Patch\n*** End") || strings.Contains(test.says[0], "line ") {
				patch = test.patch
			}
			refused(t, h, "patch", arguments(t, "patch", patch),
				append(test.says, "nothing was changed", "Mend the patch and send all of it again")...)
			if changes := h.Files().Changes(); len(changes) > 0 {
				t.Errorf("the layer changed: %+v", changes)
			}
		})
	}
}

// TestPatchStale: a file that changed since the run read it is shown as it is now, and then the patch can be repeated.
func TestPatchStale(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": patchedGo, "b.txt": "x\n", "c.txt": "x\n"})
	for _, path := range []string{"a.go", "b.txt", "c.txt"} {
		call(t, h, "read", arguments(t, "path", path))
		h.Type(path, "// new\n"+h.Text(path))
	}
	patch := arguments(t, "patch",
		"*** Begin Patch\n*** Update File: a.go\n-\tone()\n+\t1()\n*** Update File: b.txt\n-y\n+z\n*** Delete File: "+
			"c.txt\n*** End Patch")
	refused(t, h, "patch", patch, "since not all fits",
		"a.go changed since you read it. The places now read:\n1\t// new\n", "5\t\tone()\n",
		"Check that the patch still fits",
		"b.txt changed since you read it; read it again", "c.txt changed since you read it; read it again")
	for _, path := range []string{"b.txt", "c.txt"} {
		call(t, h, "read", arguments(t, "path", path))
	}
	call(t, h, "patch", strings.Replace(patch, "-y", "-x", 1))
	same(t, "a.go", h.Text("a.go"), "// new\n"+strings.Replace(patchedGo, "one", "1", 1))
}

// TestPatchOver: a file is replaced by a new one, or by one that moves there, where the run knows its text as it is
// now.
func TestPatchOver(t *testing.T) {
	for _, test := range []struct {
		name, patch, says string
		want              map[string]string
	}{
		{
			"added", "*** Add File: a.txt\n+new\n+text\n", "Replaced a.txt, 2 lines.",
			map[string]string{"a.txt": "new\r\ntext\r\n", "b.txt": "b\n"},
		},
		{
			"moved", "*** Update File: b.txt\n*** Move to: a.txt\n", "Moved b.txt to a.txt.",
			map[string]string{"a.txt": "b\n"},
		},
		{
			"moved and changed", "*** Update File: b.txt\n*** Move to: a.txt\n-b\n+c\n",
			"Moved b.txt to a.txt, changed at line 1.",
			map[string]string{"a.txt": "c\n"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			patch := arguments(t, "patch", "*** Begin Patch\n"+test.patch+"*** End Patch")
			h := tooltest.New(t, map[string]string{"a.txt": "a\r\na\r\n", "b.txt": "b\n"})
			refused(t, h, "patch", patch, "a.txt exists and you have not read it")
			call(t, h, "read", `{"path":"a.txt","limit":1}`)
			h.Type("a.txt", "typed\r\na\r\n")
			refused(t, h, "patch", patch, "a.txt")
			call(t, h, "read", `{"path":"a.txt"}`)
			result := call(t, h, "patch", patch)
			for path, want := range test.want {
				same(t, path, h.Text(path), want)
			}
			if _, moved := test.want["b.txt"]; !moved {
				refused(t, h, "read", `{"path":"b.txt"}`, "does not exist")
			}
			same(t, "the answer", result.Text, test.says)
			if report, err := h.Files().Merge(); err != nil || len(report.Conflicts) > 0 {
				t.Errorf("merging it gave %+v, %v", report, err)
			}
		})
	}
	h := tooltest.New(t, map[string]string{"a.txt": "a\n"})
	call(t, h, "read", `{"path":"a.txt"}`)
	refused(t, h, "patch", arguments(t, "patch", "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch"),
		"a.txt already reads so")
}

// interrupted is a Host where something happens between the trial of a call and its first write.
type interrupted struct {
	*tooltest.Host
	happens func()
}

func (h interrupted) Author(reason string) workspace.Author {
	h.happens()
	return h.Host.Author(reason)
}

// TestPatchTakenBack: where a file changes while a patch is written, what was written before is taken back.
func TestPatchTakenBack(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n"})
	host := interrupted{h, func() { h.Type("d.txt", "typed\n") }}
	patch := arguments(t, "patch",
		"*** Begin Patch\n*** Update File: a.txt\n-a\n+A\n*** Add File: new.txt\n+x\n*** Delete File: b.txt\n*** "+
			"Update File: c.txt\n*** Move to: moved.txt\n-c\n+C\n*** Update File: d.txt\n-d\n+D\n*** End Patch")
	builtin := tool.Builtin()
	i := slices.IndexFunc(builtin, func(b tool.Tool) bool { return b.Spec().Name == "patch" })
	made, err := builtin[i].Decode([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	_, err = made.Run(t.Context(), host)
	if err == nil || !strings.Contains(err.Error(), "d.txt: changed while it was edited") ||
		!strings.Contains(err.Error(), "Nothing of this call stayed") {
		t.Errorf("the error is %v", err)
	}
	if changes := h.Files().Changes(); len(changes) > 0 {
		t.Errorf("the layer changed: %+v", changes)
	}
}
