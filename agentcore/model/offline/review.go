package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lint"
)

const (
	// maxFindings bounds the findings of one file.
	maxFindings = 50
	// maxFiles bounds the files of one review.
	maxFiles = 12

	cannotRead = "The offline rules need the tool `read` to look at a file, and this agent does not have it.\n\n" +
		noModel + "\n"
)

// reviewed is one file of a review.
type reviewed struct {
	path     string
	source   source
	lines    int
	checkers checkers
	findings []lint.Diagnostic
}

// review reads the files and their diagnostics, reports what it finds, and sums up.
func (t *task) review() turn {
	files, next := t.targets()
	if next != nil {
		return *next
	}
	dropped := max(len(files)-maxFiles, 0)
	files = files[:len(files)-dropped]
	if calls := t.reading(files, true); len(calls) > 0 && t.turns < maxTurns {
		return turn{calls: calls}
	}
	var done []reviewed
	for _, path := range files {
		done = append(done, t.judge(path))
	}
	if t.offers("report_finding") && t.turns < maxTurns {
		if calls := t.reports(done); len(calls) > 0 {
			return turn{calls: calls}
		}
	}
	return turn{text: t.reviewText(done, dropped)}
}

// targets returns the files of the task, or the turn that finds out which files there are.
func (t *task) targets() ([]string, *turn) {
	if len(t.files) > 0 {
		if !t.has("read") {
			return nil, &turn{text: cannotRead}
		}
		return t.files, nil
	}
	everything := call{"glob", globArguments{Pattern: "**/*.{go,js,jsx,mjs,cjs,ts,tsx,py,sh,bash}"}}
	if !t.wasMade(everything) && t.offers("glob") {
		return nil, &turn{calls: []call{everything}}
	}
	files := t.listed()
	if len(files) == 0 {
		return nil, &turn{
			text: "There is no file to look at: open one and ask again, or name it, as in \"review main.go\".\n\n" +
				noModel + "\n",
		}
	}
	return files, nil
}

// listed returns the files that glob named and the rules know.
func (r *record) listed() []string {
	return slices.DeleteFunc(r.globbed(), func(name string) bool { return lint.LanguageOf(name) == lint.Other })
}

// judge applies the rules to one file.
func (t *task) judge(path string) reviewed {
	r := reviewed{path: path, source: t.sourceOf(path), checkers: t.checkersOf(path)}
	text, lines := r.source.text()
	r.lines = lines
	var own []lint.Diagnostic
	f := lint.NewFile(path, text)
	if lines > 0 {
		own = f.Check()
	}
	r.findings = lint.Combine(r.checkers.found, own)
	r.findings = slices.DeleteFunc(r.findings,
		func(found lint.Diagnostic) bool { return !t.within(path, found.Line, found.EndLine) })
	var more []lint.Diagnostic
	if surplus := len(r.findings) - maxFindings; surplus > 0 {
		r.findings = mostSevere(r.findings, maxFindings)
		more = []lint.Diagnostic{{
			Line: max(t.first, 1), Severity: lint.Information, Rule: "more-findings", Source: lint.Source,
			Message: fmt.Sprintf(
				"%d more findings of this file, less severe, are not shown: mend some of those that are, and review "+
					"it again.", surplus),
		}}
	}
	f.Fix(r.findings)
	r.findings = append(more, r.findings...)
	return r
}

// mostSevere keeps n findings, in their order.
func mostSevere(found []lint.Diagnostic, n int) []lint.Diagnostic {
	rank := func(d lint.Diagnostic) int { return slices.Index(severities, severityNames[d.Severity]) }
	ranked := slices.Clone(found)
	slices.SortStableFunc(ranked, func(a, b lint.Diagnostic) int { return rank(a) - rank(b) })
	ranked = ranked[:n]
	slices.SortStableFunc(ranked, func(a, b lint.Diagnostic) int { return a.Line - b.Line })
	return ranked
}

