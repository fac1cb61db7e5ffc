package agentcore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/agentcore/outline"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxSymbolFiles bounds the open documents whose symbols are looked at.
	maxSymbolFiles = 50
	// maxSymbolLines bounds what a symbol brings.
	maxSymbolLines = 200
	// symbolTime bounds the wait for the editor's language servers.
	symbolTime = time.Second
)

// symbolName is how the name of a symbol looks, with what it is in before the last dot.
var symbolName = lazyregexp.New(`^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#)[\p{L}_$][\p{L}\p{N}_$]*)*$`)

// place is where a symbol is defined: lines count from 0, and the last one is -1 where nobody knows it.
type place struct {
	path, kind        string
	first, last, more int // how many others have its name
}

// symbol brings what defines the name that a mention names; ok is false where nothing does. It asks what is at hand:
// what open documents seem to define, and the editor's language servers.
func (m *mentions) symbol(ctx context.Context, one mention.Mention) (a prompt.Attachment, ok bool, err error) {
	if m.brief || one.First > 0 || !symbolName().MatchString(one.Name) {
		return a, false, nil
	}
	name := one.Name[strings.LastIndexAny(one.Name, ".:#")+1:]
	found, ok := m.defined(name)
	if !ok {
		if found, ok = m.lent(ctx, one.Name, name); !ok {
			return a, false, ctx.Err()
		}
	}
	view := m.session.shared.View
	if m.rights.WhyUnread(found.path, "read") != "" {
		return a, false, nil // a search would not have come across it either
	}
	file, err := m.layer.Read(found.path)
	if err != nil {
		return a, false, nil // it is gone by now
	}
	lines := workspace.Lines(file.Text)
	if found.first >= len(lines) {
		return a, false, nil
	}
	if found.last < found.first {
		found.last = endOf(file.Text, found.first)
	}
	found.last = min(found.last, found.first+maxSymbolLines-1)
	a = textOf(view, file, mention.Mention{First: found.first + 1, Last: found.last + 1})
	a.Kind, a.About = prompt.Symbol, strings.TrimSpace(found.kind+" "+name)+", "+a.About
	if found.more > 0 {
		a.About += fmt.Sprintf("; %d more are called so", found.more)
	}
	return a, true, nil
}

// defined looks for a name in what the files of the context and open documents seem to define.
func (m *mentions) defined(name string) (found place, ok bool) {
	view := m.session.shared.View
	open := slices.Clone(m.near)
	for _, folder := range view.Folders() {
		open = append(open, workspace.Documents(view, folder)...)
	}
	open = open[:min(len(open), maxSymbolFiles)]
	for i, path := range open {
		if slices.Contains(open[:i], path) {
			continue
		}
		file, err := m.layer.Read(path)
		if err != nil {
			continue // closed by now
		}
		for _, s := range outline.Symbols(file.Text) {
			switch {
			case s.Name != name:
			case ok:
				found.more++
			default:
				found, ok = place{path: path, kind: s.Kind, first: s.Line, last: -1}, true
			}
		}
	}
	return found, ok
}

// lent asks the editor's language servers for a name, where it lends them.
func (m *mentions) lent(ctx context.Context, whole, name string) (found place, ok bool) {
	editor := m.session.engine.process.Editor
	if editor == nil || !editor.LendsSymbols() {
		return found, false
	}
	ctx, cancel := context.WithTimeout(ctx, symbolTime)
	defer cancel()
	list, err := editor.Symbols(ctx, tool.SymbolQuery{Kind: tool.ListWorkspace, Name: whole})
	if err != nil {
		return found, false // then it is text
	}
	list = slices.DeleteFunc(list, func(s tool.Symbol) bool {
		view := m.session.shared.View
		return s.Name != name || view.Relative(s.Path) == s.Path
	})
	if len(list) == 0 {
		return found, false
	}
	s := list[0]
	found = place{path: s.Path, kind: s.Kind, first: s.Span.StartLine, last: -1, more: len(list) - 1}
	if s.Span.EndLine > s.Span.StartLine {
		found.last = s.Span.EndLine
	}
	return found, true
}

// endOf guesses the last line of what begins at a line, both from 0: that before the next line which is not indented
// more, but for one that only closes it.
func endOf(text string, first int) int {
	lines := workspace.Lines(text)
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	last := first
	for i := first + 1; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r\n")
		switch closes := line != "" && strings.ContainsRune(")}]", rune(line[indent(line)])); {
		case line == "":
		case indent(line) > indent(lines[first]):
			last = i
		case closes && (strings.HasSuffix(line, "{") || strings.HasSuffix(line, "(")):
			last = i // the end of a list of arguments, with the body behind it
		case closes:
			return i
		default:
			return last
		}
	}
	return last
}
