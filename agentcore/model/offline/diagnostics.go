package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lint"
)

// checkers is what the diagnostics tool said about a file.
type checkers struct {
	usage
	found   []lint.Diagnostic
	problem string
}

// usage tells which checkers judged files, which of them this machine lacks, and which were not run, with the reason.
type usage struct{ used, missing, withheld []string }

var (
	diagnosticLine = lazyregexp.New(`^.*?:(\d+):(\d+): (error|warning|information|hint): (.*?)(?: \[([^\]]*)\])?$`)
	usagePart      = lazyregexp.New(`(Checked with|Not on this machine:|Not run:) (.*?)\.(?:\s|$)`)
)

// read takes in a line that says which checkers were used.
func (u *usage) read(line string) {
	for _, match := range usagePart().FindAllStringSubmatch(line, -1) {
		switch match[1] {
		case "Checked with":
			u.used = append(u.used, strings.Split(match[2], ", ")...)
		case "Not run:":
			u.withheld = append(u.withheld, match[2])
		default:
			u.missing = append(u.missing, strings.Split(match[2], ", ")...)
		}
	}
}

// add takes in another usage.
func (u *usage) add(other usage) {
	u.used, u.missing = append(u.used, other.used...), append(u.missing, other.missing...)
	u.withheld = append(u.withheld, other.withheld...)
}

// String writes the line that read understands.
func (u *usage) String() string {
	text := "Checked with " + joined(u.used) + "."
	if len(u.missing) > 0 {
		text += " Not on this machine: " + joined(u.missing) + "."
	}
	for _, one := range slices.Compact(slices.Sorted(slices.Values(u.withheld))) {
		text += " Not run: " + one + "."
	}
	return text + "\n"
}

// checkersOf gathers the answer of the diagnostics tool for a path: lines "path:12:5: severity: message [source
// code]", then a line on which checkers were used.
func (r *record) checkersOf(path string) checkers {
	var c checkers
	for e := range r.made("diagnostics") {
		var arguments diagnosticsArguments
		if json.Unmarshal(e.arguments, &arguments) != nil || arguments.Path != path {
			continue
		}
		if e.failed {
			c.problem = e.text
			continue
		}
		lines := strings.Split(strings.TrimRight(e.text, "\n"), "\n")
		c.read(lines[len(lines)-1]) // first, since the names of checkers may have several words
		for _, line := range lines {
			if match := diagnosticLine().FindStringSubmatch(line); match != nil {
				c.found = append(c.found, c.diagnostic(match))
			}
		}
	}
	return c
}

// diagnostic is what a match of diagnosticLine says.
func (c *checkers) diagnostic(match []string) lint.Diagnostic {
	number, _ := strconv.Atoi(match[1]) // digits only
	source, _, _ := strings.Cut(match[5], " ")
	for _, name := range c.used {
		if match[5] == name || strings.HasPrefix(match[5], name+" ") {
			source = name
		}
	}
	return lint.Diagnostic{
		Line: number, EndLine: number, Severity: lint.Severity(match[3]), Message: match[4],
		Rule: strings.TrimSpace(match[5][len(source):]), Source: cmp.Or(source, "diagnostics"),
	}
}
