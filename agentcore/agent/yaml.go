package agent

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// yamlReader turns YAML (1.2, as far as the yaml package supports it) into nodes.
type yamlReader struct {
	text string // the YAML without the text around it
	base int    // its byte offset in the file
	// starts are the offsets of lines in text, in YAML's count of lines (YAML 1.1, section 4.2: also NEL, LS and PS).
	starts []int
	nodes  int
}

var errTooLarge = errors.New("it is nested too deeply or has too many values")

// readYAML reads one YAML document. base is added to all offsets. The node of an empty document is an empty table.
func readYAML(head string, base int) (*node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(head), &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return &node{kind: table, start: base, end: base}, nil
	}
	r := &yamlReader{text: head, base: base, starts: []int{0}}
	for i, c := range head {
		switch c {
		case '\r':
			if strings.HasPrefix(head[i:], "\r\n") {
				continue
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		r.starts = append(r.starts, i+utf8.RuneLen(c))
	}
	n, ok := r.node(document.Content[0], 0, -1)
	if !ok {
		return nil, errTooLarge
	}
	return n, nil
}

// offset is the byte offset in text of a node's 1-based line and column, which counts characters.
func (r *yamlReader) offset(y *yaml.Node) int {
	if y.Line < 1 || y.Line > len(r.starts) {
		return len(r.text)
	}
	at := r.starts[y.Line-1]
	if at == 0 {
		at += len(r.text) - len(strings.TrimPrefix(r.text, "\uFEFF"))
	}
	for range y.Column - 1 {
		if at >= len(r.text) {
			break
		}
		_, size := utf8.DecodeRuneInString(r.text[at:])
		at += size
	}
	return at
}

// anchor matches an anchor or a tag before a value.
var anchor = lazyregexp.New(`^[&!][^ \t\r\n]*[ \t]+`)

// node converts a value. indent is the column of the key that it belongs to.
func (r *yamlReader) node(y *yaml.Node, depth, indent int) (*node, bool) {
	if r.nodes++; r.nodes > maxNodes || depth > maxNested {
		return nil, false
	}
	start := r.offset(y)
	n := &node{start: start + r.base, end: start + r.base}
	if y.Kind == yaml.AliasNode {
		aliased, ok := r.node(y.Alias, depth+1, indent)
		if !ok {
			return nil, false
		}
		at := *aliased
		at.start, at.end, at.literal = n.start, n.start+1+len(y.Value), false
		return &at, true
	}
	for at := start; ; {
		skipped := len(anchor().FindString(r.text[at:]))
		if skipped == 0 || y.Anchor == "" && y.Style&yaml.TaggedStyle == 0 {
			n.start = at + r.base
			start = at
			break
		}
		at += skipped
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.kind, n.value = scalar, y.Value
		n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
		if !n.quoted && y.ShortTag() == "!!null" {
			n.kind = null
		}
		end := r.scalarEnd(y, start, indent)
		n.end = end + r.base
		n.literal = !n.quoted && r.text[start:end] == y.Value
	case yaml.SequenceNode:
		return n, r.sequence(n, y, depth, indent)
	case yaml.MappingNode:
		return n, r.mapping(n, y, depth, indent)
	}
	return n, true
}

func (r *yamlReader) sequence(n *node, y *yaml.Node, depth, indent int) bool {
	n.kind = list
	n.end = n.start
	for _, c := range y.Content {
		item, ok := r.node(c, depth+1, indent)
		if !ok {
			return false
		}
		n.items = append(n.items, item)
		n.end = max(n.end, item.end)
	}
	if y.Style&yaml.FlowStyle != 0 {
		n.end = r.closing(n.end, ']')
	}
	return true
}

func (r *yamlReader) mapping(n *node, y *yaml.Node, depth, indent int) bool {
	n.kind = table
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		key, ok := r.node(k, depth+1, indent)
		if !ok {
			return false
		}
		value, ok := r.node(y.Content[i+1], depth+1, k.Column-1)
		if !ok {
			return false
		}
		if value.kind == null && value.end <= value.start {
			value.start = r.behindColon(key.end)
			value.end = value.start
		}
		n.pairs = append(n.pairs, pair{key: key.value, start: key.start, end: key.end, value: value})
		n.end = max(n.end, value.end)
	}
	if y.Style&yaml.FlowStyle != 0 {
		n.end = r.closing(n.end, '}')
	}
	return true
}

