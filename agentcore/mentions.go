package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/mention"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxAttached bounds what one mention brings, in bytes; the run reads the rest.
	maxAttached = 32 << 10
	// maxAttachedAll bounds the text of all mentions in a prompt, in bytes; further ones are only named.
	maxAttachedAll = 128 << 10
	// maxPictures is how many images a prompt brings at most.
	maxPictures = 10
	// maxListed is how many entries of a folder are shown, and maxDiagnostics how many problems.
	maxListed, maxDiagnostics = 200, 200
)

// attach puts what the prompt of a request mentions into it.
func attach(ctx context.Context, s *Session, request *RunRequest) error {
	list, err := mentioned(ctx, s, request.Agent, cmp.Or(request.Expanded, request.Prompt), request.Context.Paths...)
	if err != nil {
		return err
	}
	request.Attachments = append(request.Attachments, list...)
	for _, a := range list {
		if a.Path != "" && !slices.Contains(request.Context.Paths, a.Path) {
			request.Context.Paths = append(request.Context.Paths, a.Path)
		}
	}
	return nil
}

// mentioned is read for a prompt that is about to be sent: what is refused of it is the error.
func mentioned(ctx context.Context, s *Session, agent, text string, near ...string) ([]prompt.Attachment, error) {
	list, refused, err := readMentions(ctx, s, agent, text, near...)
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("%s: %w", refused[0].Mention, refused[0].Err)
	}
	return list, err
}

// readMentions reads what the "@"s of a prompt for an agent name, as the runs of the session see it: each once, in
// their order. What names nothing is text, as in "@types/node". What the agent may not see is refused with the reason.
// near are files, absolute, in which symbols are looked for first.
func readMentions(ctx context.Context, s *Session, agent, text string, near ...string,
) (list []prompt.Attachment, refused []Refusal, err error) {
	found := mention.Find(text)
	if len(found) == 0 {
		return nil, nil, nil
	}
	rights, err := rightsOf(s, agent)
	if err != nil {
		return nil, nil, err
	}
	m := mentions{session: s, rights: rights, layer: s.shared.Board.Proposal().Fork(), near: near}
	for _, one := range found {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		a, ok, err := m.read(ctx, one)
		if err != nil {
			refused = append(refused, Refusal{one.Text(text), forPeople(err)})
			continue
		}
		same := func(b prompt.Attachment) bool { return b.Name == a.Name && b.About == a.About }
		if !ok || slices.ContainsFunc(m.list, same) {
			continue
		}
		if m.size += len(a.Text); m.size > maxAttachedAll {
			a.Text = "(not shown, since the prompt brings too much: read it)\n"
		}
		m.list = append(m.list, a)
	}
	return m.list, refused, nil
}

// forPeople gives the problem of a file a hint for people: its own is for models.
func forPeople(err error) error {
	problem, ok := errors.AsType[*workspace.FileError](err)
	if !ok {
		return err
	}
	told := *problem
	told.Hint = "leave it out of the prompt"
	return &told
}

// mentions is the work on the mentions of one prompt.
type mentions struct {
	session *Session
	rights  authority.Rights
	layer   *workspace.Layer
	near    []string
	list    []prompt.Attachment
	size    int

	pictures int
	// brief says that nobody waits: no symbol is looked for.
	brief bool
}

// read reads what one mention names; ok is false where it names nothing.
func (m *mentions) read(ctx context.Context, one mention.Mention) (a prompt.Attachment, ok bool, err error) {
	switch one.Name {
	case mention.Diff:
		a, err = m.diff(ctx)
		return a, true, err
	case mention.Diagnostics:
		return m.diagnostics(ctx), true, nil
	}
	view := m.session.shared.View
	path, err := view.Resolve(one.Name)
	var problem *workspace.FileError
	if errors.As(err, &problem) && problem.Kind == workspace.Outside && !exists(one.Name) {
		return a, false, nil // such as "@/components/x", which a program means in its own way
	} else if errors.As(err, &problem) && problem.Kind == workspace.NotFound {
		return m.symbol(ctx, one)
	} else if err != nil {
		return a, false, err
	}
	e, err := m.rights.Explain(m.session.engine.process.Tools, "read", path)
	if err != nil {
		return a, false, err
	}
	// By naming the file, the user has answered the question that a rule may ask about it.
	if e.Action == permission.Deny && e.Rule != nil {
		return a, false, &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s may not be read: %s", view.Shown(path), e.Reason),
			Hint: "leave it out, or change the rule",
		}
	}
	file, err := m.layer.Read(path)
	switch {
	case err == nil:
		return textOf(view, file, one), true, nil
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound:
		return m.symbol(ctx, one)
	case errors.As(err, &problem) && problem.Kind == workspace.Directory:
		return m.folder(path)
	case errors.As(err, &problem) && (problem.Kind == workspace.Binary || problem.Kind == workspace.TooLarge) &&
		isImage(path):
		return m.picture(path)
	}
	return a, false, err
}

