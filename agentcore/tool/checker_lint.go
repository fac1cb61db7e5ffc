package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

var shellFiles = []string{"*.{sh,bash,ksh,dash}", ".{bashrc,bash_profile,profile}", "#!sh", "#!bash", "#!dash", "#!ksh"}

// shellcheck reads shellcheck's json1 format, in which a tab is one column.
func shellcheck(ctx context.Context, s *subject) ([]Diagnostic, error) {
	args := []string{"--norc", "--format=json1"}
	if interpreterOf(s.file.Text) == "" {
		// Without an interpreter line the name says the dialect; sh files are read as bash, which is wider.
		dialect := strings.TrimPrefix(filepath.Ext(s.file.Path), ".")
		if dialect != "ksh" && dialect != "dash" {
			dialect = "bash"
		}
		args = append(args, "--shell="+dialect)
	}
	out, ok, err := s.configured(ctx, []string{".shellcheckrc", "shellcheckrc"}, nil, append(args[1:], s.file.Path)...)
	if !ok && err == nil {
		out, err = s.filter(ctx, append(args, "-")...)
	}
	if err != nil {
		return nil, err
	}
	// Status 1 means that there are comments; above that, it could not work.
	if out.status > 1 {
		return nil, fmt.Errorf("it ended with status %d: %s", out.status, firstLine(out.stderr))
	}
	var answer struct {
		Comments []struct {
			Line, EndLine, Column, EndColumn int
			Level, Message                   string
			Code                             int
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &answer); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	var list []Diagnostic
	for _, c := range answer.Comments {
		severity := event.SeverityHint
		switch c.Level {
		case "error":
			severity = event.SeverityError
		case "warning":
			severity = event.SeverityWarning
		case "info":
			severity = event.SeverityInformation
		}
		span := between(s.at(c.Line, c.Column, true), s.at(c.EndLine, c.EndColumn, true))
		d := s.diagnostic("shellcheck", severity, span, c.Message)
		d.Code = fmt.Sprintf("SC%d", c.Code)
		list = append(list, d)
	}
	return list, nil
}

// ruff reads the json output of `ruff check`. It runs without configuration where that of the project may not be
// loaded.
func ruff(ctx context.Context, s *subject) ([]Diagnostic, error) {
	out, ok, err := s.configured(ctx, []string{"ruff.toml", ".ruff.toml"}, func(name, text string) bool {
		return name == "pyproject.toml" && strings.Contains(text, "[tool.ruff")
	}, "check", "--no-cache", "--output-format", "json", "--force-exclude", s.file.Path)
	if !ok && err == nil {
		out, err = s.filter(ctx, "check", "--isolated", "--no-cache", "--output-format", "json",
			"--stdin-filename", filepath.Base(s.file.Path), "-")
	}
	if err != nil {
		return nil, err
	}
	// Status 1 means that there are findings.
	if out.status > 1 {
		return nil, fmt.Errorf("it ended with status %d: %s", out.status, firstLine(out.stderr))
	}
	type place struct{ Row, Column int }
	var answer []struct {
		Code        string
		Message     string
		Location    place
		EndLocation place `json:"end_location"`
		Fix         *struct {
			Applicability string
			Edits         []struct {
				Content     string
				Location    place
				EndLocation place `json:"end_location"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &answer); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	spanOf := func(from, to place) event.Span {
		return between(s.at(from.Row, from.Column, true), s.at(to.Row, to.Column, true))
	}
	var list []Diagnostic
	for _, a := range answer {
		severity := event.SeverityWarning
		if a.Code == "" || a.Code == "invalid-syntax" || strings.HasPrefix(a.Code, "E9") || a.Code == "F821" {
			severity = event.SeverityError
		}
		d := s.diagnostic("ruff", severity, spanOf(a.Location, a.EndLocation), a.Message)
		d.Code = a.Code
		if a.Fix != nil && a.Fix.Applicability == "safe" && len(a.Fix.Edits) == 1 {
			e := a.Fix.Edits[0]
			start, end := s.at(e.Location.Row, e.Location.Column, true), s.at(e.EndLocation.Row,
				e.EndLocation.Column, true)
			d.Fix = s.fix(s.offset(start), s.offset(end), e.Content)
		}
		list = append(list, d)
	}
	return list, nil
}
