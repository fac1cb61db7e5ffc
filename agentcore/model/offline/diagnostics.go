package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// checkers is what the diagnostics tool said about a file.
type checkers struct {
	found   []finding
	used    []string
	missing []string
	// withheld are those that were not run, each with the reason.
	withheld []string
	problem  string
}

var (
	diagnosticLine = pattern(`^.*?:(\d+):(\d+): (error|warning|information|info|hint): (.*?)(?: \[([^\]]*)\])?$`)
	usedLine       = pattern(`Checked with (.*?)\.(?:\s|$)`)
	missingLine    = pattern(`Not on this machine: (.*?)\.(?:\s|$)`)
	withheldLine   = pattern(`Not run: (.*?)\.(?:\s|$)`)
)

// withheldIn are the checkers that a text says were not run, each with the reason.
func withheldIn(text string) (list []string) {
	for _, match := range withheldLine().FindAllStringSubmatch(text, -1) {
		list = append(list, match[1])
	}
	return list
}

// tellUse writes which checkers were used, which the machine lacks, and which were not run.
func tellUse(b *strings.Builder, used, missing, withheld []string) {
	b.WriteString("\nChecked with " + joined(used) + ".")
	if len(missing) > 0 {
		b.WriteString(" Not on this machine: " + joined(missing) + ".")
	}
	for _, one := range slices.Compact(slices.Sorted(slices.Values(withheld))) {
		b.WriteString(" Not run: " + one + ".")
	}
	b.WriteString("\n")
}

// checkersOf gathers the answer of the diagnostics tool for a path: lines "path:12:5: severity: message [source
// code]", then a line on which checkers were used.
func (t *task) checkersOf(path string) checkers {
	var c checkers
	for e := range t.made("diagnostics") {
		var arguments diagnosticsArguments
		if json.Unmarshal(e.arguments, &arguments) != nil || arguments.Path != path {
			continue
		}
		if e.failed {
			c.problem = e.text
			continue
		}
		if match := usedLine().FindStringSubmatch(e.text); match != nil {
			c.used = strings.Split(match[1], ", ")
		}
		if match := missingLine().FindStringSubmatch(e.text); match != nil {
			c.missing = strings.Split(match[1], ", ")
		}
		// The last line tells; those before it hold what checkers say.
		c.withheld = withheldIn(e.text[strings.LastIndexByte(strings.TrimRight(e.text, "\n"), '\n')+1:])
		for line := range strings.Lines(e.text) {
			if found, ok := c.parse(strings.TrimSuffix(line, "\n")); ok {
				c.found = append(c.found, found)
			}
		}
	}
	return c
}

func (c *checkers) parse(line string) (finding, bool) {
	match := diagnosticLine().FindStringSubmatch(line)
	if match == nil {
		return finding{}, false
	}
	number, err := strconv.Atoi(match[1])
	if err != nil || number < 1 {
		return finding{}, false
	}
	source, code := c.splitSource(match[5])
	severity := severity(match[3])
	if severity == "info" {
		severity = information
	}
	return finding{line: number, endLine: number, severity: severity, rule: code, message: match[4], source: source}, true
}

// splitSource parts "go vet unreachable" into checker and code: names of checkers may have several words, so
// those that were used are tried first.
func (c *checkers) splitSource(text string) (source, code string) {
	for _, name := range c.used {
		if len(name) > len(source) && (text == name || strings.HasPrefix(text, name+" ")) {
			source = name
		}
	}
	if source == "" {
		source, _, _ = strings.Cut(text, " ")
	}
	return cmp.Or(source, "diagnostics"), strings.TrimSpace(text[len(source):])
}

// combine puts the checkers' findings and those of the rules together, each thing once, sorted by line. Where
// both say the same, the checker's words stay and get the rule's fix.
func combine(checked, own []finding) []finding {
	var out []finding
	for _, found := range checked {
		if !slices.ContainsFunc(out, func(o finding) bool { return o.line == found.line && sameWords(o.message, found.message) }) {
			out = append(out, found)
		}
	}
	from := len(out)
	for _, found := range own {
		twin := slices.IndexFunc(out[:from], func(o finding) bool {
			if o.line < found.line || o.line > found.endLine && o.line != found.line {
				return false
			}
			return slices.ContainsFunc(found.same, func(word string) bool {
				return strings.EqualFold(o.rule, word) || len(word) > 6 && strings.Contains(strings.ToLower(o.message), word)
			})
		})
		switch {
		case twin < 0:
			out = append(out, found)
		case out[twin].edit == nil:
			out[twin].edit = found.edit
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int { return cmp.Compare(a.line, b.line) })
	return out
}

// sameWords compares messages of two checkers, one of which may have passed on the other's.
func sameWords(a, b string) bool {
	plain := func(s string) string { return strings.ToLower(strings.Trim(s, " .")) }
	a, b = plain(a), plain(b)
	return a == b || strings.HasSuffix(a, ": "+b) || strings.HasSuffix(b, ": "+a)
}
