package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// The format of a patch: an envelope of "*** Begin Patch" and "*** End Patch" around one section for each file. A
// section that updates a file holds chunks; "@@" lines begin a chunk and name lines above it, and each other line
// begins with " " (stays), "-" (goes) or "+" (comes). Unified diffs are read too, see parseUnified.

// patchAction is what a section does to its file.
type patchAction int

const (
	addFile patchAction = iota
	deleteFile
	updateFile
)

// String is the action as the format writes it.
func (a patchAction) String() string { return [...]string{"Add", "Delete", "Update"}[a] }

// fileSection is what a patch does to one file.
type fileSection struct {
	action patchAction
	path   string
	// moveTo is the new name; empty without one.
	moveTo string
	// text is the text of a new file.
	text   string
	chunks []*chunk
	// line is the 1-based line of the patch where the section begins.
	line int
}

// chunk is one place of a file.
type chunk struct {
	// above are lines that stand above the place, each below the one before it.
	above []string
	ops   []patchOp
	// soft counts the blank lines that stay at the end of ops: they may be context, or nothing.
	soft int
	// atEnd says that ops end where the file ends.
	atEnd bool
	// hint is the 1-based line of a unified diff's header, -1 without one; hintOld is how many old lines it tells of.
	hint, hintOld int
	// endings says that the chunk tells whether the file ends with a line ending, and bare that it does not.
	endings, bare bool
	line          int
}

// patchOp is one line of a chunk: kind is ' ', '-' or '+'.
type patchOp struct {
	kind byte
	text string
}

// old returns the lines that the chunk expects in the file, without the last skip operations.
func (c *chunk) old(skip int) []string {
	var lines []string
	for _, op := range c.ops[:len(c.ops)-skip] {
		if op.kind != '+' {
			lines = append(lines, op.text)
		}
	}
	return lines
}

// new returns the lines that the chunk leaves in the file.
func (c *chunk) new() []string {
	var lines []string
	for _, op := range c.ops {
		if op.kind != '-' {
			lines = append(lines, op.text)
		}
	}
	return lines
}

// patchForm is shown to a model whose patch could not be read.
const patchForm = "*** Begin Patch\n*** Update File: path/of/file\n@@ a line above the change, where the context " +
	"alone fits several places\n context\n-old line\n+new line\n context\n*** Add File: path/of/new\n+its text\n*** " +
	"Delete File: path/of/old\n*** End Patch"

// patchParser reads one patch.
type patchParser struct {
	lines []string
	// first is the 1-based number of lines[0] in what was sent.
	first int
	at    int
	// padded says that markers have spaces before them, so that a context line cannot be told from one.
	padded bool
	// diff says that it is a unified diff.
	diff   bool
	files  []*fileSection
	faults []string
	notes  []string
}

// parsePatch reads a patch. The faults are sentences for a model, and so are the notes on what was tolerated.
func parsePatch(text string) (files []*fileSection, notes, faults []string) {
	p := &patchParser{lines: contents(text), first: 1}
	if !p.unwrap() {
		if once := (&patchParser{lines: contents(unescaped(text)), first: 1}); len(p.lines) < 3 && once.unwrap() {
			return nil, nil, []string{
				`it is escaped twice: it has \n, \t, \" or \\ where a line ending, a tab, a quote ` +
					"or a backslash is meant; send it with one escaping less",
			}
		}
		return nil, nil, []string{"there is no patch in it; a patch looks like this:\n" + patchForm}
	}
	if p.diff {
		p.unified()
	} else {
		p.sections()
	}
	if len(p.files) == 0 && len(p.faults) == 0 {
		p.faults = append(p.faults, "it names no file; a patch looks like this:\n"+patchForm)
	}
	return p.files, p.notes, p.faults
}

// marker is a line that begins with "***".
type marker int

const (
	noMarker marker = iota
	beginPatch
	endPatch
	endOfFile
	moveTo
	addSection
	deleteSection
	updateSection
	unknownMarker
)

// readMarker reads a marker and what follows its colon, whatever the spaces and capitals.
func readMarker(text string) (marker, string) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "***")
	if !ok {
		return noMarker, ""
	}
	name, argument, colon := strings.Cut(rest, ":")
	argument = strings.TrimSpace(argument)
	for _, quote := range []string{"`", `"`, "'"} {
		if len(argument) > 2 && strings.HasPrefix(argument, quote) && strings.HasSuffix(argument, quote) {
			argument = argument[1 : len(argument)-1]
		}
	}
	switch strings.ToLower(strings.Join(strings.Fields(strings.TrimRight(name, " *")), " ")) {
	case "begin patch":
		return beginPatch, ""
	case "end patch":
		return endPatch, ""
	case "end of file":
		return endOfFile, ""
	case "move to", "move file to", "rename to":
		return moveTo, argument
	case "add file", "create file", "new file":
		return addSection, argument
	case "delete file", "remove file":
		return deleteSection, argument
	case "update file", "modify file", "edit file":
		return updateSection, argument
	}
	if colon && argument != "" && !strings.HasPrefix(rest, "*") {
		return unknownMarker, argument
	}
	return noMarker, ""
}