// picture is an image, which goes along with the prompt.
func (m *mentions) picture(path string) (a prompt.Attachment, ok bool, err error) {
	shown := m.session.shared.View.Shown(path)
	found, note, err := tool.ReadPicture(m.layer, path)
	if _, ok := errors.AsType[*workspace.FileError](err); ok {
		return a, false, err
	} else if err != nil {
		return a, false, &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s cannot be sent as an image: %v", shown, err),
			Hint: "leave it out of the prompt",
		}
	}
	if m.pictures++; m.pictures > maxPictures {
		return a, false, &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("a prompt brings at most %d images", maxPictures),
			Hint: "leave some of them out",
		}
	}
	return prompt.Attachment{Kind: prompt.Image, Name: shown, Text: note + "\n", Picture: &found}, true, nil
}

// isImage reports whether a file is called as the images are that the tool read shows.
func isImage(path string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(filepath.Ext(path)))
}

// exists reports whether a file exists at a path that a person wrote, which may begin with ~.
func exists(name string) bool {
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		name = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(name) {
		return true // the name leads out of the folder by "..", whatever is there
	}
	_, err := os.Lstat(name)
	return err == nil
}

// textOf is the text of a file, or of the lines that are meant, numbered as the tool read numbers them.
func textOf(view *workspace.View, file workspace.File, one mention.Mention) prompt.Attachment {
	a := prompt.Attachment{Kind: prompt.File, Name: view.Shown(file.Path), Path: file.Path, Stamp: file.Stamp}
	lines := workspace.Lines(file.Text)
	first, last := 1, len(lines)
	if one.First > 0 {
		first, last = min(one.First, len(lines)), min(one.Last, len(lines))
	}
	var b strings.Builder
	shown := first
	for ; shown > 0 && shown <= last; shown++ {
		line := fmt.Sprintf("%d\t%s\n", shown, strings.TrimRight(lines[shown-1], "\r\n"))
		if b.Len() == 0 && len(line) > maxAttached {
			line = strings.ToValidUTF8(line[:maxAttached], "") + " …\n"
		} else if b.Len()+len(line) > maxAttached {
			break
		}
		b.WriteString(line)
	}
	text := b.String()
	if one.First > 0 || shown <= last {
		a.About = fmt.Sprintf("lines %d-%d of %d", first, min(shown-1, last), len(lines))
	}
	if len(lines) == 0 {
		text = "(the file is empty)\n"
	}
	a.Text = text
	return a
}

// folder lists what is in a folder.
func (m *mentions) folder(path string) (prompt.Attachment, bool, error) {
	entries, err := m.layer.List(path)
	if err != nil {
		return prompt.Attachment{}, false, err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxListed {
			fmt.Fprintf(&b, "… and %d more\n", len(entries)-i)
			break
		}
		b.WriteString(permission.Quoted(filepath.Base(e.Path)))
		if e.Dir {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	if len(entries) == 0 {
		b.WriteString("(nothing is in it)\n")
	}
	return prompt.Attachment{
		Kind: prompt.Folder, Name: m.session.shared.View.Shown(path) + "/", Text: b.String(),
	}, true, nil
}

// diff attaches the changes that are not committed.
func (m *mentions) diff(ctx context.Context) (prompt.Attachment, error) {
	a := prompt.Attachment{Kind: prompt.Diff, Name: mention.Diff, About: git.Scope{Kind: git.Uncommitted}.String()}
	changes, err := ReadChanges(ctx, m.session.shared.View, git.Scope{Kind: git.Uncommitted})
	if fault.Is(err, fault.Unchanged) {
		a.Text = "(nothing is uncommitted)\n"
		return a, nil
	} else if err != nil {
		return a, err
	}
	hide(changes, m.rights)
	a.Text = changes.Text(m.session.shared.View)
	if len(a.Text) > maxAttached {
		cut := strings.LastIndexByte(a.Text[:maxAttached], '\n') + 1
		a.Text = a.Text[:cut] + fmt.Sprintf("… and %d more lines\n", strings.Count(a.Text[cut:], "\n"))
	}
	return a, nil
}

// diagnostics attaches what runs found and nobody has settled, and what the editor knows of its open documents.
func (m *mentions) diagnostics(ctx context.Context) prompt.Attachment {
	view := m.session.shared.View
	var lines []string
	add := func(path string, line int, severity, source, message string) {
		if m.rights.WhyUnread(path, "read") != "" {
			return
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s: %s [%s]\n", view.Shown(path), line,
			cmp.Or(severity, string(event.SeverityError)), strings.Join(strings.Fields(message), " "), source))
	}
	for _, f := range m.session.shared.Board.Findings("") {
		add(event.FilePath(f.URI), f.Span.StartLine+1, string(f.Severity), cmp.Or(f.Source, "agentls"), f.Message)
	}
	if editor := m.session.engine.process.Editor; editor != nil && editor.LendsDiagnostics() {
		for _, folder := range view.Folders() {
			for _, path := range workspace.Documents(view, folder) {
				found, err := editor.Diagnostics(ctx, path)
				if err != nil {
					continue // the rest is sent also where the editor does not answer for one file
				}
				for _, d := range found {
					add(path, d.Span.StartLine+1, string(d.Severity), d.Source, d.Message)
				}
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	text := strings.Join(lines[:min(len(lines), maxDiagnostics)], "")
	switch more := len(lines) - maxDiagnostics; {
	case len(lines) == 0:
		text = "(none)\n"
	case more > 0:
		text += fmt.Sprintf("… and %d more\n", more)
	}
	return prompt.Attachment{Kind: prompt.Diagnostics, Name: mention.Diagnostics, Text: text}
}
