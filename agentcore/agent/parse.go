package agent

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Parse reads the definitions of a text. The path decides on the format (see Detect), or else its extension and the
// text do. It never panics and never returns nil. It finds all problems that can be seen in the text alone; Validate
// adds the problems for which other things must be known.
func Parse(name, text string) *File {
	format, ok := Detect(name)
	if !ok {
		format = guess(name, text)
	}
	return ParseAs(format, name, text)
}

// guess is the format of a text if its path does not tell it.
func guess(name, text string) Format {
	start := strings.TrimSpace(withoutMark(text[:min(len(text), 4096)]))
	switch ext := strings.ToLower(path.Ext(filepath.ToSlash(name))); {
	case ext == ".toml":
		return TOML
	case ext == ".json":
		return JSON
	case ext == ".md", ext == ".markdown", strings.HasPrefix(start, "---"):
		return Native
	case strings.HasPrefix(start, "{"), strings.HasPrefix(start, "[") &&
		strings.HasPrefix(strings.TrimSpace(start[1:]), "{"):
		return JSON
	case strings.HasPrefix(start, "[[agents]]"):
		return TOML
	}
	return Native
}

// ParseAs reads a text as Parse does, in a format that the caller knows.
func ParseAs(format Format, name, s string) *File {
	f := &File{
		Path: name, Format: format, text: newText(s), bad: map[*Definition]bool{},
		why: map[*Definition]Problem{}, prompts: map[*Definition]place{}, slugs: map[*Definition]place{},
		shaped: map[*Definition]*shape{}, doubled: map[*Definition]bool{},
	}
	if len(s) > maxText {
		f.text = newText("")
		f.report(fault{
			severity: failure, message: fmt.Sprintf("the file has %d bytes", len(s)),
			hint: fmt.Sprintf("a file of definitions has at most %d", maxText),
		})
		return f
	}
	if !utf8.ValidString(s) {
		at := 0
		for i, c := range s {
			if c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
				at = i
				break
			}
		}
		f.report(fault{
			start: at, end: at + 1, severity: failure, message: "the text is not UTF-8",
			hint: "save it as UTF-8",
		})
		return f
	}
	switch format {
	case TOML:
		f.parseTOML()
	case JSON:
		f.parseJSON()
	default:
		f.parseMarkdown()
	}
	f.sort()
	return f
}
