package authoring

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/lsp/outline"
)

// scopeKeys are the keys of a file of .github/instructions.
var scopeKeys = []keyDoc{
	{
		path: []string{"applyTo"}, typ: "string", requires: true,
		doc: "Globs of the files that the instructions are for, from the workspace folder, with commas between them. " +
			"`**` means all files. Agents get the instructions once they work on such a file.",
	},
	{path: []string{"description"}, typ: "string", doc: "What the instructions are about, for people."},
}

// instructionKeys are the keys of the text's frontmatter.
func (t *Sheet) instructionKeys() []keyDoc {
	if instruction.IsScoped(t.path) {
		return scopeKeys
	}
	return nil
}

// instructionProblems returns which parts of the text agents do not get, and why.
func (t *Sheet) instructionProblems(v *Vocabulary) []agent.Problem {
	text := t.outline.Text
	var list []agent.Problem
	add := func(start, end int, message, hint string) {
		list = append(list, agent.Problem{
			File: t.path, Span: spanOf(t.index, outline.Span{Start: start, End: end}), Severity: event.SeverityWarning,
			Message: message, Hint: hint,
		})
	}
	if most := v.Config.InstructionsMaxBytes; int64(len(text)) > most && most > 0 {
		add(0, len(firstLine(text)),
			fmt.Sprintf("the text has %d bytes, but all instructions together may have only %d, "+
				"so agents do not get the end of this text", len(text), most),
			"shorten it, or set instructions.max_bytes in your configuration")
	}
	if instruction.IsScoped(t.path) {
		scope := instruction.ScopeOf(text)
		if len(scope.Globs) == 0 {
			add(0, len(firstLine(text)), "the frontmatter has no applyTo, so agents never get this text",
				`write applyTo: "**" for all files, or applyTo: "**/*.go" for Go files`)
		}
		for _, g := range scope.Globs {
			switch {
			case !g.Valid():
				add(g.Start, g.End, "the glob "+g.Text+" is broken", "close its brackets and braces")
			case v.Matches != nil && !v.Matches(t.path, g):
				add(g.Start, g.End, "the glob "+g.Text+" matches no file of the workspace",
					"globs are relative to the workspace folder: **/*.go means all Go files")
			}
		}
		return list
	}
	for _, i := range t.imports() {
		if v.Imports == nil {
			break
		}
		for _, o := range v.Imports(t.path, i).Omitted {
			if !o.Fault {
				continue
			}
			message := t.near(o.Path) + " " + o.Why
			if o.By != t.path {
				message += " (imported by " + t.near(o.By) + ")"
			}
			add(i.Start, i.End, message, "mend the import, or write it between backticks if you mean no import")
		}
	}
	return list
}

// imports are the imports of the text.
func (t *Sheet) imports() []instruction.Import {
	if t.kind != Instructions || !instruction.Importing(t.path) {
		return nil
	}
	return instruction.Imports(t.outline.Text)
}

// near is a path relative to the folder of the text if it lies in it, as an author would write it.
func (t *Sheet) near(name string) string {
	rel, err := filepath.Rel(filepath.Dir(t.path), name)
	if err != nil || strings.HasPrefix(rel, "..") {
		return name
	}
	return filepath.ToSlash(rel)
}

// importAt is the import around an offset, with its place in the text.
func (t *Sheet) importAt(offset int) (instruction.Import, outline.Span, bool) {
	for _, i := range t.imports() {
		if at := (outline.Span{Start: i.Start, End: i.End}); at.Has(offset) {
			return i, at, true
		}
	}
	return instruction.Import{}, outline.Span{}, false
}

// explainImport says what agents get by an import.
func (t *Sheet) explainImport(v *Vocabulary, i instruction.Import) string {
	if v.Imports == nil {
		return ""
	}
	lines := v.Imports(t.path, i).Lines(t.near)
	if len(lines) == 0 {
		return ""
	}
	return "- " + strings.Join(lines, "\n- ")
}
