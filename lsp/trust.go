package lsp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
)

// trust knows which workspace folders the user trusts. The reloader's goroutine calls read before it reads what lies in
// the folders; any goroutine may call the other methods.
type trust struct {
	*window
	// given is the editor's own answer, which counts where there is one; nil for none.
	given *bool
	// reread has what lies in the folders read again; again waits for that.
	reread func()
	again  func(context.Context) error
	news   chan struct{} // has room for one: a document was saved

	mu      sync.Mutex
	folders map[string]authority.FolderTrust // by root, as they were read last
	saved   map[string]*workspace.Buffer     // what the editor showed when it saved a file, by path
	// what acted in a root when the user was asked about it (permission.Digest)
	asked  map[string]string
	needed bool // a run was started: what the folders hold is wanted from now on
}

func newTrust(w *window, given *bool, reread func(), again func(context.Context) error) *trust {
	return &trust{
		window: w, given: given, reread: reread, again: again, news: make(chan struct{}, 1),
		folders: map[string]authority.FolderTrust{}, saved: map[string]*workspace.Buffer{}, asked: map[string]string{},
	}
}

// of reports whether the user trusts a root.
func (t *trust) of(root string) bool {
	if t.given != nil {
		return *t.given
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.folders[root].Standing == permission.Trusted
}

// roots are the workspace folders that the user trusts.
func (t *trust) roots() []string {
	return slices.DeleteFunc(t.editor.folders(), func(root string) bool { return !t.of(root) })
}

// all reports whether the user trusts all workspace folders, so that checkers may read their configuration.
func (t *trust) all() bool {
	roots := t.view.Roots()
	return len(roots) > 0 && len(t.roots()) == len(roots)
}

// sources adds the folders' own configurations to what a configuration is loaded from, where the user trusts them.
func (t *trust) sources(s config.Sources) config.Sources {
	for _, root := range t.view.Roots() {
		if t.given != nil {
			if *t.given {
				s.Projects = append(s.Projects, root.Path)
			}
			continue
		}
		t.mu.Lock()
		folder := t.folders[root.Path]
		t.mu.Unlock()
		s = folder.Sources(s, root.Path)
	}
	return s
}

// actors are the absolute paths of the files that act in the workspace folders, or would in a trusted one.
func (t *trust) actors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for root, folder := range t.folders {
		for _, a := range folder.Actors {
			list = append(list, filepath.Join(root, filepath.FromSlash(a.Path)))
		}
	}
	slices.Sort(list)
	return list
}

// didSave notes the text that the editor showed when it saved a file that acts, or would where its folder were trusted.
// It runs on the reading goroutine, and waits for nothing.
func (t *trust) didSave(path string) {
	doc := t.documents.Get(path)
	if doc == nil || !t.inWorkspace(path) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	concerned := doc.Kind != authoring.None || strings.Contains(filepath.ToSlash(path), "/.agentls/")
	for root, folder := range t.folders {
		if rel, err := filepath.Rel(root, path); err == nil {
			_, acts := folder.Hash(filepath.Join(folder.Root, rel))
			concerned = concerned || acts
		}
	}
	if !concerned {
		return
	}
	t.saved[path] = doc.Buffer
	wake(t.news)
}

// savingTime bounds the wait for the editor to say that it saved what the disk has already.
const savingTime = time.Second

// read finds out how far the folders are trusted now. A folder of which that cannot be found out is not trusted. The
// reloader's goroutine calls it, and then reads what lies in the folders.
func (t *trust) read(ctx context.Context) {
	if t.given != nil {
		return
	}
	folders := map[string]authority.FolderTrust{}
	for _, root := range t.view.Roots() {
		folder, err := t.engine.Decisions().FolderTrust(ctx, root.Path, t.writtenBelow(root.Path)...)
		if err == nil && folder.Standing == permission.Changed && t.typed(ctx, root.Path, folder) {
			if err = t.engine.Decisions().TrustFolder(ctx, root.Path, folder.Actors); err == nil {
				folder, err = t.engine.Decisions().FolderTrust(ctx, root.Path)
			}
		}
		if err != nil {
			folder.Trust = permission.Trust{Standing: permission.Unknown}
			t.warn(ctx, "a folder is not trusted", err, "folder", root.Path)
		}
		folders[root.Path] = folder
	}
	t.mu.Lock()
	t.folders = folders
	for path := range t.saved {
		if !t.inWorkspace(path) {
			delete(t.saved, path)
		}
	}
	t.mu.Unlock()
	if session := t.opened(); session != nil {
		t.inform(session)
	}
}

// writtenBelow are the files with instructions that the user saved in the editor below a folder, as slash paths.
func (t *trust) writtenBelow(root string) (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for path := range t.saved {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) && instruction.Is(path) {
			list = append(list, filepath.ToSlash(rel))
		}
	}
	return list
}

// inform tells a session whether the user trusts the workspace. Where the editor does not answer for itself, the store
// must go on saying so.
func (t *trust) inform(session *agentcore.Session) {
	if t.given != nil {
		session.SetTrusted(t.all())
		return
	}
	t.mu.Lock()
	folders := maps.Clone(t.folders)
	t.mu.Unlock()
	session.SetFolders(folders)
	session.SetTrusted(t.all(), t.roots()...)
}

