package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// commented are JSON files that their programs read with comments and trailing commas.
var commented = lazyregexp.New(
	`(?i)^([tj]sconfig.*|devcontainer|settings|launch|tasks|keybindings|extensions|\.eslintrc|\.babelrc|api-extractor|renovate|turbo|deno|biome|pyrightconfig)\.json$`)

func jsonSyntax(_ context.Context, s *subject) ([]Diagnostic, error) {
	if commented().MatchString(filepath.Base(s.file.Path)) || strings.TrimSpace(s.file.Text) == "" {
		return nil, errNotApplicable
	}
	decoder := json.NewDecoder(strings.NewReader(s.file.Text))
	var value json.RawMessage
	err := decoder.Decode(&value)
	offset := int(decoder.InputOffset())
	if err == nil {
		rest := s.file.Text[offset:]
		if strings.TrimSpace(rest) == "" {
			return nil, nil
		}
		offset += len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
		err = errors.New("something follows the end of the JSON value")
	} else if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		// Offset counts the bytes read, the wrong one included.
		offset = int(syntax.Offset) - 1
	} else {
		offset, err = len(s.file.Text), errors.New("the JSON value ends in the middle")
	}
	if offset < len(s.file.Text) && offset >= 0 && s.file.Text[offset] == '/' {
		// JSON with comments: not ours to judge.
		return nil, errNotApplicable
	}
	return []Diagnostic{s.diagnostic("json", event.SeverityError, s.spanAt(offset), err.Error())}, nil
}

func tomlSyntax(_ context.Context, s *subject) ([]Diagnostic, error) {
	var value map[string]toml.Primitive
	_, err := toml.Decode(s.file.Text, &value)
	if err == nil {
		return nil, nil
	}
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return nil, fmt.Errorf("parse as TOML: %w", err)
	}
	message := parse.Message
	if message == "" {
		message = parse.Error()
	}
	return []Diagnostic{s.diagnostic("toml", event.SeverityError, s.spanAt(parse.Position.Start), message)}, nil
}

var yamlLine = lazyregexp.New(`^yaml: (?:unmarshal errors:\s*)?(?:line (\d+): )?(.*)`)

func yamlSyntax(_ context.Context, s *subject) ([]Diagnostic, error) {
	if strings.Contains(s.file.Text, "{{") || strings.Contains(s.file.Text, "{%") {
		// A template of YAML, not YAML.
		return nil, errNotApplicable
	}
	decoder := yaml.NewDecoder(strings.NewReader(s.file.Text))
	for {
		// A Node keeps aliases as they are, so that a file of nested aliases stays small.
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			row, message := 1, err.Error()
			if parts := yamlLine().FindStringSubmatch(message); parts != nil {
				message = parts[2]
				if n, err := strconv.Atoi(parts[1]); err == nil {
					row = n
				}
			}
			return []Diagnostic{s.diagnostic("yaml", event.SeverityError, s.at(row, 1, false), message)}, nil
		}
	}
}

var pythonFiles = []string{"*.{py,pyi,pyw}", "#!python", "#!python3"}

// pythonProgram parses its standard input and writes one JSON object a line; it imports nothing of a
// project and compiles nothing to disk.
const pythonProgram = `
import ast, json, sys, warnings
def out(severity, line, column, message):
    print(json.dumps({"severity": severity, "line": line or 1, "column": column or 1, "message": message}))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        ast.parse(sys.stdin.buffer.read())
    except SyntaxError as e:
        out("error", e.lineno, e.offset, e.msg)
    except (ValueError, RecursionError, MemoryError) as e:
        out("error", 1, 1, str(e))
for w in caught:
    out("warning", w.lineno, 1, str(w.message))
`

func pythonSyntax(ctx context.Context, s *subject) ([]Diagnostic, error) {
	// -I and -S keep out the environment, the current folder and site packages.
	out, err := s.filter(ctx, "-I", "-S", "-B", "-X", "utf8", "-c", pythonProgram)
	if err != nil {
		return nil, err
	}
	if out.status != 0 {
		return nil, fmt.Errorf("it ended with status %d: %s", out.status, firstLine(out.stderr))
	}
	var list []Diagnostic
	decoder := json.NewDecoder(strings.NewReader(out.stdout))
	for {
		var d struct {
			Severity     event.Severity
			Line, Column int
			Message      string
		}
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read its answer: %w", err)
		}
		list = append(list, s.diagnostic("python", d.Severity, s.at(d.Line, d.Column, true), d.Message))
	}
}

var (
	nodePlace  = lazyregexp.New(`(?m)^\[stdin\]:(\d+)\r?\n(.*)\r?\n( *)\^`)
	nodeError  = lazyregexp.New(`(?m)^SyntaxError: (.*)$`)
	moduleLine = lazyregexp.New(`(?m)^\s*(import\b[^(.]|export\b)`)
)

func nodeSyntax(ctx context.Context, s *subject) ([]Diagnostic, error) {
	if strings.Contains(s.file.Text[:min(len(s.file.Text), 500)], "@flow") {
		return nil, errNotApplicable
	}
	// A .js file is a script or a module, which only its package.json says: it is wrong if it is wrong as both.
	kinds := []string{"commonjs", "module"}
	switch {
	case strings.HasSuffix(s.file.Path, ".mjs"):
		kinds = []string{"module"}
	case strings.HasSuffix(s.file.Path, ".cjs"):
		kinds = []string{"commonjs"}
	case moduleLine().MatchString(s.file.Text):
		kinds = []string{"module", "commonjs"}
	}
	var first []Diagnostic
	for _, kind := range kinds {
		out, err := s.filter(ctx, "--input-type="+kind, "--check", "-")
		if err != nil {
			return nil, err
		}
		if out.status == 0 {
			return nil, nil
		}
		message := nodeError().FindStringSubmatch(out.stderr)
		if message == nil {
			return nil, fmt.Errorf("it ended with status %d: %s", out.status, firstLine(out.stderr))
		}
		if strings.HasPrefix(message[1], "Unexpected token '<'") ||
			strings.HasPrefix(message[1], "Unexpected token ':'") {
			// JSX or type annotations: a file for a compiler, not for node.
			return nil, errNotApplicable
		}
		if first == nil {
			span := s.at(1, 1, false)
			if place := nodePlace().FindStringSubmatch(out.stderr); place != nil {
				if row, err := strconv.Atoi(place[1]); err == nil {
					span = s.at(row, len(place[3])+1, true)
				}
			}
			first = []Diagnostic{s.diagnostic("node", event.SeverityError, span, message[1])}
		}
	}
	return first, nil
}

// firstLine is the first line of a text that says something.
func firstLine(text string) string {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			return clip(l, 200)
		}
	}
	return "it said nothing"
}
