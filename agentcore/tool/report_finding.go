package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

type fixArguments struct {
	OldString string `json:"old_string" alias:"old_str"`
	NewString string `json:"new_string" alias:"new_str"`
}

type findingArguments struct {
	Path     string        `json:"path" alias:"file_path,file,filename"`
	Line     int           `json:"line" minimum:"1" alias:"start_line"`
	EndLine  int           `json:"end_line,omitempty" minimum:"1"`
	Severity string        `json:"severity,omitempty" enum:"error,warning,information,hint" synonym:"info=information,note=hint,critical=error,high=error,medium=warning,low=information"`
	Rule     string        `json:"rule,omitempty"`
	Message  string        `json:"message" jsonschema:"the problem and what to do" alias:"description"`
	Source   string        `json:"source,omitempty" jsonschema:"the checker that found it" hidden:"true"`
	Fix      *fixArguments `json:"fix,omitempty"`
}

// reporting is what a finding needs of a host: it is on lines of a file.
type reporting interface {
	Workspace
	Records
}

func reportFindingTool() Tool {
	return New(Definition[findingArguments, reporting]{
		Name: "report_finding",
		Description: "Show the user a problem at its place in the editor, with a fix if you are sure. " +
			"One call each; do not repeat them in your final text.",
		Effect:  Notes,
		Access:  func(a findingArguments) Access { return onPath(a.Path) },
		Subject: ByPath,
		Example: findingArguments{
			Path: "main.go", Line: 12, Severity: "warning", Rule: "dropped-error",
			Message: "The error of Close is dropped, so a failed write goes unnoticed.",
			Fix: &fixArguments{
				OldString: "\tf.Close()\n",
				NewString: "\tif err := f.Close(); err != nil {\n\t\treturn err\n\t}\n",
			},
		},
		Title: func(a findingArguments) string {
			return fmt.Sprintf("finding at %s:%d: %s", a.Path, a.Line, a.Message)
		},
		Run: reportFinding,
	})
}

func reportFinding(ctx context.Context, host reporting, a findingArguments) (Result, error) {
	path, err := host.Files().View().Resolve(a.Path)
	if err != nil {
		return Result{}, err
	}
	file, err := peek(host.Files(), path)
	if err != nil {
		return Result{}, explain(host, path, err)
	}
	span, err := lineSpan(file, a.Line, a.EndLine)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", host.Files().View().Shown(path), err)
	}
	message := strings.TrimSpace(a.Message)
	if message == "" {
		return Result{}, fmt.Errorf("message is empty; say what is wrong and what to do")
	}
	finding := Finding{
		Path: path, Span: span, Severity: event.Severity(a.Severity), Rule: a.Rule, Message: message,
		Source: a.Source,
	}
	if a.Severity == "" {
		finding.Severity = event.SeverityWarning
	}
	if a.Fix != nil {
		finding.Fix = &Fix{OldString: a.Fix.OldString, NewString: a.Fix.NewString}
	}
	id, err := host.Report(ctx, finding)
	if err != nil {
		return Result{}, err
	}
	text := fmt.Sprintf("Reported as %s", id)
	if finding.Fix != nil {
		text += ", with its fix as a proposed edit"
	}
	return Result{
		Text: text + ".", Summary: fmt.Sprintf("%s at line %d", finding.Severity, a.Line),
		Paths: []string{path},
	}, nil
}

// lineSpan covers whole lines, 1-based and inclusive, without the indentation of the first and the
// ending of the last. An end of 0 is the first line.
func lineSpan(file workspace.File, first, last int) (event.Span, error) {
	lines := shownLines(file.Text)
	if last == 0 {
		last = first
	}
	if first < 1 || first > len(lines) || last > len(lines) {
		return event.Span{}, fmt.Errorf("line %d is past the end: the file has %s", max(first, last),
			count(len(lines), "line", "lines"))
	}
	if last < first {
		return event.Span{}, fmt.Errorf("end_line %d is before line %d", last, first)
	}
	from, to := lines[first-1], lines[last-1]
	column := len(indentOf(file.Text[from.start:from.end]))
	if column == from.end-from.start {
		column = 0
	}
	return event.Span{
		StartLine: first - 1, StartColumn: column, EndLine: last - 1,
		EndColumn: len(trimRight(file.Text[to.start:to.end])),
	}, nil
}
