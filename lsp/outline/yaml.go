package outline

import (
	"slices"
	"strings"
)

// Markdown outlines a text with YAML frontmatter (between two lines of "---", YAML 1.2). A frontmatter without its
// second line reaches to the end of the text.
func Markdown(text string) *Outline {
	o := &Outline{Text: text, BodyStart: -1}
	start := len(text) - len(strings.TrimPrefix(text, "\uFEFF"))
	end, next := o.line(start)
	if strings.TrimRight(text[start:end], " \t") != "---" {
		o.BodyStart = start
		o.region(Body, start, len(text), nil, 0)
		return o
	}
	y := yaml{Outline: o, block: -1}
	for at := next; at < len(text); at = next {
		end, next = o.line(at)
		if fence := strings.TrimRight(text[at:end], " \t"); fence == "---" || fence == "..." {
			o.BodyStart = next
			o.region(Body, next, len(text), nil, 0)
			return o
		}
		y.line(at, end)
	}
	if strings.HasSuffix(text, "\n") {
		y.line(len(text), len(text)) // the last line is empty, and the cursor may stand there
	}
	return o
}

// yaml reads the lines of a frontmatter. Its levels are the keys under which the next line may belong.
type yaml struct {
	*Outline
	levels []level
	block  int      // the indentation of a key whose value is a text on further lines, -1 for none
	text   []string // the path of that key
	flow   []string // the path of a list in brackets that continues on the next line
}

type level struct {
	indent int
	path   []string
	table  int  // the number of the table below the key
	item   bool // the level is an element of a list, not a key
}

func (y *yaml) line(start, end int) {
	content := y.trim(Span{start, end})
	if content.Start == content.End {
		content = Span{end, end} // a blank line, whose indentation is the column of its end
	}
	indent := content.Start - start
	blank := content.Start == content.End
	switch {
	case y.block >= 0 && (blank || indent > y.block):
		y.region(Text, start, end, y.text, 0)
		return
	case y.flow != nil:
		y.region(Value, start, end, y.flow, 0)
		if strings.ContainsAny(content.In(y.Text), "]}") {
			y.flow = nil
		}
		return
	case blank:
		top := y.above(indent, false)
		y.region(Key, start, end, top.path, top.table)
		return
	case y.Text[content.Start] == '#':
		return
	}
	y.block = -1
	for content.Start < content.End && y.Text[content.Start] == '-' &&
		(content.Start+1 == end || y.Text[content.Start+1] == ' ') {
		list := y.pop(content.Start-start, true)
		y.levels = append(y.levels, level{content.Start - start, element(list.path), y.table(), true})
		content.Start++
		rest := y.trim(Span{content.Start, content.End})
		if _, _, isKey := y.key(rest); !isKey && !strings.HasPrefix(rest.In(y.Text), "- ") {
			y.region(Value, content.Start, end, list.path, 0)
			return
		}
		content = rest
	}
	top := y.pop(content.Start-start, false)
	name, colon, isKey := y.key(content)
	if !isKey {
		y.region(Key, start, end, top.path, top.table)
		return
	}
	path := below(top.path, name.In(y.Text))
	value := y.trim(Span{colon + 1, content.End})
	y.Nodes = append(y.Nodes, Node{Path: path, Name: name, Value: value, Table: top.table})
	y.levels = append(y.levels, level{content.Start - start, path, y.table(), false})
	y.region(Key, name.Start, name.End, top.path, top.table)
	y.region(Value, colon+1, end, path, 0)
	switch text := value.In(y.Text); {
	case text == "":
	case strings.HasPrefix(text, "#"):
		y.Nodes[len(y.Nodes)-1].Value.End = value.Start
	case text[0] == '|' || text[0] == '>':
		y.block, y.text = content.Start-start, path
	case text[0] == '[' && !strings.Contains(text, "]"), text[0] == '{' && !strings.Contains(text, "}"):
		y.flow = path
	}
}

// above returns the level under which text with this indentation belongs: the root if there is no other. An element of
// a list may be indented as little as the list's key.
func (y *yaml) above(indent int, item bool) level {
	for _, l := range slices.Backward(y.levels) {
		if l.indent < indent || item && l.indent == indent && !l.item {
			return l
		}
	}
	return level{indent: -1}
}

// pop drops the levels that end at text with this indentation, and returns the level under which the text belongs.
func (y *yaml) pop(indent int, item bool) level {
	top := y.above(indent, item)
	for len(y.levels) > 0 {
		if last := y.levels[len(y.levels)-1]; last.indent == top.indent && last.item == top.item {
			break
		}
		y.levels = y.levels[:len(y.levels)-1]
	}
	return top
}

// key finds the key at the beginning of a span, without quotes, and the colon behind it.
func (y *yaml) key(s Span) (name Span, colon int, ok bool) {
	text := s.In(y.Text)
	if text == "" {
		return s, 0, false
	}
	end := 0
	if text[0] == '"' || text[0] == '\'' {
		end = strings.IndexByte(text[1:], text[0]) + 2
	} else {
		end = strings.IndexAny(text, ": \t")
	}
	if end < 2 && (end < 1 || text[0] == '"' || text[0] == '\'') {
		return s, 0, false
	}
	colon = end + len(text[end:]) - len(strings.TrimLeft(text[end:], " \t"))
	if colon >= len(text) || text[colon] != ':' || colon+1 < len(text) && text[colon+1] != ' ' &&
		text[colon+1] != '\t' {
		return s, 0, false
	}
	return y.unquoted(Span{s.Start, s.Start + end}), s.Start + colon, true
}
