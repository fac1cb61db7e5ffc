package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shape says how a field holds its entries.
type shape int

const (
	leaf        shape = iota // one value
	named                    // [key.NAME]: a map of tables
	listed                   // [[key]]: a list of tables
	namedListed              // [[key.NAME]]: a map of lists of tables
)

// field describes one key, either of the top level or of the tables in a composite field.
type field struct {
	key  string        // full key; in an entry the key within it
	doc  string        // one or more sentences; the struct field's comment says the same
	at   func(any) any // from a pointer to the struct to a pointer to the struct's field
	def  any           // default, nil for the zero value
	enum []string      // permitted texts, nil for any
	// least and most bound numbers, durations (in nanoseconds) and sizes; most = 0 is no bound.
	least, most float64
	size        bool               // an int64 that is a size in bytes, written "1GiB"
	nonEmpty    bool               // texts must not be empty
	required    bool               // an entry without it is refused
	optional    bool               // not listed where it is zero
	secret      bool               // never shown
	check       func(string) error // checks texts, and each element of a list of texts
	show        func(string) string

	// wider reports whether a value in a project's file allows more than the layers below; nil: a project may set any
	// value.
	wider func(below, project *Config) bool

	// The rest is only for composite fields.
	shape   shape
	names   []string   // the permitted names of named fields, nil for any
	entries []field    // keys of one entry
	oneOf   []string   // an entry has exactly one of these keys
	entry   func() any // returns a pointer to a new, empty entry
	each    func(*Config) iter.Seq2[string, any]
	merge   func(*loader, *field, node)
}

// in makes the function at for a field of T.
func in[T any](at func(*T) any) func(any) any {
	return func(owner any) any { return at(owner.(*T)) }
}

// valueType names the type of a leaf for the listing and for messages.
func (f *field) valueType() string {
	switch f.at(f.entry()).(type) {
	case *bool:
		return "boolean"
	case *int, *int64:
		if f.size {
			return "size"
		}
		return "integer"
	case *float64, **float64:
		return "number"
	case *time.Duration:
		return "duration"
	case *[]string:
		return "list of strings"
	case *Command:
		return "list of strings or string"
	case *map[string]string:
		return "table of strings"
	default:
		return "string"
	}
}

// assign checks a value and puts it in the field of owner. Its error is a *fault; the owner is then unchanged.
func (f *field) assign(owner any, n node) error {
	if raw, ok := n.value.(rawText); ok {
		var err error
		if n, err = f.interpret(string(raw)); err != nil {
			return err
		}
	}
	switch p := f.at(owner).(type) {
	case *bool:
		v, ok := n.value.(bool)
		if !ok {
			return n.not("true or false", "")
		}
		*p = v
		return nil
	case *int:
		v, err := f.integer(n)
		return put(p)(int(v), err)
	case *int64:
		if text, ok := n.value.(string); ok && f.size {
			return put(p)(sizeOf(text, n.at))
		}
		return put(p)(f.integer(n))
	case *float64:
		return put(p)(f.number(n))
	case **float64:
		v, err := f.number(n)
		return put(p)(&v, err)
	case *time.Duration:
		return put(p)(f.duration(n))
	case *[]string:
		return put(p)(f.words(n))
	case *Command:
		return put(p)(f.command(n))
	case *map[string]string:
		return put(p)(f.texts(n))
	default: // a kind of string
		text, err := f.text(n)
		if err == nil {
			reflect.ValueOf(p).Elem().SetString(text)
		}
		return err
	}
}

// put returns a function that stores a value at p unless there is an error.
func put[T any](p *T) func(T, error) error {
	return func(v T, err error) error {
		if err == nil {
			*p = v
		}
		return err
	}
}

// not says that a value has another type than wanted.
func (n node) not(want, hint string) error {
	return &fault{at: n.at, message: "expected " + want + ", found " + n.describe(), hint: hint}
}

func sizeOf(text string, at place) (int64, error) {
	v, err := parseSize(text)
	if err != nil {
		return 0, &fault{at: at, message: err.Error(), hint: `write a size like "512MiB" or "1GiB"`}
	}
	return v, nil
}

