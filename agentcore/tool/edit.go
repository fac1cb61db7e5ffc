package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

type editArguments struct {
	Path       string `json:"path" jsonschema:"file to edit" alias:"file_path,file,filename,target_file"`
	OldString  string `json:"old_string" jsonschema:"text to replace, exactly as in the file, without line numbers; empty for a new file" alias:"old_str,old_text,search"`
	NewString  string `json:"new_string" jsonschema:"text to put there" alias:"new_str,new_text"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

func editTool() Tool {
	return New(Definition[editArguments]{
		Name: "edit",
		Description: "Propose replacing a text in a file. old_string must occur exactly once, so include neighbouring " +
			"lines, or set replace_all. The user decides later whether to take the change; you see it as done.",
		Effect:  Proposes,
		Example: editArguments{Path: "main.go", OldString: "return nil\n", NewString: "return err\n"},
		Title:   func(a editArguments) string { return "edit " + a.Path },
		Run:     edit,
	})
}

func edit(_ context.Context, host Host, a editArguments) (Result, error) {
	layer := host.Files()
	path, err := layer.View().Resolve(a.Path)
	if err != nil {
		return Result{}, err
	}
	shown := layer.View().Relative(path)
	seen, wasRead := layer.Seen(path)
	file, err := peek(layer, path)
	var problem *workspace.FileError
	switch {
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound && wasRead:
		return Result{}, gone(layer, path)
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound && a.OldString == "":
		file = workspace.File{Path: path}
	case err != nil:
		return Result{}, explain(host, path, err)
	case wasRead && seen != file.Stamp:
		return Result{}, stale(host, file, a)
	}
	replaced, err := Replace(file.Text, a.OldString, a.NewString, a.ReplaceAll)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", shown, err)
	}
	if _, err := layer.Write(path, replaced.Text, file.Stamp, host.Author("")); err != nil {
		return Result{}, explain(host, path, err)
	}
	text := fmt.Sprintf("Edited %s at line %s.", shown, numbers(replaced.Lines, 20))
	if file.Stamp == "" {
		text = fmt.Sprintf("Created %s.", shown)
	}
	if replaced.Tolerated != "" {
		text += fmt.Sprintf(" old_string differed from the file in its %s; the change follows the file's.", replaced.Tolerated)
	}
	return Result{Text: text, Summary: changeSummary(file.Text, replaced.Text), Paths: []string{path}}, nil
}

// stale refuses an edit of a text that changed since the run read it, and shows the place as it is now,
// which it may then edit. It has not seen the rest.
func stale(host Host, file workspace.File, a editArguments) error {
	layer := host.Files()
	shown := layer.View().Relative(file.Path)
	p := place{text: file.Text, lines: splitLines(file.Text), old: contents(a.OldString)}
	at := 0
	if replaced, err := Replace(file.Text, a.OldString, a.NewString, a.ReplaceAll); err == nil {
		at = replaced.Lines[0] - 1
	} else if e := AsMatchError(err); e != nil && len(e.Lines) > 0 {
		at = e.Lines[0] - 1
	} else {
		return fmt.Errorf("%s changed since you read it, so nothing was edited; read it again", shown)
	}
	layer.Glimpse(file.Path, file.Stamp)
	const around = 3
	return fmt.Errorf("%s changed since you read it, so nothing was edited. The place now reads:\n%sCheck that the edit still fits and call edit again",
		shown, p.excerpt(at-around, at+min(len(p.old), similarShown)+around))
}

// changeSummary counts lines, for people.
func changeSummary(before, after string) string {
	added, removed := 0, 0
	for _, hunk := range workspace.Diff(before, after) {
		added += hunk.NewEnd - hunk.NewStart
		removed += hunk.End - hunk.Start
	}
	var parts []string
	if added > 0 {
		parts = append(parts, fmt.Sprintf("+%d", added))
	}
	if removed > 0 {
		parts = append(parts, fmt.Sprintf("-%d", removed))
	}
	return strings.Join(parts, " ")
}
