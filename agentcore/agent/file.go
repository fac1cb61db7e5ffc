package agent

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Format is a way to write definitions.
type Format string

// The formats.
const (
	// Native is Markdown below YAML frontmatter with the keys of Keys.
	Native Format = "native"
	// Claude is Markdown below YAML frontmatter as in .claude/agents.
	Claude Format = "claude"
	// OpenCode is Markdown below YAML frontmatter as in .opencode/agent.
	OpenCode Format = "opencode"
	// TOML is [[agents]] tables with the keys of Keys.
	TOML Format = "toml"
	// JSON is {"agents": […]} with the keys of Keys, one such object alone, or the shapes {"AgentRoles": {"Roles": […]}}
	// and {"Agents": {"Custom": […]}}.
	JSON Format = "json"
)

// Formats lists all formats.
func Formats() []Format { return []Format{Native, Claude, OpenCode, TOML, JSON} }

// Foreign reports whether the format is that of another tool, whose files may name what agentls does not have.
func (f Format) Foreign() bool { return f == Claude || f == OpenCode }

// File is what was read from a text: the definitions that can be used and everything that is wrong.
type File struct {
	Path   string
	Format Format
	// Definitions are in the order of the text, also those with an error; see Usable.
	Definitions []*Definition
	// Problems are in the order of the text after Parse and after Validate.
	Problems []Problem
	// Fields are in the order of the text.
	Fields []Field

	text      *text
	bad       map[*Definition]bool    // have an error
	why       map[*Definition]Problem // the first error of those that have one
	prompts   map[*Definition]place   // where they stand, or the names of their files
	slugs     map[*Definition]place   // where the names stand
	count     int                     // of definitions in the text
	named     []named                 // in the order of reading
	shaped    bool                    // JSON in the shape of another tool
	validated bool                    // set by Validate
}

// place is a part of the text in byte offsets.
type place struct{ start, end int }

// Field is one key with its value, or one element of a list, for hover, completion and symbols.
type Field struct {
	// Key is dotted; an element of a list has its index: "tools.0", "as_child.max_turns". Keys of foreign formats
	// are as they are written. The prompt of a Markdown file is "prompt", its KeySpan empty.
	Key string
	// KeySpan is the key's last part; for an element of a list it is empty, at the start of the value.
	KeySpan, ValueSpan event.Span
	// Value is the decoded text of a scalar; empty for lists and maps.
	Value string
	// Definition counts the definitions of the text from 0, also those that cannot be used.
	Definition int
}

// Detect tells whether a path is that of a file of definitions, and of which format: agents/*.md, agents.toml,
// agents.json and *.agents.json of agentls, .claude/agents/**/*.md, .opencode/agent/**/*.md and
// .opencode/agents/**/*.md. It looks at the path alone, which may have slashes or backslashes.
func Detect(name string) (Format, bool) {
	name = strings.ReplaceAll(filepath.ToSlash(name), `\`, "/")
	base := path.Base(name)
	parts := strings.Split(path.Dir(name), "/")
	switch strings.ToLower(path.Ext(base)) {
	case ".md", ".markdown":
		for i := len(parts) - 1; i > 0; i-- {
			switch {
			case parts[i] == "agents" && parts[i-1] == ".claude":
				return Claude, true
			case (parts[i] == "agent" || parts[i] == "agents") && parts[i-1] == ".opencode":
				return OpenCode, true
			case parts[i] == "agents" && (parts[i-1] == ".agentls" || parts[i-1] == "agentls" || i > 1 && parts[i-2] == "plugins"):
				return Native, true
			}
		}
	case ".toml":
		if base == "agents.toml" {
			return TOML, true
		}
	case ".json":
		if strings.HasSuffix(base, ".agents.json") || base == "agents.json" && slices.ContainsFunc(parts, isHome) {
			return JSON, true
		}
	}
	return "", false
}

// isHome tells whether a folder's name is that of one of agentls's own folders.
func isHome(part string) bool { return part == ".agentls" || part == "agentls" || part == "plugins" }

// Parse reads the definitions of a text. The format is that of the path (see Detect), else that which the ending
// and the text look like. It never panics and never returns nil, and finds every problem at once that can be seen
// in the text alone; Validate adds those that need to know what there is.
func Parse(name, text string) *File {
	format, ok := Detect(name)
	if !ok {
		format = guess(name, text)
	}
	return ParseAs(format, name, text)
}

// guess is the format of a text whose path says nothing.
func guess(name, text string) Format {
	start := strings.TrimSpace(text[:min(len(text), 4096)])
	switch ext := strings.ToLower(path.Ext(filepath.ToSlash(name))); {
	case ext == ".toml":
		return TOML
	case ext == ".json":
		return JSON
	case ext == ".md", ext == ".markdown", strings.HasPrefix(start, "---"):
		return Native
	case strings.HasPrefix(start, "{"):
		return JSON
	case strings.HasPrefix(start, "[[agents]]"):
		return TOML
	}
	return Native
}
