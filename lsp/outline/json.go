package outline

import "strings"

// JSON outlines a text in JSON (RFC 8259), with the comments and commas that editors allow.
func JSON(text string) *Outline {
	o := &Outline{Text: text, BodyStart: -1}
	j := json{o}
	for pos := j.space(0); pos < len(text); pos = j.space(pos) {
		pos = max(pos+1, j.value(pos, nil, 0))
	}
	return o
}

// json reads a text. Its methods take an offset and return the offset behind what they have read.
type json struct{ *Outline }

// deepest bounds the depth of nested brackets.
const deepest = 64

// space skips space and comments.
func (j json) space(pos int) int {
	for pos < len(j.Text) {
		switch {
		case strings.IndexByte(" \t\r\n", j.Text[pos]) >= 0:
			pos++
		case strings.HasPrefix(j.Text[pos:], "\uFEFF"):
			pos += len("\uFEFF")
		case strings.HasPrefix(j.Text[pos:], "//"):
			end, _ := j.line(pos)
			j.region(Nothing, pos, end, nil, 0)
			pos = end
		default:
			return pos
		}
	}
	return pos
}

func (j json) value(pos int, path []string, depth int) int {
	switch {
	case pos >= len(j.Text):
		return pos
	case j.Text[pos] == '"':
		return j.quoted(pos)
	case j.Text[pos] == '{' && depth < deepest:
		return j.object(pos+1, path, depth)
	case j.Text[pos] == '[' && depth < deepest:
		return j.list(pos+1, path, depth)
	}
	for pos < len(j.Text) && strings.IndexByte(" \t\r\n,]}:", j.Text[pos]) < 0 {
		pos++
	}
	return pos
}

func (j json) quoted(pos int) int {
	for pos++; pos < len(j.Text) && j.Text[pos] != '\n'; pos++ {
		if j.Text[pos] == '\\' {
			pos++
		} else if j.Text[pos] == '"' {
			return pos + 1
		}
	}
	return min(pos, len(j.Text))
}

func (j json) object(pos int, path []string, depth int) int {
	number := j.table()
	at := len(j.regions)
	from := pos
	j.region(Key, pos, pos, path, number)
	for pos = j.space(pos); pos < len(j.Text) && j.Text[pos] != '}'; pos = j.space(pos) {
		if j.Text[pos] != '"' {
			pos++ // a comma, or text that is no key yet
			continue
		}
		start := pos
		pos = j.quoted(pos)
		name := j.unquoted(Span{start, pos})
		if name.Start == start {
			name.Start++ // a quote without its end
		}
		j.region(Key, start, pos, path, number)
		colon := j.space(pos)
		if colon >= len(j.Text) || j.Text[colon] != ':' {
			continue
		}
		inner := below(path, name.In(j.Text))
		node, value := len(j.Nodes), len(j.regions)
		j.Nodes = append(j.Nodes, Node{Path: inner, Name: name, Table: number})
		j.region(Value, colon+1, colon+1, inner, 0)
		pos = j.value(j.space(colon+1), inner, depth+1)
		j.regions[value].End = pos
		j.Nodes[node].Value = j.trim(Span{colon + 1, pos})
	}
	j.regions[at].End = max(from, min(pos, len(j.Text)))
	return min(pos+1, len(j.Text))
}

func (j json) list(pos int, path []string, depth int) int {
	for pos = j.space(pos); pos < len(j.Text) && j.Text[pos] != ']'; pos = j.space(pos) {
		if j.Text[pos] == '}' {
			return pos // the bracket closes an outer object, since this list is not closed yet
		}
		inner := path
		if j.Text[pos] == '{' {
			inner = element(path)
		}
		pos = max(pos+1, j.value(pos, inner, depth+1))
	}
	return min(pos+1, len(j.Text))
}
