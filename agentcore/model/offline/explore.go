package offline

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxTerms bounds the words that are looked for.
	maxTerms = 5
	// maxPlaces bounds the places of an answer, and placesPerFile those of one file.
	maxPlaces     = 12
	placesPerFile = 3
)

// term is a word of the task to look for.
type term struct {
	word       string
	expression *regexp.Regexp
}

// place is a line that has some of the words.
type place struct {
	path  string
	line  int
	text  string
	score int
}

// explore looks for the words of the task in the workspace and ranks what it finds.
func (t *task) explore() turn {
	terms := t.terms()
	if len(terms) == 0 {
		return turn{text: "The question names nothing to look for. Name an identifier, a file or a word that stands in the code.\n\n" + noModel + "\n"}
	}
	var calls []call
	for _, term := range terms {
		if t.offers("grep") {
			calls = append(calls, call{"grep", grepArguments{Pattern: term.expression.String(), Limit: 200}})
		}
		if t.offers("glob") {
			calls = append(calls, call{"glob", globArguments{Pattern: "**/*" + strings.ToLower(term.word) + "*"}})
		}
	}
	calls = slices.DeleteFunc(calls, t.wasMade)
	if len(calls) > 0 && t.turns == 0 {
		return turn{calls: calls}
	}
	if !t.has("grep") && !t.has("glob") {
		return turn{text: "Exploring needs the tool `grep` or `glob`, and this agent has neither.\n\n" + noModel + "\n"}
	}
	return turn{text: t.exploreText(terms, t.places(terms))}
}

// asking are words that say how a question is asked and not what it is about.
var asking = strings.Fields(`a about all an and any are as at be by called can could defined definition do does explore file files find for
	from function functions get gets give go handled handles happen happens has have how i implemented implementation in is it its
	list locate look looking me my of on or place places please project quick medium very thorough repository code codebase search see
	should show some tell that the their them there these they thing this those to up usage usages use used uses using want was we what
	when where which who whose why will with work works workspace would you your lines line method class type made make`)

var (
	quotedName = pattern("[`\"']([\\w.:/-]+)[`\"']")
	plainName  = pattern(`[A-Za-z_][\w]*`)
)

// terms picks the words to look for: names in quotes, names that only code has, and then the rest that is not a
// way of asking.
func (t *task) terms() []term {
	var words []string
	add := func(word string) {
		if len(word) > 1 && !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) }) {
			words = append(words, word)
		}
	}
	for _, match := range quotedName().FindAllStringSubmatch(t.words, -1) {
		add(match[1])
	}
	names := plainName().FindAllString(t.words, -1)
	for _, name := range names {
		if len(parts(name)) > 1 && name != strings.ToUpper(name) {
			add(name)
		}
	}
	for _, name := range names {
		if lower := strings.ToLower(name); !slices.Contains(asking, lower) && len(name) > 2 && len(parts(name)) == 1 {
			add(stem(lower))
		}
	}
	var terms []term
	for _, word := range words[:min(len(words), maxTerms)] {
		pieces := parts(word)
		for i := range pieces {
			pieces[i] = regexp.QuoteMeta(pieces[i])
		}
		// The same name may be written in another style: readConfig, read_config, read-config.
		expression, err := regexp.Compile("(?i)" + strings.Join(pieces, "[_. -]?"))
		if err == nil {
			terms = append(terms, term{word, expression})
		}
	}
	return terms
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
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
			start = i
		}
	}
	cut(len(runes))
	return out
}

// stem takes common endings from a word of prose, so that "loaded" finds load.
func stem(word string) string {
	const shortest = 4
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= shortest {
			return rest
		}
	}
	return word
}

var (
	matchLine  = pattern(`^(\d+):(.*)$`)
	wholeLine  = pattern(`^(.+?):(\d+):(.*)$`)
	besideLine = pattern(`^\d+-`)
	definition = pattern(`^\s*(?:export\s+|default\s+|pub(?:lic)?\s+|private\s+|static\s+|async\s+|abstract\s+)*(?:func(?:\s*\([^)]*\))?|def|class|type|interface|struct|enum|function\*?|const|var|let|trait|impl|module|package|fn)\s+([\w$]+)`)
	topName    = pattern(`^(?:\t|  )?([A-Za-z_]\w*)\s*(?:=|:=|\(\)\s*\{|[A-Z*\[]\w*)`)
)

