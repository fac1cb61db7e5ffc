package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/spelling"
)

// decoder makes one definition of a table, and reports what is wrong with it.
type decoder struct {
	file  *File
	def   *Definition
	index int // of the definition in the text
	root  *node
	// at is where problems of the definition as a whole are shown.
	at *node
	// wrongs are the keys with an error.
	wrongs map[string]bool
	// delegates is what can_delegate says; disabled the key that switches the agent off.
	delegates *bool
	disabled  *node
	provider  string // of a shape that names it apart from the model
	// shape is that of another tool which a table of TOML or JSON has, nil for our own.
	shape *shape
}

// named is a place where a definition names something that must exist.
type named struct {
	def   *Definition
	what  string // tool, disallowed, option, argument, matcher, server, rule, subagent, child, instead, skill, model
	name  string
	key   string
	place *node
	// tool, value and at are those of an argument: the tool as it is written, and the value with its place.
	tool  string
	value json.RawMessage
	at    *node
}

func (p *decoder) names(what, key, name string, place *node) {
	p.file.named = append(p.file.named, named{def: p.def, what: what, name: name, key: key, place: place})
}

// report adds a problem at a place. One of severity failure marks the definition as unusable.
func (p *decoder) report(f fault) {
	if f.severity == failure {
		p.wrongs[f.key] = true
	}
	p.file.reportOf(p.def, f)
}

func (f *File) report(fault fault) { f.Problems = append(f.Problems, f.problem(fault)) }

func (f *File) problem(fault fault) Problem {
	p := Problem{
		File: f.Path, Span: f.text.span(fault.start, fault.end), Severity: fault.severity, Key: fault.key,
		Message: fault.message, Hint: fault.hint, Beside: fault.beside, Locked: fault.locked,
	}
	if e := fault.fix; e != nil {
		p.Fix = &Fix{Title: e.title, Span: f.text.span(e.start, e.end), New: e.new}
	}
	return p
}

func (p *decoder) wrong(n *node, severity severity, key, message, hint string) {
	p.report(fault{start: n.start, end: n.end, severity: severity, key: key, message: message, hint: hint})
}

// expect reports a value of the wrong type.
func (p *decoder) expect(n *node, key, want string) {
	got := map[kind]string{null: "nothing", list: "a list", table: "a table"}[n.kind]
	if n.kind == scalar {
		got = strconv.Quote(short(n.value))
	}
	p.wrong(n, failure, key, fmt.Sprintf("%s is %s", key, got), "write "+want)
}

// short cuts a text for a message.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// string reads a scalar. Nothing at all counts as absent.
func (p *decoder) string(key string, n *node) (string, bool) {
	switch n.kind {
	case scalar:
		return n.value, true
	case null:
		p.wrong(n, warning, key, key+" has no value", "write one, or leave the key out")
		return "", false
	}
	p.expect(n, key, "a text")
	return "", false
}

// text1 sets a text.
func text1(field func(*Definition) *string) func(*decoder, *node) {
	return func(p *decoder, n *node) {
		if s, ok := p.string(p.keyOf(n), n); ok {
			*field(p.def) = strings.TrimSpace(s)
		}
	}
}

// keyOf is the key of a value at the top.
func (p *decoder) keyOf(n *node) string {
	for _, pair := range p.root.pairs {
		if pair.value == n {
			return pair.key
		}
	}
	return ""
}

// choice sets a text that is one of the key's values.
func choice(name string, field func(*Definition) *string) func(*decoder, *node) {
	return func(p *decoder, n *node) {
		if s, ok := p.one(name, n); ok {
			*field(p.def) = s
		}
	}
}

// one reads one of the values of a native key. Other tools write variants of a type, such as AcceptEdits.
func (p *decoder) one(name string, n *node) (string, bool) {
	s, ok := p.string(name, n)
	if !ok {
		return "", false
	}
	values := keyIndex()[name].Values
	s = strings.TrimSpace(s)
	if slices.Contains(values, s) {
		return s, true
	}
	if p.file.loose(p.def) {
		same := func(v string) bool { return foldKey(v) == foldKey(s) }
		if i := slices.IndexFunc(values, same); i >= 0 {
			return values[i], true
		}
	}
	p.unknown(n, failure, name, fmt.Sprintf("%s is %q", name, short(s)), s, values)
	return "", false
}

