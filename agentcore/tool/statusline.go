package tool

import (
	"context"
)

type statuslineArguments struct {
	// Line is nil where the call only looks.
	Line *string `json:"line,omitempty" alias:"value,statusline,template,command"`
}

func statuslineTool() Tool {
	return New(Definition[statuslineArguments, User]{
		Name: "statusline",
		Description: "Show agentls's status line, or set it to line if the user agrees: a template such as " +
			"\"{{agent}}: {{activity}}\", or ! and a shell command that gets JSON. Empty: the built-in one.",
		Effect:  Asks,
		Access:  Internal[statuslineArguments],
		Needs:   Naming,
		Example: statuslineArguments{},
		Title: func(a statuslineArguments) string {
			if a.Line == nil {
				return "look at the status line"
			}
			return clip("set the status line to "+*a.Line, titleLimit)
		},
		Run: func(ctx context.Context, host User, a statuslineArguments) (Result, error) {
			var text string
			var err error
			if a.Line == nil {
				text, err = host.Statusline()
			} else {
				text, err = host.SetStatusline(ctx, *a.Line)
			}
			return Result{Text: text, Summary: summaryOf(text)}, err
		},
	})
}
