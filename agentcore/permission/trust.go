package permission

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// acting are the files and folders of a workspace folder from which agentls takes what acts: configuration with hooks
// and MCP servers, definitions, skills and prompts, agentls's own and those of other tools.
var acting = []string{
	".agentls", ".mcp.json", ".claude/agents", ".claude/commands", ".claude/skills", ".github/prompts",
	".opencode/agent", ".opencode/agents", ".opencode/command", ".opencode/commands",
}

// Files beyond these bounds are not read, and so not trusted.
const (
	maxActors     = 10_000
	maxActorBytes = 64 << 20 // of all files together
	maxActorDepth = 16
)

// Actor is a file that acts, or would, in a workspace folder.
type Actor struct {
	// Path below the folder, with slashes.
	Path string
	// Hash is the hash of the file's content ([Hash]). For a file that cannot be read it is a text that says why, so
	// that the file counts as changed once it can be read.
	Hash string
	// Unseen is how many characters of its text nobody sees (see [Unseen]), as it was read just now; 0 for what is no
	// text.
	Unseen int
}

// Hash is the SHA-256 of a file's content, in hex digits.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Actors reads what would act in a workspace folder, sorted by path, and what else the caller knows to act there, such
// as files that a definition takes its prompt from, as slash paths below the folder. Links are followed inside the
// folder only. It fails where ctx ends, and where there is more than can be looked at; then nothing in the folder may
// be trusted. It reads the disk.
func Actors(ctx context.Context, root *os.Root, more ...string) ([]Actor, error) {
	s := &survey{ctx: ctx, root: root, seen: map[string]bool{}}
	top, err := root.Stat(".")
	if err != nil {
		return nil, fmt.Errorf("look for what acts: %w", err)
	}
	for _, name := range slices.Concat(acting, more) {
		if err := s.look(path.Clean(name), []fs.FileInfo{top}); err != nil {
			return nil, fmt.Errorf("look for what acts in %s: %w", root.Name(), err)
		}
	}
	slices.SortFunc(s.actors, func(a, b Actor) int { return cmp.Compare(a.Path, b.Path) })
	return s.actors, nil
}

// survey collects actors.
type survey struct {
	ctx    context.Context
	root   *os.Root
	actors []Actor
	seen   map[string]bool
	bytes  int64
}

// look adds a file, or those below a folder; around are the folders that it lies in.
func (s *survey) look(name string, around []fs.FileInfo) error {
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if s.seen[name] {
		return nil
	}
	s.seen[name] = true
	info, err := s.root.Stat(name) // follows links, inside only
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := s.root.Lstat(name); err != nil {
			return nil
		}
		return s.unreadable(name, "a link to nothing")
	case err != nil:
		return s.unreadable(name, reason(err))
	case info.Mode().IsRegular():
		return s.hash(name)
	case !info.IsDir():
		return s.unreadable(name, "no regular file")
	case slices.ContainsFunc(around, func(f fs.FileInfo) bool { return os.SameFile(f, info) }):
		return s.unreadable(name, "a link to a folder around it")
	case len(around) > maxActorDepth:
		return fmt.Errorf("%s lies too deep: at most %d folders are looked into", name, maxActorDepth)
	}
	entries, err := fs.ReadDir(s.root.FS(), name)
	if err != nil {
		return s.unreadable(name, reason(err))
	}
	for _, e := range entries {
		if err := s.look(path.Join(name, e.Name()), append(around, info)); err != nil {
			return err
		}
	}
	return nil
}

// reason is an error without its path, which the actor has.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func (s *survey) unreadable(name, why string) error {
	return s.add(Actor{Path: name, Hash: "unreadable: " + why})
}

func (s *survey) add(a Actor) error {
	if len(s.actors) >= maxActors {
		return fmt.Errorf("there are more than %d files", maxActors)
	}
	s.actors = append(s.actors, a)
	return nil
}

