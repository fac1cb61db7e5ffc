// Package secret keeps keys and tokens out of everything that leaves the process or outlives it: by a redactor for all
// such texts, and by the environment that child processes get.
package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// minLength is the length in bytes of the shortest text that can be a secret. Shorter texts occur too often in
	// harmless texts.
	minLength = 8
	// maxLearned bounds how many tokens are remembered that were recognized by their form.
	maxLearned = 1000
)

// Redactor replaces secrets by placeholders such as "[secret OPENAI_API_KEY]". It replaces the secrets that were added,
// as they are, in base64 (also inside a longer base64 text), in hexadecimal, percent-encoded, or escaped as in JSON. It
// also replaces what has the form of a token of a well-known issuer. Its methods may be called from any goroutine; the
// zero value only knows the forms of tokens.
type Redactor struct {
	mu      sync.Mutex
	values  []value
	learned map[string]int // how many of each issuer
	current atomic.Pointer[forms]
}

type value struct{ name, text string }

func (v value) placeholder() string { return "[secret " + v.name + "]" }

// forms are the texts to search for. They are immutable.
type forms struct {
	list     []string // all forms, longest first
	replacer *strings.Replacer
}

// Add makes a text a secret, under a name that may be shown. A text that is shorter than eight bytes, or already known,
// is ignored.
func (r *Redactor) Add(name, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(name, strings.TrimSpace(text))
}

func (r *Redactor) add(name, text string) {
	if len(text) < minLength || slices.ContainsFunc(r.values, func(v value) bool { return v.text == text }) {
		return
	}
	r.values = append(r.values, value{name, text})
	type form struct{ text, placeholder string }
	var all []form
	for _, v := range r.values {
		for _, f := range formsOf(v.text) {
			all = append(all, form{f, v.placeholder()})
		}
	}
	// If one form is the beginning of another, the longer one must be replaced.
	slices.SortStableFunc(all, func(a, b form) int { return len(b.text) - len(a.text) })
	next := &forms{}
	var pairs []string
	for _, f := range all {
		next.list = append(next.list, f.text)
		pairs = append(pairs, f.text, f.placeholder)
	}
	next.replacer = strings.NewReplacer(pairs...)
	r.current.Store(next)
}

// formsOf lists the texts that contain a secret in some encoding.
func formsOf(text string) []string {
	list := []string{text}
	add := func(form string) {
		if len(form) >= minLength && !slices.Contains(list, form) {
			list = append(list, form)
		}
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// A secret inside a longer text begins at one of three places of a group of three bytes. The characters at its
		// ends depend on its neighbours and are left out.
		for offset := range 3 {
			coded := encoding.EncodeToString(append(make([]byte, offset), text...))
			from, to := (offset*8+5)/6, (offset+len(text))*8/6
			add(coded[from:to])
		}
	}
	add(hex.EncodeToString([]byte(text)))
	add(strings.ToUpper(hex.EncodeToString([]byte(text))))
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text), percent(text)} {
		add(escaped)
		add(lowerEscapes(escaped))
	}
	if quoted, err := json.Marshal(text); err == nil {
		add(string(quoted[1 : len(quoted)-1]))
	}
	quoted := strconv.Quote(text)
	add(quoted[1 : len(quoted)-1])
	add(strings.ReplaceAll(quoted[1:len(quoted)-1], "/", `\/`))
	return list
}

// percent encodes every byte.
func percent(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteByte('%')
		b.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
	}
	return b.String()
}

// lowerEscapes writes the digits of percent escapes in lower case.
func lowerEscapes(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// Text returns a text with placeholders for the secrets in it; the text itself where there are none.
func (r *Redactor) Text(text string) string {
	return r.tokens(r.known(text))
}

// known replaces the secrets that were added by placeholders.
func (r *Redactor) known(text string) string {
	f := r.current.Load()
	// Most texts contain none, and looking for each form is many times faster than the replacer.
	if f == nil || !slices.ContainsFunc(f.list, func(form string) bool { return strings.Contains(text, form) }) {
		return text
	}
	return f.replacer.Replace(text)
}

// tokens replaces what has the form of a token by a placeholder, and remembers the token, so that its other forms are
// recognized and it can be put back.
func (r *Redactor) tokens(text string) string {
	found := Tokens(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, t := range found {
		b.WriteString(text[end:t.Start] + r.learn(t.Issuer, text[t.Start:t.End]))
		end = t.End
	}
	return b.String() + text[end:]
}

// learn makes a token a secret and returns its placeholder.
func (r *Redactor) learn(issuer, found string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.values {
		if v.text == found {
			return v.placeholder()
		}
	}
	total := 0
	for _, n := range r.learned {
		total += n
	}
	if total >= maxLearned {
		return value{name: issuer}.placeholder()
	}
	if r.learned == nil {
		r.learned = map[string]int{}
	}
	r.learned[issuer]++
	v := value{issuer + "-" + strconv.Itoa(r.learned[issuer]), found}
	r.add(v.name, v.text)
	return v.placeholder()
}

// Restore puts secrets back into a text in place of their placeholders, but only secrets that the text home contains.
// It is for a model's edits of text that it saw: a line with a placeholder that the model did not change keeps its
// secret, and no secret gets into another file.
func (r *Redactor) Restore(text, home string) string {
	if !Holds(text) {
		return text
	}
	r.mu.Lock()
	values := slices.Clone(r.values)
	r.mu.Unlock()
	for _, v := range values {
		if strings.Contains(home, v.text) {
			text = strings.ReplaceAll(text, v.placeholder(), v.text)
		}
	}
	return text
}

// Holds reports whether a text may hold a placeholder.
func Holds(text string) bool { return strings.Contains(text, "[secret ") }

// Writer redacts what is written to w. Each call of Write is redacted by itself, since loggers write one record per
// call.
func (r *Redactor) Writer(w io.Writer) io.Writer { return writer{r, w} }

type writer struct {
	redactor *Redactor
	to       io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.redactor.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
