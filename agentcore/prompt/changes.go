package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxBeside is how many other changed files a prompt names.
const maxBeside = 20

// Changes are changes of a repository that a prompt is about. They are never changed.
type Changes struct {
	// Of names them for people: "the uncommitted changes".
	Of    string
	Files []Changed
	// Beside are other changed files, at which other runs look: absolute paths.
	Beside []string
}

// Changed is a file that has changed.
type Changed struct {
	// Path is absolute, and From is the former path of a renamed file; empty for others.
	Path, From string
	Status     git.Status
	// Why says why the file's text is not shown; empty if it is.
	Why string
	// Lines are the changed lines of the text that the run sees.
	Lines []git.Lines
	// Diff is the difference in the unified format; empty where it is not shown.
	Diff string
}

// In are the changes of one file, with the other files named in Beside.
func (c *Changes) In(path string) *Changes {
	if c == nil {
		return nil
	}
	one := &Changes{Of: c.Of}
	for _, f := range c.Files {
		if f.Path == path {
			one.Files = append(one.Files, f)
		} else {
			one.Beside = append(one.Beside, f.Path)
		}
	}
	return one
}

// Touches reports whether one of the lines, 1-based and inclusive, of a file has changed.
func (c *Changes) Touches(path string, first, last int) bool {
	return slices.ContainsFunc(c.Files, func(f Changed) bool {
		return f.Path == path && slices.ContainsFunc(f.Lines, func(l git.Lines) bool {
			return l.First <= last && first <= l.Last
		})
	})
}

// Text describes the changes: what has happened to each file, and the difference.
func (c *Changes) Text(view *workspace.View) string {
	var b strings.Builder
	c.write(&b, view)
	return b.String()
}

// write puts the changes into a block.
func (c *Changes) write(b *strings.Builder, view *workspace.View) {
	fmt.Fprintf(b, "changes: %s\n", c.Of)
	for _, f := range c.Files {
		name := view.Shown(f.Path)
		switch {
		case f.Status == git.Deleted:
			fmt.Fprintf(b, "deleted: %s\n", name)
			continue
		case f.From != "":
			fmt.Fprintf(b, "renamed: %s, was %s\n", name, view.Shown(f.From))
		case f.Status == git.Added:
			fmt.Fprintf(b, "new: %s\n", name)
		}
		if f.Why != "" {
			fmt.Fprintf(b, "not shown: %s: %s\n", name, f.Why)
			continue
		}
		var lines []string
		for _, l := range f.Lines {
			if l.First == l.Last {
				lines = append(lines, fmt.Sprint(l.First))
			} else {
				lines = append(lines, fmt.Sprintf("%d-%d", l.First, l.Last))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(b, "changed lines: %s: %s\n", name, strings.Join(lines, ", "))
		}
	}
	for i, path := range c.Beside {
		if i == maxBeside {
			fmt.Fprintf(b, "changed, too: %d more\n", len(c.Beside)-i)
			break
		}
		fmt.Fprintf(b, "changed, too: %s\n", view.Shown(path))
	}
	if !slices.ContainsFunc(c.Files, func(f Changed) bool { return f.Diff != "" }) {
		return
	}
	b.WriteString("<diff>\n")
	for _, f := range c.Files {
		b.WriteString(f.Diff)
	}
	b.WriteString("</diff>\n")
}
