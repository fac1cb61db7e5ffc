package agent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/tomltree"
)

// agentsHeader begins a definition in TOML.
var agentsHeader = lazyregexp.New(`(?m)^[ \t]*\[\[[ \t]*agents[ \t]*\]\]`)

// parseTOML reads [[agents]] tables. If the text is not valid, it reads each table separately, so that a broken table
// does not hide the others.
func (f *File) parseTOML() {
	s := withoutMark(f.text.string)
	root, bad := readTOML(s, 0)
	if bad == nil {
		f.tomlAgents(root)
		return
	}
	starts := agentsHeader().FindAllStringIndex(s, -1)
	if len(starts) == 0 {
		f.report(*bad)
		return
	}
	if head, bad := readTOML(s[:starts[0][0]], 0); bad != nil {
		f.report(*bad)
	} else {
		f.tomlAgents(head)
	}
	for i, at := range starts {
		end := len(s)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		one, bad := readTOML(s[at[0]:end], at[0])
		if bad == nil {
			f.tomlAgents(one)
			continue
		}
		bad.key = fmt.Sprintf("agents.%d", f.count)
		f.count++
		f.report(*bad)
	}
}

// tomlAgents reads the definitions in a document's table, or the one definition that the table itself is.
func (f *File) tomlAgents(root *node) {
	if root.get("agents") == nil && f.isOne(root) && !agentsHeader().MatchString(f.text.string) {
		f.definition(root, nil)
		return
	}
	for _, pair := range root.pairs {
		switch {
		case pair.key != "agents":
			f.report(fault{
				start: pair.start, end: pair.end, severity: warning, key: pair.key,
				message: fmt.Sprintf("there is no key %q beside [[agents]]", short(pair.key)),
				hint:    "definitions are tables [[agents]]",
			})
		case pair.value.kind != list:
			f.report(fault{
				start: pair.start, end: pair.end, severity: failure, key: "agents",
				message: "agents is no list of tables", hint: "begin each definition with a line of [[agents]]",
			})
		default:
			for _, item := range pair.value.items {
				f.definition(item, nil)
			}
		}
	}
}

// readTOML reads a document. It adds base to all offsets.
func readTOML(s string, base int) (*node, *fault) {
	root, stop, err := tomltree.Parse(s, tomltree.Limits{Depth: maxNested, Nodes: maxNodes})
	if errors.Is(err, tomltree.ErrLimit) {
		return nil, &fault{
			start: base + stop, end: base + stop, severity: failure,
			message: "this " + errTooLarge.Error()[3:], hint: "write it flatter",
		}
	}
	var values map[string]any
	if err := toml.Unmarshal([]byte(s), &values); err != nil {
		at, end, reason := 0, 0, err.Error()
		if parse, found := errors.AsType[toml.ParseError](err); found {
			at = min(max(parse.Position.Start, 0), len(s))
			end = min(at+max(parse.Position.Len, 0), len(s))
			if line := strings.IndexAny(s[at:end], "\r\n"); line >= 0 {
				end = at + line
			}
			reason = parse.Message
			if reason == "" {
				reason = strings.TrimPrefix(parse.Error(), "toml: ")
			}
		}
		return nil, &fault{
			start: base + at, end: base + end, severity: failure,
			message: "this is not valid TOML: " + reason,
			hint:    "definitions from here to the next [[agents]] are left out",
		}
	}
	if err != nil {
		return nil, &fault{
			start: base + stop, end: base + stop, severity: failure, message: "this TOML cannot be read",
			hint: "write it in a simpler way",
		}
	}
	return nodeOf(root, base), nil
}

// nodeOf turns a value of TOML into a node, from which definitions are read.
func nodeOf(t *tomltree.Node, base int) *node {
	n := &node{start: base + t.Start, end: base + t.End}
	switch t.Kind {
	case tomltree.Scalar:
		n.kind, n.value, n.quoted, n.literal = scalar, t.Value, t.Quoted, !t.Quoted
	case tomltree.List:
		n.kind = list
		for _, item := range t.Items {
			n.items = append(n.items, nodeOf(item, base))
		}
	case tomltree.Table:
		n.kind = table
		for _, p := range t.Pairs {
			n.pairs = append(n.pairs,
				pair{key: p.Key, start: base + p.Start, end: base + p.End, value: nodeOf(p.Value, base)})
		}
	}
	return n
}
