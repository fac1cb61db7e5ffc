package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/process"
)

// projectLimit is how long a checker may take that loads the project's configuration.
const projectLimit = 60 * time.Second

// errNoProgram is returned by a checker that finds that its program is not there.
var errNoProgram = errors.New("the program is not on this machine")

// configuration finds the nearest folder, from the file's own up to the workspace folder, that configures a checker: by
// a file with one of the names, or by a package.json or pyproject.toml for which holds reports true. ok is false where
// there is none.
func (s *subject) configuration(names []string, holds func(name, text string) bool) (dir string, ok bool) {
	root := s.root()
	if root == "" {
		return "", false
	}
	layer := s.host.Files().Fork()
	for dir := filepath.Dir(s.file.Path); within(root, dir); dir = filepath.Dir(dir) {
		entries, err := layer.List(dir)
		if err != nil {
			continue // the folder is only proposed
		}
		for _, e := range entries {
			name := filepath.Base(e.Path)
			if e.Dir {
				continue
			}
			if slices.Contains(names, name) {
				return dir, true
			}
			if holds == nil || name != "package.json" && name != "pyproject.toml" {
				continue
			}
			if file, err := layer.Read(e.Path); err == nil && holds(name, file.Text) {
				return dir, true
			}
		}
		if dir == root {
			break
		}
	}
	return "", false
}

// root is the workspace folder that the file is in, or "".
func (s *subject) root() string {
	best := ""
	for _, r := range s.host.Files().View().Roots() {
		if within(r.Path, s.file.Path) && len(r.Path) > len(best) {
			best = r.Path
		}
	}
	return best
}

// installed finds a program that the project itself has, from a folder up to the workspace folder.
func (s *subject) installed(dir string, name ...string) (path string, ok bool) {
	root := s.root()
	for ; root != "" && within(root, dir); dir = filepath.Dir(dir) {
		path := filepath.Join(append([]string{dir}, name...)...)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
		if dir == root {
			break
		}
	}
	return "", false
}

// project runs a program that loads the project's configuration or belongs to the project.
func (s *subject) project(ctx context.Context, dir, program string, args ...string) (CheckerOutput, error) {
	return s.host.RunChecker(ctx, CheckerCommand{
		Argv: append([]string{program}, args...), Dir: dir,
		Timeout: projectLimit,
	})
}

// eslintNames are the files that configure eslint, in the form of version 9 and in the older one.
var eslintNames = []string{
	"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", "eslint.config.mts",
	"eslint.config.cts",
	".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yaml", ".eslintrc.yml",
}

// eslint runs the project's own eslint, or else the one on PATH. Its configuration is code of the project.
func eslint(ctx context.Context, s *subject) ([]Diagnostic, error) {
	dir, ok := s.configuration(eslintNames, func(name, text string) bool {
		var p struct {
			Config json.RawMessage `json:"eslintConfig"`
		}
		return name == "package.json" && json.Unmarshal([]byte(text), &p) == nil && p.Config != nil
	})
	if !ok {
		return nil, errNotApplicable
	}
	program, ok := s.installed(filepath.Dir(s.file.Path), "node_modules", ".bin", "eslint")
	if !ok {
		if program, ok = process.Find("eslint", nil); !ok {
			return nil, errNoProgram
		}
	}
	out, err := s.project(ctx, dir, program, "--format", "json", s.file.Path)
	if err != nil {
		return nil, err
	}
	// Status 1 means that there are errors; above that, it could not work.
	if out.Exit > 1 {
		return nil, fmt.Errorf("it ended with status %d: %s", out.Exit,
			clip(strings.Join(strings.Fields(out.Stderr), " "), 300))
	}
	return s.eslintAnswer(out.Stdout)
}

// eslintAnswer reads the json format of eslint, whose lines count from 1, as columns do, and whose columns and offsets
// count UTF-16 code units.
func (s *subject) eslintAnswer(text string) ([]Diagnostic, error) {
	var answer []struct {
		Messages []struct {
			RuleID             string `json:"ruleId"`
			Severity           int
			Fatal              bool
			Message            string
			Line, Column       int
			EndLine, EndColumn int
			Fix                *struct {
				Range [2]int
				Text  string
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, fmt.Errorf("read its answer: %w", err)
	}
	var list []Diagnostic
	for _, file := range answer {
		for _, m := range file.Messages {
			if m.RuleID == "" && !m.Fatal && m.Line == 0 {
				return nil, errNotApplicable // the project's configuration leaves the file out
			}
			severity := event.SeverityWarning
			if m.Severity > 1 || m.Fatal {
				severity = event.SeverityError
			}
			start := s.atUnit(m.Line, m.Column)
			d := s.diagnostic("eslint", severity, between(start, s.atUnit(max(m.EndLine, m.Line), m.EndColumn)),
				m.Message)
			d.Code = m.RuleID
			if m.Fix != nil {
				from := unitOffset(s.file.Text, m.Fix.Range[0])
				d.Fix = s.fix(from, from+unitOffset(s.file.Text[from:], m.Fix.Range[1]-m.Fix.Range[0]), m.Fix.Text)
			}
			list = append(list, d)
		}
	}
	return list, nil
}

// atUnit is at for a column that counts UTF-16 code units from 1.
func (s *subject) atUnit(row, column int) event.Span {
	row = max(1, min(row, len(s.lines)))
	l := s.lines[row-1]
	return s.at(row, unitOffset(s.file.Text[l.start:l.end], column-1)+1, false)
}

// unitOffset turns an offset in UTF-16 code units into one in bytes, at most the length of the text.
func unitOffset(text string, units int) int {
	for i, r := range text {
		if units <= 0 {
			return i
		}
		units -= max(1, utf16.RuneLen(r)) // an invalid character counts as one
	}
	return len(text)
}

// configured runs a checker with the project's configuration. ok is false where there is none, or where it may not be
// loaded.
func (s *subject) configured(ctx context.Context, names []string, holds func(name, text string) bool,
	args ...string,
) (out output, ok bool, err error) {
	dir, ok := s.configuration(names, holds)
	if !ok {
		return output{}, false, nil
	}
	got, err := s.project(ctx, dir, s.program, args...)
	if withheld(err) != "" {
		return output{}, false, nil
	}
	return output{got.Stdout, got.Stderr, got.Exit}, err == nil, err
}
