package offline

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/outline"
)

// contents is what a survey knows of a file.
type contents struct {
	path string
	// line is where the first definition stands, names are what the file defines.
	line  int
	names []string
	// rank is its place among the files of its folder.
	rank int
}

// entries are the beginnings of names of files that a program, or its reader, begins with.
var entries = []string{"main.", "__main__.", "index.", "app.", "server.", "cli.", "readme."}

const surveyed = "**/*.{go,js,jsx,mjs,cjs,ts,tsx,py,sh,bash,rs,c,h,cc,cpp,java,kt,rb,php,cs,swift,md}"

// survey tells what there is in the workspace, for a task that names nothing to look for.
func (t *task) survey(bounds reach) turn {
	var calls []call
	if t.turns == 0 {
		if t.offers("list") {
			calls = append(calls, call{"list", listArguments{Depth: 1}})
		}
		if t.offers("glob") {
			calls = append(calls, call{"glob", globArguments{Pattern: surveyed}})
		}
		if t.offers("grep") {
			calls = append(calls,
				call{"grep", grepArguments{Pattern: `^` + outline.Definers + `\s+[\w$(]`, Limit: 1000}})
		}
	}
	files := t.surveyedFiles()
	if t.turns == 1 && t.offers("read") {
		const head = 30
		for _, file := range files[:min(len(files), bounds.files)] {
			calls = append(calls, call{"read", readArguments{Path: file.path, Limit: head}})
		}
	}
	if calls = slices.DeleteFunc(calls, t.wasMade); len(calls) > 0 {
		return turn{calls: calls}
	}
	if len(files) == 0 {
		return turn{
			text: "There are no sources in this workspace that the rules know. Name an identifier, a file or a word " +
				"to look for.\n\n" + noModel + "\n",
		}
	}
	var b strings.Builder
	for _, file := range files[:min(len(files), 2*bounds.places)] {
		fmt.Fprintf(&b, "%s:%d: %s\n", file.path, max(file.line, 1), t.tells(file))
	}
	if more := len(files) - 2*bounds.places; more > 0 {
		fmt.Fprintf(&b, "(and %s)\n", plural(more, "file"))
	}
	fmt.Fprintf(&b, "\nA %s survey of %s, those that define most first; the task names nothing to look for.\n%s\n",
		t.thoroughness(), plural(len(files), "file"), noModel)
	return turn{text: b.String()}
}

// surveyedFiles are the files that were found, what a reader begins with first, then those that define most.
func (r *record) surveyedFiles() []contents {
	var files []contents
	index := map[string]int{}
	at := func(name string) *contents {
		i, ok := index[name]
		if !ok {
			i = len(files)
			index[name] = i
			files = append(files, contents{path: name})
		}
		return &files[i]
	}
	for _, name := range r.globbed() {
		at(name)
	}
	for e := range r.made("grep") {
		if e.failed {
			continue
		}
		for p := range grepped(e.text) {
			if name, minor := outline.Defines(p.text); name != "" && !minor {
				file := at(p.path)
				if file.line == 0 {
					file.line = p.line
				}
				file.names = append(file.names, name)
			}
		}
	}
	slices.SortStableFunc(files, func(a, b contents) int {
		return cmp.Or(cmp.Compare(remoteness(a.path), remoteness(b.path)), cmp.Compare(b.weight(), a.weight()),
			cmp.Compare(a.path, b.path))
	})
	// The best file of each folder comes before the second of any, so that a large folder does not hide the others.
	folders := map[string]int{}
	for i := range files {
		folder := path.Dir(files[i].path)
		files[i].rank = folders[folder]
		folders[folder]++
	}
	slices.SortStableFunc(files, func(a, b contents) int {
		return cmp.Or(cmp.Compare(remoteness(a.path), remoteness(b.path)), cmp.Compare(a.rank, b.rank))
	})
	return files
}

// weight is how much a file tells.
func (c contents) weight() int {
	const entry, deepest = 20, 2
	base := strings.ToLower(path.Base(c.path))
	if slices.ContainsFunc(entries, func(beginning string) bool { return strings.HasPrefix(base, beginning) }) &&
		strings.Count(c.path, "/") <= deepest {
		return len(c.names) + entry
	}
	return len(c.names)
}

// tells describes a file: its first remark, and what it defines.
func (r *record) tells(c contents) string {
	const shown = 8
	remark := r.heading(c.path)
	names := joined(c.names[:min(len(c.names), shown)])
	if more := len(c.names) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case names == "":
		return cmp.Or(remark, lint.LanguageOf(c.path).String())
	case remark == "":
		return "defines " + names
	}
	return remark + " Defines " + names
}

// heading is the first sentence of the remark that a file opens with, as far as it was read.
func (r *record) heading(name string) string {
	const longest, lines = 120, 12
	s := r.sourceOf(name)
	for number := 1; number <= lines; number++ {
		line := strings.TrimSpace(s.lines[number])
		marks := "/#*!"
		if lint.LanguageOf(name) == lint.Python {
			marks = "#\"'"
		}
		text := strings.TrimSpace(strings.TrimLeft(line, marks))
		if text == "" || text == line && lint.LanguageOf(name) != lint.Prose || strings.HasPrefix(line, "#!") ||
			strings.Contains(text, "go:build") {
			continue
		}
		if end := strings.Index(text, ". "); end > 0 {
			text = text[:end+1]
		}
		if runes := []rune(text); len(runes) > longest {
			text = string(runes[:longest-1]) + "…"
		}
		return strings.TrimRight(text, " .") + "."
	}
	return ""
}