func (f *field) duration(n node) (time.Duration, error) {
	const hint = `write a duration like "90s" or "5m"`
	text, ok := n.value.(string)
	if !ok {
		return 0, n.not("a duration in quotes", hint)
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return 0, &fault{at: n.at, message: fmt.Sprintf("%.40q is not a duration", text), hint: hint}
	}
	return v, f.bounds(float64(v), n.at, func(x float64) string { return time.Duration(x).String() })
}

// command reads a list of words, or a text for the shell.
func (f *field) command(n node) (Command, error) {
	if text, ok := n.value.(string); ok && strings.TrimSpace(text) != "" {
		return Command{"sh", "-c", text}, nil
	} else if ok {
		return nil, &fault{at: n.at, message: "the command is empty"}
	}
	v, err := f.words(n)
	if err == nil && (len(v) == 0 || v[0] == "") {
		err = &fault{at: n.at, message: "the command is empty"}
	}
	return v, err
}

func (f *field) texts(n node) (map[string]string, error) {
	t, ok := n.value.(table)
	if !ok {
		return nil, n.not("a table of strings", "")
	}
	m := make(map[string]string, len(t))
	for _, e := range t {
		text, err := f.text(e.node)
		if err != nil {
			return nil, err
		}
		m[e.name] = text
	}
	return m, nil
}

// interpret reads the text of a variable or flag by the type of the field.
func (f *field) interpret(text string) (node, error) {
	refuse := func(want string) (node, error) {
		return node{}, &fault{message: fmt.Sprintf("expected %s, found %.40q", want, text)}
	}
	text = strings.TrimSpace(text)
	switch f.at(f.entry()).(type) {
	case *bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return refuse("true or false")
		}
		return node{value: v}, nil
	case *int, *int64:
		if f.size {
			return node{value: text}, nil
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return refuse("a whole number")
		}
		return node{value: v}, nil
	case *float64, **float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return refuse("a number")
		}
		return node{value: v}, nil
	case *[]string, *Command, *map[string]string:
		if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
			return inlineTOML(text)
		}
		if _, ok := f.at(f.entry()).(*[]string); !ok {
			return node{value: text}, nil
		}
		list := []node{}
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				list = append(list, node{value: word})
			}
		}
		return node{value: list}, nil
	}
	return node{value: text}, nil
}

// inlineTOML reads a list or table from a variable or flag.
func inlineTOML(text string) (node, error) {
	t, err := parseTOML("value = " + text)
	if err != nil || len(t) != 1 {
		return node{}, &fault{
			message: "not a list or table in TOML",
			hint:    `lists are written ["a", "b"], tables {a = "b"}`,
		}
	}
	return t[0].node.withoutPlace(), nil
}

// withoutPlace removes the places in a node that was made from a variable or flag.
func (n node) withoutPlace() node {
	switch v := n.value.(type) {
	case []node:
		for i := range v {
			v[i] = v[i].withoutPlace()
		}
	case table:
		for i := range v {
			v[i].node = v[i].node.withoutPlace()
		}
	}
	n.at = place{}
	return n
}

// text checks a string.
func (f *field) text(n node) (string, error) {
	var text string
	switch v := n.value.(type) {
	case string:
		text = v
	case rawText:
		text = string(v)
	default:
		return "", &fault{at: n.at, message: "expected a string, found " + n.describe()}
	}
	if f.nonEmpty && strings.TrimSpace(text) == "" {
		return "", &fault{at: n.at, message: "must not be empty"}
	}
	if f.enum != nil && !slices.Contains(f.enum, text) {
		found := fmt.Sprintf("%.40q", text)
		return "", &fault{at: n.at, message: "expected " + orList(f.enum) + ", found " + found}
	}
	if f.check != nil {
		if err := f.check(text); err != nil {
			return "", &fault{at: n.at, message: err.Error()}
		}
	}
	return text, nil
}

// words checks a list of strings.
func (f *field) words(n node) ([]string, error) {
	list, ok := n.value.([]node)
	if !ok {
		return nil, &fault{
			at: n.at, message: "expected a list of strings, found " + n.describe(),
			hint: `write ["a", "b"]`,
		}
	}
	words := make([]string, len(list))
	for i, element := range list {
		word, err := f.text(element)
		if err != nil {
			return nil, err
		}
		words[i] = word
	}
	return words, nil
}

