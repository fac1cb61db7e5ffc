package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/spelling"
)

// reader reads the values of one definition into it, and reports what is wrong with them.
type reader struct {
	file  *File
	def   *Definition
	index int // the number of the definition in the text
	root  *node
	// shape is the form of another tool in which a table of TOML or JSON is written, nil for our own.
	shape *shape
	// wrongs are the keys with an error.
	wrongs map[string]bool
	// delegates is the value of can_delegate; disabled is the key that switches the agent off.
	delegates *bool
	disabled  *node
	provider  string // for a shape that names the provider apart from the model
}

// decoder makes one definition from a table: it finds the meaning of each key, and has its value read.
type decoder struct {
	reader
	// at is the place at which problems of the definition as a whole are shown.
	at *node
}

func (p *reader) names(what, key, name string, place *node) {
	p.file.named = append(p.file.named, named{def: p.def, what: what, name: name, key: key, place: place})
}

// report adds a problem at a place. A problem of severity failure makes the definition unusable.
func (p *reader) report(f fault) {
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

func (p *reader) wrong(n *node, severity severity, key, message, hint string) {
	p.report(fault{start: n.start, end: n.end, severity: severity, key: key, message: message, hint: hint})
}

func readName(p *reader, n *node) {
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
		rememberName(p, s, Slug(s))
		return
	}
	reportName(p, "name", s, n)
}

