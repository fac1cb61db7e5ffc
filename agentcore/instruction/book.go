package instruction

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	// MaxDepth is how deep imports may be nested.
	MaxDepth = 5
	// maxFolders bounds the folders that are searched for the files at hand, and maxTexts the texts of one set.
	maxFolders = 1000
	maxTexts   = 200
)

// Reader reads for a [Book]. Its methods may be called from any goroutine.
type Reader interface {
	// Read returns the text of a file as the editor shows it, without invisible characters, and how many of these it
	// had. root is the workspace folder for which the file counts, "" for a file of the user's. The error is
	// fs.ErrNotExist if there is no such file; any other error says why the file is refused.
	Read(root, name string) (text string, unseen int, err error)
	// List returns the names of the files directly in a folder of a workspace folder; none if there is no such folder.
	List(root, dir string) []string
}

// Places is where instructions lie.
type Places struct {
	// User are the user's own files, absolute, and Home is the home folder that ~/ means in them; "" for none.
	User []string
	Home string
	// Roots are the workspace folders that the user trusts, absolute, in order.
	Roots []string
}

// Text is what one file says, as a model gets it.
type Text struct {
	// Path is absolute.
	Path string
	// Root is the workspace folder for which it counts, "" for the user's own.
	Root string
	// By is the file that imports it, absolute; "" for a file that counts by its own name.
	By string
	// Body is the text, or the part that was not cut off, and Size is its uncut length, in bytes.
	Body string
	Size int
	// Unseen is how many invisible characters were removed.
	Unseen int
}

// Cut is how many bytes of the text are left out.
func (t Text) Cut() int { return t.Size - len(t.Body) }

// Omitted is a file that is not given, and why.
type Omitted struct {
	Path, By string
	// Why is for people, the end of a sentence that begins with the file.
	Why string
	// Fault reports whether somebody should mend it.
	Fault bool
	// other says that the file counts only for files other than those at hand.
	other bool
}

// Set are instructions in the order in which they are given.
type Set struct {
	Texts   []Text
	Omitted []Omitted
	// Max is how many bytes all texts together may have; 0 before [Set.Bound].
	Max int
}

// Book is what a tree of runs knows of the workspace's instructions. It reads each file only once, so that all these
// runs get the same texts. Its methods may be called from any goroutine.
type Book struct {
	places Places
	reader Reader

	mu    sync.Mutex
	pages map[string]page
	lists map[string][]string
}

// page is what was found at a path.
type page struct {
	text   string
	unseen int
	err    error
}

// NewBook makes a book of which nothing is read yet.
func NewBook(places Places, reader Reader) *Book {
	return &Book{places: places, reader: reader, pages: map[string]page{}, lists: map[string][]string{}}
}

// For returns the instructions for work on files, absolute: the user's own, those of the workspace folders, and those
// of each folder down to the files. It reads what was not read yet.
func (b *Book) For(files ...string) Set {
	c := collector{book: b, seen: map[string]bool{}, said: map[string]string{}}
	for _, name := range b.places.User {
		c.take("", name)
	}
	for _, dir := range b.folders(files) {
		for _, name := range names {
			c.take(dir.root, filepath.Join(dir.path, name))
		}
		if dir.path == dir.root {
			c.take(dir.root, filepath.Join(dir.root, filepath.FromSlash(claudeFile)))
			c.take(dir.root, filepath.Join(dir.root, filepath.FromSlash(copilotFile)))
			c.scoped(dir.root, files)
		}
	}
	return c.set
}

// Beyond returns the instructions for work on a file, absolute, that are not among the files in known, by path.
func (b *Book) Beyond(known map[string]bool, file string) Set {
	c := collector{book: b, seen: map[string]bool{}, said: map[string]string{}, known: known}
	for _, dir := range b.folders([]string{file}) {
		for _, name := range names {
			c.take(dir.root, filepath.Join(dir.path, name))
		}
		if dir.path == dir.root {
			c.scoped(dir.root, []string{file})
		}
	}
	c.set.Omitted = slices.DeleteFunc(c.set.Omitted, func(o Omitted) bool { return o.other })
	return c.set
}

// Has reports whether a file was read for its instructions.
func (b *Book) Has(file string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pages[file]
	return ok && p.err == nil
}

// Import returns what a file gets by one of its imports. It reads the imported files as [Book.For] does.
func (b *Book) Import(file string, i Import) Set {
	c := collector{book: b, seen: map[string]bool{}, said: map[string]string{}}
	c.imported(b.root(file), file, i, []string{file})
	return c.set
}

// folder is a folder whose instructions count, and the workspace folder that it lies in.
type folder struct{ root, path string }

// folders are the workspace folders, with those of the files last, and the folders between them and the files, the
// nearest last. A file's own name is among them, since it may be a folder.
func (b *Book) folders(files []string) []folder {
	var at, list []folder
	for _, root := range b.places.Roots {
		list = append(list, folder{root, root})
	}
	seen := map[string]bool{}
	for _, file := range files {
		root := b.root(file)
		for dir := file; root != "" && dir != root && !seen[dir] && len(at) < maxFolders; dir = filepath.Dir(dir) {
			seen[dir] = true
			at = append(at, folder{root, dir})
		}
		if root != "" {
			seen[root] = true
		}
	}
	depth := func(f folder) int { return strings.Count(f.path, string(filepath.Separator)) }
	slices.SortStableFunc(at, func(x, y folder) int {
		return cmp.Or(cmp.Compare(depth(x), depth(y)), cmp.Compare(x.path, y.path))
	})
	slices.SortStableFunc(list, func(x, y folder) int {
		switch {
		case seen[x.root] == seen[y.root]:
			return 0
		case seen[x.root]:
			return 1
		}
		return -1
	})
	return append(list, at...)
}

