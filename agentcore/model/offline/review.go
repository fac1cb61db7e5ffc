package offline

import (
	"cmp"
	"encoding/json"
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

// targets returns the files of the task, or the turn that finds them out.
func (t *task) targets() ([]string, *turn) {
	if len(t.files) > 0 {
		if !t.has("read") {
			return nil, &turn{
				text: "The offline rules need the tool `read` to look at a file, and this agent does not have it.\n\n" +
					noModel + "\n",
			}
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

// listed returns the files that glob named: sources first, tests and what others wrote last.
func (r *record) listed() []string {
	files := slices.DeleteFunc(r.globbed(), func(name string) bool { return lint.LanguageOf(name) == lint.Other })
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(remoteness(a), remoteness(b)) })
	return files
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
		func(found lint.Diagnostic) bool { return !t.within(found.Line, found.EndLine) })
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
	order := map[lint.Severity]int{lint.Error: 0, lint.Warning: 1, lint.Information: 2, lint.Hint: 3}
	ranked := slices.Clone(found)
	slices.SortStableFunc(ranked,
		func(a, b lint.Diagnostic) int { return cmp.Compare(order[a.Severity], order[b.Severity]) })
	ranked = ranked[:n]
	slices.SortStableFunc(ranked, func(a, b lint.Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return ranked
}

// reports returns the report_finding calls that are still to be made. Those without a fix come first, by line.
// Those with a fix follow from the last line to the first, because each fix moves the lines behind it.
func (r *record) reports(done []reviewed) []call {
	attempts := map[string]int{} // by finding: failed reports
	accepted := map[string]bool{}
	for e := range r.made("report_finding") {
		var arguments findingArguments
		if json.Unmarshal(e.arguments, &arguments) != nil {
			continue
		}
		key := findingKey(arguments.Path, arguments.Line, arguments.Rule, arguments.Message)
		if e.failed {
			attempts[key]++
		} else {
			accepted[key] = true
		}
	}
	var plain, fixing []call
	for _, r := range done {
		var behind []call
		for _, found := range r.findings {
			key := findingKey(r.path, found.Line, found.Rule, found.Message)
			if accepted[key] || attempts[key] > 1 || attempts[key] == 1 && found.Fix == nil {
				continue
			}
			arguments := findingArguments{
				Path: r.path, Line: found.Line, Severity: string(found.Severity), Rule: found.Rule,
				Message: found.Message, Source: found.Source,
			}
			if found.EndLine > found.Line {
				arguments.EndLine = found.EndLine
			}
			if attempts[key] == 0 && found.Fix != nil {
				arguments.Fix = found.Fix
				behind = append(behind, call{"report_finding", arguments})
				continue
			}
			plain = append(plain, call{"report_finding", arguments})
		}
		slices.Reverse(behind)
		fixing = append(fixing, behind...)
	}
	calls := slices.Concat(plain, fixing)
	// The last turn is kept for reports that have to be repeated.
	left := max(maxTurns-1-r.turns, 1)
	return calls[:min(len(calls), max(callsPerTurn, (len(calls)+left-1)/left))]
}

func findingKey(path string, line int, rule, message string) string {
	return fmt.Sprintf("%s\x00%d\x00%s\x00%s", path, line, rule, message)
}

// reviewText sums up.
func (t *task) reviewText(done []reviewed, dropped int) string {
	var b strings.Builder
	unreported := map[string]bool{}
	sent := 0
	for e := range t.made("report_finding") {
		var arguments findingArguments
		if json.Unmarshal(e.arguments, &arguments) != nil {
			continue
		}
		sent++
		unreported[findingKey(arguments.Path, arguments.Line, arguments.Rule, arguments.Message)] = e.failed
	}
	for _, r := range done {
		name := r.path
		if t.first > 0 {
			name = fmt.Sprintf("%s, lines %d-%d", r.path, t.first, t.last)
		}
		if !r.source.read {
			fmt.Fprintf(&b, "%s could not be read: %s\n", r.path,
				cmp.Or(withoutPrefix(r.source.problem), "the turns of this run were used up"))
			continue
		}
		fixable := 0
		for _, found := range r.findings {
			if found.Fix != nil {
				fixable++
			}
		}
		fmt.Fprintf(&b, "%s: %s", name, bySeverity(r.findings))
		if fixable > 0 {
			fmt.Fprintf(&b, ", %d with a fix", fixable)
		}
		b.WriteString(".\n")
		if r.lines < r.source.total {
			fmt.Fprintf(&b, "  Only its first %d of %d lines were read.\n", r.lines, r.source.total)
		}
		if r.checkers.problem != "" {
			fmt.Fprintf(&b, "  Its diagnostics could not be had: %s\n", withoutPrefix(r.checkers.problem))
		}
		for _, found := range r.findings {
			failed, reported := unreported[findingKey(r.path, found.Line, found.Rule, found.Message)]
			if !reported || failed {
				fmt.Fprintf(&b, "- %s:%d: %s: %s (%s)\n", r.path, found.Line, found.Severity, found.Message,
					strings.TrimSpace(found.Source+" "+found.Rule))
			}
		}
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "%d more files were not looked at; name those that matter.\n", dropped)
	}
	var used, missing, withheld []string
	for _, r := range done {
		used, missing, withheld = append(used, r.checkers.used...), append(missing, r.checkers.missing...),
			append(withheld, r.checkers.withheld...)
	}
	tellUse(&b, append(used, "the rules of agentls"), missing, withheld)
	b.WriteString(noModel + "\n")
	return b.String()
}

// joined lists names, each once.
func joined(names []string) string {
	var once []string
	for _, name := range names {
		if name != "" && !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return strings.Join(once, ", ")
}

// withoutPrefix takes "error: " from the text of a failed call.
func withoutPrefix(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "error: "), "denied: "))
}

// bySeverity writes "2 errors, 1 hint".
func bySeverity(found []lint.Diagnostic) string {
	counts := map[string]int{}
	for _, f := range found {
		name := string(f.Severity)
		if f.Severity == lint.Information {
			name = "remark"
		}
		counts[name]++
	}
	return countsOf(counts)
}