// places gathers the lines that grep found, each once, the best first.
func (t *task) places(terms []term) []place {
	seen := map[string]bool{}
	var found []place
	for e := range t.made("grep") {
		if e.failed {
			continue
		}
		current := ""
		for line := range strings.Lines(e.text) {
			line = strings.TrimSuffix(line, "\n")
			p := place{path: current}
			switch match := matchLine().FindStringSubmatch(line); {
			case match != nil && current != "":
				p.line, _ = strconv.Atoi(match[1]) // digits only
				p.text = match[2]
			case line == "" || line == "--" || line[0] == '(' || strings.HasPrefix(line, "No match") || besideLine().MatchString(line):
				continue
			default:
				whole := wholeLine().FindStringSubmatch(line)
				if whole == nil {
					current = line
					continue
				}
				p.path, p.text = whole[1], whole[3]
				p.line, _ = strconv.Atoi(whole[2]) // as above
			}
			if key := fmt.Sprintf("%s:%d", p.path, p.line); !seen[key] {
				seen[key] = true
				p.score = score(p, terms)
				found = append(found, p)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
	return found
}

// score rates a line: definitions of what is looked for over uses, lines with several of the words over others,
// sources over tests and over what others wrote.
func score(p place, terms []term) int {
	const defined, inLine, whole, inPath, comment, remote = 10, 4, 3, 3, 3, 8
	points := -remote * remoteness(p.path)
	name := ""
	if match := definition().FindStringSubmatch(p.text); match != nil {
		name = match[1]
	} else if match := topName().FindStringSubmatch(p.text); match != nil {
		name = match[1]
		points -= inLine // it may be an assignment as well
	}
	trimmed := strings.TrimSpace(p.text)
	if strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "*") || languageOf(p.path) == prose {
		points -= comment
	}
	for _, term := range terms {
		if at := term.expression.FindStringIndex(p.text); at != nil {
			points += inLine
			if (at[0] == 0 || !isWordByte(p.text[at[0]-1])) && (at[1] == len(p.text) || !isWordByte(p.text[at[1]])) {
				points += whole
			}
		}
		if at := term.expression.FindStringIndex(name); at != nil {
			points += defined
			if at[1]-at[0] == len(name) {
				points += whole
			}
		}
		if term.expression.MatchString(path.Base(p.path)) {
			points += inPath
		}
	}
	return points
}

// exploreText is the answer: places first, then files by name, then what was not found.
func (t *task) exploreText(terms []term, places []place) string {
	const longest = 120
	var b strings.Builder
	files := map[string]int{}
	shown := 0
	for _, p := range places {
		if files[p.path] == placesPerFile || shown == maxPlaces {
			continue
		}
		files[p.path]++
		shown++
		text := []rune(strings.Join(strings.Fields(p.text), " "))
		if len(text) > longest {
			text = append(text[:longest-1], '…')
		}
		fmt.Fprintf(&b, "%s:%d: %s\n", p.path, p.line, string(text))
	}
	if hidden := len(places) - shown; hidden > 0 {
		fmt.Fprintf(&b, "(%d more lines match)\n", hidden)
	}
	named := slices.DeleteFunc(t.namedFiles(), func(name string) bool { return files[name] > 0 })
	if len(named) > 0 {
		fmt.Fprintf(&b, "\nBy name: %s\n", strings.Join(named[:min(len(named), maxPlaces)], ", "))
	}
	var words, without []string
	for _, term := range terms {
		words = append(words, term.word)
		if !slices.ContainsFunc(places, func(p place) bool { return term.expression.MatchString(p.text) }) {
			without = append(without, term.word)
		}
	}
	fmt.Fprintf(&b, "\nLooked for: %s.", strings.Join(words, ", "))
	if len(without) > 0 {
		fmt.Fprintf(&b, " In no line: %s.", strings.Join(without, ", "))
	}
	b.WriteString("\nThe places are ranked by rules: definitions before uses, sources before tests. What they mean together, the rules cannot say.\n" + noModel + "\n")
	return strings.TrimLeft(b.String(), "\n")
}

// namedFiles returns what glob named, sources first.
func (t *task) namedFiles() []string {
	var files []string
	for e := range t.made("glob") {
		if e.failed {
			continue
		}
		for line := range strings.Lines(e.text) {
			name := strings.TrimSpace(line)
			if name != "" && name[0] != '(' && !strings.HasPrefix(name, "No file") && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(remoteness(a), remoteness(b)) })
	return files
}

// remoteness orders paths: sources, tests, what others wrote.
func remoteness(name string) int {
	lower := "/" + strings.ToLower(name)
	for _, folder := range []string{"/vendor/", "/node_modules/", "/third_party/", "/dist/", "/build/", "/.venv/", "/site-packages/"} {
		if strings.Contains(lower, folder) {
			return 2
		}
	}
	if (&file{path: name}).isTest() {
		return 1
	}
	return 0
}
