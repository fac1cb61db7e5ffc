package main

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// The types below are the part of SARIF 2.1.0 (OASIS Standard, 27 March 2020) that a result needs; the names are
// those of its sections 3.13 and following.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool               sarifTool                   `json:"tool"`
		Invocations        []sarifInvocation           `json:"invocations"`
		OriginalURIBaseIDs map[string]artifactLocation `json:"originalUriBaseIds"`
		Results            []sarifResult               `json:"results"`
		ColumnKind         string                      `json:"columnKind"`
		NewlineSequences   []string                    `json:"newlineSequences"`
		AutomationDetails  sarifAutomation             `json:"automationDetails"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		Name             string       `json:"name,omitempty"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifInvocation struct {
		ExecutionSuccessful        bool                `json:"executionSuccessful"`
		ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		PhysicalLocation physicalLocation `json:"physicalLocation"`
	}
	physicalLocation struct {
		ArtifactLocation artifactLocation `json:"artifactLocation"`
		Region           sarifRegion      `json:"region"`
	}
	artifactLocation struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	// sarifRegion is 1-based, columns in UTF-16 code units, the end column exclusive.
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description     sarifMessage     `json:"description"`
		ArtifactChanges []artifactChange `json:"artifactChanges"`
	}
	artifactChange struct {
		ArtifactLocation artifactLocation   `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion   `json:"deletedRegion"`
		InsertedContent *sarifMessage `json:"insertedContent,omitempty"`
	}
)

// rootID names the workspace folder in a SARIF log.
const rootID = "SRCROOT"

// sarif is the result as a SARIF log.
func (r *result) sarif() sarifLog {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "agentls", Version: version(), InformationURI: "https://github.com/agentls/agentls",
			Rules: []sarifRule{},
		}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: r.complete() && !r.leftOpen}},
		OriginalURIBaseIDs: map[string]artifactLocation{
			rootID: {URI: strings.TrimSuffix(event.FileURI(r.root.Path), "/") + "/"},
		},
		Results:           []sarifResult{},
		ColumnKind:        "utf16CodeUnits",
		NewlineSequences:  []string{"\r\n", "\n", "\r"},
		AutomationDetails: sarifAutomation{ID: path.Join("agentls", r.agent, string(r.run))},
	}
	if e := r.outcome.Error; e != nil {
		run.Invocations[0].ToolExecutionNotifications = []sarifNotification{
			{Level: "error", Message: sarifMessage{e.Detail}},
		}
	}
	indexes := map[string]int{}
	rules := &run.Tool.Driver.Rules
	for _, f := range r.findings {
		id := ruleID(f)
		index, known := indexes[id]
		if !known {
			index = len(*rules)
			indexes[id] = index
			*rules = append(*rules, sarifRule{ID: id, Name: f.Rule, ShortDescription: sarifMessage{ruleText(f)}})
		}
		run.Results = append(run.Results, r.sarifResult(f, id, index))
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// ruleID is the finding's source and rule, such as "go-vet/printf".
func ruleID(f event.Finding) string {
	source := strings.Join(strings.Fields(strings.ToLower(cmp.Or(f.Source, "agentls"))), "-")
	return source + "/" + cmp.Or(strings.Join(strings.Fields(f.Rule), "-"), "finding")
}

func ruleText(f event.Finding) string {
	if f.Rule == "" {
		return "A finding of " + cmp.Or(f.Source, "agentls")
	}
	return f.Rule + ", a rule of " + cmp.Or(f.Source, "agentls")
}

func (r *result) sarifResult(f event.Finding, id string, index int) sarifResult {
	path := event.FilePath(f.URI)
	x := workspace.NewIndex(r.files[path].Text)
	result := sarifResult{
		RuleID: id, RuleIndex: index, Level: sarifLevel(f.Severity), Message: sarifMessage{f.Message},
		Locations: []sarifLocation{{physicalLocation{r.artifact(path), sarifRegion{
			StartLine: f.Span.StartLine + 1, StartColumn: utf16Column(x, f.Span.StartLine, f.Span.StartColumn),
			EndLine: f.Span.EndLine + 1, EndColumn: utf16Column(x, f.Span.EndLine, f.Span.EndColumn),
		}}}},
	}
	if fix := r.fixes[f.ID]; len(fix) > 0 {
		change := artifactChange{ArtifactLocation: r.artifact(path)} // a finding's fix is in its own file
		for _, h := range fix {
			replacement := sarifReplacement{DeletedRegion: wholeLines(x, h.StartLine, h.EndLine)}
			if h.After != "" {
				replacement.InsertedContent = &sarifMessage{h.After}
			}
			change.Replacements = append(change.Replacements, replacement)
		}
		result.Fixes = []sarifFix{{sarifMessage{cmp.Or(fix[0].Author.Reason, f.Message)}, []artifactChange{change}}}
	}
	return result
}

// artifact is a path as a relative reference (RFC 3986) below the workspace folder.
func (r *result) artifact(path string) artifactLocation {
	if !inside(r.root.Path, path) {
		return artifactLocation{URI: event.FileURI(path)}
	}
	reference := (&url.URL{Path: r.below(path)}).String()
	return artifactLocation{URI: strings.TrimPrefix(reference, "./"), URIBaseID: rootID}
}

// sarifLevel is a severity in SARIF's words (3.27.10).
func sarifLevel(s event.Severity) string {
	switch s {
	case event.SeverityWarning:
		return "warning"
	case event.SeverityInformation, event.SeverityHint:
		return "note"
	}
	return "error"
}

// utf16Column turns a 0-based column in bytes into a 1-based one in UTF-16 code units.
func utf16Column(x *workspace.Index, line, column int) int {
	text := x.Line(line)
	units := 1
	for _, r := range text[:min(column, len(text))] {
		units++
		if r > 0xffff {
			units++
		}
	}
	return units
}

// wholeLines is the region of the lines [start, end), 0-based.
func wholeLines(x *workspace.Index, start, end int) sarifRegion {
	return sarifRegion{StartLine: start + 1, StartColumn: 1, EndLine: lineAfter(x, end), EndColumn: columnAfter(x, end)}
}

// lineAfter and columnAfter are the place behind the last character before line end, which is the beginning of
// that line, or the end of a last line without a line ending.
func lineAfter(x *workspace.Index, end int) int {
	if openEnd(x, end) {
		return end
	}
	return end + 1
}

func columnAfter(x *workspace.Index, end int) int {
	if openEnd(x, end) {
		return utf16Column(x, end-1, len(x.Line(end-1)))
	}
	return 1
}

func openEnd(x *workspace.Index, end int) bool {
	return end > 0 && end >= x.Len() && strings.TrimRight(x.Line(end-1), "\r\n") == x.Line(end-1)
}
