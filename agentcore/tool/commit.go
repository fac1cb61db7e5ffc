package tool

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

// do carries out a step on a layer whose file is as the step expects.
func (s step) do(layer *workspace.Layer, author workspace.Author) error {
	switch {
	case s.moveTo != "":
		return layer.Move(s.path, s.moveTo, workspace.StampOf(*s.before), author)
	case s.after == nil:
		return layer.Delete(s.path, workspace.StampOf(*s.before), author)
	}
	var base workspace.Stamp
	if s.before != nil {
		base = workspace.StampOf(*s.before)
	}
	_, err := layer.Write(s.path, *s.after, base, author)
	return err
}

// undone is the step that undoes this one.
func (s step) undone() step {
	if s.moveTo != "" {
		return step{path: s.moveTo, before: s.before, moveTo: s.path}
	}
	return step{path: s.path, before: s.after, after: s.before}
}

// commit carries out all steps on the run's layer, or none: where one fails, because a file changed in that very
// moment, the steps before it are undone. The error says what happened, and which files could not be put back.
func commit(host Workspace, steps []step) error {
	layer, author := host.Files(), host.Author("")
	for i, s := range steps {
		err := s.do(layer, author)
		if err == nil {
			continue
		}
		var left []string
		for k := i - 1; k >= 0; k-- {
			if steps[k].undone().do(layer, author) != nil {
				left = append(left, layer.View().Shown(steps[k].path))
			}
		}
		err = explain(host, s.path, err)
		if len(left) > 0 {
			return fmt.Errorf(
				"%w. Of this call %s stayed changed, since others changed it meanwhile; read it before you go on", err,
				strings.Join(left, ", "))
		}
		return fmt.Errorf("%w. Nothing of this call stayed", err)
	}
	return nil
}