// behindColon is the place of an absent value: the place behind its key's colon.
func (r *yamlReader) behindColon(end int) int {
	rest := r.text[min(end-r.base, len(r.text)):]
	trimmed := strings.TrimLeft(rest, " \t")
	if strings.HasPrefix(trimmed, ":") {
		return end + len(rest) - len(trimmed) + 1
	}
	return end
}

// closing finds a bracket after an offset of the file.
func (r *yamlReader) closing(end int, bracket byte) int {
	for i := max(end-r.base, 0); i < len(r.text); i++ {
		switch r.text[i] {
		case bracket:
			return i + 1 + r.base
		case '#':
			if next := strings.IndexByte(r.text[i:], '\n'); next > 0 {
				i += next
			}
		}
	}
	return len(r.text) + r.base
}

// scalarEnd is the offset in text at which a scalar ends.
func (r *yamlReader) scalarEnd(y *yaml.Node, start, indent int) int {
	rest := r.text[start:]
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return start + i + 1
			}
		}
		return len(r.text)
	case y.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\'' {
				if i+1 < len(rest) && rest[i+1] == '\'' {
					i++
					continue
				}
				return start + i + 1
			}
		}
		return len(r.text)
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && strings.HasPrefix(rest, y.Value):
		return start + len(y.Value)
	}
	// A block, or a plain scalar of several lines, goes on as long as lines are indented more than the key.
	end := start
	for i, line := range strings.SplitAfter(rest, "\n") {
		if i > 0 && strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) <= indent {
			break
		}
		end += len(line)
	}
	return start + len(strings.TrimRight(r.text[start:end], " \t\r\n"))
}

// yamlError takes the line, from 1, and the reason from an error of the yaml package; the line is 0 if the error names
// none.
func yamlError(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	if found := yamlLine().FindStringSubmatch(reason); found != nil {
		line, _ = strconv.Atoi(found[1]) // an overflow counts as no line
		reason = reason[len(found[0]):]
	}
	return line, reason
}

var yamlLine = lazyregexp.New(`^(?:unmarshal errors:\s*)?line (\d+): `)

// head is the YAML between two lines of ---, or the text that takes its place.
type head struct {
	start, end int // byte offsets
	body       int // the offset at which the prompt begins
	faults     []fault
	missing    bool // the text has no frontmatter
}

// opening matches the first line of a head, with a byte order mark and blank lines before it.
var opening = lazyregexp.New(`^(?:\x{FEFF})?(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|$)`)

// ending matches the last line of a head.
var ending = lazyregexp.New(`(?m)^(?:---|\.\.\.)[ \t]*\r?$\n?`)

// keyLine matches a line that begins with a key.
var keyLine = lazyregexp.New(
	`^(?:"([A-Za-z_][\w.-]*)"|'([A-Za-z_][\w.-]*)'|([A-Za-z_][\w.-]*))[ \t]*:(?:[ \t\r\n]|$)`)

