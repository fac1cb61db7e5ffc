package tool_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

func TestEdit(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		"a.go": "one\ntwo\nthree\n", "crlf.txt": "one\r\ntwo\r\n", "twice.txt": "x\ny\nx\n", "empty.txt": "",
		".git/config": "[core]\n", "dir/x": "",
	})
	result := call(t, h, "edit", `{"path":"a.go","old_string":"two\n","new_string":"2\n2b\n"}`)
	same(t, "text", result.Text, "Edited a.go at line 2.")
	same(t, "summary", result.Summary, "+2 -1")
	same(t, "the file", h.Text("a.go"), "one\n2\n2b\nthree\n")
	// A second edit builds on the first.
	call(t, h, "edit", `{"path":"a.go","old_string":"2b","new_string":"2c"}`)
	same(t, "the file", h.Text("a.go"), "one\n2\n2c\nthree\n")
	if raw, err := os.ReadFile(h.Path("a.go")); err != nil || string(raw) != "one\ntwo\nthree\n" {
		t.Errorf("the file on disk is %q, %v", raw, err)
	}
	result = call(t, h, "edit", `{"path":"crlf.txt","old_string":"one\ntwo\n","new_string":"one\n2\n"}`)
	same(t, "text", result.Text,
		"Edited crlf.txt at line 1. old_string differed from the file in its line endings; the change "+
			"follows the file's.")
	same(t, "the file", h.Text("crlf.txt"), "one\r\n2\r\n")
	same(t, "all", call(t, h, "edit", `{"path":"twice.txt","old_string":"x","new_string":"z","replace_all":true}`).Text,
		"Edited twice.txt at line 1, 3.")
	same(t, "new", call(t, h, "edit", `{"path":"lib/new.go","old_string":"","new_string":"package lib\n"}`).Text,
		"Created lib/new.go.")
	same(t, "the new file", h.Text("lib/new.go"), "package lib\n")
	same(t, "new", call(t, h, "edit", `{"path":"lib/two.go","new_string":"package lib\n"}`).Text, "Created lib/two.go.")
	call(t, h, "edit", `{"path":"empty.txt","old_string":"","new_string":"full\n"}`)
	same(t, "the file that was empty", h.Text("empty.txt"), "full\n")
	refused(t, h, "edit", `{"path":"a.go","old_string":"nowhere to be found","new_string":"x"}`,
		"a.go: old_string does not occur")
	refused(t, h, "edit", `{"path":"a.go","old_string":"","new_string":"x"}`, "a.go: old_string is empty")
	refused(t, h, "edit", `{"path":"none.go","old_string":"a","new_string":"x"}`, "does not exist")
	refused(t, h, "edit", `{"path":"dir","old_string":"a","new_string":"x"}`, "is a folder")
	refused(t, h, "edit", `{"path":".git/config","old_string":"[core]","new_string":"x"}`, "protected")
	refused(t, h, "edit", `{"path":"../x","old_string":"","new_string":"x"}`, "outside")
}

// TestGone: a file that the run has read and that was renamed or deleted since is not made again by the same call.
func TestGone(t *testing.T) {
	for tool, arguments := range map[string]string{
		"write": `{"path":"a.go","content":"one\n2\n"}`,
		"edit":  `{"path":"a.go","old_string":"","new_string":"one\n2\n"}`,
	} {
		h := tooltest.New(t, map[string]string{"a.go": "one\ntwo\n"})
		call(t, h, "read", `{"path":"a.go"}`)
		if err := os.Rename(h.Path("a.go"), h.Path("b.go")); err != nil {
			t.Fatal(err)
		}
		refused(t, h, tool, arguments, "a.go is gone since you read it", "elsewhere")
		call(t, h, tool, arguments)
		same(t, "the new file", h.Text("a.go"), "one\n2\n")

		renamed := tooltest.New(t, map[string]string{"a.go": "one\ntwo\n"})
		call(t, renamed, "read", `{"path":"a.go"}`)
		if err := os.Rename(renamed.Path("a.go"), renamed.Path("b.go")); err != nil {
			t.Fatal(err)
		}
		renamed.Files().View().Rename(renamed.Path("a.go"), renamed.Path("b.go"))
		refused(t, renamed, tool, arguments, "a.go is gone since you read it", "elsewhere")
		call(t, renamed, "edit", `{"path":"b.go","old_string":"two","new_string":"2"}`)
	}
}

