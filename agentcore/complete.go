package agentcore

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/agentcore/outline"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/promptfile"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxCompletions bounds the candidates, and maxLooked the files that are looked at for them.
	maxCompletions, maxLooked = 200, 20_000
	// completionTime bounds the search for files.
	completionTime = 150 * time.Millisecond
)

// Completion is what can stand at a place of a prompt.
type Completion struct {
	Kind prompt.Kind
	// Label is what it is called, Detail what it is, in a line; it may be empty.
	Label, Detail string
	// Text takes the place of the bytes from Start up to End of the prompt.
	Text       string
	Start, End int
	// More says that one goes on writing behind it: a folder, or a prompt with arguments.
	More bool
}

// CompletePrompt returns what can stand at a place, in bytes, of a prompt for an agent, the default one for "": prompts
// behind a "/" that begins it, and files, folders, symbols of open documents and the words behind an "@". Only what may
// be sent is among them. The best come first; there are none where the place is neither. It takes a fifth of a second
// at most, and reads the disk; any goroutine may call it. The error is ctx's.
func CompletePrompt(ctx context.Context, s *Session, agent, text string, at int) ([]Completion, error) {
	at = max(0, min(at, len(text)))
	before := text[:at]
	if word, ok := strings.CutPrefix(strings.TrimLeftFunc(before, unicode.IsSpace), "/"); ok &&
		strings.IndexFunc(word, unicode.IsSpace) < 0 {
		return completeCall(ctx, s, agent, word, at)
	}
	start, word := mention.Open(before)
	if start < 0 {
		return nil, nil
	}
	c := completer{session: s, layer: s.shared.Board.Proposal().Fork(), start: start, end: at, word: word}
	rights, err := rightsOf(s, agent)
	if err != nil {
		return nil, nil // without an agent nothing is sent either
	}
	c.mayRead = func(path string, plain bool) bool {
		if plain {
			return rights.MayReadPlain(path, "read")
		}
		return rights.MayRead(path, "read")
	}
	for _, word := range []struct {
		kind   prompt.Kind
		detail string
	}{{prompt.Diff, "the uncommitted changes"}, {prompt.Diagnostics, "what is known to be wrong"}} {
		if strings.HasPrefix(string(word.kind), c.word) {
			c.add(word.kind, string(word.kind), word.detail)
		}
	}
	c.folder()
	c.documents()
	if err := c.search(ctx); err != nil {
		return nil, err
	}
	return c.list[:min(len(c.list), maxCompletions)], nil
}

