package agent

import (
	"encoding/json"
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
	// TOML is [[agents]] tables with the keys of Keys, or one such table alone.
	TOML Format = "toml"
	// JSON is {"agents": […]} with the keys of Keys, one such object alone, or one of the shapes of other tools:
	// {"AgentRoles": {"Roles": […]}}, {"Agents": {"Custom": […]}}, {"Agents": […]}, {"agent": {…}}, the values inside
	// of these, and objects with systemPrompt. Comments and commas behind a last element are allowed.
	JSON Format = "json"
)

// Foreign reports whether the format belongs to another tool. Files in such a format may name things that agentls does
// not have.
func (f Format) Foreign() bool { return f == Claude || f == OpenCode }

// File is what was read from a text: its definitions and their problems.
type File struct {
	Path   string
	Format Format
	// Definitions are in the order of the text, with those that have an error; see Usable.
	Definitions []*Definition
	// Problems are in the order of the text after Parse and after Validate.
	Problems []Problem
	// Fields are in the order of the text.
	Fields []Field

	text      *text
	bad       map[*Definition]bool    // the definitions that have an error
	why       map[*Definition]Problem // the first error of each bad definition
	prompts   map[*Definition]place   // where each prompt stands, or the name of its file
	slugs     map[*Definition]place   // where each slug stands
	count     int                     // the number of definitions in the text
	named     []named                 // in the order of reading
	shaped    map[*Definition]*shape  // the definitions in a shape of another tool
	doubled   map[*Definition]bool    // the definitions whose name an earlier one in the text has
	validated bool                    // set by Validate
	strict    bool                    // set by Validate: see Known
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
	// Definition is the number of the definition in the text from 0; definitions with errors count.
	Definition int
}

// Detect reports whether a path names a file of definitions, and the file's format: agents/*.md, agents/*.json,
// agents/*.toml, agents.toml, agents.json, *.agents.json and appsettings.json of agentls, and .claude/agents/**/*.md,
// .opencode/agent/**/*.md and .opencode/agents/**/*.md, also with .json. It looks only at the path, which may have
// slashes or backslashes.
func Detect(name string) (Format, bool) {
	name = slashed(name)
	base := path.Base(name)
	parts := strings.Split(path.Dir(name), "/")
	folder, inFolder := folderFormat(name)
	switch strings.ToLower(path.Ext(base)) {
	case ".md", ".markdown":
		return folder, inFolder
	case ".toml":
		if base == "agents.toml" || folder == Native {
			return TOML, true
		}
	case ".json":
		switch {
		case inFolder, strings.HasSuffix(base, ".agents.json"), base == "agents.json" &&
			slices.ContainsFunc(parts, isHome):
			return JSON, true
		case base == appSettings:
			own := parts[len(parts)-1] == ".agentls" || parts[len(parts)-1] == "agentls" || len(parts) > 1 &&
				parts[len(parts)-2] == "plugins"
			return JSON, own
		}
	}
	return "", false
}

// appSettings is the name of a settings file of .NET programs, which may contain definitions.
const appSettings = "appsettings.json"

// slashed is a path with slashes in place of any backslashes.
func slashed(name string) string { return strings.ReplaceAll(filepath.ToSlash(name), `\`, "/") }

// isHome reports whether a folder's name is the name of one of agentls's own folders.
func isHome(part string) bool { return part == ".agentls" || part == "agentls" || part == "plugins" }

// loose reports whether the definition is in a format of another tool, whose names need not exist here.
func (f *File) loose(d *Definition) bool { return f.Format.Foreign() || f.shaped[d] != nil }

// leavesOut reports whether an unknown name is left out of the definition, in place of being an error.
func (f *File) leavesOut(d *Definition) bool { return f.loose(d) && !f.strict }

// Usable returns the definitions that have no error.
func (f *File) Usable() []*Definition {
	return slices.DeleteFunc(slices.Clone(f.Definitions), func(d *Definition) bool { return f.bad[d] })
}

// promptFiles are the paths of the files that definitions take their prompts from.
func promptFiles(files []*File) map[string]bool {
	paths := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Definitions {
			if d.PromptFile != "" && f.Path != "" {
				paths[filepath.Join(filepath.Dir(f.Path), filepath.FromSlash(d.PromptFile))] = true
			}
		}
	}
	return paths
}

// isPrompt reports whether a file in a folder of definitions is only the prompt of a definition. A file with
// frontmatter is an agent of its own.
func (f *File) isPrompt(prompts map[string]bool) bool { return prompts[f.Path] && f.unnamed() }

// reportOf adds a problem of a definition.
func (f *File) reportOf(d *Definition, fault fault) {
	if fault.severity == failure {
		f.breaks(d, f.problem(fault))
	}
	f.report(fault)
}

// breaks notes the first error of a definition.
func (f *File) breaks(d *Definition, p Problem) {
	if _, known := f.why[d]; !known {
		f.why[d] = p
	}
	f.bad[d] = true
}

// named is a place where a definition names something that must exist.
type named struct {
	def   *Definition
	what  string // tool, disallowed, option, argument, matcher, server, rule, subagent, child, instead, skill, model
	name  string
	key   string
	place *node
	// tool, value and at describe an argument of a tool: the tool's name as it is written, the value, and its place in
	// the text.
	tool  string
	value json.RawMessage
	at    *node
}
