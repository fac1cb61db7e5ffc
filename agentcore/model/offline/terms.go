package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// term is a word of the task to look for.
type term struct {
	// word is how the task writes it, stem what is looked for in file names.
	word, stem string
	// source is the expression in RE2 syntax, without flags; expression is the same, compiled to ignore case.
	source     string
	expression *regexp.Regexp
	// loose tells that it stands for a word that is nowhere.
	loose bool
}

// pattern is the expression for grep.
func (t term) pattern() string { return "(?i)" + t.source }

// newTerm returns a term that is looked for by any of the spellings; false if they make no expression.
func newTerm(word, stem string, spellings ...string) (term, bool) {
	source := strings.Join(spellings, "|")
	if len(spellings) > 1 {
		source = "(?:" + source + ")"
	}
	expression, err := regexp.Compile("(?i)" + source)
	return term{word: word, stem: stem, source: source, expression: expression}, err == nil
}

// asking are words that say how a question is asked and not what it is about.
var asking = strings.Fields(`a about above across after again against all also although an and another any are around as ask at based be because been before
	behind being below beneath best between both but by call called calls caller callers can class code codebase come comes could current
	declared defined definition definitions did do does doing done during each else entire entry etc every everything everywhere explain describe explore few
	file files find first folder folders for found from function functions get gets give given go goes had handle handled handles happen happening happens has have having here
	how i if implement implementation implemented implements in inside into involved involving is it its itself just kind know last least let lets like
	line lines list locate located look looking looks made main make makes many may me mean means medium method might more most much must my name named names need needed needs new no not now of off
	on once one only or other our out over overview own part parts per place places please project quick quickly read reference references related
	relevant repository same say says search see several shall should show shows since so some somewhere source sources stand stands such sure take takes tell than that the
	their them then there these they thing things this thoroughness thorough those through to together too two type under understand until up upon usage usages use used
	uses using very via want was way ways we were what whatever when where whether which while who whole whose why will with within without work
	working works workspace would yet you your structure contain contains containing everywhere summarize summarise outline`)

var (
	quotedName = lazyregexp.New("[`\"']([\\w.:/-]+)[`\"']")
	plainName  = lazyregexp.New(`[A-Za-z_][\w]*`)
	codeBase   = lazyregexp.New(`(?i)\bcode[ -]base\b`)
)

// terms picks the words to look for, at most limit: names in quotes, names that only code has, and then the rest that
// is not a way of asking.
func (w *wish) terms(limit int) []term {
	var found []term
	add := func(word, stem string, spellings ...string) {
		if len(found) == limit ||
			slices.ContainsFunc(found, func(f term) bool { return strings.EqualFold(f.stem, stem) }) {
			return
		}
		if made, ok := newTerm(word, stem, spellings...); ok {
			found = append(found, made)
		}
	}
	for _, match := range quotedName().FindAllStringSubmatch(w.words, -1) {
		if len(match[1]) > 1 {
			add(match[1], match[1], spellings(match[1])...)
		}
	}
	names := plainName().FindAllString(codeBase().ReplaceAllString(quotedName().ReplaceAllString(w.words, ""),
		"codebase"), -1)
	for _, name := range names {
		if len(parts(name)) > 1 && name != strings.ToUpper(name) {
			add(name, name, spellings(name)...)
		}
	}
	for _, name := range names {
		// "F" or "DB" is a name of code; a short word of prose is not.
		if len(name) <= 2 && name != "A" && name == strings.ToUpper(name) &&
			!slices.Contains(asking, strings.ToLower(name)) {
			add(name, name, `\b`+name+`\b`)
		}
	}
	for _, name := range names {
		if lower := strings.ToLower(name); !slices.Contains(asking, lower) && len(name) > 2 && len(parts(name)) == 1 {
			add(lower, stem(lower), spellings(stem(lower))...)
		}
	}
	return found
}

// spellings are the expressions for a word: the same name may be written in another style, as readConfig, read_config
// or read-config, and prose uses long forms of what code shortens.
func spellings(word string) []string {
	pieces := parts(word)
	for i := range pieces {
		pieces[i] = regexp.QuoteMeta(pieces[i])
	}
	if last := &pieces[len(pieces)-1]; len(*last) > 3 && strings.HasSuffix(*last, "y") {
		*last = strings.TrimSuffix(*last, "y") + "(?:y|ie)"
	}
	out := []string{strings.Join(pieces, "[_. -]?")}
	for _, short := range shortened {
		if strings.HasPrefix(strings.ToLower(word), short.long) {
			out = append(out[:0], short.code)
		}
	}
	return out
}

// shortened are beginnings of long words and how code writes them, in RE2 syntax. What the code's form is a part of
// stays found by it.
var shortened = []struct{ long, code string }{
	{"configur", "config"},
	{"authenti", "auth"},
	{"authori", "auth"},
	{"initiali", "init"},
	{"directory", `(?:director|\bdirs?\b)`},
	{"directori", `(?:director|\bdirs?\b)`},
	{"database", `(?:database|\bdb\b)`},
	{"argument", `(?:argument|\bargs?\b)`},
	{"parameter", "param"},
	{"repositor", "repo"},
	{"temporar", `(?:temporar|\btmp|\btemp\b)`},
	{"synchroni", "sync"},
	{"environment", `(?:environ|\benv\b)`},
	{"execut", "exec"},
	{"specification", "spec"},
	{"statistic", "stat"},
}