// unknown reports a word that is none of those known, with the nearest as the fix.
func (p *decoder) unknown(n *node, severity severity, key, message, word string, known []string) {
	f := fault{start: n.start, end: n.end, severity: severity, key: key, message: message, hint: "write " + alternatives(known)}
	if near := spelling.Nearest(word, known); near != "" {
		f.hint = "did you mean " + near + "?"
		f.fix = n.replace(word, near)
	}
	p.report(f)
}

// replace is the edit that writes another word at a scalar.
func (n *node) replace(word, other string) *edit {
	e := &edit{title: fmt.Sprintf("Replace %q by %q", word, other), start: n.start, end: n.end, new: other}
	if !n.literal {
		if n.end-n.start != len(word)+2 {
			return nil // written in a way that is not understood here
		}
		e.start, e.end = n.start+1, n.end-1
	}
	return e
}

func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// integer reads a whole number that is at least least.
func (p *decoder) integer(key string, n *node, least int64) (int64, bool) {
	if n.kind == null {
		_, ok := p.string(key, n)
		return 0, ok
	}
	want := "a whole number"
	if least > math.MinInt64 {
		want = fmt.Sprintf("a whole number of %d or more", least)
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(n.value), "_", ""), 10, 64)
	if f, floatErr := strconv.ParseFloat(n.value, 64); err != nil && floatErr == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		i, err = int64(f), nil
	}
	if n.kind != scalar || err != nil || i < least || i > math.MaxInt32 && key != "budget.tokens" && key != "as_child.budget.tokens" {
		p.expect(n, key, want)
		return 0, false
	}
	return i, true
}

func (p *decoder) float(key string, n *node) (float64, bool) {
	if n.kind == null {
		_, ok := p.string(key, n)
		return 0, ok
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(n.value), 64)
	if n.kind != scalar || err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		p.expect(n, key, "a number of 0 or more")
		return 0, false
	}
	return f, true
}

func (p *decoder) bool(key string, n *node) (value, ok bool) {
	if n.kind == null {
		_, ok := p.string(key, n)
		return false, ok
	}
	switch strings.ToLower(n.value) {
	case "true", "yes", "on":
		return true, n.kind == scalar
	case "false", "no", "off":
		return false, n.kind == scalar
	}
	p.expect(n, key, "true or false")
	return false, false
}

// not sets the opposite of a boolean.
func (p *decoder) not(key string, n *node, to *bool) {
	if b, ok := p.bool(key, n); ok {
		*to = !b
	}
}

// duration sets a time such as "5m" (time.ParseDuration).
func (p *decoder) duration(key string, n *node, to *time.Duration) {
	if n.kind == null {
		p.string(key, n)
		return
	}
	d, err := time.ParseDuration(strings.TrimSpace(n.value))
	if n.kind == scalar && err == nil && d > 0 {
		*to = d
		return
	}
	f := fault{start: n.start, end: n.end, severity: failure, key: key, hint: `write a positive duration such as "5m"`}
	f.message = key + " is no duration"
	if n.kind == scalar {
		f.message = fmt.Sprintf("%s is %q", key, short(n.value))
		if seconds, err := strconv.Atoi(n.value); err == nil && seconds > 0 {
			f.hint = fmt.Sprintf(`write the unit: "%ds" for seconds`, seconds)
			f.fix = n.replace(n.value, n.value+"s")
			if f.fix != nil && n.literal && p.file.Format != Native && !p.file.Format.Foreign() {
				f.fix.new = `"` + f.fix.new + `"`
			}
		}
	}
	p.report(f)
}

func (p *decoder) maxTurns(key string, n *node, to *Limits) {
	if i, ok := p.integer(key, n, 1); ok {
		to.MaxTurns = int(i)
	}
}

// word is an element of a list with its place.
type word struct {
	text string
	node *node
}