// TestEditStale: what the user typed since the run read the file is shown instead of overwritten, and then
// the edit can be repeated.
func TestEditStale(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "one\ntwo\nthree\n"})
	call(t, h, "read", `{"path":"a.go"}`)
	h.Type("a.go", "one\ntwo // new\nthree\n")
	edit := `{"path":"a.go","old_string":"two","new_string":"2"}`
	refused(t, h, "edit", edit, "a.go changed since you read it, so nothing was edited", "2\ttwo // new\n")
	same(t, "the file", h.Text("a.go"), "one\ntwo // new\nthree\n")
	call(t, h, "edit", edit)
	same(t, "the file", h.Text("a.go"), "one\n2 // new\nthree\n")
	// But that is not to have read the file: a whole new text may have been made from the old one.
	h = tooltest.New(t, map[string]string{"a.go": "one\ntwo\nthree\n"})
	call(t, h, "read", `{"path":"a.go"}`)
	h.Type("a.go", "typed\none\ntwo\nthree\n")
	refused(t, h, "edit", edit, "a.go changed since you read it")
	refused(t, h, "write", `{"path":"a.go","content":"one\n2\nthree\n"}`, "only a part of a.go", "read it again")
	call(t, h, "edit", edit)
	refused(t, h, "write", `{"path":"a.go","content":"one\n2\nthree\nfour\n"}`, "only a part of a.go")
	same(t, "the file", h.Text("a.go"), "typed\none\n2\nthree\n")
	// Also where the place is gone.
	h = tooltest.New(t, map[string]string{"a.go": "one\ntwo\nthree\n"})
	call(t, h, "read", `{"path":"a.go"}`)
	h.Type("a.go", "entirely\nother\n")
	refused(t, h, "edit", `{"path":"a.go","old_string":"three","new_string":"3"}`, "a.go changed since you read it",
		"read it again")
}

// TestEditSeveral: several edits in one call are made in order, all or none.
func TestEditSeveral(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "one\ntwo\nthree\n", "crlf.txt": "a\r\nb\r\n"})
	result := call(t, h, "MultiEdit",
		`{"file_path":"a.go","edits":[{"old_string":"one","new_string":"1"},{"oldText":"1\ntwo","newText":"1\n2"},{"old_string":"three","new_string":"3","replace_all":true}]}`)
	same(t, "text", result.Text, "Edited a.go at line 1, 1, 3.")
	same(t, "summary", result.Summary, "+3 -3")
	same(t, "the file", h.Text("a.go"), "1\n2\n3\n")
	same(t, "tolerated",
		call(t, h, "edit", `{"path":"crlf.txt","edits":[{"old_string":"a\nb","new_string":"a\nc"}]}`).Text,
		"Edited crlf.txt at line 1. old_string differed from the file in its line endings; the change "+
			"follows the file's.")
	same(t, "new",
		call(t, h, "edit",
			`{"path":"new.go","edits":[{"old_string":"","new_string":"package new\n"},{"old_string":"new","new_string":"old"}]}`).Text, "Created new.go.")
	same(t, "the new file", h.Text("new.go"), "package old\n")
	refused(t, h, "edit",
		`{"path":"a.go","edits":[{"old_string":"1","new_string":"one"},{"old_string":"1","new_string":"x"},{"old_string":"zzz","new_string":"y"}]}`,
		"a.go: none of the 3 edits was made", "\n- edit 2 of 3: old_string does not occur",
		"\n- edit 3 of 3: old_string does not occur", "send all again")
	refused(t, h, "edit",
		`{"path":"a.go","edits":[{"old_string":"1","new_string":"x"},{"old_string":"x","new_string":"1"}]}`,
		"take each other back", "leave them out")
	same(t, "the file", h.Text("a.go"), "1\n2\n3\n")
	h.Type("a.go", "1\n2\nthree // typed\n")
	call(t, h, "read", `{"path":"a.go"}`)
	h.Type("a.go", "0\n1\n2\nthree // typed\n")
	refused(t, h, "edit",
		`{"path":"a.go","edits":[{"old_string":"2","new_string":"x"},{"old_string":"1","new_string":"x"}]}`,
		"a.go changed since you read it", "3\t2\n", "make it again")
}