// kin are words that programs use for the same thing. They are looked for where a word itself is nowhere.
var kin = [][]string{
	{"config", "setting", "option", "preference"},
	{"delete", "delet", "remove", "remov", "drop", "erase", "eras"},
	{"create", "creat", "make", "new", "build", "construct"},
	{"auth", "login", "signin", "credential", "session"},
	{"error", "failure", "fail", "exception"},
	{"fetch", "get", "load", "download", "read"},
	{"save", "sav", "store", "stor", "persist", "write", "writ"},
	{"start", "launch", "run", "begin", "boot"},
	{"stop", "cancel", "shutdown", "close", "clos", "end"},
	{"send", "post", "publish", "emit", "dispatch"},
	{"receive", "receiv", "accept", "listen", "consume"},
	{"parse", "pars", "decode", "decod", "unmarshal", "deserialize"},
	{"format", "encode", "encod", "marshal", "serialize", "serializ", "render"},
	{"price", "pric", "cost", "amount", "total"},
	{"user", "account", "customer", "member"},
	{"test", "spec", "check", "verify", "assert"},
	{"cache", "cach", "memo", "buffer"},
	{"log", "trace", "print"},
	{"retry", "retri", "attempt", "backoff"},
	{"timeout", "deadline", "expire", "expir"},
	{"search", "query", "quer", "find", "lookup"},
	{"permission", "access", "grant", "allow", "role"},
	{"message", "event", "notification"},
	{"export", "dump", "write"},
	{"import", "ingest", "load"},
	{"update", "updat", "change", "modify", "edit", "patch"},
	{"show", "display", "render", "print", "view"},
	{"deploy", "release", "publish", "rollout"},
	{"request", "req"},
	{"response", "resp", "reply"},
	{"document", "doc"},
	{"connect", "conn", "dial"},
}

// widened is a looser reading of a term that was nowhere: the parts of a name, words that are used for the same thing,
// and the beginning of a long word; false if there is none.
func (t term) widened() (term, bool) {
	var others []string
	word := strings.ToLower(t.stem)
	if pieces := parts(t.stem); len(pieces) > 1 {
		for _, piece := range pieces {
			if len(piece) > 2 && !slices.Contains(asking, strings.ToLower(piece)) {
				others = append(others, regexp.QuoteMeta(stem(strings.ToLower(piece))))
			}
		}
	}
	for _, group := range kin {
		const safe = 5 // letters by which a longer word is known
		known := func(other string) bool {
			return other == word || len(other) > safe && strings.HasPrefix(word, other)
		}
		if !slices.ContainsFunc(group, known) {
			continue
		}
		for _, other := range group {
			if !known(other) {
				others = append(others, `(?:\b|_)`+other)
			}
		}
	}
	const beginning = 5
	if len(others) == 0 && len(word) > beginning+1 && len(parts(word)) == 1 {
		others = append(others, `(?:\b|_)`+regexp.QuoteMeta(word[:beginning]))
	}
	if len(others) == 0 {
		return term{}, false
	}
	return newTerm(t.word, t.stem, others...)
}

// parts splits a name at underscores and where the letters' case changes.
func parts(name string) []string {
	var out []string
	start := 0
	runes := []rune(name)
	cut := func(end int) {
		if start < end {
			out = append(out, string(runes[start:end]))
		}
	}
	for i, r := range runes {
		switch {
		case r == '_' || r == '-' || r == '.':
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
			start = i
		}
	}
	cut(len(runes))
	return out
}

// stem takes common endings from a word of prose, so that "loaded" finds load, "dropped" drop and "saved" save.
func stem(word string) string {
	const shortest = 4
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s"} {
		rest, ok := strings.CutSuffix(word, ending)
		if !ok || ending == "s" && strings.HasSuffix(rest, "s") {
			continue
		}
		verb := ending == "ed" || ending == "ing"
		if verb && silentE().MatchString(rest) {
			return rest + "e"
		}
		if verb && plainVerb().MatchString(rest) {
			return rest
		}
		if len(rest) < shortest {
			continue
		}
		if ending == "ies" || ending == "ied" {
			return rest + "y"
		}
		if last := len(rest) - 1; verb && rest[last] == rest[last-1] &&
			!strings.ContainsRune("aeiouls", rune(rest[last])) {
			rest = rest[:last]
		}
		return rest
	}
	return word
}

// What is left of a short verb: one that ends in e, such as sav(ed), and one that does not, such as ask(ed) and
// fix(ed).
var (
	silentE   = lazyregexp.New(`^[^aeiou][aeiou][^aeiouwxy]$`)
	plainVerb = lazyregexp.New(`^(?:[aeiou][^aeiou]{2}|[^aeiou][aeiou][wxy])$`)
)