// splitHead finds the frontmatter of a Markdown text.
func splitHead(s string) head {
	first := opening().FindString(s)
	if first == "" {
		start := len(s) - len(strings.TrimPrefix(s, "\uFEFF"))
		return head{start: start, end: start, body: start, missing: true}
	}
	h := head{start: len(first)}
	if at := ending().FindStringIndex(s[h.start:]); at != nil {
		h.end, h.body = h.start+at[0], h.start+at[1]
		return h
	}
	// A head without its last line goes as far as lines look like keys: up to the first blank line or heading.
	h.end = h.start
	for line := range strings.SplitAfterSeq(s[h.start:], "\n") {
		if bare := strings.TrimSpace(line); bare == "" || strings.HasPrefix(line, "# ") ||
			!keyLine().MatchString(line) &&
				line[0] != ' ' && line[0] != '\t' && line[0] != '-' && line[0] != '#' {
			break
		}
		h.end += len(line)
	}
	h.body = h.end
	h.faults = append(h.faults, fault{
		start: h.start - len(strings.TrimLeft(first, "\uFEFF \t\r\n")), end: h.start, severity: warning,
		message: "the frontmatter has no closing line of ---", hint: "write --- below its last key",
		fix: &edit{title: "Close the frontmatter", start: h.end, end: h.end, new: "---\n"},
	})
	return h
}

// readHead reads frontmatter. If YAML refuses it, readHead reads it key by key: known reports which words at the start
// of a line are keys. A value that is no YAML even by itself is read as plain text.
func readHead(s string, h head, known func(string) bool) (*node, []fault) {
	text := s[h.start:h.end]
	n, err := readYAML(text, h.start)
	if err == nil && n.kind == table {
		return n, nil
	}
	if err == nil && n.kind == null {
		return &node{kind: table, start: h.start, end: h.start}, nil
	}
	if errors.Is(err, errTooLarge) {
		return &node{kind: table, start: h.start, end: h.end}, []fault{{
			start: h.start, end: h.end, severity: failure, message: "the frontmatter cannot be read: " + err.Error(),
			hint: "make it smaller",
		}}
	}
	result := &node{kind: table, start: h.start, end: h.end}
	var faults []fault
	for _, b := range blocks(text, known) {
		block := text[b.start:b.end]
		start := h.start + b.start
		if b.key == "" {
			if strings.TrimSpace(stripComments(block)) != "" {
				faults = append(faults, fault{
					start: start, end: start + len(strings.TrimRight(block, " \t\r\n")), severity: warning,
					message: "this text belongs to no key and is left out",
					hint:    "write it below the frontmatter, or as the value of a key",
				})
			}
			continue
		}
		one, bad := readBlock(b, block, start)
		result.pairs, faults = append(result.pairs, one), append(faults, bad...)
	}
	if len(faults) == 0 {
		faults = []fault{badHead(h, text, err)}
	}
	return result, faults
}

// readBlock reads the text of one key as YAML, or else as YAML with spaces for its tabs, or else as plain text.
func readBlock(b block, block string, start int) (pair, []fault) {
	one, blockErr := readYAML(block, start)
	tabs := ""
	if blockErr != nil {
		if tabs = tabbed(block); tabs != block {
			one, blockErr = readYAML(tabs, start)
		}
	}
	if blockErr == nil && one.kind == table && len(one.pairs) == 1 && one.pairs[0].key == b.key {
		if tabs == "" {
			return one.pairs[0], nil
		}
		return one.pairs[0], []fault{{
			start: start, end: start + len(strings.TrimRight(block, " \t\r\n")), severity: warning, key: b.key,
			message: b.key + " is indented with tabs, which YAML does not allow", hint: "indent it with spaces",
		}}
	}
	raw := strings.TrimSpace(block[b.value:])
	at := start + b.value + strings.Index(block[b.value:], raw)
	value := &node{kind: scalar, start: at, end: at + len(raw), value: unindent(raw), quoted: true}
	value.literal = value.value == raw
	reason := "it is no YAML value"
	if blockErr != nil {
		_, reason = yamlError(blockErr)
	}
	return pair{key: b.key, start: start, end: start + b.keyEnd, value: value}, []fault{{
		start: at, end: at + len(raw), severity: warning, key: b.key,
		message: fmt.Sprintf("%s is not valid YAML (%s) and was read as plain text", b.key, reason),
		hint:    "put it in quotes",
		fix:     &edit{title: "Quote the value", start: at, end: at + len(raw), new: quoteYAML(value.value)},
	}}
}

