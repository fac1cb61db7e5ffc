package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// command carries out calls of models that were trained on one tool for all work on files: the commands to create a
// file, and to insert below a line. For other commands there are tools of their own, which the error names.
func command(ctx context.Context, host Workspace, a editArguments) (Result, error) {
	switch a.Command {
	case "create":
		if a.FileText == nil {
			return Result{},
				errors.New(
					"nothing was written: file_text is missing; give the whole text, or use write with " +
						"path and content")
		}
		return write(ctx, host, writeArguments{Path: a.Path, Content: *a.FileText})
	case "insert":
		text := a.InsertText
		if text == nil {
			text = a.NewString
		}
		if text == nil || a.InsertLine == nil {
			return Result{},
				errors.New(
					"nothing was inserted: give insert_line, behind which the text comes (0 for the top), " +
						"and insert_text")
		}
		return change(host, a.Path, false,
			func(old string) (edited, error) { return insert(old, *a.InsertLine, *text) })
	case "view":
		return Result{}, errors.New("nothing was edited: to see a file or folder use read or list with path")
	default:
		return Result{},
			errors.New(
				"nothing was edited: there is no undo here; edit the text back, or ask the user to reject the change")
	}
}

// insert inserts lines behind a 1-based line, 0 for the top, with the line endings that are used there.
func insert(text string, line int, lines string) (edited, error) {
	target := newPatchedText(text)
	if line < 0 || line > len(target.lines) {
		return edited{}, fmt.Errorf("insert_line %d is outside the file, which has %s; read it again", line,
			count(len(target.lines), "line", "lines"))
	}
	if lines == "" {
		return edited{}, errors.New("the text to insert is empty; give the lines, or leave the call out")
	}
	c := &chunk{}
	for _, s := range contents(strings.TrimSuffix(lines, "\n")) {
		c.ops = append(c.ops, patchOp{'+', s})
	}
	if err := target.put(c, spot{start: line}); err != nil {
		return edited{}, err
	}
	return edited{text: target.String(), lines: []int{line + 1}, size: 1}, nil
}