func isSection(kind marker, _ string) bool {
	return kind == addSection || kind == deleteSection || kind == updateSection
}

var (
	hereDocument  = lazyregexp.New(`<<-?\s*['"]?([A-Za-z_]+)['"]?`)
	unifiedHeader = lazyregexp.New(`^@@+\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s*(?:@@|$)`)
)

// unwrap takes away what models put around a patch: a shell's here-document, a Markdown fence, and the words
// before it. It reports whether a patch begins anywhere.
func (p *patchParser) unwrap() bool {
	begin := slices.IndexFunc(p.lines, func(s string) bool { kind, _ := readMarker(s); return kind == beginPatch })
	section := slices.IndexFunc(p.lines, func(s string) bool { return isSection(readMarker(s)) })
	diff := startOfDiff(p.lines)
	p.diff = diff >= 0 && (section < 0 || diff < section)
	start := section
	if p.diff {
		start = diff
	}
	if begin < 0 || start >= 0 && start < begin {
		begin = start
	}
	if begin < 0 {
		return false
	}
	closing := []string{}
	for _, before := range p.lines[:begin] {
		if found := hereDocument().FindStringSubmatch(before); found != nil {
			closing = append(closing, found[1])
		}
		if strings.HasPrefix(strings.TrimSpace(before), "```") {
			closing = append(closing, "```")
		}
	}
	p.lines, p.first = p.lines[begin:], begin+1
	p.unindent()
	closed := false
	for len(p.lines) > 0 {
		last := p.lines[len(p.lines)-1]
		if last != "" && !slices.Contains(closing, strings.TrimSpace(last)) {
			break
		}
		closed = closed || last != ""
		p.lines = p.lines[:len(p.lines)-1]
	}
	if p.diff {
		return true
	}
	first := slices.IndexFunc(p.lines, func(s string) bool { return isSection(readMarker(s)) })
	p.padded = first >= 0 && !strings.HasPrefix(p.lines[first], "*")
	p.cutAtEnd(closed)
	return true
}

// cutAtEnd takes away the end of the patch and what is behind it. closed says that what was around the patch has ended.
func (p *patchParser) cutAtEnd(closed bool) {
	end := -1
	for i, s := range p.lines {
		if kind, _ := readMarker(s); kind == endPatch && (p.padded || s[0] == '*' || i == len(p.lines)-1) {
			end = i
		}
	}
	switch {
	case end < 0 && closed:
		p.notes = append(p.notes, "*** End Patch was missing; the end of what is around the patch was taken for it.")
		return
	case end < 0:
		p.fault(len(p.lines)-1, "the patch ends here without *** End Patch, so it may be cut off; "+
			"send all of it, with *** End Patch as the last line")
		return
	}
	for i, s := range p.lines[end+1:] {
		if kind, _ := readMarker(s); kind != noMarker || s != "" && strings.Contains("+-@", s[:1]) {
			p.fault(end+1+i, "%q comes after *** End Patch; move it before that line", clip(s, 80))
			break
		}
	}
	p.lines = p.lines[:end]
}

// unindent takes away an indentation that all lines have, as of a here-document inside a script.
func (p *patchParser) unindent() {
	indent := indentOf(p.lines[0])
	if indent == "" ||
		slices.ContainsFunc(p.lines, func(s string) bool { return !blank(s) && !strings.HasPrefix(s, indent) }) {
		return
	}
	for i, s := range p.lines {
		p.lines[i] = strings.TrimPrefix(s, indent)
	}
}

func (p *patchParser) fault(at int, format string, a ...any) {
	p.faults = append(p.faults, fmt.Sprintf("line %d of the patch: ", p.first+at)+fmt.Sprintf(format, a...))
}

// marker reads the marker at a line of a section. A context line that only looks like one is none.
func (p *patchParser) marker(at int) (marker, string) {
	if line := p.lines[at]; !p.padded && !strings.HasPrefix(line, "*") {
		return noMarker, ""
	}
	return readMarker(p.lines[at])
}

// closes reports whether a marker ends the section before it.
func closes(kind marker) bool {
	return kind == beginPatch || kind == endPatch || isSection(kind, "")
}

func (p *patchParser) sections() {
	for p.at < len(p.lines) {
		at := p.at
		kind, path := readMarker(p.lines[at])
		p.at++
		if isSection(kind, "") && path == "" {
			p.fault(at, "%q names no file; write its path behind the colon", strings.TrimSpace(p.lines[at]))
		}
		section := &fileSection{path: path, line: p.first + at}
		switch kind {
		case addSection:
			section.action = addFile
			p.add(section)
		case deleteSection:
			section.action = deleteFile
			for p.at < len(p.lines) && (p.lines[p.at] == "" || p.lines[p.at][0] == '-') {
				p.at++ // the lines that go with the file
			}
		case updateSection:
			section.action = updateFile
			p.update(section)
		case beginPatch, endPatch:
			continue
		default:
			if !blank(p.lines[at]) && !strings.HasPrefix(strings.TrimSpace(p.lines[at]), "```") {
				p.fault(at,
					"%q belongs to no file; a file begins with *** Update File: path, *** Add File: path or *** "+
						"Delete File: path", clip(p.lines[at], 80))
				for p.at < len(p.lines) && !closes(first(p.marker(p.at))) {
					p.at++
				}
			}
			continue
		}
		p.files = append(p.files, section)
	}
}