// badHead reports the line of frontmatter at which YAML, whose error is err, finds no list of keys.
func badHead(h head, text string, err error) fault {
	reason := "it is no list of keys and values"
	line := 0
	if err != nil {
		line, reason = yamlError(err)
	}
	at, end := h.start, h.end
	for i, l := range strings.SplitAfter(text, "\n") {
		if i == line-1 {
			end = at + len(strings.TrimRight(l, "\r\n"))
			break
		} else if line > 0 {
			at += len(l)
		}
	}
	return fault{
		start: min(at, h.end), end: end, severity: warning, hint: "check this line",
		message: "the frontmatter is not valid YAML (" + reason + ") and was read key by key",
	}
}

// block is the text of one key at the start of a line, up to the next one.
type block struct {
	key           string
	start, end    int // the offsets in the head
	keyEnd, value int // relative to start: the end of the key, and the place behind its colon
}

func blocks(text string, known func(string) bool) []block {
	list := []block{{}}
	at := 0
	prose := false // remains true until the next key, so that no text is checked twice
	open := false  // within <example> … </example>
	for line := range strings.SplitAfterSeq(text, "\n") {
		if starts := strings.LastIndex(line, "<example>"); starts >= 0 {
			open = strings.Contains(text[at+starts:], "</example>") && !strings.Contains(line[starts:], "</example>")
		} else if strings.Contains(line, "</example>") {
			open = false
		}
		if found := keyLine().FindStringSubmatchIndex(line); found != nil &&
			(!open || strings.Contains(line, "<example>")) {
			key := ""
			end := 0
			for g := 2; g < len(found); g += 2 {
				if found[g] >= 0 {
					key, end = line[found[g]:found[g+1]], found[g+1]
				}
			}
			last := list[len(list)-1]
			if !known(key) && !prose {
				prose = last.key == "description" && isProse(text[last.start:at])
			}
			if known(key) || !prose {
				prose = false
				if line[0] == '"' || line[0] == '\'' {
					end++
				}
				colon := end + strings.IndexByte(line[end:], ':') + 1
				list[len(list)-1].end = at
				list = append(list, block{key: key, start: at, keyEnd: end, value: colon})
			}
		}
		at += len(line)
	}
	list[len(list)-1].end = at
	return list
}

// isProse reports whether a key's text so far is no YAML, or a description with examples: then a word with a colon
// probably belongs to the text and is no key.
func isProse(block string) bool {
	var n yaml.Node
	return strings.Contains(block, "<example>") || yaml.Unmarshal([]byte(block), &n) != nil
}

// stripComments removes lines that are comments.
func stripComments(s string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(s, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// tabbed replaces each tab that indents a line by a space, which keeps all offsets.
func tabbed(block string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(block, "\n") {
		bare := strings.TrimLeft(line, " \t")
		b.WriteString(strings.ReplaceAll(line[:len(line)-len(bare)], "\t", " ") + bare)
	}
	return b.String()
}

// unindent removes the indentation of a value of several lines, and the quotes around it.
func unindent(raw string) string {
	if len(raw) >= 2 && (raw[0] == '"' || raw[0] == '\'') && raw[len(raw)-1] == raw[0] {
		raw = raw[1 : len(raw)-1]
	}
	lines := strings.Split(strings.ReplaceAll(raw, "\r\n", "\n"), "\n")
	switch strings.TrimSpace(lines[0]) {
	case "|", "|-", "|+", ">", ">-", ">+":
		lines = lines[1:]
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// quoteYAML writes a text as a double-quoted scalar (YAML 1.2, section 7.3.1).
func quoteYAML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == '\u0085' || c == '\u2028' || c == '\u2029' || c == '\uFEFF':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