// TestEditCommands: what models send that know one tool for everything about files.
func TestEditCommands(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "one\ntwo", "crlf.txt": "a\r\nb\r\n", "empty.txt": ""})
	for _, test := range []struct{ arguments, path, want string }{
		{`{"command":"str_replace","path":"a.go","old_str":"one","new_str":"1"}`, "a.go", "1\ntwo"},
		{`{"command":"insert","path":"a.go","insert_line":2,"insert_text":"three\n"}`, "a.go", "1\ntwo\nthree"},
		{`{"command":"insert","path":"a.go","insert_line":0,"new_str":"0"}`, "a.go", "0\n1\ntwo\nthree"},
		{
			`{"command":"insert","path":"crlf.txt","insert_line":1,"insert_text":"x\n\ny"}`, "crlf.txt",
			"a\r\nx\r\n\r\ny\r\nb\r\n",
		},
		{`{"command":"insert","path":"empty.txt","insert_line":0,"insert_text":"x"}`, "empty.txt", "x\n"},
		{`{"command":"create","path":"new.go","file_text":"package new\n"}`, "new.go", "package new\n"},
	} {
		call(t, h, "str_replace_based_edit_tool", test.arguments)
		same(t, test.arguments, h.Text(test.path), test.want)
	}
	same(t, "text",
		call(t, h, "str_replace_editor", `{"command":"insert","path":"a.go","insert_line":1,"insert_text":"x\n"}`).Text,
		"Edited a.go at line 2.")
	refused(t, h, "str_replace_editor", `{"command":"view","path":"a.go"}`, "read")
	refused(t, h, "str_replace_editor", `{"command":"undo_edit","path":"a.go"}`, "no undo", "edit the text back")
	refused(t, h, "str_replace_editor", `{"command":"frob","path":"a.go"}`, "command: ",
		"expected one of str_replace, create, insert")
	// The members are not offered.
	refused(t, h, "edit", `{"path":"a.go","colour":"x"}`, "known: path, old_string, new_string, replace_all\n")
}

