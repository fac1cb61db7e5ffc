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
	found   []lint.Diagnostic
	used    []string
	missing []string
	// withheld are those that were not run, each with the reason.
	withheld []string
	problem  string
}

var (
	diagnosticLine = lazyregexp.New(`^.*?:(\d+):(\d+): (error|warning|information|info|hint): (.*?)(?: \[([^\]]*)\])?$`)
	usedLine       = lazyregexp.New(`Checked with (.*?)\.(?:\s|$)`)
	missingLine    = lazyregexp.New(`Not on this machine: (.*?)\.(?:\s|$)`)
	withheldLine   = lazyregexp.New(`Not run: (.*?)\.(?:\s|$)`)
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

func (c *checkers) parse(line string) (lint.Diagnostic, bool) {
	match := diagnosticLine().FindStringSubmatch(line)
	if match == nil {
		return lint.Diagnostic{}, false
	}
	number, err := strconv.Atoi(match[1])
	if err != nil || number < 1 {
		return lint.Diagnostic{}, false
	}
	source, code := c.splitSource(match[5])
	severity := lint.Severity(match[3])
	if severity == "info" {
		severity = lint.Information
	}
	return lint.Diagnostic{
		Line: number, EndLine: number, Severity: severity, Rule: code, Message: match[4],
		Source: source,
	}, true
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