// integer checks a whole number. A number with a zero fraction counts as whole, since some editors send such numbers.
func (f *field) integer(n node) (int64, error) {
	v, ok := n.value.(int64)
	if float, isFloat := n.value.(float64); isFloat && float == math.Trunc(float) && math.Abs(float) < 1<<53 {
		v, ok = int64(float), true
	}
	if !ok {
		want := "a whole number"
		if f.size {
			want = `a size like "1GiB" or a number of bytes`
		}
		return 0, &fault{at: n.at, message: "expected " + want + ", found " + n.describe()}
	}
	return v, f.bounds(float64(v), n.at, func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) })
}

// number checks a finite number.
func (f *field) number(n node) (float64, error) {
	var v float64
	switch x := n.value.(type) {
	case int64:
		v = float64(x)
	case float64:
		v = x
	default:
		return 0, &fault{at: n.at, message: "expected a number, found " + n.describe()}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, &fault{at: n.at, message: "expected a finite number"}
	}
	return v, f.bounds(v, n.at, func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) })
}

func (f *field) bounds(v float64, at place, text func(float64) string) error {
	if v < f.least {
		return &fault{at: at, message: fmt.Sprintf("%s is too small: the least is %s", text(v), text(f.least))}
	}
	if f.most > 0 && v > f.most {
		return &fault{at: at, message: fmt.Sprintf("%s is too large: the most is %s", text(v), text(f.most))}
	}
	return nil
}

// unset tells whether an optional key of an entry is not set.
func (f *field) unset(owner any) bool {
	v := reflect.ValueOf(f.at(owner)).Elem()
	return f.optional && (v.IsZero() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0)
}

// render returns the value in owner as text that is TOML and JSON alike.
func (f *field) render(owner any) string {
	switch p := f.at(owner).(type) {
	case *time.Duration:
		return jsonText(durationText(*p))
	case *int64:
		if f.size {
			return jsonText(sizeText(*p))
		}
		return jsonText(*p)
	case *[]string:
		return f.renderWords(*p)
	case *Command:
		return f.renderWords(*p)
	case *map[string]string:
		// Only headers and environments get here. Their names are shown as a list, since a table cannot be both TOML
		// and JSON.
		pairs := make([]string, 0, len(*p))
		for _, name := range slices.Sorted(maps.Keys(*p)) {
			pairs = append(pairs, jsonText(name+": ***"))
		}
		return "[" + strings.Join(pairs, ", ") + "]"
	case **float64:
		return jsonText(**p)
	default:
		v := reflect.ValueOf(p).Elem()
		if v.Kind() == reflect.String {
			return f.renderWord(v.String())
		}
		return jsonText(v.Interface())
	}
}

func (f *field) renderWord(text string) string {
	if f.secret {
		return `"***"`
	}
	if f.show != nil {
		text = f.show(text)
	}
	return jsonText(text)
}

func (f *field) renderWords(words []string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = f.renderWord(w)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// jsonText encodes a string, number or boolean. JSON's escapes are valid in TOML, too. Only DEL, which JSON leaves as
// it is, must be escaped in TOML.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return `""` // only numbers that are not finite cannot be encoded, and no check accepts them
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// durationText writes a duration as people do: 5m, not 5m0s, and 90s, not 1m30s.
func durationText(d time.Duration) string {
	if d > time.Minute && d < 2*time.Minute && d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sizeUnits are the units of sizes in bytes. The units for the listing come first, the largest at the beginning.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// parseSize reads a size in bytes: a whole number with an optional unit.
func parseSize(text string) (int64, error) {
	digits, factor := strings.TrimSpace(text), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a size", text)
	}
	if n < 0 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("the size %.40q is out of range", text)
	}
	return n * factor, nil
}

// sizeText writes a size with the largest binary unit that divides it.
func sizeText(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// showURL hides the parts of a URL that may be secret: user information and query.
func showURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "***"
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	if u.RawQuery != "" {
		u.RawQuery = "***"
	}
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", "***")
}

// orList joins quoted words with commas and a last "or".
func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