// TestErrorsSayWhatToDo: each failure of the tools that edit says what happened, where, and what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	for _, test := range []struct {
		tool, arguments string
		where, what, do string
	}{
		{
			"edit", `{"path":"a.go","old_string":"three","new_string":"x"}`, "a.go", "does not occur",
			"read the file again",
		},
		{
			"edit", `{"path":"a.go","old_string":"twoo","new_string":"x"}`, "2\ttwo", "does not occur",
			"Copy the text exactly",
		},
		{
			"edit", `{"path":"a.go","old_string":"o","new_string":"x"}`, "lines 1, 2", "occurs 4 times",
			"add neighbouring lines",
		},
		{
			"edit", `{"path":"a.go","old_string":"one","new_string":"one"}`, "a.go", "nothing would change",
			"give another new_string",
		},
		{
			"edit", `{"path":"a.go","old_string":"one \n","new_string":"one\n"}`, "line 1", "already reads so",
			"leave the edit out",
		},
		{"edit", `{"path":"a.go","old_string":"","new_string":"x"}`, "a.go", "old_string is empty", "or use write"},
		{
			"edit", `{"path":"empty.txt","old_string":"x","new_string":"y"}`, "empty.txt", "the file is empty",
			"must be empty too",
		},
		{
			"edit", `{"path":"none.go","old_string":"x","new_string":"y"}`, "none.go", "does not exist",
			"near it are one.go",
		},
		{"edit", `{"path":"dir","old_string":"x","new_string":"y"}`, "dir", "is a folder", "use list"},
		{"edit", `{"path":".git/config","old_string":"","new_string":"y"}`, "config", "protected", "; "},
		{"edit", `{"path":"../x","old_string":"x","new_string":"y"}`, "x", "outside", "; "},
		{"edit", `{"path":"bin.dat","old_string":"x","new_string":"y"}`, "bin.dat", "is not a text file", "UTF-8"},
		{
			"edit", `{"path":"typed.go","old_string":"two","new_string":"y"}`, "2\ttwo // typed",
			"changed since you read it", "make it again",
		},
		{
			"edit", `{"path":"typed.go","old_string":"nowhere at all","new_string":"y"}`, "typed.go",
			"changed since you read it", "read it again",
		},
		{
			"edit", `{"path":"a.go","new_string":"y"}`, "a.go", "old_string is empty or missing",
			"give the text to replace",
		},
		{"edit", `{"path":"a.go"}`, "", "old_string is missing", "give the text to replace"},
		{"edit", `{"path":"a.go","old_string":"one"}`, "", "new_string is missing", `"" to take old_string away`},
		{
			"edit",
			`{"path":"a.go","old_string":"one","new_string":"y","edits":[{"old_string":"one","new_string":"y"}]}`,
			"", "both edits and old_string", "put all into edits",
		},
		{"edit", `{"path":"a.go","edits":[{"old_string":"one"}]}`, "edits[0].new_string", "missing", "a right call"},
		{
			"edit", `{"path":"a.go","command":"insert","insert_line":9,"insert_text":"x"}`, "a.go",
			"insert_line 9 is outside", "read it again",
		},
		{
			"edit", `{"path":"a.go","command":"insert","insert_line":1,"insert_text":""}`, "a.go", "is empty",
			"leave the call out",
		},
		{"edit", `{"path":"a.go","command":"insert","insert_line":1}`, "", "nothing was inserted", "give insert_line"},
		{"edit", `{"path":"a.go","command":"create"}`, "", "file_text is missing", "use write"},
		{"write", `{"path":"a.go","content":"x"}`, "a.go", "you have not read it", "read it first"},
		{"write", `{"path":"typed.go","content":"x"}`, "typed.go", "changed since you read it", "read it again"},
		{"write", `{"path":"same.go","content":"x\n"}`, "same.go", "already reads so", "go on without it"},
		{"write", `{"path":"dir","content":"x"}`, "dir", "is a folder", "use list"},
		{"write", `{"path":"a.go/b.go","content":"x"}`, "b.go", "is a file, not a folder", "choose another folder"},
		{"write", `{"path":"/etc/x","content":"x"}`, "/etc/x", "outside", "; "},
		{"write", `{"path":"z.go","content":"a\u0000"}`, "z.go", "not UTF-8 text", "write text only"},
	} {
		h := tooltest.New(t, map[string]string{
			"a.go": "one\ntwo\n\tfoo\n", "one.go": "", "empty.txt": "", "dir/x": "",
			".git/config": "", "bin.dat": "\x00", "typed.go": "one\ntwo\n", "same.go": "x\n",
		})
		call(t, h, "read", `{"path":"typed.go"}`)
		call(t, h, "read", `{"path":"same.go"}`)
		h.Type("typed.go", "one\ntwo // typed\n")
		refused(t, h, test.tool, test.arguments, test.where, test.what, test.do)
		if changes := h.Files().Changes(); len(changes) > 0 {
			t.Errorf("%s %s changed %+v", test.tool, test.arguments, changes)
		}
	}
}

func TestWrite(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		"a.go": "one\n", "crlf.txt": "one\r\ntwo\r\n",
		"typed.go": "x\n", "dir/x": "",
	})
	same(t, "new", call(t, h, "write", `{"path":"docs/n.md","content":"# N\n\ntext\n"}`).Text,
		"Created docs/n.md, 3 lines.")
	same(t, "the new file", h.Text("docs/n.md"), "# N\n\ntext\n")
	// What the run wrote itself it knows.
	same(t, "again", call(t, h, "write", `{"path":"docs/n.md","content":""}`).Text, "Wrote docs/n.md, 0 lines.")
	refused(t, h, "write", `{"path":"a.go","content":"x"}`, "a.go exists and you have not read it", "edit")
	same(t, "the file", h.Text("a.go"), "one\n")
	call(t, h, "read", `{"path":"a.go"}`)
	result := call(t, h, "write", `{"path":"a.go","content":"one\ntwo\n"}`)
	same(t, "text", result.Text, "Wrote a.go, 2 lines.")
	same(t, "summary", result.Summary, "+1")
	refused(t, h, "write", `{"path":"a.go","content":"one\ntwo\n"}`, "already reads so")
	call(t, h, "read", `{"path":"crlf.txt"}`)
	call(t, h, "write", `{"path":"crlf.txt","content":"one\nthree\n"}`)
	same(t, "line endings", h.Text("crlf.txt"), "one\r\nthree\r\n")
	call(t, h, "read", `{"path":"typed.go"}`)
	h.Type("typed.go", "y\n")
	refused(t, h, "write", `{"path":"typed.go","content":"z\n"}`, "changed since you read it", "read it again")
	refused(t, h, "write", `{"path":".git/hooks/post-commit","content":"x"}`, "protected")
	refused(t, h, "write", `{"path":"/etc/x","content":"x"}`, "outside")
	refused(t, h, "write", `{"path":"dir","content":"x"}`, "is a folder")
}

