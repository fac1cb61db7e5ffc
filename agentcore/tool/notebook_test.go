package tool_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// jupyter is a notebook as Jupyter writes it.
const jupyter = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Title\n",
    "\n",
    "“Text” <b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b2",
   "metadata": {"tags": [1.50, 1e3]},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "one\n",
      "two\n"
     ]
    },
    {"output_type": "display_data", "data": {"image/png": "xyz", "text/plain": "<Figure>"}, "metadata": {}}
   ],
   "source": [
    "import x\n",
    "x.run()"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "c3",
   "metadata": {},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {
  "language_info": {
   "name": "python"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestNotebookRead(t *testing.T) {
	h := tooltest.New(t,
		map[string]string{
			"a.ipynb":    jupyter,
			"mini.ipynb": `{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"raw","metadata":{},"source":"a\nb\n"},{"cell_type":"code","source":["c"],"outputs":[{"output_type":"error","ename":"E","evalue":"bad"}]}]}`,
			"bad.ipynb":  "{\n\"cells\": [}\n",
			"old.ipynb":  `{"nbformat":3}`,
		})
	want :=
		"1\tpython notebook of 3 cells; change it with notebook_edit\n3\t--- Cell 0 (id a1), markdown\n8\t# " +
			"Title\n9\t\n10\t“Text” <b>\n" +
			"13\t--- Cell 1 (id b2), code\n30\timport x\n31\tx.run()\n31\t> one\n31\t> two\n31\t> <Figure>\n31\t> " +
			"(image/png)\n34\t--- Cell 2 (id c3), code\n"
	same(t, "by cells", call(t, h, "read", `{"path":"a.ipynb"}`).Text, want)
	same(t, "raw", call(t, h, "read", `{"path":"a.ipynb","raw":true,"limit":2}`).Text,
		"1\t{\n2\t \"cells\": [\n(lines 1-2 of 50; read on with offset 3)\n")
	same(t, "a page", call(t, h, "read", `{"path":"a.ipynb","offset":9,"limit":4}`).Text,
		"9\t\n10\t“Text” <b>\n13\t--- Cell 1 (id b2), code\n30\timport x\n(lines 9-30 of 50; read on with offset 31)\n")
	same(t, "a page ends behind the lines of one line",
		call(t, h, "read", `{"path":"a.ipynb","offset":31,"limit":1}`).Text,
		"31\tx.run()\n31\t> one\n31\t> two\n31\t> <Figure>\n31\t> (image/png)\n(lines 31-31 of 50; read on with "+
			"offset 34)\n")
	same(t, "without line endings", call(t, h, "read", `{"path":"mini.ipynb"}`).Text,
		"1\tnotebook of 2 cells; change it with notebook_edit\n1\t--- Cell 0, raw\n1\ta\n1\tb\n1\t--- Cell 1, "+
			"code\n1\tc\n1\t> E: bad\n")
	for path, says := range map[string]string{
		"bad.ipynb": "its JSON is broken at line 2",
		"old.ipynb": "its nbformat is 3",
	} {
		if text := call(t, h, "read", arguments(t, "path", path)).Text; !strings.HasPrefix(text,
			"(shown as text, since it is no notebook") || !strings.Contains(text, says) ||
			!strings.Contains(text, "\n1\t{") {
			t.Errorf("%s is shown as %q", path, text)
		}
	}
}

func TestNotebookEdit(t *testing.T) {
	const noOutputs = "   \"outputs\": [],\n"
	outputs := jupyter[strings.Index(jupyter, "   \"outputs\": [\n"):strings.Index(jupyter,
		"   \"source\": [\n    \"import")]
	replace := func(pairs ...string) string {
		text := jupyter
		for i := 0; i < len(pairs); i += 2 {
			if strings.Count(text, pairs[i]) != 1 {
				t.Fatalf("%q is not once in the notebook", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	last := jupyter[strings.Index(jupyter,
		",\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null"):strings.Index(jupyter,
		"\n ],\n \"metadata\"")]
	for _, test := range []struct{ name, text, arguments, want, says string }{
		{
			"replace text", jupyter, `"cell_id":"a1","new_source":"# Title\n\n\"New\"\ttext\n"`,
			replace("    \"“Text” <b>\"\n", "    \"\\\"New\\\"\\ttext\\n\"\n"),
			"Edited a.ipynb at line 3. Cell 0 (id a1) was replaced.",
		},
		{
			"replace code", jupyter, `"cell_number":1,"new_source":"import y\nx.run()"`,
			replace(`"execution_count": 3`, `"execution_count": null`, outputs, noOutputs, "import x", "import y"),
			"Cell 1 (id b2) was replaced. Its outputs were of the former text and were taken away.",
		},
		{
			"replace nothing", jupyter, `"cell_id":"c3","new_source":"x = 1"`,
			strings.Replace(jupyter, `"source": []`, "\"source\": [\n    \"x = 1\"\n   ]", 1),
			"Cell 2 (id c3) was replaced.",
		},
		{
			"with nothing", jupyter, `"cell_id":"a1","new_source":""`,
			jupyter[:strings.Index(jupyter, "[\n    \"# Title")] + "[]" +
				jupyter[strings.Index(jupyter, "\n  },\n  {"):], "",
		},
		{
			"code becomes text", jupyter, `"cell_id":"c3","cell_type":"markdown","new_source":"x"`,
			strings.Replace(jupyter, last,
				",\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"c3\",\n   \"metadata\": {},\n   "+
					"\"source\": [\n    "+
					"\"x\"\n   ]\n  }", 1), "",
		},
		{
			"text becomes code", jupyter, `"cell_id":"a1","cell_type":"code","new_source":"x"`,
			replace("\"markdown\"", "\"code\"", "    \"# Title\\n\",\n    \"\\n\",\n    \"“Text” <b>\"\n   ]\n",
				"    \"x\"\n   ],\n   \"execution_count\": null,\n   \"outputs\": []\n"), "",
		},
		{
			"delete the last", jupyter, `"cell_id":"c3","edit_mode":"delete"`, strings.Replace(jupyter, last, "", 1),
			"Cell 2 (id c3) is gone.",
		},
		{
			"delete the first", jupyter, `"cell_number":0,"edit_mode":"delete"`,
			jupyter[:strings.Index(jupyter, "{\n   \"cell_type\": \"markdown\"")] +
				jupyter[strings.Index(jupyter, "{\n   \"cell_type\": \"code\",\n   \"execution_count\": 3"):], "",
		},
		{
			"insert code", jupyter, `"cell_id":"a1","edit_mode":"insert","new_source":"a\nb"`,
			replace("  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3",
				"  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"NEW\",\n   "+
					"\"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  "+
					"},\n  {\n   "+
					"\"cell_type\": \"code\",\n   \"execution_count\": 3"), "The new cell is cell 1 (id NEW).",
		},
		{
			"insert text first", jupyter, `"edit_mode":"insert","cell_type":"markdown","new_source":"a"`,
			strings.Replace(jupyter, "\"cells\": [\n  ",
				"\"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"NEW\",\n   \"metadata\": {},\n   "+
					"\"source\": [\n    \"a\"\n   ]\n  },\n  ", 1), "The new cell is cell 0 (id NEW).",
		},
		{
			"insert last", jupyter, `"edit_mode":"insert","cell_number":3,"cell_type":"raw","new_source":"a"`,
			strings.Replace(jupyter, "\"source\": []\n  }",
				"\"source\": []\n  },\n  {\n   \"cell_type\": \"raw\",\n   \"id\": \"NEW\",\n   \"metadata\": {},\n   "+
					"\"source\": [\n    \"a\"\n   ]\n  }", 1), "cell 3 (id NEW)",
		},
		{
			"no cells", "{\n  \"cells\": [],\n  \"nbformat\": 4, \"nbformat_minor\": 4\n}",
			`"edit_mode":"insert","new_source":"a"`,
			"{\n  \"cells\": [\n    {\n      \"cell_type\": \"code\",\n      \"execution_count\": null,\n      " +
				"\"metadata\": {},\n      \"outputs\": [],\n      \"source\": [\n        \"a\"\n      ]\n    " +
				"}\n  ],\n  " +
				"\"nbformat\": 4, \"nbformat_minor\": 4\n}", "The new cell is cell 0.",
		},
		{
			"the only cell", `{"cells":[{"source":"a"}],"nbformat":4}`, `"edit_mode":"delete","cell_number":0`,
			`{"cells":[],"nbformat":4}`, "",
		},
		{
			"source as a text", `{"cells":[{"source":"a","cell_type":"raw"}],"nbformat":4}`,
			`"cell_id":"cell-0","new_source":"a\nb"`, `{"cells":[{"source":"a\nb","cell_type":"raw"}],"nbformat":4}`,
			"Cell 0 was replaced.",
		},
		{
			"without white space", `{"cells":[{"source":["a"],"cell_type":"raw"}],"nbformat":4}`,
			`"cell_number":0,"edit_mode":"insert","cell_type":"raw","new_source":"a\nb"`,
			`{"cells":[{"source":["a"],"cell_type":"raw"},{"cell_type":"raw","metadata":{},"source":["a\n","b"]}],"nbformat":4}`, "",
		},
		{
			"CRLF", strings.ReplaceAll(jupyter, "\n", "\r\n"), `"cell_id":"c3","new_source":"x\ny"`,
			strings.ReplaceAll(strings.Replace(jupyter, `"source": []`, "\"source\": [\n    \"x\\n\",\n    \"y\"\n   ]",
				1), "\n", "\r\n"), "",
		},
		{
			"other names", jupyter, `"cell_idx":"2","editType":"edit","newCode":"x"`,
			strings.Replace(jupyter, `"source": []`, "\"source\": [\n    \"x\"\n   ]", 1), "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := tooltest.New(t, map[string]string{"a.ipynb": test.text})
			result := call(t, h, "NotebookEdit", `{"notebook_path":"a.ipynb",`+test.arguments+`}`)
			got, answer := h.Text("a.ipynb"), result.Text
			if found := regexp.MustCompile(`\(id ([0-9a-f]{8})\)`).FindStringSubmatch(answer); found != nil {
				got, answer = strings.ReplaceAll(got, found[1], "NEW"), strings.ReplaceAll(answer, found[1], "NEW")
			}
			same(t, "the notebook", got, test.want)
			if !strings.Contains(answer, test.says) {
				t.Errorf("the answer is %q, want %q in it", answer, test.says)
			}
			if !json.Valid([]byte(got)) {
				t.Error("the notebook is no JSON")
			}
		})
	}
}

func TestNotebookEditRefuses(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.ipynb": jupyter})
	refused(t, h, "edit", `{"path":"a.ipynb","old_string":"import x\nx.run()","new_string":"y"}`, "does not occur",
		"30\t    \"import x", "notebook_edit")
	for _, test := range []struct {
		arguments string
		says      []string
	}{
		{`"path":"a.go","new_source":"x"`, []string{"a.go is no notebook", "use edit"}},
		{`"path":"a.ipynb","cell_id":"a1"`, []string{"new_source is missing", "give the whole text"}},
		{
			`"path":"a.ipynb","new_source":"x"`,
			[]string{"a.ipynb: ", "cell_id or cell_number is missing", "3 cells: Cell 0 (id a1), Cell 1 (id b2)"},
		},
		{
			`"path":"a.ipynb","new_source":"x","cell_id":"zz"`,
			[]string{`no cell has the id "zz"`, "Cell 0 (id a1)", "give cell_number"},
		},
		{`"path":"a.ipynb","new_source":"x","cell_number":3`, []string{"there is no cell 3", "3 cells"}},
		{
			`"path":"a.ipynb","new_source":"x","cell_number":1,"cell_id":"a1"`,
			[]string{`cell_id "a1" is cell 0, not cell_number 1`, "give only one"},
		},
		{
			`"path":"a.ipynb","new_source":"","cell_number":2`,
			[]string{"Cell 2 (id c3) already reads so", "go on without it"},
		},
		{`"path":"a.ipynb","new_source":"x","cell_number":-1`, []string{"cell_number: -1 is out of range"}},
		{
			`"path":"a.ipynb","new_source":"x","cell_number":1,"cell_type":"latex"`,
			[]string{"expected one of code, markdown, raw"},
		},
		{`"path":"empty.ipynb","cell_number":1,"edit_mode":"delete"`, []string{"no cells", "edit_mode insert"}},
		{
			`"path":"bad.ipynb","cell_number":1,"edit_mode":"delete"`,
			[]string{"bad.ipynb: ", "broken at line 2", "read it with raw, and mend it with edit"},
		},
		{`"path":"old.ipynb","cell_number":1,"edit_mode":"delete"`, []string{"its nbformat is 3", "jupyter nbconvert"}},
		{
			`"path":"cells.ipynb","cell_number":1,"edit_mode":"delete"`,
			[]string{"cell 1 has no source", "mend it with edit"},
		},
		{`"path":"none.ipynb","cell_number":1,"edit_mode":"delete"`, []string{"none.ipynb: does not exist", "; "}},
		{
			`"path":"typed.ipynb","cell_id":"b2","new_source":"x"`,
			[]string{
				"typed.ipynb changed since you read it", "--- Cell 1 (id b2), code\nimport typed\n",
				"make it again",
			},
		},
	} {
		h := tooltest.New(t, map[string]string{
			"a.go": "x", "a.ipynb": jupyter, "empty.ipynb": `{"nbformat":4,"cells":[]}`,
			"bad.ipynb": "{\n\"cells\": [}\n", "old.ipynb": `{"nbformat":3}`,
			"cells.ipynb": `{"nbformat":4,"cells":[{"source":""},{}]}`, "typed.ipynb": jupyter,
		})
		call(t, h, "read", `{"path":"typed.ipynb"}`)
		h.Type("typed.ipynb", strings.Replace(jupyter, "import x", "import typed", 1))
		refused(t, h, "notebook_edit", "{"+test.arguments+"}", test.says...)
		if changes := h.Files().Changes(); len(changes) > 0 {
			t.Errorf("%s changed %+v", test.arguments, changes)
		}
	}
}

// FuzzNotebook: an edit of a notebook makes valid JSON, and leaves all cells but one as they are, byte for byte.
func FuzzNotebook(f *testing.F) {
	f.Add(jupyter, 1, "import y\n\"z\"", uint8(0))
	f.Add(jupyter, 0, "", uint8(1))
	f.Add(jupyter, 2, "x", uint8(2))
	f.Add(strings.ReplaceAll(jupyter, "\n", "\r\n"), 1, "a\r\nb", uint8(4))
	f.Add(
		`{"cells":[{"source":"a","cell_type":"raw"},{"cell_type":"code","source":["b"]}],"nbformat":4,"nbformat_minor":5}`, 1, "\u2028", uint8(3))
	f.Add("{\n\t\"nbformat\": 4, \"cells\": [ ] }", 0, "x\n", uint8(7))
	h := tooltest.New(f, nil)
	modes, kinds := []string{"replace", "insert", "delete"}, []string{"", "code", "markdown", "raw"}
	f.Fuzz(func(t *testing.T, text string, number int, source string, choice uint8) {
		if !usable(text) || !usable(source) || number < 0 {
			return
		}
		mode := modes[int(choice)%3]
		raw, err := json.Marshal(map[string]any{
			"path": "f.ipynb", "cell_number": number, "new_source": source,
			"edit_mode": mode, "cell_type": kinds[int(choice)/3%4],
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := changed(t, h, "notebook_edit", "f.ipynb", text, string(raw))
		if err != nil {
			return
		}
		before, after := cellsOf(t, text), cellsOf(t, got)
		switch mode {
		case "replace":
			same(t, "the new source", sourceOf(t, after[number]), source)
			before, after = append(before[:number:number], before[number+1:]...), append(after[:number:number],
				after[number+1:]...)
		case "insert":
			at := min(number+1, len(before))
			same(t, "the new source", sourceOf(t, after[at]), source)
			after = append(after[:at:at], after[at+1:]...)
		case "delete":
			before = append(before[:number:number], before[number+1:]...)
		}
		same(t, "the other cells", fmt.Sprintf("%q", after), fmt.Sprintf("%q", before))
	})
}

// cellsOf returns the JSON of the cells of a notebook.
func cellsOf(t *testing.T, text string) []json.RawMessage {
	t.Helper()
	var head struct{ Cells []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
	return head.Cells
}

func sourceOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var c struct{ Source json.RawMessage }
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	var lines []string
	if json.Unmarshal(c.Source, &lines) == nil {
		return strings.Join(lines, "")
	}
	var text string
	if err := json.Unmarshal(c.Source, &text); err != nil {
		t.Fatal(err)
	}
	return text
}