// words reads a list of strings, or a string of them between commas. ok is false where there is none.
func (p *decoder) words(key string, n *node) (words []word, ok bool) {
	switch n.kind {
	case null:
		p.string(key, n)
		return nil, false
	case scalar:
		for i, w := range splitWords(n) {
			words = append(words, w)
			if n.literal {
				at := p.file.text.span(w.node.start, w.node.end)
				start := at
				start.EndLine, start.EndColumn = at.StartLine, at.StartColumn
				p.file.Fields = append(p.file.Fields, Field{Key: fmt.Sprintf("%s.%d", key, i), KeySpan: start, ValueSpan: at, Value: w.text, Definition: p.index})
			}
		}
		return words, true
	case list:
		for i, item := range n.items {
			if item.kind != scalar {
				p.expect(item, fmt.Sprintf("%s.%d", key, i), "a text")
				continue
			}
			if s := strings.TrimSpace(item.value); s != "" {
				words = append(words, word{s, item})
			}
		}
		return words, true
	case table:
		p.expect(n, key, "a list")
	}
	return nil, false
}

// splitWords splits at commas that are not in parentheses.
func splitWords(n *node) []word {
	var words []word
	depth, start := 0, 0
	add := func(end int) {
		part := n.value[start:end]
		s := strings.TrimSpace(part)
		if s == "" {
			return
		}
		at := *n
		if n.literal {
			at.start = n.start + start + strings.Index(part, s)
			at.end = at.start + len(s)
		}
		at.value = s
		words = append(words, word{s, &at})
	}
	for i := range len(n.value) {
		switch n.value[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ',', '\n':
			if depth == 0 {
				add(i)
				start = i + 1
			}
		}
	}
	add(len(n.value))
	return words
}

// strings reads a list whose elements name things.
func (p *decoder) strings(key, what string, n *node) ([]string, bool) {
	words, ok := p.words(key, n)
	if !ok {
		return nil, false
	}
	list := []string{}
	for _, w := range words {
		if what != "" {
			p.names(what, key, w.text, w.node)
		}
		if !slices.Contains(list, w.text) {
			list = append(list, w.text)
		}
	}
	return list, true
}

func (p *decoder) name(n *node) {
	s, ok := p.string("name", n)
	if !ok {
		return
	}
	s = strings.TrimSpace(s)
	p.file.slugs[p.def] = place{n.start, n.end}
	p.def.Slug = s
	if validSlug(s) {
		return
	}
	if p.file.loose(p.def) {
		p.rememberedName(s, Slug(s))
		return
	}
	p.wrongName("name", s, n)
}

// wrongName reports a name that is no slug.
func (p *decoder) wrongName(key, s string, n *node) {
	f := fault{
		start: n.start, end: n.end, severity: failure, key: key, message: fmt.Sprintf("%s is %q", key, short(s)),
		hint: "write lower-case letters, digits and hyphens (^[a-z0-9-]+$)",
	}
	if slug := Slug(s); slug != "" {
		f.hint += ", such as " + slug
		f.fix = &edit{title: fmt.Sprintf("Replace %q by %q", short(s), slug), start: n.start, end: n.end, new: slug}
		if p.file.Format == TOML || p.file.Format == JSON {
			f.fix.new = `"` + slug + `"`
		}
	}
	p.report(f)
}

