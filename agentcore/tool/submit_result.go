package tool

import (
	"context"
	"errors"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

type submitArguments struct {
	Summary       string   `json:"summary" jsonschema:"the outcome in one or two sentences" alias:"result"`
	Status        string   `json:"status,omitempty" enum:"completed,partial,failed" synonym:"done=completed,complete=completed,success=completed,incomplete=partial,blocked=failed,error=failed"`
	Details       string   `json:"details,omitempty" jsonschema:"all that the asking agent needs, in Markdown; places as path:line" alias:"output,report"`
	FilesModified []string `json:"files_modified,omitempty"`
	FilesCreated  []string `json:"files_created,omitempty"`
	TestsRun      int      `json:"tests_run,omitempty" minimum:"0"`
	TestsPassed   int      `json:"tests_passed,omitempty" minimum:"0"`
	Warnings      []string `json:"warnings,omitempty" jsonschema:"doubts, what was left out"`
	Suggestions   []string `json:"suggestions,omitempty"`
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
				Status: event.ChildStatus(a.Status), Summary: a.Summary, Details: a.Details, FilesModified: a.FilesModified, FilesCreated: a.FilesCreated,
				TestsRun: a.TestsRun, TestsPassed: a.TestsPassed, Warnings: a.Warnings, Suggestions: a.Suggestions,
			})
			return Result{Text: "handed over", Summary: clip(a.Summary, titleLimit)}, err
		},
	})
}