// completeCall returns the prompts whose names begin with a word, then those that have it in them.
func completeCall(ctx context.Context, s *Session, agent, word string, at int) ([]Completion, error) {
	set, err := Prompts(ctx, s)
	if err != nil {
		return nil, err
	}
	var list []Completion
	start := at - len(word) - 1
	word = strings.ToLower(word)
	for _, p := range set.List() {
		// A prompt for an agent or for tools that there are not is refused; its model is left to the run.
		err := suit(s, &RunRequest{Agent: agent, Model: p.Model}, &calledPrompt{prompt: p})
		if name := strings.ToLower(p.Name); err == nil && strings.Contains(name, word) {
			list = append(list, Completion{
				Kind: prompt.Call, Label: "/" + p.Name, Detail: permission.Visible(p.Description), Text: "/" + p.Name,
				Start: start, End: at, More: p.Hint != "",
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Completion) int { return cmp.Compare(a.rank(word), b.rank(word)) })
	return list[:min(len(list), maxCompletions)], nil
}

// NamedAt finds the "@" mention, or the "/" and the name that call a prompt, around a place of a prompt. All are in
// bytes; start is end where there is neither.
func NamedAt(text string, at int) (start, end int) {
	if start, end := callIn(text); start < end && start <= at && at <= end {
		return start, end
	}
	for _, m := range mention.Find(text) {
		if m.Start <= at && at <= m.End {
			return m.Start, m.End
		}
	}
	return at, at
}

// callIn is where the "/" and the name stand that call a prompt, in bytes; start is end where there is none.
func callIn(text string) (start, end int) {
	call, _, ok := promptfile.CallIn(text)
	if !ok {
		return 0, 0
	}
	start = strings.IndexByte(text, '/')
	return start, start + 1 + len(call.Name)
}

// rank is 0 for a label that begins with a word behind its first character.
func (c Completion) rank(word string) int {
	if strings.HasPrefix(strings.ToLower(c.Label[1:]), word) {
		return 0
	}
	return 1
}

// completer collects what can stand behind an "@".
type completer struct {
	session *Session
	layer   *workspace.Layer
	// mayRead reports whether a file may be sent; plain says that it is no symbolic link.
	mayRead    func(path string, plain bool) bool
	start, end int
	word       string // what is written of the name
	list       []Completion
}

// add adds a candidate, unless it is there.
func (c *completer) add(kind prompt.Kind, name, detail string) {
	if strings.HasPrefix(name, `"`) { // it has characters that nobody can write
		return
	}
	if slices.ContainsFunc(c.list, func(o Completion) bool { return o.Label == name && o.Kind == kind }) {
		return
	}
	c.list = append(c.list, Completion{
		Kind: kind, Label: name, Detail: detail, Text: mention.Write(name), Start: c.start, End: c.end,
		More: kind == prompt.Folder,
	})
}

// folder adds what is in the folder that the word leads to, and begins as the word does.
func (c *completer) folder() {
	view := c.session.shared.View
	dir, base := path.Split(c.word)
	var places []string
	if dir == "" {
		places = view.Folders()
	} else if found, err := view.Resolve(strings.TrimSuffix(dir, "/")); err == nil {
		places = []string{found}
	}
	for _, place := range places {
		entries, err := c.layer.List(place)
		if err != nil {
			continue // it is no folder
		}
		for _, e := range entries {
			name := view.Shown(e.Path)
			last := path.Base(strings.Trim(name, `"`))
			hidden := strings.HasPrefix(last, ".") && !strings.HasPrefix(base, ".")
			if hidden || !strings.HasPrefix(strings.ToLower(last), strings.ToLower(base)) {
				continue
			}
			if e.Dir {
				c.add(prompt.Folder, name+"/", "folder")
			} else if c.mayRead(e.Path, e.Plain) {
				c.add(prompt.File, name, "")
			}
		}
	}
}

// documents adds the open documents that have the word in their names, and what they define that begins with it.
func (c *completer) documents() {
	view := c.session.shared.View
	var open []string
	for _, folder := range view.Folders() {
		open = append(open, workspace.Documents(view, folder)...)
	}
	for _, name := range open {
		if c.mayRead(name, false) && c.has(view.Shown(name)) {
			c.add(prompt.File, view.Shown(name), "open")
		}
	}
	if c.word == "" {
		return
	}
	for _, name := range open[:min(len(open), maxSymbolFiles)] {
		file, err := c.layer.Read(name)
		if err != nil || !c.mayRead(name, false) {
			continue
		}
		for _, symbol := range outline.Symbols(file.Text) {
			if strings.HasPrefix(symbol.Name, c.word) {
				c.add(prompt.Symbol, symbol.Name, symbol.Kind+" in "+view.Shown(name))
			}
		}
	}
}

// has reports whether a name has the word in it.
func (c *completer) has(name string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(c.word))
}

// search adds the files of the workspace that have the word in their names, as far as they are found in time.
func (c *completer) search(ctx context.Context) error {
	if utf8.RuneCountInString(c.word) < 2 {
		return ctx.Err()
	}
	within, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	view, looked := c.session.shared.View, 0
	for _, folder := range view.Folders() {
		for found, err := range workspace.Scan[struct{}](within, c.layer, folder, nil, nil) {
			if looked++; err != nil || looked > maxLooked || len(c.list) >= maxCompletions {
				break
			}
			if name := view.Shown(found.Path); c.has(name) && c.mayRead(found.Path, found.Plain) {
				c.add(prompt.File, name, "")
			}
		}
	}
	return ctx.Err()
}
