package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/spelling"
)

// sort puts problems and fields into the order of the text.
func (f *File) sort() {
	slices.SortStableFunc(f.Problems, func(a, b Problem) int { return compareSpans(a.Span, b.Span) })
	slices.SortStableFunc(f.Fields, func(a, b Field) int { return compareSpans(a.KeySpan, b.KeySpan) })
}

func compareSpans(a, b event.Span) int {
	if a.StartLine != b.StartLine {
		return a.StartLine - b.StartLine
	}
	return a.StartColumn - b.StartColumn
}

func (f *File) parseMarkdown() {
	s := f.text.string
	h := splitHead(s)
	body := s[h.body:]
	if h.missing && !f.headless(h, body) {
		return
	}
	root, faults := readHead(s, h, f.keyTest())
	guessed := f.Format == Native && root.get("category") == nil && f.guessForm(root, body)
	if guessed {
		root, faults = readHead(s, h, f.keyTest())
	}
	d := &Definition{Instruction: Instruction{Prompt: strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))}}
	p := f.decoder(d, root)
	p.at = &node{start: h.start, end: h.start}
	if first := strings.IndexByte(s[:h.start], '-'); first >= 0 {
		p.at = &node{start: first, end: first + 3}
	}
	for _, fault := range append(h.faults, faults...) {
		p.report(fault)
	}
	f.addFields("", root, p.index)
	p.placePrompt(h.body, body)
	if guessed {
		p.reportGuess()
	}
	p.decode(foreignKeys(f.Format))
	p.swallowed()
	if f.Format.Foreign() {
		p.foreign(body)
	}
	p.finish()
	f.keep(p)
}

// headless reports a file without frontmatter, and whether its body can be read as a definition.
func (f *File) headless(h head, body string) bool {
	end := h.start + max(0, strings.IndexByte(f.text.string[h.start:], '\n'))
	switch {
	case !f.Format.Foreign():
		f.report(fault{
			start: h.start, end: end, severity: failure,
			message: "the file does not begin with a line of ---",
			hint:    "write the keys between two lines of --- at the top, at least name and category",
		})
		return false
	case isDocument(f.Path):
		f.report(fault{
			start: h.start, end: end, severity: information,
			message: "this is taken for a document, not for an agent",
			hint:    "to make it an agent, begin it with name and description between two lines of ---",
		})
		return false
	case strings.TrimSpace(body) == "":
		f.report(fault{
			start: h.start, end: end, severity: failure, message: "the file is empty",
			hint: "write name and description between two lines of ---, and the prompt below",
		})
		return false
	}
	f.report(fault{
		start: h.start, end: end, severity: warning,
		message: "the file has no frontmatter; its name is taken from the file's",
		hint:    "begin it with name and description between two lines of ---",
	})
	return true
}

// placePrompt notes where the prompt of a definition stands: in the body, which begins at that offset, or in a key.
func (p *decoder) placePrompt(at int, body string) {
	f := p.file
	if p.def.Prompt != "" {
		start := at + len(body) - len(strings.TrimLeftFunc(body, unicode.IsSpace))
		end := at + len(strings.TrimRightFunc(body, unicode.IsSpace))
		f.prompts[p.def] = place{start, end}
		f.Fields = append(f.Fields,
			Field{
				Key: "prompt", KeySpan: f.text.span(start, start), ValueSpan: f.text.span(start, end),
				Value: p.def.Prompt, Definition: p.index,
			})
	}
	for _, key := range []string{"prompt_file", "prompt"} {
		if value := p.root.get(key); value != nil && p.def.Prompt == "" {
			f.prompts[p.def] = place{value.start, value.end}
		}
	}
}

// reportGuess says to which tool an agent without a category was taken to belong.
func (p *decoder) reportGuess() {
	p.report(fault{
		start: p.at.start, end: p.at.end, severity: information, key: "category",
		hint: "write category to have the form of agentls's own",
		message: "without a category this is read as an agent of " + toolNames[p.file.Format] +
			", whose prompt is no template",
		fix: &edit{
			title: "Add the category subagent", start: p.root.start, end: p.root.start,
			new: "category: [subagent]\n",
		},
	})
}

