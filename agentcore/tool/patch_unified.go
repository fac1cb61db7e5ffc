package tool

import (
	"fmt"
	"strings"
)

// startOfDiff returns the line where a unified diff begins, or -1.
func startOfDiff(lines []string) int {
	for i, s := range lines {
		if strings.HasPrefix(s, "diff --git ") || isFileHeader(lines, i) {
			return i
		}
	}
	return -1
}

// isFileHeader reports whether "---" and "+++" lines that name a file stand at a line.
func isFileHeader(lines []string, at int) bool {
	return at+1 < len(lines) && strings.HasPrefix(lines[at], "--- ") && strings.HasPrefix(lines[at+1], "+++ ")
}

// unified reads a unified diff, as `git diff` writes it. The counts in its headers are only used to tell a changed
// line that begins with "-- " from the header of the next file.
func (p *patchParser) unified() {
	var section *fileSection
	var c *chunk
	var left counts
	finish := func() {
		if section == nil {
			return
		}
		p.end(section, c)
		p.addUnified(section)
		section, c = nil, nil
	}
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		inside := c != nil && left.old > 0 && left.new > 0
		switch {
		case p.envelope(inside):
			// It is around the diff, not in it.
		case strings.HasPrefix(line, "diff --git ") && !inside:
			finish()
			section = &fileSection{action: updateFile, path: gitName(line), line: p.first + p.at}
		case isFileHeader(p.lines, p.at) && !p.body(inside, left):
			if section == nil || c != nil {
				finish()
				section = &fileSection{action: updateFile, line: p.first + p.at}
			}
			p.nameFiles(section)
		case section == nil:
			// Words between files.
		case strings.HasPrefix(line, "@@"):
			c = p.begin(section, c)
			c.header(line)
			left = readCounts(line)
		case c != nil:
			c.read(line)
			left.take(line)
		default:
			p.extended(section, line)
		}
	}
	finish()
}

// nameFiles reads the two lines of a file header.
func (p *patchParser) nameFiles(section *fileSection) {
	from, to := diffName(p.lines[p.at][4:], "a/"), diffName(p.lines[p.at+1][4:], "b/")
	p.at++
	switch {
	case from == "":
		section.action, section.path = addFile, to
	case to == "":
		section.action, section.path = deleteFile, from
	default:
		section.path = from
		if to != from {
			section.moveTo = to
		}
	}
	if from == "" && to == "" {
		p.fault(p.at, "the diff names no file")
	}
}

// extended reads a line between the header of a file as git writes it and its first chunk.
func (p *patchParser) extended(section *fileSection, line string) {
	switch {
	case strings.HasPrefix(line, "new file mode "):
		section.action = addFile
	case strings.HasPrefix(line, "deleted file mode "):
		section.action = deleteFile
	case strings.HasPrefix(line, "rename from "):
		section.path = line[len("rename from "):]
	case strings.HasPrefix(line, "rename to "):
		section.moveTo = line[len("rename to "):]
	case strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files "):
		p.fault(p.at, "it changes a binary file, which cannot be patched; leave that file out")
	}
}

// envelope reports whether a line is one of the markers that models put around a diff. The first and the last line may
// be indented, but for a line of context that the header of its chunk still promises.
func (p *patchParser) envelope(inside bool) bool {
	line := p.lines[p.at]
	kind, _ := readMarker(line)
	if kind != beginPatch && kind != endPatch {
		return false
	}
	outermost := p.at == 0 || p.at == len(p.lines)-1
	return line[0] == '*' || outermost && !inside
}

// body reports whether the two lines that look like the header of a file are changed lines.
func (p *patchParser) body(inside bool, left counts) bool {
	if !inside {
		return false
	}
	followed := p.at+2 < len(p.lines) && strings.HasPrefix(p.lines[p.at+2], "@@")
	return !followed || left.old == 1 && left.new == 1
}

// addUnified ends a section: one that makes a file becomes its text.
func (p *patchParser) addUnified(section *fileSection) {
	switch {
	case section.path == "":
		p.faults = append(p.faults,
			fmt.Sprintf("line %d of the patch: the diff names no file; begin it with --- a/path and +++ b/path",
				section.line))
		return
	case section.action == addFile:
		if len(section.chunks) > 0 {
			section.text = strings.Join(section.chunks[0].new(), "\n")
			if !section.chunks[0].bare {
				section.text += "\n"
			}
		}
		section.chunks = nil
	case section.action == deleteFile:
		section.chunks = nil
	}
	p.files = append(p.files, section)
}

// gitName reads the name in a "diff --git" line, which has it twice where the file is not renamed; empty otherwise.
func gitName(line string) string {
	names := strings.TrimPrefix(strings.TrimSpace(line), "diff --git ")
	half := len(names) / 2
	from, to := diffName(names[:half], "a/"), diffName(names[half:], "b/")
	if from != to {
		return ""
	}
	return from
}

// diffName reads the name in a header of a unified diff; it is empty for no file.
func diffName(text, prefix string) string {
	name, _, _ := strings.Cut(text, "\t")
	name = strings.Trim(strings.TrimSpace(name), `"`)
	if name == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(name, prefix)
}

// counts are the lines that a unified header still promises.
type counts struct{ old, new int }

func readCounts(line string) counts {
	found := unifiedHeader().FindStringSubmatch(line)
	if found == nil {
		return counts{}
	}
	c := counts{1, 1}
	if found[2] != "" {
		c.old = number(found[2])
	}
	if found[4] != "" {
		c.new = number(found[4])
	}
	return c
}

// take counts one line of a chunk.
func (c *counts) take(line string) {
	switch {
	case strings.HasPrefix(line, "-"):
		c.old--
	case strings.HasPrefix(line, "+"):
		c.new--
	case !strings.HasPrefix(line, `\`):
		c.old--
		c.new--
	}
}