// Slug makes a name that is valid of one that may not be: "Code Reviewer" is code-reviewer. It is "" where nothing is
// left.
func Slug(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		} else if s := b.String(); s != "" && s[len(s)-1] != '-' {
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

func validSlug(slug string) bool {
	return slug != "" && strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (p *decoder) category(n *node) {
	words, ok := p.words("category", n)
	if !ok {
		return
	}
	for _, w := range words {
		switch c := Category(strings.ToLower(w.text)); {
		case c == "all":
			p.def.Categories = []Category{Primary, Subagent}
		case !slices.Contains(keyIndex()["category"].Values, string(c)):
			p.unknown(w.node, failure, "category", fmt.Sprintf("category is %q", short(w.text)), w.text, keyIndex()["category"].Values)
		case !slices.Contains(p.def.Categories, c):
			p.def.Categories = append(p.def.Categories, c)
		}
	}
	if len(words) == 0 {
		p.wrong(n, failure, "category", "category is empty", "write [primary], [subagent] or both")
		p.def.Categories = []Category{}
	}
}

func (p *decoder) mode(n *node) {
	if s, ok := p.one("mode", n); ok {
		p.def.Mode = Mode(s)
	}
}

func (p *decoder) temperature(n *node) {
	f, ok := p.float("temperature", n)
	switch {
	case ok && f > *keyIndex()["temperature"].Maximum:
		p.expect(n, "temperature", fmt.Sprintf("a number from 0 to %g", *keyIndex()["temperature"].Maximum))
	case ok:
		p.def.Temperature = &f
	}
}

func (p *decoder) maxTokens(n *node) {
	if i, ok := p.integer("max_tokens", n, 1); ok {
		p.def.MaxTokens = int(i)
	}
}

// colors are the names that every editor's plugin shows.
var colors = []string{"red", "orange", "yellow", "green", "cyan", "blue", "purple", "magenta", "pink", "gray", "grey", "white", "black"}

var hexColor = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// color reads what is only shown, and is left out where no editor can. Other tools have names for the colours of a theme, too.
func (p *decoder) color(n *node) {
	s, ok := p.string("color", n)
	if s = strings.TrimSpace(s); !ok || s == "" {
		return
	}
	if slices.Contains(colors, strings.ToLower(s)) || hexColor.MatchString(s) {
		p.def.Color = s
		return
	}
	f := fault{start: n.start, end: n.end, severity: warning, key: p.keyOf(n), message: fmt.Sprintf("color is %q, which cannot be shown", short(s))}
	f.hint = "write #rrggbb, or one of " + strings.Join(colors, ", ")
	if p.file.loose(p.def) {
		f.severity = information
	} else if near := spelling.Nearest(s, colors); near != "" {
		f.hint, f.fix = "did you mean "+near+"?", n.replace(s, near)
	}
	p.report(f)
}

func (p *decoder) order(n *node) {
	if i, ok := p.integer("order", n, math.MinInt64); ok {
		p.def.Order = int(max(i, math.MinInt32))
	}
}

// permissionMode reads a mode of permissions, of which other tools have one under a longer name.
func (p *decoder) permissionMode(n *node) {
	if n.kind == scalar && p.file.loose(p.def) && foldKey(strings.TrimSpace(n.value)) == "bypasspermissions" {
		p.def.PermissionMode = "bypass"
	} else if s, ok := p.one("permission_mode", n); ok {
		p.def.PermissionMode = s
	}
}

// model reads a name, or a table of inline settings. A definition of another tool may name the variant of a type around
// them: {"Specific": {…}} or "Inherit".
func (p *decoder) model(n *node) {
	if p.file.loose(p.def) && n.kind == table && len(n.pairs) == 1 && foldKey(n.pairs[0].key) == "specific" {
		n = n.pairs[0].value
	}
	if n.kind == table {
		provider, name := "", ""
		p.table("model", n, map[string]func(*node){
			"provider":    func(v *node) { provider, _ = p.string("model.provider", v) },
			"model":       func(v *node) { name, _ = p.string("model.model", v) },
			"temperature": p.temperature,
			"max_tokens":  p.maxTokens,
		})
		p.def.Model = name
		if provider != "" {
			p.def.Model = strings.TrimSuffix(provider+"/"+name, "/")
		}
	} else if s, ok := p.string("model", n); ok {
		p.def.Model = strings.TrimSpace(s)
		if p.file.loose(p.def) && strings.EqualFold(p.def.Model, "inherit") {
			p.def.Model = "inherit"
		}
	}
	if p.def.Model != "" {
		p.names("model", "model", p.def.Model, n)
	}
}

// table reads the keys of a table that has a fixed set of them.
func (p *decoder) table(key string, n *node, set map[string]func(*node)) {
	if n.kind != table {
		if n.kind == null {
			p.string(key, n)
			return
		}
		p.expect(n, key, "a table of "+alternatives(slices.Sorted(maps.Keys(set))))
		return
	}
	known := slices.Sorted(maps.Keys(set))
	for _, pair := range n.pairs {
		f := set[pair.key]
		if f == nil && p.file.loose(p.def) {
			same := func(k string) bool { return foldKey(k) == foldKey(pair.key) }
			if i := slices.IndexFunc(known, same); i >= 0 {
				f = set[known[i]]
			}
		}
		if f != nil {
			f(pair.value)
			continue
		}
		if key == "model" && p.connection(key+"."+pair.key, pair) {
			continue
		}
		at := &node{kind: scalar, start: pair.start, end: pair.end, value: pair.key, literal: pair.end-pair.start == len(pair.key)}
		p.unknown(at, warning, key+"."+pair.key, fmt.Sprintf("%s has no key %q", key, pair.key), pair.key, known)
	}
}

func (p *decoder) budget(key string, n *node, to *Limits) {
	p.table(key, n, map[string]func(*node){
		"tokens": func(v *node) {
			if i, ok := p.integer(key+".tokens", v, 1); ok {
				to.Tokens = i
			}
		},
		"cost": func(v *node) {
			if f, ok := p.float(key+".cost", v); ok {
				to.Cost = f
			}
		},
	})
}

func (p *decoder) asChild(n *node) {
	child := &p.def.AsChild
	p.table("as_child", n, map[string]func(*node){
		"max_turns": func(v *node) { p.maxTurns("as_child.max_turns", v, &child.Limits) },
		"timeout":   func(v *node) { p.duration("as_child.timeout", v, &child.Timeout) },
		"budget":    func(v *node) { p.budget("as_child.budget", v, &child.Limits) },
		"subagents": func(v *node) {
			if list, ok := p.strings("as_child.subagents", "child", v); ok {
				child.Subagents = allIn(list)
			}
		},
		"agent": func(v *node) {
			if s, ok := p.string("as_child.agent", v); ok {
				child.Agent = strings.TrimSpace(s)
				p.names("instead", "as_child.agent", child.Agent, v)
			}
		},
	})
}

func (p *decoder) canDelegate(n *node) {
	if b, ok := p.bool("can_delegate", n); ok {
		p.delegates = &b
		if b {
			p.names("delegates", p.keyOf(n), "*", n)
		}
	}
}

func (p *decoder) subagents(n *node) {
	if list, ok := p.strings(p.keyOf(n), "subagent", n); ok {
		p.def.Subagents = allIn(list)
	}
}

// allIn is a list of agents, of which "*" leaves no other to be named.
func allIn(list []string) []string {
	if slices.Contains(list, "*") {
		return []string{"*"}
	}
	return list
}

func (p *decoder) skills(n *node) {
	if list, ok := p.strings("skills", "skill", n); ok {
		p.def.Skills = list
	}
}

func (p *decoder) aliases(n *node) {
	words, _ := p.words("aliases", n)
	for _, w := range words {
		if strings.ContainsFunc(w.text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			p.wrong(w.node, failure, "aliases", fmt.Sprintf("the alias %q has a control character in it", short(w.text)), "write a word")
			continue
		}
		if !slices.Contains(p.def.Aliases, w.text) {
			p.def.Aliases = append(p.def.Aliases, w.text)
		}
	}
}

func (p *decoder) variables(n *node) {
	p.def.Variables = p.stringTable("variables", n)
}

// stringTable reads a table of texts.
func (p *decoder) stringTable(key string, n *node) map[string]string {
	if n.kind != table {
		if n.kind == null {
			p.string(key, n)
		} else {
			p.expect(n, key, "a table of texts")
		}
		return nil
	}
	values := map[string]string{}
	for _, pair := range n.pairs {
		if s, ok := p.string(key+"."+pair.key, pair.value); ok {
			values[pair.key] = s
		}
	}
	return values
}

func (p *decoder) toolOptions(n *node) {
	if n.kind != table {
		p.table("tool_options", n, map[string]func(*node){"a tool": nil})
		return
	}
	p.def.ToolOptions = map[string]ToolOptions{}
	for _, pair := range n.pairs {
		var o ToolOptions
		key := "tool_options." + pair.key
		p.table(key, pair.value, map[string]func(*node){
			"output_limit": func(v *node) {
				if i, ok := p.integer(key+".output_limit", v, 1); ok {
					o.OutputLimit = int(i)
				}
			},
			"timeout":   func(v *node) { p.duration(key+".timeout", v, &o.Timeout) },
			"arguments": func(v *node) { o.Arguments = p.arguments(key+".arguments", pair.key, v) },
		})
		p.names("option", key, pair.key, &node{kind: scalar, start: pair.start, end: pair.end, value: pair.key, literal: pair.end-pair.start == len(pair.key)})
		p.def.ToolOptions[pair.key] = o
	}
}

// arguments reads the default arguments of a tool, as a JSON object.
func (p *decoder) arguments(key, tool string, n *node) json.RawMessage {
	if n.kind != table {
		p.expect(n, key, "a table")
		return nil
	}
	for _, pair := range n.pairs {
		place := &node{kind: scalar, start: pair.start, end: pair.end, value: pair.key, literal: pair.end-pair.start == len(pair.key)}
		p.file.named = append(p.file.named, named{
			def: p.def, what: "argument", name: pair.key, key: key + "." + pair.key, place: place,
			tool: tool, value: pair.value.json(), at: pair.value,
		})
	}
	return n.json()
}

// json writes a value as JSON. Scalars that look like numbers and booleans are such.
func (n *node) json() json.RawMessage {
	var b []byte
	switch n.kind {
	case null:
		return json.RawMessage("null")
	case scalar:
		if !n.quoted && (n.value == "true" || n.value == "false") || !n.quoted && isNumber(n.value) {
			return json.RawMessage(n.value)
		}
		b, _ = json.Marshal(n.value) // a string can be marshalled
	case list:
		parts := make([]json.RawMessage, len(n.items))
		for i, item := range n.items {
			parts[i] = item.json()
		}
		b, _ = json.Marshal(parts) // so can JSON
	case table:
		parts := map[string]json.RawMessage{}
		for _, pair := range n.pairs {
			parts[pair.key] = pair.value.json()
		}
		b, _ = json.Marshal(parts)
	}
	return b
}

// isNumber tells whether a text is a number of JSON (RFC 8259, section 6).
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// stem is a path's last part without its ending.
func stem(name string) string {
	base := path.Base(slashed(name))
	return strings.TrimSuffix(base, path.Ext(base))
}

// finish fills in what was not said, and checks what must have been.
func (p *decoder) finish() {
	d := p.def
	switch {
	case p.delegates == nil:
	case !*p.delegates:
		d.Subagents = []string{}
	case d.Subagents == nil:
		d.Subagents = []string{"*"} // said so, and not left open
	}
	d.Mode = cmp.Or(d.Mode, Agentic)
	if d.Slug == "" && !p.wrongs["name"] && !p.wrongs["Slug"] && !p.wrongs["Name"] {
		slug, key := Slug(stem(p.file.Path)), p.keyFor("name")
		f := fault{start: p.at.start, end: p.at.end, severity: failure, key: key, message: key + " is missing", hint: "write " + key + ": and lower-case letters, digits and hyphens"}
		if p.file.Format == Native && slug != "" {
			f.fix = &edit{title: "Add the name " + slug, start: p.root.start, end: p.root.start, new: "name: " + slug + "\n"}
		}
		p.report(f)
	}
	if len(d.Categories) == 0 && !p.wrongs["category"] {
		f := fault{start: p.at.start, end: p.at.end, severity: failure, key: "category", message: "category is missing", hint: "write [primary], [subagent] or both"}
		p.report(f)
	}
	if d.Prompt == "" && d.PromptFile == "" {
		p.report(fault{start: p.at.start, end: p.at.end, severity: failure, key: "prompt", message: "the prompt is empty", hint: p.promptHint()})
	}
	if d.Description == "" && !d.Is(Hidden) {
		p.report(fault{start: p.at.start, end: p.at.end, severity: warning, key: "description", message: "description is missing", hint: "say when to use the agent: delegating agents choose by it"})
	}
	d.Title = cmp.Or(d.Title, d.Slug)
}

// keyFor is the key of the definition's shape that means the native one.
func (p *decoder) keyFor(native string) string {
	special := p.shape.keysOf()
	if _, ours := special[native]; ours || special == nil {
		return native
	}
	for _, key := range slices.Sorted(maps.Keys(special)) {
		if special[key].native == native {
			return key
		}
	}
	return native
}

func (p *decoder) promptHint() string {
	if f := p.file.Format; f == TOML || f == JSON {
		key, file := p.keyFor("prompt"), p.keyFor("prompt_file")
		if special := p.shape.keysOf(); special != nil && special[file].native == "" {
			return "write it as " + key
		}
		return "write it as " + key + ", or name its file as " + file
	}
	return "write it below the frontmatter"
}