func (s *survey) hash(name string) error {
	// A file that was swapped for a pipe must not be waited for.
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return s.unreadable(name, reason(err))
	}
	a, size, err := actorOf(name, f, maxActorBytes-s.bytes)
	if err := errors.Join(err, f.Close()); err != nil {
		return s.unreadable(name, reason(err))
	}
	if s.bytes += size; s.bytes > maxActorBytes {
		return fmt.Errorf("its files hold more than %d bytes", int64(maxActorBytes))
	}
	return s.add(a)
}

// maxUnseen bounds what is looked at for characters that nobody sees, in bytes: more than any text has that agentls
// uses.
const maxUnseen = 1 << 20

// actorOf reads at most one byte more than limit.
func actorOf(name string, f *os.File, limit int64) (a Actor, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return a, 0, err
	}
	if !info.Mode().IsRegular() {
		return a, 0, errors.New("no regular file")
	}
	h := sha256.New()
	text, err := io.ReadAll(io.LimitReader(f, min(limit+1, maxUnseen)))
	if err != nil {
		return a, 0, err
	}
	h.Write(text) // never fails
	more, err := io.Copy(h, io.LimitReader(f, limit+1-int64(len(text))))
	a = Actor{Path: name, Hash: hex.EncodeToString(h.Sum(nil))}
	if more == 0 && utf8.Valid(text) && !bytes.Contains(text, []byte{0}) {
		a.Unseen = CountUnseen(string(text))
	}
	return a, int64(len(text)) + more, err
}

// Digest is one hash for all actors of a folder, in order.
func Digest(actors []Actor) string {
	h := sha256.New()
	for _, a := range actors {
		fmt.Fprintf(h, "%d:%s%d:%s", len(a.Path), a.Path, len(a.Hash), a.Hash)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Standing is how far a workspace folder is trusted. Values: Unknown, Changed, Trusted; only in a Trusted one does
// anything act.
type Standing string

const (
	// Unknown: the user has not said so.
	Unknown Standing = "unknown"
	// Changed: the user has said so, of other files than lie there now.
	Changed Standing = "changed"
	// Trusted: the user has said so of just these files.
	Trusted Standing = "trusted"
)

// Trust is the standing of a folder, and what has changed since the user trusted it, as sorted paths.
type Trust struct {
	Standing                Standing
	Added, Changed, Removed []string
}

// Compare tells the standing of a folder. decided says that the user trusts it, then is what acted in it at that time,
// and now what acts in it. Both are sorted by path.
func Compare(decided bool, then, now []Actor) Trust {
	if !decided {
		return Trust{Standing: Unknown}
	}
	t := Trust{Standing: Trusted}
	for len(then) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(then) > 0 && then[0].Path < now[0].Path:
			t.Removed = append(t.Removed, then[0].Path)
			then = then[1:]
			continue
		case len(then) == 0 || now[0].Path < then[0].Path:
			t.Added = append(t.Added, now[0].Path)
			now = now[1:]
			continue
		case then[0].Hash != now[0].Hash:
			t.Changed = append(t.Changed, now[0].Path)
		}
		then, now = then[1:], now[1:]
	}
	if len(t.Added)+len(t.Changed)+len(t.Removed) > 0 {
		t.Standing = Changed
	}
	return t
}

// String is the standing with the first few paths, for people.
func (t Trust) String() string {
	var parts []string
	for _, c := range []struct {
		what  string
		paths []string
	}{{"added", t.Added}, {"changed", t.Changed}, {"removed", t.Removed}} {
		const few = 5
		if n := len(c.paths); n > 0 {
			list := strings.Join(c.paths[:min(n, few)], ", ")
			if n > few {
				list += fmt.Sprintf(" and %d more", n-few)
			}
			parts = append(parts, c.what+" "+Visible(list))
		}
	}
	if len(parts) == 0 {
		return string(t.Standing)
	}
	return string(t.Standing) + ": " + strings.Join(parts, "; ")
}
