package tool

import (
	"context"
	"errors"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

type submitArguments struct {
	Summary       string   `json:"summary" jsonschema:"the outcome in one or two sentences" alias:"result"`
	Details       string   `json:"details,omitempty" jsonschema:"all that the agent which asked needs to go on, in Markdown; places as path:line" alias:"output,report"`
	FilesModified []string `json:"files_modified,omitempty" jsonschema:"files that you changed"`
	FilesCreated  []string `json:"files_created,omitempty" jsonschema:"files that you made"`
	TestsRun      int      `json:"tests_run,omitempty" jsonschema:"how many" minimum:"0"`
	TestsPassed   int      `json:"tests_passed,omitempty" jsonschema:"how many of them" minimum:"0"`
	Warnings      []string `json:"warnings,omitempty" jsonschema:"what is doubtful or was left out"`
	Suggestions   []string `json:"suggestions,omitempty" jsonschema:"what could be done next"`
}

func submitResultTool() Tool {
	return New(Definition[submitArguments]{
		Name:        "submit_result",
		Description: "End your task and hand its result to the agent that asked. Call it alone, as your last call; nothing that you say afterwards is read.",
		Effect:      Notes,
		Example:     submitArguments{Summary: "Both callers pass nil; the parser never checks it.", Details: "parse.go:41 …"},
		Title:       func(submitArguments) string { return "hands over its result" },
		Run: func(ctx context.Context, host Host, a submitArguments) (Result, error) {
			if strings.TrimSpace(a.Summary) == "" {
				return Result{}, errors.New("the summary is empty; say the outcome in a sentence")
			}
			err := host.SubmitResult(ctx, event.ChildResult{
				Summary: a.Summary, Details: a.Details, FilesModified: a.FilesModified, FilesCreated: a.FilesCreated,
				TestsRun: a.TestsRun, TestsPassed: a.TestsPassed, Warnings: a.Warnings, Suggestions: a.Suggestions,
			})
			return Result{Text: "handed over", Summary: clip(a.Summary, titleLimit)}, err
		},
	})
}