// typed reports whether a folder was trusted up to now and all that has changed in it is text that the user saved in
// the editor. Where the editor shows such a text and has not said yet that it saved it, typed waits a moment.
func (t *trust) typed(ctx context.Context, root string, folder authority.FolderTrust) bool {
	t.mu.Lock()
	former := t.folders[root].Standing
	t.mu.Unlock()
	if former != permission.Trusted || len(folder.Removed) > 0 {
		return false
	}
	changed := slices.Concat(folder.Added, folder.Trust.Changed)
	all := func(text func(path string) *workspace.Buffer) bool {
		return !slices.ContainsFunc(changed, func(name string) bool {
			hash, _ := folder.Hash(filepath.Join(folder.Root, filepath.FromSlash(name)))
			buffer := text(filepath.Join(root, filepath.FromSlash(name)))
			return buffer == nil || !isText(hash, buffer)
		})
	}
	saved := func(path string) *workspace.Buffer {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.saved[path]
	}
	shown := func(path string) *workspace.Buffer {
		if doc := t.documents.Get(path); doc != nil {
			return doc.Buffer
		}
		return saved(path)
	}
	patience := time.NewTimer(savingTime)
	defer patience.Stop()
	for {
		if all(saved) {
			return true
		}
		if !all(shown) {
			return false
		}
		select {
		case <-t.news:
		case <-patience.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// isText reports whether a hash is that of a text, as an editor writes it.
func isText(hash string, b *workspace.Buffer) bool {
	text := b.Index().Text()
	return permission.Hash([]byte(text)) == hash || permission.Hash([]byte("\ufeff"+text)) == hash
}

// unchanged reports whether the files that act in the trusted folders are still what read has found.
func (t *trust) unchanged(ctx context.Context) bool {
	t.mu.Lock()
	folders := maps.Clone(t.folders) // mute changes it
	t.mu.Unlock()
	for _, folder := range folders {
		if folder.Standing == permission.Trusted && folder.Unchanged(ctx) != nil {
			return false
		}
	}
	return true
}

// need says that a run starts, which would use what lies in the folders, and asks the user about those that are not
// trusted. It does not wait for the answer: the run begins with what is trusted now.
func (t *trust) need() {
	t.mu.Lock()
	t.needed = true
	t.mu.Unlock()
	t.ask()
}

// ask asks the user about each folder in which something would act, and again only when other things would act there.
// An editor that has just started is no place for a question, so the first one waits until a run was started, or a
// document of the folder is open that agentls would use. ask does not wait for the answer.
func (t *trust) ask() {
	if t.given != nil {
		return
	}
	written := t.documents.Authored()
	t.mu.Lock()
	defer t.mu.Unlock()
	about := map[string]authority.FolderTrust{}
	for root, folder := range t.folders {
		digest := permission.Digest(folder.Actors)
		if folder.Standing == permission.Trusted {
			delete(t.asked, root) // should it be lost again, the user hears of it
			continue
		}
		if folder.Never || folder.Standing == permission.Unknown && len(folder.Actors) == 0 ||
			root == t.home() || t.asked[root] == digest {
			continue
		}
		if t.needed || slices.ContainsFunc(written, func(path string) bool { return within(root, path) }) {
			t.asked[root], about[root] = digest, folder
		}
	}
	if len(about) > 0 {
		t.goes(func(ctx context.Context) {
			for root, folder := range about { // one after the other: an editor may show one question at a time
				t.askAbout(ctx, root, folder)
			}
		})
	}
}

// unknownAgent is the error to answer with where a search for an agent by name has failed with err: err itself, or one
// that says that a folder has such an agent, but is not trusted. It reads the disk.
func (t *trust) unknownAgent(ctx context.Context, name string, err error) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	for _, root := range t.view.Roots() {
		if t.of(root.Path) {
			continue
		}
		folder, unread := authority.UnknownTrust(ctx, root.Path)
		if unread != nil {
			continue // what cannot be looked at is not trusted, of which the user was told
		}
		if file, defines := folder.Defining(name); defines {
			hint := `trust the folder by the command agentls.trust with {"change": "trust"}, or by ` + "`agentls trust`"
			if t.given != nil {
				hint = "trust the workspace in the editor"
			}
			return &fault.Error{
				Kind: fault.NotFound, Cause: err, Hint: hint + ", and try it again",
				Detail: fmt.Sprintf("there is no agent %q yet: %s has one, but the folder %s is not trusted", name,
					file, permission.Visible(filepath.Base(root.Path))),
			}
		}
	}
	return err
}

// The answers to the question whether to trust a folder.
const (
	answerTrust  = "Trust"
	answerNotNow = "Not now"
	answerNever  = "Never"
)

// askAbout asks about one folder, or says which command trusts it.
func (t *trust) askAbout(ctx context.Context, root string, folder authority.FolderTrust) {
	if whole, err := t.engine.Decisions().WholeTrust(ctx, root); err == nil {
		folder = whole // what is trusted now is trusted with what lies below
	}
	name := permission.Visible(filepath.Base(root))
	text := fmt.Sprintf("The folder %s has %s that agentls would use.", name, kindsOf(folder))
	if folder.Standing == permission.Changed {
		text = fmt.Sprintf(
			"What agentls uses in the folder %s has changed since you trusted it, so that it is not used any "+
				"more (%s).", name, folder.Trust)
	}
	if slices.ContainsFunc(folder.Actors, func(a permission.Actor) bool { return a.Unseen > 0 }) {
		text += " Some of it holds characters that cannot be seen."
	}
	if !t.client.ShowsQuestions() {
		text += ` The command agentls.trust shows it, and trusts it with {"change": "trust"}.`
		say := t.client.Log
		if folder.Standing == permission.Changed {
			say = t.client.Show
		}
		t.warn(ctx, "the user could not be told of an untrusted folder",
			say(ctx, protocol.MessageTypeWarning, "agentls: "+text))
		return
	}
	answer, err := t.client.Choose(ctx, protocol.MessageTypeWarning, text+" Trust it?", answerTrust,
		answerNotNow, answerNever)
	if err != nil {
		t.warn(ctx, "the user could not be asked about a folder", err)
		return // there is no answer that could be kept
	}
	switch answer {
	case answerTrust:
		err = t.engine.Decisions().TrustFolder(ctx, root, folder.Actors)
		t.reread()
	case answerNever:
		err = t.engine.Decisions().NeverTrust(ctx, root)
	}
	if err != nil && ctx.Err() == nil {
		t.tell(ctx, protocol.MessageTypeError, "agentls could not keep your answer: "+err.Error())
	}
}

// kindsOf names what would act.
func kindsOf(folder authority.FolderTrust) string {
	words := []struct{ kind, word string }{
		{"agent", "agents"},
		{"skill", "skills"},
		{"instructions", "instructions"},
		{"prompt", "prompts"},
		{"hook", "hooks"},
		{"mcp", "MCP servers"},
		{"config", "settings"},
	}
	items := authority.DescribeActing(folder.Root, folder.Actors)
	var list []string
	for _, w := range words {
		if slices.ContainsFunc(items, func(i authority.ActingItem) bool { return i.Kind == w.kind }) {
			list = append(list, w.word)
		}
	}
	if len(list) > 1 {
		list = append(list[:len(list)-2], list[len(list)-2]+" and "+list[len(list)-1])
	}
	return strings.Join(list, ", ")
}

// Trust answers `agent/trust`.
func (t *trust) Trust(ctx context.Context, p *methods.TrustParams) (*methods.TrustResult, error) {
	engine, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	roots := t.view.Roots()
	at := slices.IndexFunc(roots,
		func(r workspace.Root) bool { return p.Folder == "" || r.Path == document.Path(p.Folder) })
	switch {
	case len(roots) == 0:
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: "the editor has no workspace folder open",
			Hint: "open one: there is nothing to trust without",
		}
	case at < 0:
		return nil, &fault.Error{
			Kind:   fault.NotFound,
			Detail: fmt.Sprintf("%s is no folder of this workspace", p.Folder),
			Hint:   "name one that is open in the editor",
		}
	}
	root := roots[at].Path
	folder, err := engine.Decisions().WholeTrust(ctx, root)
	if err != nil {
		return nil, err
	}
	if err := t.change(ctx, root, folder, p.Change); err != nil {
		return nil, err
	}
	if err := t.again(ctx); err != nil {
		return nil, err
	}
	result := &methods.TrustResult{Folder: uri.File(root), Trusted: t.of(root)}
	for _, item := range authority.DescribeActing(folder.Root, folder.Actors) {
		result.Items = append(result.Items, methods.TrustedItem{
			URI: uri.File(filepath.Join(root, filepath.FromSlash(item.Path))), Kind: item.Kind,
			Description: item.Description,
		})
	}
	return result, nil
}

// change keeps the user's word on a folder: "trust", "revoke", or "" for none.
func (t *trust) change(ctx context.Context, root string, folder authority.FolderTrust, word string) error {
	switch {
	case word == "":
		return nil
	case word != "trust" && word != "revoke":
		return &methods.ParamsError{
			Path:    "change",
			Problem: fmt.Sprintf("want %q or %q, got %q", "trust", "revoke", word),
		}
	case t.given != nil:
		return &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: "the editor itself decides whether this folder is trusted",
			Hint:   "trust it, or trust it no longer, in the editor's own way",
		}
	case word == "trust":
		return t.engine.Decisions().TrustFolder(ctx, root, folder.Actors)
	}
	err := t.engine.Decisions().RevokeTrust(ctx, root)
	if err == nil {
		t.mute(root, folder)
	}
	return err
}

// mute keeps the user from being asked about a folder that he has just said not to trust.
func (t *trust) mute(root string, folder authority.FolderTrust) {
	t.mu.Lock()
	defer t.mu.Unlock()
	folder.Trust = permission.Trust{Standing: permission.Unknown}
	t.folders[root], t.asked[root] = folder, permission.Digest(folder.Actors)
}
