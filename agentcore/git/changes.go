package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxText is the largest text that is compared, in bytes.
	maxText = 1 << 20
	// maxTexts bounds the old texts of all files together, in bytes.
	maxTexts = 32 << 20
	// maxFiles bounds how many changed files are listed.
	maxFiles = 2000
	// submodule is the mode of a submodule, as git has it.
	submodule = "160000"
	// link is the mode of a symbolic link.
	link = "120000"
	// nothing is the object id that stands for no object.
	nothing = "0000000000000000000000000000000000000000"
)

// entry is a file as git lists it: the objects at both ends, and the kind of change.
type entry struct {
	path, from       string // relative to the top, with slashes; from is empty but for a rename
	oldMode, newMode string
	old, new         string // objects; nothing for no file, and for a new one that is read from the disk
	shown            bool   // the new text is what the editor shows
	untracked        bool
}

// Changes lists what has changed, sorted by path. The view shows the files of the working tree. A file that the view
// does not show, such as a file that may contain keys, is listed without its texts. The error is a *fault.Error:
// InvalidRequest names a revision that does not exist.
func (r *Repository) Changes(ctx context.Context, view *workspace.View, scope Scope) ([]Change, error) {
	entries, err := r.entries(ctx, view, scope)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxFiles {
		return nil, &fault.Error{
			Kind:   fault.InvalidRequest,
			Detail: fmt.Sprintf("%s are in %d files, more than %d", scope, len(entries), maxFiles),
			Hint:   "commit what is done, choose a nearer base, or name the files",
		}
	}
	texts, err := r.texts(ctx, entries)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, e := range entries {
		if c, changed := r.change(view, e, texts); changed && scope.holds(c.Path) {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// entries lists the files that may have changed, by their names and objects only.
func (r *Repository) entries(ctx context.Context, view *workspace.View, scope Scope) ([]entry, error) {
	switch scope.Kind {
	case Staged:
		head, err := r.head(ctx)
		if err != nil {
			return nil, err
		}
		return r.index(ctx, head)
	case Commit:
		commit, err := r.commit(ctx, scope.Revision)
		if err != nil {
			return nil, err
		}
		parent, err := r.run(ctx, "", "rev-parse", "--quiet", "--verify", commit+"^1")
		if err != nil { // the first commit has no parent
			if parent, err = r.emptyTree(ctx); err != nil {
				return nil, err
			}
		}
		return r.raw(ctx, "diff-tree", "-r", "-M", strings.TrimSpace(parent), commit)
	case Base:
		commit, err := r.commit(ctx, scope.Revision)
		if err != nil {
			return nil, err
		}
		common, err := r.run(ctx, "", "merge-base", commit, "HEAD")
		if err != nil {
			return nil, &fault.Error{
				Kind: fault.InvalidRequest, Detail: fmt.Sprintf("HEAD and %s have no commit in common", scope.Revision),
				Hint: "name a branch that this one comes from", Cause: err,
			}
		}
		return r.working(ctx, view, strings.TrimSpace(common))
	case Uncommitted:
		head, err := r.head(ctx)
		if err != nil {
			return nil, err
		}
		return r.working(ctx, view, head)
	}
	return nil, &fault.Error{
		Kind: fault.InvalidRequest, Detail: fmt.Sprintf("there are no changes of the kind %q", scope.Kind),
		Hint: "write uncommitted, staged, base or commit",
	}
}

// commit is the object of a revision that a person named.
func (r *Repository) commit(ctx context.Context, revision string) (string, error) {
	out, err := r.run(ctx, "", "rev-parse", "--quiet", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil || revision == "" {
		return "", &fault.Error{
			Kind: fault.InvalidRequest, Detail: fmt.Sprintf("there is no commit %q in %s", revision, r.Top),
			Hint: "name a branch, a tag or a commit of this repository", Cause: err,
		}
	}
	// With --end-of-options, some versions of git print the option, too.
	fields := strings.Fields(out)
	return fields[len(fields)-1], nil
}

// head is the last commit, or the empty tree before the first.
func (r *Repository) head(ctx context.Context) (string, error) {
	out, err := r.run(ctx, "", "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err == nil {
		return strings.TrimSpace(out), nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	return r.emptyTree(ctx)
}

// emptyTree is the object of an empty tree, which git knows even if it is not stored.
func (r *Repository) emptyTree(ctx context.Context) (string, error) {
	out, err := r.run(ctx, "", "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(out), err
}

// index is the difference between a tree and the index.
func (r *Repository) index(ctx context.Context, tree string) ([]entry, error) {
	return r.raw(ctx, "diff-index", "--cached", "-M", "--ignore-submodules=dirty", tree)
}

// working is the possible difference between a tree and the working tree with the editor's texts. git tells by times
// and sizes alone which files of the index differ on the disk.
func (r *Repository) working(ctx context.Context, view *workspace.View, tree string) ([]entry, error) {
	staged, err := r.index(ctx, tree)
	if err != nil {
		return nil, err
	}
	touched, err := r.raw(ctx, "diff-files", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, "", "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	var all []entry
	known := map[string]bool{}
	add := func(e entry) {
		if !known[e.path] {
			known[e.path] = true
			e.shown = e.newMode != submodule
			all = append(all, e)
		}
	}
	for _, e := range staged {
		add(e)
		known[e.from] = e.from != ""
	}
	for _, e := range touched {
		add(e)
	}
	for path := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		if path != "" && !strings.HasSuffix(path, "/") { // a name with a slash at its end is a repository of its own
			add(entry{path: path, old: nothing, new: nothing, untracked: true})
		}
	}
	typed, err := r.typed(ctx, view, known)
	if err != nil {
		return nil, err
	}
	for _, e := range typed {
		add(e)
	}
	return all, nil
}

// typed lists the files that are the same on disk as in the index, and are open in the editor.
func (r *Repository) typed(ctx context.Context, view *workspace.View, known map[string]bool) ([]entry, error) {
	args := []string{"ls-files", "--stage", "-z", "--"}
	paths := len(args)
	for _, path := range workspace.Documents(view, r.Top) {
		rel, err := filepath.Rel(r.Top, path)
		if rel = filepath.ToSlash(rel); err == nil && !known[rel] {
			args = append(args, rel)
		}
	}
	if len(args) == paths {
		return nil, nil
	}
	out, err := r.run(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		head, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head) // mode, object, stage
		if ok && len(fields) == 3 && fields[2] == "0" {
			list = append(list, entry{path: path, oldMode: fields[0], newMode: fields[0], old: fields[1], new: nothing})
		}
	}
	return list, nil
}

// raw runs a command with git's raw format of differences (git-diff-index(1), "RAW OUTPUT FORMAT").
func (r *Repository) raw(ctx context.Context, command string, args ...string) ([]entry, error) {
	out, err := r.run(ctx, "", append([]string{command, "--raw", "-z", "--no-abbrev", "--no-ext-diff"}, args...)...)
	if err != nil {
		return nil, err
	}
	var list []entry
	parts := strings.Split(out, "\x00")
	for len(parts) > 1 {
		fields := strings.Fields(strings.TrimPrefix(parts[0], ":"))
		if len(fields) != 5 {
			return nil, fmt.Errorf("read the changes that git %s tells: %q is no entry", command, parts[0])
		}
		e := entry{oldMode: fields[0], newMode: fields[1], old: fields[2], new: fields[3], path: parts[1]}
		parts = parts[2:]
		if status := fields[4][0]; status == 'R' || status == 'C' {
			if len(parts) < 1 {
				return nil, fmt.Errorf("read the changes that git %s tells: a new name is missing", command)
			}
			e.from, e.path, parts = e.path, parts[0], parts[1:]
		}
		list = append(list, e)
	}
	return list, nil
}

// texts reads the objects of entries that are not too large, in one process.
func (r *Repository) texts(ctx context.Context, entries []entry) (map[string][]byte, error) {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.old)
		if !e.shown {
			ids = append(ids, e.new)
		}
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return strings.Trim(id, "0") == "" })
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := r.run(ctx, strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	var wanted []string
	total := 0
	for line := range strings.Lines(out) {
		fields := strings.Fields(line) // object, type, size
		if len(fields) != 3 || fields[1] != "blob" {
			continue
		}
		if size, err := strconv.Atoi(fields[2]); err == nil && size <= maxText && total+size <= maxTexts {
			wanted, total = append(wanted, fields[0]), total+size
		}
	}
	texts := make(map[string][]byte, len(wanted))
	if len(wanted) == 0 {
		return texts, nil
	}
	if out, err = r.run(ctx, strings.Join(wanted, "\n")+"\n", "cat-file", "--batch"); err != nil {
		return nil, err
	}
	for rest := out; rest != ""; {
		head, body, _ := strings.Cut(rest, "\n")
		fields := strings.Fields(head)
		if len(fields) != 3 {
			return nil, fmt.Errorf("read the objects that git cat-file tells: %q is no head of one", head)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size+1 > len(body) {
			return nil, fmt.Errorf("read the objects that git cat-file tells: %s is cut off", fields[0])
		}
		texts[fields[0]], rest = []byte(body[:size]), body[size+1:]
	}
	return texts, nil
}

// change tells what has become of a file; changed is false where both texts are the same.
func (r *Repository) change(view *workspace.View, e entry, texts map[string][]byte) (c Change, changed bool) {
	c = Change{Path: r.absolute(e.path), Status: Modified, Untracked: e.untracked}
	if e.from != "" {
		c.From, c.Status = r.absolute(e.from), Renamed
	}
	if e.oldMode == submodule || e.newMode == submodule {
		c.Why = "it is a submodule"
		return c, e.old != e.new
	}
	was := strings.Trim(e.old, "0") != ""
	is := strings.Trim(e.new, "0") != ""
	if was {
		c.Old, c.Why = textOf(texts, e.old)
	}
	switch {
	case e.shown:
		is = r.shown(view, &c)
	case is:
		var why string
		if c.New, why = textOf(texts, e.new); why != "" {
			c.Why = why
		}
	}
	switch {
	case !was && !is:
		return c, false
	case !was:
		c.Status = Added
	case !is:
		c.Status, c.New, c.Why = Deleted, "", ""
		if c.From != "" {
			c.Path, c.From = c.From, ""
		}
	}
	if e.oldMode == link || e.newMode == link || e.shown && isLink(c.Path) {
		c.Why = "it is a symbolic link" // whose text is that of another file
	}
	if permission.Secret(e.path) || permission.Secret(e.from) {
		c.Why = "it looks like a file that holds keys or passwords"
	}
	if c.Why != "" {
		c.Old, c.New = "", ""
		return c, true
	}
	if was && is {
		c.Old = workspace.Normalize(c.Old, c.New)
	}
	return c, c.Old != c.New || c.Status != Modified
}

// shown puts in the text of a file that the editor shows, and reports whether there is one.
func (r *Repository) shown(view *workspace.View, c *Change) bool {
	file, err := view.Read(c.Path)
	var problem *workspace.FileError
	switch {
	case err == nil && len(file.Text) > maxText:
		c.Why = tooLarge
	case err == nil:
		c.New = file.Text
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound:
		return false
	case errors.As(err, &problem):
		c.Why = "it " + problem.Detail
	default:
		c.Why = err.Error()
	}
	return true
}

// isLink reports whether the disk has a symbolic link at a path.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

const tooLarge = "it is too large"

// textOf is the text of an object, or the reason why there is none.
func textOf(texts map[string][]byte, id string) (text, why string) {
	data, ok := texts[id]
	if !ok {
		return "", tooLarge
	}
	text, _, ok = workspace.Decode(data)
	if !ok {
		return "", "it is not a text file"
	}
	return text, ""
}

func (r *Repository) absolute(rel string) string {
	return filepath.Join(r.Top, filepath.FromSlash(rel))
}

// Lines are the changed lines of the new text. For removed lines, it is the line behind them, or the last line.
func (c Change) Lines() []Lines {
	var list []Lines
	last := len(workspace.Lines(c.New))
	for _, h := range workspace.Diff(c.Old, c.New) {
		first := min(h.NewStart+1, max(last, 1))
		list = append(list, Lines{first, max(first, h.NewEnd)})
	}
	return list
}

// Diff is the difference in the unified format, for people and models, under the name of the file.
func (c Change) Diff(name string) string {
	change := workspace.Change{}
	if c.Status != Added {
		change.Before = &workspace.File{Text: c.Old}
	}
	if c.Status != Deleted {
		change.After = &workspace.File{Text: c.New}
	}
	return change.Unified(name)
}

// On converts lines of the new text to another version of the text, such as the one that the editor shows. Lines that
// the other version lacks are left out.
func On(lines []Lines, text, other string) []Lines {
	if text == other {
		return lines
	}
	hunks := workspace.Diff(text, other)
	var list []Lines
	for _, l := range lines {
		first, last := carried(hunks, l.First-1, l.Last)
		if first < last {
			list = append(list, Lines{first + 1, last})
		}
	}
	return list
}

// carried is where the lines [start, end), 0-based, are after hunks: the lines that are left of them, with the lines
// that replaced some of them.
func carried(hunks []workspace.LineHunk, start, end int) (first, last int) {
	first, last = start, end
	for _, h := range hunks {
		switch {
		case h.End <= start:
			first = start + h.NewEnd - h.End
		case h.Start < start:
			first = h.NewStart
		}
		switch {
		case h.Start >= end:
			return first, last
		case h.End <= end:
			last = end + h.NewEnd - h.End
		default:
			last = h.NewEnd
		}
	}
	return first, last
}