func TestReportFinding(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "one\n\ttwo  \nthree"})
	result := call(t, h, "report_finding",
		`{"path":"a.go","line":2,"end_line":3,"severity":"high","rule":"r","message":" m ","fix":{"old_string":"two","new_string":"2"}}`)
	same(t, "text", result.Text, "Reported as finding-1, with its fix as a proposed edit.")
	same(t, "summary", result.Summary, "error at line 2")
	same(t, "the file", h.Text("a.go"), "one\n\t2  \nthree")
	call(t, h, "report_finding", `{"path":"a.go","line":2,"message":"plain","source":"go vet"}`)
	want := []tool.Finding{
		{
			Path: h.Path("a.go"), Span: event.Span{StartLine: 1, StartColumn: 1, EndLine: 2, EndColumn: 5},
			Severity: event.SeverityError, Rule: "r", Message: "m", Fix: &tool.Fix{OldString: "two", NewString: "2"},
		},
		{
			Path: h.Path("a.go"), Span: event.Span{StartLine: 1, StartColumn: 1, EndLine: 1, EndColumn: 2},
			Severity: event.SeverityWarning, Message: "plain", Source: "go vet",
		},
	}
	if diff := cmp.Diff(want, h.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	refused(t, h, "report_finding", `{"path":"a.go","line":4,"message":"m"}`,
		"a.go: line 4 is past the end: the file has 3 lines")
	refused(t, h, "report_finding", `{"path":"a.go","line":3,"end_line":2,"message":"m"}`,
		"end_line 2 is before line 3")
	refused(t, h, "report_finding", `{"path":"a.go","line":1,"message":"  "}`, "message is empty")
	refused(t, h, "report_finding", `{"path":"b.go","line":1,"message":"m"}`, "does not exist", "a.go")
	refused(t, h, "report_finding",
		`{"path":"a.go","line":1,"message":"m","fix":{"old_string":"none","new_string":"x"}}`, "does not fit")
	if n := len(h.Findings); n != 2 {
		t.Errorf("%d findings after refused ones", n)
	}
}

func TestTodo(t *testing.T) {
	h := tooltest.New(t, nil)
	result := call(t, h, "TodoWrite",
		`{"todos":[{"content":" a ","status":"completed"},{"content":"b","status":"in_progress"}]}`)
	same(t, "text", result.Text, "The list is kept: 1 of 2 done.")
	if diff := cmp.Diff([]event.Todo{{Text: "a", State: "done"}, {Text: "b", State: "in_progress"}},
		h.Todos); diff != "" {
		t.Errorf("todos (-want +got):\n%s", diff)
	}
	refused(t, h, "todo", `{"items":[{"text":" ","state":"done"}]}`, "items[0].text is empty")
	if len(h.Todos) != 2 {
		t.Error("a refused list replaced the former one")
	}
	call(t, h, "todo", `{"items":[]}`)
	if len(h.Todos) != 0 {
		t.Error("an empty list left something")
	}
}

// TestProposals: what the tools wrote shows as hunks with their reason once the run's layer is merged.
func TestProposals(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.go": "one\ntwo\nthree\n"})
	call(t, h, "report_finding",
		`{"path":"a.go","line":2,"message":"two is wrong","fix":{"old_string":"two","new_string":"2"}}`)
	if _, err := h.Files().Merge(); err != nil {
		t.Fatal(err)
	}
	hunks := h.Session().Hunks()
	if len(hunks) != 1 || hunks[0].Author.Run != tooltest.Run ||
		!strings.Contains(hunks[0].Author.Reason, "two is wrong") {
		t.Errorf("hunks are %+v", hunks)
	}
}
