package instruction

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/glob"
	"github.com/bmatcuk/doublestar/v4"
)

// The files of a workspace folder for GitHub Copilot.
const (
	copilotFile   = ".github/copilot-instructions.md"
	copilotFolder = ".github/instructions"
	copilotEnding = ".instructions.md"
)

// claudeFile is where Claude Code looks beside CLAUDE.md.
const claudeFile = ".claude/CLAUDE.md"

// names are the files that count in every folder, in order.
var names = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// Named are the files and folders of a workspace folder that hold instructions, as slash paths.
func Named() []string { return append(append([]string{}, names...), ofRoot...) }

// ofRoot are the files and the folder that count only in a workspace folder, in order.
var ofRoot = []string{claudeFile, copilotFile, copilotFolder}

// OfFolders are the names of the files that hold instructions in any folder.
func OfFolders() []string { return append([]string{}, names...) }

// Is reports whether a file holds instructions, by its absolute path.
func Is(name string) bool {
	slashed := filepath.ToSlash(name)
	for _, known := range names {
		if path.Base(slashed) == known {
			return true
		}
	}
	return strings.HasSuffix(slashed, "/"+copilotFile) || IsScoped(name)
}

// Importing reports whether imports are followed in a file with instructions, by its absolute path: Copilot's own files
// have no imports.
func Importing(name string) bool {
	slashed := filepath.ToSlash(name)
	return !IsScoped(name) && !strings.HasSuffix(slashed, "/"+copilotFile)
}

// IsScoped reports whether a file, by its absolute path, holds instructions that apply only to certain files: a file of
// .github/instructions.
func IsScoped(name string) bool {
	slashed := filepath.ToSlash(name)
	return strings.HasSuffix(slashed, copilotEnding) && strings.HasSuffix(path.Dir(slashed), "/"+copilotFolder)
}

// Glob is a glob of a scope.
type Glob struct {
	// Text is as written, without quotes.
	Text string
	// Start and End are where it stands in the file, in bytes.
	Start, End int
}

// Scope is the frontmatter of a file of .github/instructions.
type Scope struct {
	// Globs are the globs of applyTo, in order; without globs, no agent gets the file.
	Globs []Glob
	// Written reports whether there is an applyTo.
	Written bool
	// Body is the offset of the text below the frontmatter, in bytes.
	Body int
}

// ScopeOf reads the frontmatter. It also accepts frontmatter that is not valid YAML: most people write `applyTo:
// **/*.go` without quotes.
func ScopeOf(text string) Scope {
	var s Scope
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---")
	if line, _, _ := strings.Cut(rest, "\n"); !ok || strings.TrimSpace(line) != "" {
		return s
	}
	at, closed, listed := 0, false, false
	var found Scope
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case start == 0:
		case trimmed == "---":
			closed = true
		case strings.HasPrefix(line, "applyTo:"):
			found.Written, listed = true, true
			found.globs(line[len("applyTo:"):], start+len("applyTo:"))
		case listed && strings.HasPrefix(trimmed, "-"):
			dash := strings.Index(line, "-") + 1
			found.globs(line[dash:], start+dash)
		case trimmed != "" && !strings.HasPrefix(trimmed, "#"):
			listed = false
		}
		if closed {
			break
		}
	}
	if !closed {
		return s
	}
	found.Body = at
	return found
}

// globs adds the globs of a value that begins at an offset. The globs have commas between them, and may have commas in
// braces.
func (s *Scope) globs(value string, offset int) {
	depth, from := 0, 0
	add := func(to int) {
		part := value[from:to]
		text := strings.Trim(part, " \t\r\n\"'[]")
		if text != "" {
			start := offset + from + strings.Index(part, text)
			s.Globs = append(s.Globs, Glob{Text: text, Start: start, End: start + len(text)})
		}
		from = to + 1
	}
	for i, c := range value {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth <= 0:
			add(i)
		}
	}
	add(len(value))
}

// Valid reports whether the glob can be matched with.
func (g Glob) Valid() bool {
	return glob.Valid(g.pattern())
}

func (g Glob) pattern() string { return strings.TrimPrefix(strings.TrimPrefix(g.Text, "./"), "/") }

// everything reports whether the glob is for all files.
func (g Glob) everything() bool { return g.Text == "**" || g.Text == "**/*" || g.Text == "*" }

// Matches reports whether the glob matches a file, by its slash path below the workspace folder. A broken glob matches
// none.
func (g Glob) Matches(rel string) bool {
	if !g.Valid() {
		return false
	}
	ok, err := doublestar.Match(g.pattern(), rel)
	return ok && err == nil
}