// root is the innermost workspace folder that holds a file, "" for none.
func (b *Book) root(name string) string {
	best := ""
	for _, root := range b.places.Roots {
		if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) && len(root) > len(best) {
			best = root
		}
	}
	return best
}

// page reads a file, the first time that it is asked for.
func (b *Book) page(root, name string) page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.pages[name]; ok {
		return known
	}
	var p page
	p.text, p.unseen, p.err = b.reader.Read(root, name)
	b.pages[name] = p
	return p
}

// list lists a folder, the first time that it is asked for.
func (b *Book) list(root, dir string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, ok := b.lists[dir]
	if !ok {
		known = b.reader.List(root, dir)
		slices.Sort(known)
		b.lists[dir] = known
	}
	return known
}

// collector makes a set.
type collector struct {
	book  *Book
	set   Set
	known map[string]bool   // by path: the files that are not to be given again
	seen  map[string]bool   // by path
	said  map[string]string // by text: the file that has given it
}

// take adds a file that counts by its own name.
func (c *collector) take(root, name string) { c.add(root, name, "", nil) }

// omit notes a file that is not given.
func (c *collector) omit(name, by, why string, fault bool) {
	if !c.known[name] {
		c.set.Omitted = append(c.set.Omitted, Omitted{Path: name, By: by, Why: why, Fault: fault})
	}
}

// add adds a file and what it imports. from is the file that imports it, "" for none, and above are all the files on
// the way to it, the nearest last.
func (c *collector) add(root, name, from string, above []string) {
	if slices.Contains(above, name) {
		c.omit(name, from, "imports itself in a circle", true)
		return
	}
	if c.seen[name] {
		return
	}
	c.seen[name] = true
	p := c.book.page(root, name)
	switch {
	case errors.Is(p.err, fs.ErrNotExist):
		return
	case p.err != nil:
		c.omit(name, from, p.err.Error(), true)
		return
	}
	text := p.text
	if IsScoped(name) {
		text = text[ScopeOf(text).Body:]
	}
	imports := Imports(text)
	body := strings.TrimSpace(text)
	if _, nothingElse := onlyImport(text, imports); !nothingElse && body != "" && !c.known[name] {
		switch same := c.said[body]; {
		case same != "":
			c.omit(name, from, "says the same as "+same, false)
			return
		case len(c.set.Texts) >= maxTexts:
			c.omit(name, from, fmt.Sprintf("is one of more than %d files", maxTexts), true)
			return
		}
		c.said[body] = filepath.Base(name)
		c.set.Texts = append(c.set.Texts, Text{
			Path: name, Root: root, By: from, Body: body, Size: len(body), Unseen: p.unseen,
		})
	}
	if !Importing(name) {
		return
	}
	for _, i := range imports {
		c.imported(root, name, i, append(slices.Clip(above), name))
	}
}

// imported adds a file that another file imports.
func (c *collector) imported(root, from string, i Import, above []string) {
	name, ok := i.Resolve(from, c.book.places.Home)
	if ok && root != "" {
		inside := c.book.root(name)
		if ok = inside != ""; ok {
			root = inside
		}
	}
	switch {
	case !ok:
		if i.IsPath() {
			c.omit(cmp.Or(name, filepath.Join(filepath.Dir(from), filepath.FromSlash(i.Name))), from,
				"lies outside of the workspace, and a project's instructions come from its folder alone", true)
		}
	case len(above) > MaxDepth:
		c.omit(name, from, fmt.Sprintf("is imported by more than %d files one below the other", MaxDepth), true)
	case errors.Is(c.book.page(root, name).err, fs.ErrNotExist):
		if i.IsPath() {
			c.omit(name, from, "is not there", true)
		}
	default:
		c.add(root, name, from, above)
	}
}

// scoped adds the files of .github/instructions that apply to the files at hand.
func (c *collector) scoped(root string, files []string) {
	dir := filepath.Join(root, filepath.FromSlash(copilotFolder))
	for _, base := range c.book.list(root, dir) {
		if !strings.HasSuffix(base, copilotEnding) {
			continue
		}
		name := filepath.Join(dir, base)
		p := c.book.page(root, name)
		if p.err != nil {
			c.take(root, name) // take notes the reason why the file cannot be read
			continue
		}
		scope := ScopeOf(p.text)
		switch {
		case len(scope.Globs) == 0:
			c.omit(name, "", "has no applyTo in its frontmatter, and so is for no file", false)
		case slices.ContainsFunc(scope.Globs, func(g Glob) bool { return c.applies(g, root, files) }):
			c.take(root, name)
		default:
			c.set.Omitted = append(c.set.Omitted, Omitted{Path: name, Why: "is for other files", other: true})
		}
	}
}

// applies reports whether a glob is for one of the files at hand.
func (c *collector) applies(g Glob, root string, files []string) bool {
	return g.everything() || slices.ContainsFunc(files, func(file string) bool {
		rel, err := filepath.Rel(root, file)
		return err == nil && filepath.IsLocal(rel) && g.Matches(filepath.ToSlash(rel))
	})
}
