package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

type editArguments struct {
	Path       string     `json:"path" alias:"file_path,file,filename,target_file"`
	OldString  *string    `json:"old_string,omitempty" jsonschema:"exactly as in the file; empty for a new one" alias:"old_str,old_text,search"`
	NewString  *string    `json:"new_string,omitempty" alias:"new_str,new_text"`
	ReplaceAll bool       `json:"replace_all,omitempty"`
	Edits      []textEdit `json:"edits,omitempty" jsonschema:"instead: several, made in order, all or none" hidden:"true" alias:"changes,replacements"`

	// The arguments of a tool that does all work on files: see command.
	Command    string  `json:"command,omitempty" enum:"str_replace,create,insert,view,undo_edit" hidden:"true"`
	FileText   *string `json:"file_text,omitempty" hidden:"true"`
	InsertLine *int    `json:"insert_line,omitempty" hidden:"true"`
	InsertText *string `json:"insert_text,omitempty" hidden:"true"`
}

// textEdit is one of several edits.
type textEdit struct {
	OldString  string `json:"old_string" alias:"old_str,old_text,search"`
	NewString  string `json:"new_string" alias:"new_str,new_text,replace"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

func editTool() Tool {
	old, new := "return nil\n", "return err\n"
	return New(Definition[editArguments, Workspace]{
		Name: "edit",
		Description: "Propose replacing a text in a file; you see it as done. old_string must occur exactly once, " +
			"so include neighbouring lines, or set replace_all.",
		Effect:  Proposes,
		Access:  func(a editArguments) Access { return onPath(a.Path) },
		Subject: ByPath,
		Example: editArguments{Path: "main.go", OldString: &old, NewString: &new},
		Title:   func(a editArguments) string { return "edit " + a.Path },
		Run:     edit,
	})
}

// all returns the edits of a call, which has them one by one or as a list.
func (a editArguments) all() ([]textEdit, error) {
	switch {
	case len(a.Edits) > 0 && (a.OldString != nil || a.NewString != nil):
		return nil,
			errors.New(
				"there are both edits and old_string or new_string: put all into edits, each as " +
					"{old_string, new_string}")
	case len(a.Edits) > 0:
		return a.Edits, nil
	case a.OldString == nil && a.NewString != nil:
		return []textEdit{{"", *a.NewString, false}}, nil // a new file
	case a.OldString == nil:
		return nil, errors.New("old_string is missing: give the text to replace as in the file, or edits with several")
	case a.NewString == nil:
		return nil, errors.New(`new_string is missing: give the text to put there, "" to take old_string away`)
	}
	return []textEdit{{*a.OldString, *a.NewString, a.ReplaceAll}}, nil
}

func edit(ctx context.Context, host Workspace, a editArguments) (Result, error) {
	if a.Command != "" && a.Command != "str_replace" {
		return command(ctx, host, a)
	}
	edits, err := a.all()
	if err != nil {
		return Result{}, fmt.Errorf("nothing was edited: %w", err)
	}
	result, err := change(host, a.Path, edits[0].OldString == "",
		func(text string) (edited, error) { return replaceAll(text, edits) })
	if e := AsMatchError(err); e != nil && e.Kind == NotFound && isNotebook(a.Path) {
		err = fmt.Errorf("%w. This is a notebook: change its cells with notebook_edit", err)
	}
	return result, err
}

// edited is the result of edits of a text.
type edited struct {
	text string
	// lines are the 1-based lines where edits begin, each in the text as the edit found it.
	lines []int
	notes []string
	// size is how many lines the first edit concerns. now, if set, is how the place is shown instead.
	size int
	now  string
}

// replaceAll makes edits one after the other. The error names each edit that does not fit.
func replaceAll(text string, edits []textEdit) (edited, error) {
	result := edited{text: text, size: len(contents(edits[0].OldString))}
	var problems []string
	var failed error
	for i, e := range edits {
		replaced, err := Replace(result.text, e.OldString, e.NewString, e.ReplaceAll)
		if err != nil {
			failed = err
			problems = append(problems, fmt.Sprintf("edit %d of %d: %s", i+1, len(edits), err))
			continue
		}
		result.text = replaced.Text
		result.lines = append(result.lines, replaced.Lines...)
		if replaced.Tolerated != "" {
			which := "old_string"
			if len(edits) > 1 {
				which = fmt.Sprintf("old_string of edit %d", i+1)
			}
			result.notes = append(result.notes,
				fmt.Sprintf("%s differed from the file in its %s; the change follows the file's.", which,
					replaced.Tolerated))
		}
	}
	switch {
	case len(edits) == 1 && failed != nil:
		return edited{}, failed
	case failed != nil:
		shown := problems[:min(len(problems), patchProblems)]
		e := &MatchError{
			text: fmt.Sprintf(
				"none of the %d edits was made, since not all fit; each is matched after the ones before "+
					"it:\n- %s\nMend them and send all again", len(edits), strings.Join(shown, "\n- ")),
		}
		if cause := AsMatchError(failed); cause != nil {
			e.Kind, e.Lines = cause.Kind, cause.Lines
		}
		return edited{}, e
	case result.text == text:
		return edited{}, errors.New("the edits take each other back, so nothing would change; leave them out")
	}
	return result, nil
}

// change edits one file by a function of its text. It refuses a file that has changed since the run read it. With
// create, a missing file counts as empty.
func change(host Workspace, name string, create bool, edits func(string) (edited, error)) (Result, error) {
	layer := host.Files()
	path, err := layer.View().Resolve(name)
	if err != nil {
		return Result{}, err
	}
	shown := layer.View().Shown(path)
	seen, wasRead := layer.Seen(path)
	file, err := peek(layer, path)
	var problem *workspace.FileError
	switch {
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound && wasRead:
		return Result{}, gone(layer, path)
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound && create:
		file = workspace.File{Path: path}
	case err != nil:
		return Result{}, explain(host, path, err)
	case wasRead && seen != file.Stamp:
		return Result{}, stale(host, file, edits)
	}
	made, err := edits(file.Text)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", shown, err)
	}
	if _, err := layer.Write(path, made.text, file.Stamp, host.Author("")); err != nil {
		return Result{}, explain(host, path, err)
	}
	text := fmt.Sprintf("Edited %s at line %s.", shown, numbers(made.lines, 20))
	if file.Stamp == "" {
		text = fmt.Sprintf("Created %s.", shown)
	}
	return Result{
		Text:    strings.Join(append([]string{text}, made.notes...), " "),
		Summary: changeSummary(file.Text, made.text),
		Paths:   []string{path},
	}, nil
}

// stale refuses an edit of a text that has changed since the run read it, and shows the place as it is now. The run may
// then edit that place; it has not seen the rest.
func stale(host Workspace, file workspace.File, edits func(string) (edited, error)) error {
	layer := host.Files()
	shown := layer.View().Shown(file.Path)
	at, size, now := 0, 1, ""
	if made, err := edits(file.Text); err == nil {
		at, size, now = made.lines[0]-1, made.size, made.now
	} else if e := AsMatchError(err); e != nil && len(e.Lines) > 0 {
		at = e.Lines[0] - 1
	} else {
		return fmt.Errorf("%s changed since you read it, so nothing was edited; read it again", shown)
	}
	layer.Glimpse(file.Path, file.Stamp)
	const around = 3
	p := place{text: file.Text, lines: splitLines(file.Text)}
	if now == "" {
		now = p.excerpt(at-around, at+min(size, similarShown)+around)
	}
	return fmt.Errorf(
		"%s changed since you read it, so nothing was edited. The place now reads:\n%sCheck that the edit still fits "+
			"and make it again", shown, now)
}

// changeSummary counts lines, for people.
func changeSummary(before, after string) string { return signed(countChanges(before, after)) }

// countChanges counts the lines that are added and those that are removed.
func countChanges(before, after string) (added, removed int) {
	for _, hunk := range workspace.Diff(before, after) {
		added += hunk.NewEnd - hunk.NewStart
		removed += hunk.End - hunk.Start
	}
	return added, removed
}

// signed writes counts of lines as "+2 -1".
func signed(added, removed int) string {
	var parts []string
	if added > 0 {
		parts = append(parts, fmt.Sprintf("+%d", added))
	}
	if removed > 0 {
		parts = append(parts, fmt.Sprintf("-%d", removed))
	}
	return strings.Join(parts, " ")
}
