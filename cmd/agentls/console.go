package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
)

// complain prints an error, with one line for each fault.
func (o *console) complain(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			o.complain(e)
		}
		return
	}
	text := err.Error()
	var own *fault.Error
	if failure := fault.Explain(err); failure.Kind != "internal" && !errors.As(err, &own) {
		text = failure.Detail
		if failure.Hint != "" {
			text += "; " + failure.Hint
		}
	}
	o.tell(text)
}

// tell prints one line on standard error. A line that cannot be printed is lost.
func (o *console) tell(text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	fmt.Fprintf(o.stderr, "agentls: %s\n", visible(text))
}

// print writes a result to standard output.
func (o *console) print(text string) error {
	if _, err := fmt.Fprint(o.stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// tellProblems prints what is wrong with the configuration; quiet leaves the warnings out.
func (o *console) tellProblems(problems []config.Problem, quiet bool) {
	for _, problem := range problems {
		if !quiet || problem.Severity == config.SeverityError {
			o.tell(problem.String())
		}
	}
}

// inColumns aligns rows whose cells are separated by tabs.
func inColumns(rows string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, rows)
	w.Flush() // a strings.Builder takes everything
	return b.String()
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// oneLine makes one visible line of a text.
func oneLine(text string) string {
	return visible(strings.Join(strings.Fields(text), " "))
}

// printJSON prints a value as indented JSON.
func (o *console) printJSON(value any) error {
	text, err := encodeJSON(value)
	if err != nil {
		return err
	}
	return o.print(text)
}

// encodeJSON returns indented JSON with a final newline, safe to show on a terminal.
func encodeJSON(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode the result: %w", err)
	}
	return visibleJSON(b.Bytes()), nil
}

// validText reports whether bytes are UTF-8.
func validText(data []byte) bool { return utf8.Valid(data) }
