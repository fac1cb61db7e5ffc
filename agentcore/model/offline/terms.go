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
}

// asking are words that say how a question is asked and not what it is about.
var asking = strings.Fields(`a about above across after again against all also although an and another any are
	around as ask at based be because been before behind being below beneath best between both but by call called
	calls caller callers can class code codebase come comes could current declared defined definition definitions
	did do does doing done during each else entire entry etc every everything everywhere explain describe explore
	few file files find first folder folders for found from function functions get gets give given go goes had
	handle handled handles happen happening happens has have having here how i if implement implementation
	implemented implements in inside into involved involving is it its itself just kind know last least let lets
	like line lines list locate located look looking looks made main make makes many may me mean means medium method
	might more most much must my name named names need needed needs new no not now of off on once one only or other
	our out over overview own part parts per place places please project quick quickly read reference references
	related relevant repository same say says search see several shall should show shows since so some somewhere
	source sources stand stands such sure take takes tell than that the their them then there these they thing
	things this thoroughness thorough those through to together too two type under understand until up upon usage
	usages use used uses using very via want was way ways we were what whatever when where whether which while who
	whole whose why will with within without work working works workspace would yet you your structure contain
	contains containing summarize summarise outline`)

var (
	quotedName = lazyregexp.New("[`\"']([\\w.:/-]+)[`\"']")
	plainName  = lazyregexp.New(`[A-Za-z_][\w]*`)
	codeBase   = lazyregexp.New(`(?i)\bcode[ -]base\b`)
)

// terms picks the words to look for, at most limit: names in quotes, then names that only code has, then the other
// words that do not just ask.
func (w *wish) terms(limit int) []term {
	var found []term
	add := func(word, stem, source string) {
		expression, err := regexp.Compile("(?i)" + source)
		if err == nil && len(found) < limit &&
			!slices.ContainsFunc(found, func(f term) bool { return strings.EqualFold(f.stem, stem) }) {
			found = append(found, term{word, stem, source, expression})
		}
	}
	for _, match := range quotedName().FindAllStringSubmatch(w.words, -1) {
		if len(match[1]) > 1 {
			add(match[1], match[1], spelling(match[1]))
		}
	}
	names := plainName().FindAllString(codeBase().ReplaceAllString(quotedName().ReplaceAllString(w.words, ""),
		"codebase"), -1)
	for _, name := range names {
		if len(parts(name)) > 1 && name != strings.ToUpper(name) {
			add(name, name, spelling(name))
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
			add(lower, stem(lower), spelling(stem(lower)))
		}
	}
	return found
}

// spelling is the expression for a word. It also matches the same name in another style, as readConfig, read_config or
// read-config.
func spelling(word string) string {
	pieces := parts(word)
	for i := range pieces {
		pieces[i] = regexp.QuoteMeta(pieces[i])
	}
	if last := &pieces[len(pieces)-1]; len(*last) > 3 && strings.HasSuffix(*last, "y") {
		*last = strings.TrimSuffix(*last, "y") + "(?:y|ie)"
	}
	return strings.Join(pieces, "[_. -]?")
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

// stem takes common endings from a word of prose, so that "loaded" finds load, "dropped" drop and "saved" save. Of a
// long word the beginning is enough, since code has shorter forms, such as config for "configuration".
func stem(word string) string {
	const shortest, long, beginning = 3, 10, 6
	if len(word) >= long {
		return word[:beginning]
	}
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s"} {
		rest, ok := strings.CutSuffix(word, ending)
		if !ok || len(rest) < shortest || !strings.ContainsAny(rest, "aeiouy") ||
			ending == "s" && strings.HasSuffix(rest, "s") || ending == "ed" && strings.HasSuffix(rest, "e") {
			continue
		}
		last := len(rest) - 1
		switch {
		case ending == "ies" || ending == "ied":
			return rest + "y"
		case (ending == "ed" || ending == "ing") && rest[last] == rest[last-1] &&
			!strings.ContainsRune("aeiouls", rune(rest[last])):
			return rest[:last]
		}
		return rest
	}
	return word
}
