package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/outline"
)

// contents is what a survey knows of a file: where its first definition stands, and what it defines.
type contents struct {
	path  string
	line  int
	names []string
}

// survey tells what there is in the workspace, for a task that names nothing to look for.
func (t *task) survey(bounds reach) turn {
	calls := []call{
		{"glob", globArguments{"**/*.{go,js,jsx,mjs,cjs,ts,tsx,py,sh,bash,rs,c,h,cc,cpp,java,kt,rb,php,cs,swift,md}"}},
		{"grep", grepArguments{Pattern: `^` + outline.Definers + `\s+[\w$(]`, Limit: 1000}},
	}
	calls = slices.DeleteFunc(calls, func(c call) bool { return !t.offers(c.name) || t.wasMade(c) })
	if len(calls) > 0 {
		return turn{calls: calls}
	}
	files := t.surveyed()
	if len(files) == 0 {
		return turn{
			text: "There are no sources in this workspace that the rules know. Name an identifier, a file or a word " +
				"to look for.\n\n" + noModel + "\n",
		}
	}
	var b strings.Builder
	for _, file := range files[:min(len(files), 2*bounds.places)] {
		fmt.Fprintf(&b, "%s:%d: %s\n", file.path, max(file.line, 1), file.tells())
	}
	if more := len(files) - 2*bounds.places; more > 0 {
		fmt.Fprintf(&b, "(and %s)\n", plural(more, "file"))
	}
	fmt.Fprintf(&b, "\nA %s survey of %s, those that define most first; the task names nothing to look for.\n%s\n",
		t.thoroughness(), plural(len(files), "file"), noModel)
	return turn{text: b.String()}
}

// surveyed are the files that were found, those that define most first.
func (t *task) surveyed() []*contents {
	var files []*contents
	index := map[string]*contents{}
	at := func(name string) *contents {
		if index[name] == nil {
			index[name] = &contents{path: name}
			files = append(files, index[name])
		}
		return index[name]
	}
	for _, name := range t.globbed() {
		at(name)
	}
	for _, p := range t.evidence(nil).places {
		if p.name != "" && !p.minor {
			file := at(p.path)
			file.line = cmp.Or(file.line, p.line)
			file.names = append(file.names, p.name)
		}
	}
	slices.SortStableFunc(files, func(a, b *contents) int { return len(b.names) - len(a.names) })
	slices.SortStableFunc(files, func(a, b *contents) int {
		return cmp.Or(remoteness(a.path)-remoteness(b.path), len(b.names)-len(a.names))
	})
	return files
}

// tells describes a file by what it defines.
func (c *contents) tells() string {
	const shown = 8
	if len(c.names) == 0 {
		return "defines nothing that the rules know"
	}
	text := "defines " + joined(c.names[:min(len(c.names), shown)])
	if more := len(c.names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