// report is the next call that reports a finding: with its fix, or without the fix where that was refused. It is nil
// where no call is left to make. accepted tells whether the finding was accepted.
func (r *record) report(path string, found lint.Diagnostic) (next *call, accepted bool) {
	a := findingArguments{
		Path: path, Line: found.Line, Severity: string(found.Severity), Rule: found.Rule,
		Message: found.Message, Source: found.Source, Fix: found.Fix,
	}
	if found.EndLine > found.Line {
		a.EndLine = found.EndLine
	}
	for {
		c := call{"report_finding", a}
		e, made := r.answered(c)
		if !made {
			return &c, false
		}
		if !e.failed || a.Fix == nil {
			return nil, !e.failed
		}
		a.Fix = nil
	}
}

// reports returns the report_finding calls that are still to be made. Those without a fix come first, by line.
// Those with a fix follow from the last line to the first, because each fix moves the lines behind it.
func (r *record) reports(done []reviewed) []call {
	var plain, fixing []call
	for _, file := range done {
		var behind []call
		for _, found := range file.findings {
			next, _ := r.report(file.path, found)
			switch {
			case next == nil:
			case next.arguments.(findingArguments).Fix != nil:
				behind = append(behind, *next)
			default:
				plain = append(plain, *next)
			}
		}
		slices.Reverse(behind)
		fixing = append(fixing, behind...)
	}
	calls := slices.Concat(plain, fixing)
	// The last turn is kept for reports that have to be repeated.
	left := max(maxTurns-1-r.turns, 1)
	return calls[:min(len(calls), max(callsPerTurn, (len(calls)+left-1)/left))]
}

// reviewText sums the review up. It names the findings that could not be reported.
func (t *task) reviewText(done []reviewed, dropped int) string {
	var b strings.Builder
	var used usage
	for _, r := range done {
		used.add(r.checkers.usage)
		if !r.source.read {
			fmt.Fprintf(&b, "%s could not be read: %s\n", r.path,
				cmp.Or(withoutPrefix(r.source.problem), "the turns of this run were used up"))
			continue
		}
		name, fixable := r.path, 0
		if t.first > 0 {
			name = fmt.Sprintf("%s, lines %d-%d", r.path, t.first, t.last)
		}
		counts := map[string]int{}
		for _, found := range r.findings {
			counts[severityNames[found.Severity]]++
			if found.Fix != nil {
				fixable++
			}
		}
		b.WriteString(name + ": " + countsOf(counts, fixable) + ".\n")
		if r.lines < r.source.total {
			fmt.Fprintf(&b, "  Only its first %d of %d lines were read.\n", r.lines, r.source.total)
		}
		if r.checkers.problem != "" {
			fmt.Fprintf(&b, "  Its diagnostics could not be had: %s\n", withoutPrefix(r.checkers.problem))
		}
		for _, found := range r.findings {
			if _, accepted := t.report(r.path, found); !accepted {
				fmt.Fprintf(&b, "- %s:%d: %s: %s (%s)\n", r.path, found.Line, found.Severity, found.Message,
					strings.TrimSpace(found.Source+" "+found.Rule))
			}
		}
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "%d more files were not looked at; name those that matter.\n", dropped)
	}
	used.used = append(used.used, "the rules of agentls")
	return b.String() + "\n" + used.String() + noModel + "\n"
}

// severities are the names that counts have, the worst first; severityNames are they by severity.
var (
	severities    = []string{"error", "warning", "remark", "hint"}
	severityNames = map[lint.Severity]string{
		lint.Error: "error", lint.Warning: "warning", lint.Information: "remark", lint.Hint: "hint",
	}
)

// countsOf writes "2 errors, 1 hint, 1 with a fix".
func countsOf(counts map[string]int, fixable int) string {
	var list []string
	for _, thing := range severities {
		if counts[thing] > 0 {
			list = append(list, plural(counts[thing], thing))
		}
	}
	if fixable > 0 {
		list = append(list, fmt.Sprintf("%d with a fix", fixable))
	}
	if len(list) == 0 {
		return "nothing found"
	}
	return strings.Join(list, ", ")
}

// withoutPrefix takes "error: " from the text of a failed call.
func withoutPrefix(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "error: "), "denied: "))
}