func first(kind marker, _ string) marker { return kind }

// add reads the text of a new file. All its lines begin with "+"; where none does, the lines are the text.
func (p *patchParser) add(section *fileSection) {
	begin := p.at
	for p.at < len(p.lines) && !closes(first(p.marker(p.at))) {
		p.at++
	}
	lines := p.lines[begin:p.at]
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) > 0 && strings.HasPrefix(lines[0], "@@") {
		lines, begin = lines[1:], begin+1
	}
	if len(lines) == 0 {
		return
	}
	bare := !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, "+") })
	ending := "\n"
	var text strings.Builder
	for i, s := range lines {
		content, plus := strings.CutPrefix(s, "+")
		switch {
		case strings.HasPrefix(s, `\ No newline`):
			ending = ""
			continue
		case !plus && !bare && !blank(s):
			p.fault(begin+i, "%q, in the new file %s, does not begin with +; begin each line of a new file with +", clip(s, 80), section.path)
		}
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(content)
	}
	section.text = text.String() + ending
	if bare {
		p.notes = append(p.notes,
			fmt.Sprintf("No line of the new file %s began with +; all of them were taken as its text.", section.path))
	}
}

// update reads the chunks of a file.
func (p *patchParser) update(section *fileSection) {
	var c *chunk
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		kind, argument := p.marker(p.at)
		if closes(kind) {
			break
		}
		if p.padded && strings.HasPrefix(strings.TrimSpace(line), "@@") {
			line = strings.TrimSpace(line)
		}
		switch {
		case kind == moveTo:
			if argument == "" {
				p.fault(p.at, "*** Move to: names no file; write the new path behind the colon")
			}
			section.moveTo = argument
		case kind == endOfFile:
			if c == nil {
				p.fault(p.at, "*** End of File comes before any line of %s; move it behind the last chunk",
					section.path)
				continue
			}
			c.atEnd = true
		case kind == unknownMarker:
			p.fault(p.at,
				"%q is no marker of the format; those are *** Update File:, *** Move to:, *** Add File:, *** Delete "+
					"File:, *** End of File and *** End Patch", clip(line, 80))
		case strings.HasPrefix(line, "@@"):
			if c == nil || len(c.ops) > 0 {
				c = p.begin(section, c)
			}
			c.header(line)
		case c == nil && line == "":
		case c == nil && isFileHeader(p.lines, p.at):
			p.at++
		default:
			if c == nil || c.atEnd {
				c = p.begin(section, c)
			}
			c.read(line)
		}
	}
	p.end(section, c)
}

// begin starts a chunk and ends the one before.
func (p *patchParser) begin(section *fileSection, before *chunk) *chunk {
	p.end(section, before)
	return &chunk{line: p.first + p.at, hint: -1}
}

// end puts a chunk into its section.
func (p *patchParser) end(section *fileSection, c *chunk) {
	if c == nil {
		return
	}
	if len(c.ops) == 0 {
		p.faults = append(p.faults,
			fmt.Sprintf(
				"line %d of the patch: a chunk of %s has no lines; write its context and the lines that go (-) and "+
					"come (+)", c.line, section.path))
		return
	}
	section.chunks = append(section.chunks, c)
}

// header reads an "@@" line.
func (c *chunk) header(line string) {
	if found := unifiedHeader().FindStringSubmatch(line); found != nil {
		c.hintOld = 1
		if found[2] != "" {
			c.hintOld = number(found[2])
		}
		c.hint = number(found[1])
		return
	}
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.TrimLeft(line, "@")), "@@"))
	if text != "" && text != "..." {
		c.above = append(c.above, text)
	}
}

// number reads digits; one too large for a line number is as good as none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// read takes one line of a chunk. Only blank lines may lack their sign, and lines that cannot have one.
func (c *chunk) read(line string) {
	switch {
	case blank(line):
		c.ops = append(c.ops, patchOp{' ', strings.TrimPrefix(line, " ")})
		c.soft++
		return
	case strings.HasPrefix(line, `\ No newline`):
		if len(c.ops) > 0 {
			c.endings = true
			c.bare = c.bare || c.ops[len(c.ops)-1].kind != '-'
		}
		return
	case strings.Contains(" +-", line[:1]):
		c.ops = append(c.ops, patchOp{line[0], line[1:]})
	default:
		c.ops = append(c.ops, patchOp{' ', line})
	}
	c.soft = 0
}
