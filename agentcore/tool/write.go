package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentls/agentls/agentcore/workspace"
)

type writeArguments struct {
	Path    string `json:"path" alias:"file_path,file,filename,target_file"`
	Content string `json:"content" alias:"contents,text,file_text"`
}

func writeTool() Tool {
	return New(Definition[writeArguments, Workspace]{
		Name:        "write",
		Description: "Propose a new file, or the whole new text of one that you have read.",
		Effect:      Proposes,
		Access: func(a writeArguments) Access {
			access := onPath(a.Path)
			access.Whole = true
			return access
		},
		Subject: ByPath,
		Example: writeArguments{Path: "docs/notes.md", Content: "# Notes\n"},
		Title:   func(a writeArguments) string { return "write " + a.Path },
		Run:     write,
	})
}

func write(_ context.Context, host Workspace, a writeArguments) (Result, error) {
	layer := host.Files()
	path, err := layer.View().Resolve(a.Path)
	if err != nil {
		return Result{}, err
	}
	shown := layer.View().Shown(path)
	file, err := peek(layer, path)
	var problem *workspace.FileError
	switch {
	case errors.As(err, &problem) && problem.Kind == workspace.NotFound:
		if _, known := layer.Seen(path); known {
			return Result{}, gone(layer, path)
		}
		file = workspace.File{Path: path}
	case err != nil:
		return Result{}, explain(host, path, err)
	default:
		if err := knowsWhole(layer, file, "change a part of it with edit"); err != nil {
			return Result{}, err
		}
	}
	text := a.Content
	if file.Stamp != "" {
		text = workspace.Normalize(a.Content, file.Text)
		if text == file.Text {
			return Result{}, fmt.Errorf("%s already reads so; nothing would change, so go on without it", shown)
		}
	}
	if _, err := layer.Write(path, text, file.Stamp, host.Author("")); err != nil {
		return Result{}, explain(host, path, err)
	}
	verb := "Wrote"
	if file.Stamp == "" {
		verb = "Created"
	}
	return Result{
		Text:    fmt.Sprintf("%s %s, %s.", verb, shown, lineCount(text)),
		Summary: changeSummary(file.Text, text),
		Paths:   []string{path},
	}, nil
}

// knowsWhole refuses to put another text in the place of one that the run has not read, in whole and as it is now.
// The error also names what to do instead.
func knowsWhole(layer *workspace.Layer, now workspace.File, instead string) error {
	shown := layer.View().Relative(now.Path)
	seen, whole := layer.SeenWhole(now.Path)
	_, partly := layer.Seen(now.Path)
	switch {
	case partly && !whole:
		return fmt.Errorf("you have seen only a part of %s as it is now, so nothing was written: "+
			"read it again, then write", shown)
	case !whole:
		return fmt.Errorf("%s exists and you have not read it: read it first, or %s", shown, instead)
	case seen != now.Stamp:
		return fmt.Errorf("%s changed since you read it, so nothing was written: read it again, then write", shown)
	}
	return nil
}
