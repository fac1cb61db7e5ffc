package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

// noInstructions is what a definition says whose agent works without the instructions of the user and the project.
const noInstructions = "none"

// maxUserFile bounds a file of the user's own instructions, in bytes.
const maxUserFile = 1 << 20

// instructs reports whether a file holds instructions for agents: because of its name, or because such a file imports
// it.
func instructs(book *instruction.Book, path string) bool {
	return instruction.Is(path) || book != nil && book.Has(path)
}

// withoutInstructions reports whether an agent works without instructions.
func withoutInstructions(d *agent.Definition, cfg *config.Config) bool {
	return d.Instructions == noInstructions || cfg.InstructionsMaxBytes == 0
}

// InstructionsOf are the instructions that an agent is given for work on files, whose paths are absolute. window is how
// many tokens its model takes, 0 for no bound; the instructions take at most a quarter of that.
func InstructionsOf(book *instruction.Book, d *agent.Definition, cfg *config.Config, window int64,
	files []string,
) instruction.Set {
	if withoutInstructions(d, cfg) {
		return instruction.Set{}
	}
	most := cfg.InstructionsMaxBytes
	if window > 0 {
		most = min(most, window/4*bytesPerToken)
	}
	return book.For(files...).Bound(int(most))
}

// NewInstructions makes the book of what the workspace of a session and its user instruct agents to do, for agents with
// these rights.
func NewInstructions(p *Process, s *Session, rights authority.Rights) *instruction.Book {
	places := instruction.Places{Home: p.User.Home, Roots: s.TrustedRoots()}
	if p.User.Config != "" {
		places.User = append(places.User, filepath.Join(filepath.Dir(p.User.Config), "AGENTS.md"))
	}
	if p.User.Home != "" {
		places.User = append(places.User, filepath.Join(p.User.Home, ".claude", "CLAUDE.md"))
	}
	layer := s.Board.Proposal().Fork()
	return instruction.NewBook(places, instructionReader{
		view: s.View, layer: layer, rights: rights, vouch: s.Vouch, ignored: layer.Ignored(),
	})
}

// instructionReader reads files of instructions as the editor shows them, without what agents propose.
type instructionReader struct {
	view    *workspace.View
	layer   *workspace.Layer // used to look up names only
	rights  authority.Rights
	vouch   func(root, name string, content []byte) error
	ignored *workspace.Ignored
}

// ReadInstructions reads a file with instructions as the editor shows it, without regard to rules. root is the
// workspace folder that the file counts in, "" for a file of the user's own. The error is fs.ErrNotExist, or says why
// the file is refused.
func ReadInstructions(view *workspace.View, root, name string) (workspace.File, error) {
	file, err := view.Read(name)
	problem, refused := errors.AsType[*workspace.FileError](err)
	switch {
	case refused && problem.Kind == workspace.NotFound:
		return file, fs.ErrNotExist
	case root == "" && refused && problem.Kind == workspace.Outside:
		file.Text, err = readUserFile(name)
		return file, err
	case refused && problem.Kind == workspace.Directory:
		return file, fs.ErrNotExist
	case refused:
		return file, errors.New("is refused: " + problem.Detail)
	}
	return file, err
}

// Read implements [instruction.Reader].
func (i instructionReader) Read(root, name string) (text string, unseen int, err error) {
	file, err := ReadInstructions(i.view, root, name)
	if err != nil {
		return "", 0, err
	}
	if why := i.rights.WhyUnread(name, "read"); why != "" {
		return "", 0, errors.New("is refused: " + why)
	}
	if root != "" {
		if dir := filepath.Dir(name); dir != root && i.ignored.Has(dir, true) {
			return "", 0, errors.New("lies in a folder that version control ignores")
		}
		if file.Version < 0 { // an open document is in front of the user
			content, err := file.Format.Encode(file.Text)
			if err == nil {
				err = i.vouch(root, name, content)
			}
			if err != nil {
				return "", 0, err
			}
		}
	}
	return permission.Seen(file.Text), permission.CountUnseen(file.Text), nil
}

// List implements [instruction.Reader].
func (i instructionReader) List(_, dir string) []string {
	entries, err := i.layer.List(dir)
	if err != nil {
		return nil // most workspaces have none
	}
	var names []string
	for _, e := range entries {
		if !e.Dir {
			names = append(names, filepath.Base(e.Path))
		}
	}
	return names
}

// readUserFile reads a file of the user's own, wherever it lies.
func readUserFile(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", fs.ErrNotExist
	}
	for _, system := range []string{"/proc", "/sys", "/dev"} {
		if real == system || strings.HasPrefix(real, system+"/") {
			return "", errors.New("is refused: it is a file of the system")
		}
	}
	if permission.Secret(filepath.ToSlash(real)) {
		return "", errors.New("is refused: it looks like a file that holds keys or passwords")
	}
	// Opening must not wait for a pipe, not even for one that took the file's place a moment ago.
	file, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", errors.New("cannot be read: " + err.Error())
	}
	defer file.Close() // only read from
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", errors.New("cannot be read: " + err.Error())
	case info.IsDir():
		return "", fs.ErrNotExist
	case !info.Mode().IsRegular():
		return "", errors.New("is refused: it is not a regular file")
	case info.Size() > maxUserFile:
		return "", fmt.Errorf("is refused: it has %d bytes, more than %d", info.Size(), maxUserFile)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxUserFile))
	switch {
	case err != nil:
		return "", errors.New("cannot be read: " + err.Error())
	case !utf8.Valid(text) || strings.ContainsRune(string(text), 0):
		return "", errors.New("is refused: it is not a text in UTF-8")
	}
	return string(text), nil
}