// reportName reports a name that is no slug.
func reportName(p *reader, key, s string, n *node) {
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

// Slug makes a valid name from any text: "Code Reviewer" becomes code-reviewer. It is "" if no character is valid.
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

func readCategory(p *reader, n *node) {
	words, ok := p.words("category", n)
	if !ok {
		return
	}
	for _, w := range words {
		switch c := Category(strings.ToLower(w.text)); {
		case c == "all":
			p.def.Categories = []Category{Primary, Subagent}
		case !slices.Contains(keyIndex()["category"].Values, string(c)):
			p.unknown(w.node, failure, "category", fmt.Sprintf("category is %q", short(w.text)), w.text,
				keyIndex()["category"].Values)
		case !slices.Contains(p.def.Categories, c):
			p.def.Categories = append(p.def.Categories, c)
		}
	}
	if len(words) == 0 {
		p.wrong(n, failure, "category", "category is empty", "write [primary], [subagent] or both")
		p.def.Categories = []Category{}
	}
}

func readMode(p *reader, n *node) {
	if s, ok := p.one("mode", n); ok {
		p.def.Mode = Mode(s)
	}
}

func readTemperature(p *reader, n *node) {
	f, ok := p.float("temperature", n)
	switch {
	case ok && f > *keyIndex()["temperature"].Maximum:
		p.expect(n, "temperature", fmt.Sprintf("a number from 0 to %g", *keyIndex()["temperature"].Maximum))
	case ok:
		p.def.Temperature = &f
	}
}

func readMaxTokens(p *reader, n *node) {
	if i, ok := p.integer("max_tokens", n, 1); ok {
		p.def.MaxTokens = int(i)
	}
}

// colors are the names that all plugins of editors can show.
var colors = []string{
	"red", "orange", "yellow", "green", "cyan", "blue", "purple", "magenta", "pink", "gray", "grey",
	"white", "black",
}

var hexColor = lazyregexp.New(`^#[0-9a-fA-F]{6}$`)

// readColor reads a colour. It leaves a colour out that no editor can show, since colours are only for show; other
// tools also use names from themes.
func readColor(p *reader, n *node) {
	s, ok := p.string("color", n)
	if s = strings.TrimSpace(s); !ok || s == "" {
		return
	}
	if slices.Contains(colors, strings.ToLower(s)) || hexColor().MatchString(s) {
		p.def.Color = s
		return
	}
	f := fault{
		start: n.start, end: n.end, severity: warning, key: p.keyOf(n),
		message: fmt.Sprintf("color is %q, which cannot be shown", short(s)),
	}
	f.hint = "write #rrggbb, or one of " + strings.Join(colors, ", ")
	if p.file.loose(p.def) {
		f.severity = information
	} else if near := spelling.Nearest(s, colors); near != "" {
		f.hint, f.fix = "did you mean "+near+"?", n.replace(s, near)
	}
	p.report(f)
}

func readOrder(p *reader, n *node) {
	if i, ok := p.integer("order", n, math.MinInt64); ok {
		p.def.Order = int(max(i, math.MinInt32))
	}
}

// readPermissionMode reads a permission mode. Other tools have a longer name for "bypass".
func readPermissionMode(p *reader, n *node) {
	if n.kind == scalar && p.file.loose(p.def) && foldKey(strings.TrimSpace(n.value)) == "bypasspermissions" {
		p.def.PermissionMode = "bypass"
	} else if s, ok := p.one("permission_mode", n); ok {
		p.def.PermissionMode = s
	}
}

// readModel reads a name, or a table of inline settings. Definitions of other tools may put the name of a type's
// variant around them: {"Specific": {…}} or "Inherit".
func readModel(p *reader, n *node) {
	if p.file.loose(p.def) && n.kind == table && len(n.pairs) == 1 && foldKey(n.pairs[0].key) == "specific" {
		n = n.pairs[0].value
	}
	if n.kind == table {
		provider, name := "", ""
		p.table("model", n, map[string]func(*node){
			"provider":    func(v *node) { provider, _ = p.string("model.provider", v) },
			"model":       func(v *node) { name, _ = p.string("model.model", v) },
			"temperature": func(v *node) { readTemperature(p, v) },
			"max_tokens":  func(v *node) { readMaxTokens(p, v) },
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

// table reads the keys of a table whose keys are fixed.
func (p *reader) table(key string, n *node, set map[string]func(*node)) {
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
		p.unknown(pair.name(), warning, key+"."+pair.key, fmt.Sprintf("%s has no key %q", key, pair.key),
			pair.key, known)
	}
}

func readBudget(p *reader, key string, n *node, to *Limits) {
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

func readAsChild(p *reader, n *node) {
	child := &p.def.AsChild
	p.table("as_child", n, map[string]func(*node){
		"max_turns": func(v *node) { p.maxTurns("as_child.max_turns", v, &child.Limits) },
		"timeout":   func(v *node) { p.duration("as_child.timeout", v, &child.Timeout) },
		"budget":    func(v *node) { readBudget(p, "as_child.budget", v, &child.Limits) },
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

func readCanDelegate(p *reader, n *node) {
	if b, ok := p.bool("can_delegate", n); ok {
		p.delegates = &b
		if b {
			p.names("delegates", p.keyOf(n), "*", n)
		}
	}
}

func readSubagents(p *reader, n *node) {
	if list, ok := p.strings(p.keyOf(n), "subagent", n); ok {
		p.def.Subagents = allIn(list)
	}
}

// allIn returns a list of agents, or only "*" if the list contains it, since "*" stands for all agents.
func allIn(list []string) []string {
	if slices.Contains(list, "*") {
		return []string{"*"}
	}
	return list
}

func readSkills(p *reader, n *node) {
	if list, ok := p.strings("skills", "skill", n); ok {
		p.def.Skills = list
	}
}

func readAliases(p *reader, n *node) {
	words, _ := p.words("aliases", n)
	for _, w := range words {
		if strings.ContainsFunc(w.text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			p.wrong(w.node, failure, "aliases",
				fmt.Sprintf("the alias %q has a control character in it", short(w.text)), "write a word")
			continue
		}
		if !slices.Contains(p.def.Aliases, w.text) {
			p.def.Aliases = append(p.def.Aliases, w.text)
		}
	}
}

func readVariables(p *reader, n *node) {
	p.def.Variables = p.stringTable("variables", n)
}

// stringTable reads a table of texts.
func (p *reader) stringTable(key string, n *node) map[string]string {
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

func readToolOptions(p *reader, n *node) {
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
			"arguments": func(v *node) { o.Arguments = readArguments(p, key+".arguments", pair.key, v) },
		})
		p.names("option", key, pair.key, pair.name())
		p.def.ToolOptions[pair.key] = o
	}
}

// readArguments reads the default arguments of a tool, as a JSON object.
func readArguments(p *reader, key, tool string, n *node) json.RawMessage {
	if n.kind != table {
		p.expect(n, key, "a table")
		return nil
	}
	for _, pair := range n.pairs {
		p.file.named = append(p.file.named, named{
			def: p.def, what: "argument", name: pair.key, key: key + "." + pair.key, place: pair.name(),
			tool: tool, value: pair.value.json(), at: pair.value,
		})
	}
	return n.json()
}

// json writes a value as JSON. Scalars that look like numbers or booleans become numbers or booleans.
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
		b, _ = json.Marshal(parts) // JSON can be marshalled
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

// stem is a path's last part without its extension.
func stem(name string) string {
	base := path.Base(slashed(name))
	return strings.TrimSuffix(base, path.Ext(base))
}

// finish sets what the definition leaves open, and checks what it must have.
func (p *decoder) finish() {
	d := p.def
	switch {
	case p.delegates == nil:
	case !*p.delegates:
		d.Subagents = []string{}
	case d.Subagents == nil:
		d.Subagents = []string{"*"} // the definition says all, so that this holds for children, too
	}
	d.Mode = cmp.Or(d.Mode, Agentic)
	if d.Slug == "" && !p.wrongs["name"] && !p.wrongs["Slug"] && !p.wrongs["Name"] {
		slug, key := Slug(stem(p.file.Path)), p.keyFor("name")
		f := fault{
			start: p.at.start, end: p.at.end, severity: failure, key: key, message: key + " is missing",
			hint: "write " + key + ": and lower-case letters, digits and hyphens",
		}
		if p.file.Format == Native && slug != "" {
			f.fix = &edit{
				title: "Add the name " + slug, start: p.root.start, end: p.root.start,
				new: "name: " + slug + "\n",
			}
		}
		p.report(f)
	}
	if len(d.Categories) == 0 && !p.wrongs["category"] {
		f := fault{
			start: p.at.start, end: p.at.end, severity: failure, key: "category", message: "category is missing",
			hint: "write [primary], [subagent] or both",
		}
		p.report(f)
	}
	if d.Prompt == "" && d.PromptFile == "" && !d.IsProgram() {
		p.report(fault{
			start: p.at.start, end: p.at.end, severity: failure, key: "prompt",
			message: "the prompt is empty", hint: p.promptHint(),
		})
	}
	if d.Description == "" && !d.Is(Hidden) {
		p.report(fault{
			start: p.at.start, end: p.at.end, severity: warning, key: "description",
			message: "description is missing", hint: "say when to use the agent: delegating agents choose by it",
		})
	}
	p.checkEngine()
	d.Title = cmp.Or(d.Title, d.Slug)
}

// keyFor is the key of the definition's shape that means the same as the native key.
func (p *reader) keyFor(native string) string {
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

// decode reads the keys of the definition: first the keys of the format, then the native keys.
func (p *decoder) decode(special map[string]foreignKey) {
	written := map[string]*node{}
	for _, pair := range p.root.pairs {
		if written[pair.key] != nil {
			p.report(fault{
				start: pair.start, end: pair.end, severity: warning, key: pair.key,
				message: fmt.Sprintf("%s is written twice; the last one counts", pair.key),
				hint:    "take one of them out",
			})
		}
		written[pair.key] = pair.value
	}
	for _, pair := range p.root.pairs {
		if written[pair.key] != pair.value {
			continue
		}
		if own, ok := special[pair.key]; ok {
			p.foreignValue(pair, own)
			continue
		}
		if setters[pair.key] == nil && p.connection(pair.key, pair) {
			continue
		}
		if setters[pair.key] == nil || len(special) > 0 && !p.mayBeNative(pair) {
			p.unknownKey(pair, special, written)
			continue
		}
		setters[pair.key](&p.reader, pair.value)
	}
}

// unknownKey reports a key that the format does not have. A key that is only another spelling is read in spite of that.
// Misspelling a key that restricts the agent is an error.
func (p *decoder) unknownKey(unknown pair, special map[string]foreignKey, written map[string]*node) {
	name := unknown.key
	at := unknown.name()
	f := fault{start: unknown.start, end: unknown.end, key: name}
	meant, same := p.meant(name, special)
	switch near := spelling.Nearest(name, topKeys()); {
	case meant != "" && same:
		f.severity, f.message = warning, fmt.Sprintf("there is no key %q; it is read as %s", short(name), meant)
		f.hint, f.fix = "write "+meant, at.replace(name, meant)
		p.report(f)
		if own, ok := special[meant]; ok {
			p.foreignValue(pair{key: meant, start: unknown.start, end: unknown.end, value: unknown.value}, own)
		} else {
			setters[meant](&p.reader, unknown.value)
		}
		return
	case meant != "":
		f.severity, f.message = failure, fmt.Sprintf("there is no key %q, and without %s the agent may do more",
			short(name), meant)
		f.hint, f.fix = "did you mean "+meant+"?", at.replace(name, meant)
	case len(special) > 0:
		f.severity, f.message = information, "agentls does not know the key "+name
		f.hint = p.keyHint(name, special)
	default:
		f.severity, f.message = warning, fmt.Sprintf("there is no key %q", short(name))
		f.hint = "it is left out; the keys are " + strings.Join(topKeys(), ", ")
		if near == "" {
			break
		}
		f.hint, f.fix = "did you mean "+near+"?", at.replace(name, near)
		if foldKey(near) == foldKey(name) && written[near] == nil {
			defer setters[near](&p.reader, unknown.value) // only another spelling
		}
	}
	p.report(f)
}

// foreignValue reads a key of another tool's format.
func (p *decoder) foreignValue(pair pair, own foreignKey) {
	switch {
	case p.shape != nil && pair.value.kind == null: // programs write null for an absent value
	case own.set != nil:
		own.set(&p.reader, pair.value)
	case own.native == "":
		p.report(fault{
			start: pair.start, end: pair.end, severity: information, key: pair.key,
			message: "agentls does not use " + pair.key, hint: "it is kept in the file and changes nothing here",
		})
	default:
		setters[own.native](&p.reader, pair.value)
	}
}

// mayBeNative reports whether a key of a foreign file is one of our keys, which people may add. A word that other tools
// use in a sense of their own is not.
func (p *decoder) mayBeNative(pair pair) bool {
	switch pair.key {
	case "category", "mode", "context", "prompt", "prompt_file", "permissions", "rules", "id", "order", "icon",
		"budget", "variables", "visible":
		return false
	}
	return setters[pair.key] != nil
}

func (p *decoder) keyHint(word string, special map[string]foreignKey) string {
	var known []string
	for k := range special {
		known = append(known, k)
	}
	slices.Sort(known)
	if near := spelling.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "it changes nothing here"
}

// separators are the characters in which spellings of a key differ.
var separators = strings.NewReplacer("_", "", "-", "", ".", "")

func foldKey(s string) string { return separators.Replace(strings.ToLower(s)) }