// usualKeys are keys that people add to the frontmatter of other tools' files, and that mean nothing to these tools.
var usualKeys = []string{"version", "author", "license", "tags", "metadata", "priority"}

// toolNames are the names of the tools whose files agentls reads.
var toolNames = map[Format]string{Claude: "Claude Code", OpenCode: "opencode"}

// guessForm decides that a file belongs to another tool: it lacks a key that every native definition has, and all its
// keys are keys of that tool. It returns false if the file counts as a native one. A prompt with braces makes it more
// likely that a native file lacks its category.
func (f *File) guessForm(root *node, body string) bool {
	fits := func(format Format) bool {
		return !slices.ContainsFunc(root.pairs, func(p pair) bool {
			_, known := foreignKeys(format)[p.key]
			return !known && !slices.Contains(usualKeys, p.key)
		})
	}
	if mode := root.get("mode"); mode != nil && !slices.Contains(openCodeKeys["mode"].values, mode.value) {
		return false
	}
	switch {
	case root.get("description") == nil, strings.Contains(body, "{{"):
		return false
	case fits(Claude):
		f.Format = Claude
	case fits(OpenCode):
		f.Format = OpenCode
	default:
		return false
	}
	return true
}

// keyTest returns a function that reports whether a word at the start of a line is a key, or a misspelt one. The
// function remembers the words, and accepts only some misspelt keys, so that a long text does not cost much.
func (f *File) keyTest() func(string) bool {
	known := topKeys()
	if f.Format.Foreign() {
		known = slices.Collect(maps.Keys(foreignKeys(f.Format)))
		for _, name := range append(usualKeys, topKeys()...) {
			if !slices.Contains(known, name) && name != "context" && name != "prompt" {
				known = append(known, name)
			}
		}
		slices.Sort(known)
	}
	const most = 200
	seen := map[string]bool{}
	return func(word string) bool {
		is, ok := seen[word]
		if !ok {
			is = slices.Contains(known, word)
			if !is && len(seen) < most {
				is = word[0] >= 'a' && word[0] <= 'z' && len(word) > 3 && spelling.Nearest(word, known) != ""
			}
			seen[word] = is
		}
		return is
	}
}

func (f *File) decoder(d *Definition, root *node) *decoder {
	d.Source.Path = f.Path
	p := &decoder{reader: reader{file: f, def: d, index: f.count, root: root, wrongs: map[string]bool{}}, at: root}
	f.count++
	if root.cut { // keys that restrict the agent may be lost
		p.report(fault{
			start: root.start, end: min(root.start+1, len(f.text.string)), severity: failure,
			message: "the JSON is broken inside of this definition, so agentls leaves the agent out",
			hint:    "mend the JSON error that agentls reports for the same file",
		})
	}
	return p
}

// keep adds a definition that was read.
func (f *File) keep(p *decoder) {
	if p.disabled != nil {
		p.wrong(p.disabled, information, "disable", "the agent is switched off", "take the key out to have it")
		return
	}
	f.Definitions = append(f.Definitions, p.def)
}

// addFields adds the keys and values below a node.
func (f *File) addFields(prefix string, n *node, index int) {
	for _, pair := range n.pairs {
		field := Field{
			Key: prefix + pair.key, KeySpan: f.text.span(pair.start, pair.end),
			ValueSpan: f.text.span(pair.value.start, pair.value.end), Definition: index,
		}
		if pair.value.kind == scalar {
			field.Value = pair.value.value
		}
		f.Fields = append(f.Fields, field)
		f.addFields(field.Key+".", pair.value, index)
	}
	for i, item := range n.items {
		field := Field{
			Key: fmt.Sprintf("%s%d", prefix, i), KeySpan: f.text.span(item.start, item.start),
			ValueSpan: f.text.span(item.start, item.end), Definition: index,
		}
		if item.kind == scalar {
			field.Value = item.value
		}
		f.Fields = append(f.Fields, field)
		f.addFields(field.Key+".", item, index)
	}
}

var heading = lazyregexp.New(`(?m)^#+\s+(.+?)\s*#*\s*$`)

