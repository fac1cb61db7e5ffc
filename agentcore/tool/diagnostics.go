package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

type diagnosticsArguments struct {
	Path string `json:"path" alias:"file_path,file,filename"`
}

// diagnosticsShown is how many diagnostics are listed.
const diagnosticsShown = 200

func diagnosticsTool() Tool {
	return New(Definition[diagnosticsArguments, CheckedWorkspace]{
		Name:        "diagnostics",
		Description: "Check a file as you see it, by the editor's servers and this machine's checkers.",
		Effect:      Reads,
		Access:      func(a diagnosticsArguments) Access { return onPath(a.Path) },
		Subject:     ByPath,
		Example:     diagnosticsArguments{Path: "main.go"},
		Title:       func(a diagnosticsArguments) string { return "check " + a.Path },
		Run:         diagnostics,
	})
}

// diagnostics answers one line each, then one on what was used:
//
//	main.go:12:5: warning: unreachable code [go vet unreachable]
//	Checked with go syntax, gofmt, go vet. Not on this machine: shellcheck.
//
// Lines and columns count from 1, columns in bytes.
func diagnostics(ctx context.Context, host CheckedWorkspace, a diagnosticsArguments) (Result, error) {
	path, err := host.Files().View().Resolve(a.Path)
	if err != nil {
		return Result{}, err
	}
	file, err := peek(host.Files(), path)
	if err != nil {
		return Result{}, explain(host, path, err)
	}
	d, err := Diagnose(ctx, host, file)
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	shown := host.Files().View().Shown(path)
	counts := map[event.Severity]int{}
	for i, diagnostic := range d.Diagnostics {
		counts[diagnostic.Severity]++
		if i < diagnosticsShown {
			source := strings.TrimSpace(diagnostic.Source + " " + diagnostic.Code)
			fmt.Fprintf(&out, "%s:%d:%d: %s: %s [%s]\n", shown, diagnostic.Span.StartLine+1,
				diagnostic.Span.StartColumn+1,
				diagnostic.Severity, strings.Join(strings.Fields(diagnostic.Message), " "), source)
		}
	}
	if more := len(d.Diagnostics) - diagnosticsShown; more > 0 {
		fmt.Fprintf(&out, "(%d more)\n", more)
	}
	if len(d.Diagnostics) == 0 {
		out.WriteString("No problems. ")
	}
	if len(d.Used) > 0 {
		fmt.Fprintf(&out, "Checked with %s.", strings.Join(d.Used, ", "))
	} else {
		out.WriteString("No checker here judged this file.")
	}
	if len(d.Missing) > 0 {
		fmt.Fprintf(&out, " Not on this machine: %s.", strings.Join(d.Missing, ", "))
	}
	for _, name := range d.Withheld {
		fmt.Fprintf(&out, " Not run: %s.", name)
	}
	for _, failed := range d.Failed {
		fmt.Fprintf(&out, " Could not check with %s.", failed)
	}
	return Result{Text: out.String(), Summary: severitySummary(counts), Paths: []string{path}}, nil
}

// severitySummary writes "2 errors, 1 hint".
func severitySummary(counts map[event.Severity]int) string {
	var parts []string
	for _, name := range []struct {
		severity  event.Severity
		one, many string
	}{
		{event.SeverityError, "error", "errors"},
		{event.SeverityWarning, "warning", "warnings"},
		{event.SeverityInformation, "remark", "remarks"},
		{event.SeverityHint, "hint", "hints"},
	} {
		if n := counts[name.severity]; n > 0 {
			parts = append(parts, count(n, name.one, name.many))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}