// foreign sets what other tools take from elsewhere: the name from the file's name, the category, and a description
// from the prompt if there is none.
func (p *decoder) foreign(body string) {
	d := p.def
	name := stem(p.file.Path)
	if d.Slug == "" {
		if d.Slug = Slug(name); d.Slug == "" {
			d.Slug = "agent"
		}
		if p.file.Format == Claude && !p.file.unnamed() {
			p.report(fault{
				start: p.at.start, end: p.at.end, severity: warning, key: "name",
				message: "name is missing; " + d.Slug + ", from the file's name, is taken",
				hint:    "write name: " + d.Slug, fix: &edit{
					title: "Add the name " + d.Slug, start: p.root.start,
					end: p.root.start, new: "name: " + d.Slug + "\n",
				},
			})
		}
	} else if alias := Slug(name); p.file.Format == OpenCode && alias != "" && alias != d.Slug {
		// In the other tool, the file's name is the agent's name.
		d.Aliases = append(d.Aliases, alias)
	}
	if d.Categories == nil {
		d.Categories = []Category{Subagent}
		if p.file.Format == OpenCode {
			d.Categories = []Category{Primary, Subagent}
		}
	}
	if p.file.Format == Claude && d.Subagents == nil && d.AsChild.Subagents == nil &&
		!slices.ContainsFunc(d.Tools, func(t string) bool { return canonical(t) == "task" }) {
		d.AsChild.Subagents = []string{} // a subagent of Claude Code cannot start other agents
	}
	if d.Description == "" {
		text := strings.TrimSpace(body)
		if found := heading().FindStringSubmatch(text); found != nil && strings.HasPrefix(text, "#") {
			text = found[1]
		}
		text, _, _ = strings.Cut(text, "\n\n")
		text = strings.Join(strings.Fields(text), " ")
		if r := []rune(text); len(r) > 200 {
			text = string(r[:200]) + "…"
		}
		d.Description = text
		if text != "" && !p.file.unnamed() {
			p.report(fault{
				start: p.at.start, end: p.at.end, severity: warning, key: "description",
				message: "description is missing; the prompt's beginning is taken",
				hint:    "say when to use the agent: delegating agents choose by it",
			})
		}
	}
}

// unnamed reports whether the whole frontmatter is missing, which is reported elsewhere.
func (f *File) unnamed() bool { return !opening().MatchString(f.text.string) }

// definition reads one table of TOML or JSON as a definition. If the shape is nil, the table's keys tell it.
func (f *File) definition(n *node, s *shape) *decoder {
	d := &Definition{}
	p := f.decoder(d, n)
	if s == nil {
		s = f.shapeOf(n)
	}
	if s != nil {
		p.shape, f.shaped[d] = s, s
	}
	if n.kind != table {
		p.expect(n, fmt.Sprintf("agents.%d", p.index), "a table of keys and values")
		return p
	}
	line := strings.IndexByte(f.text.string[n.start:], '\n')
	p.at = &node{start: n.start, end: n.end}
	if line >= 0 && n.start+line < n.end {
		p.at.end = n.start + line
	}
	f.addFields("", n, p.index)
	n = s.cased(n)
	p.root = n
	special := p.shape.keysOf()
	p.decode(special)
	if p.shape != nil {
		p.shape.complete(&p.reader)
	}
	for key, own := range special {
		if (own.native == "prompt" || own.native == "prompt_file") && n.get(key) != nil {
			f.prompts[d] = place{n.get(key).start, n.get(key).end}
		}
	}
	for _, key := range []string{"prompt_file", "prompt"} {
		if value := n.get(key); value != nil {
			f.prompts[d] = place{value.start, value.end}
		}
	}
	p.finish()
	for _, other := range f.Definitions {
		if other.Slug == d.Slug && d.Slug != "" {
			at := f.slugs[d]
			f.doubled[d] = true
			p.wrong(&node{start: at.start, end: at.end}, failure, "name",
				fmt.Sprintf("there is already an agent %s in this file", d.Slug), "give one of them another name")
		}
	}
	f.keep(p)
	return p
}
