package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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

	// Models send these along, too; the engine has counted itself.
	Iterations int   `json:"iterations,omitempty" minimum:"0" alias:"iteration_count" hidden:"true"`
	DurationMs int64 `json:"duration_ms,omitempty" minimum:"0" hidden:"true"`
}

func (a submitArguments) result() event.ChildResult {
	return event.ChildResult{
		Status: event.ChildStatus(a.Status), Summary: a.Summary, Details: a.Details,
		FilesModified: a.FilesModified, FilesCreated: a.FilesCreated,
		TestsRun: a.TestsRun, TestsPassed: a.TestsPassed, Warnings: a.Warnings, Suggestions: a.Suggestions,
	}
}

// maxObjects is how many objects of an answer are looked at for a result, and maxHandedOver how long an answer may
// be, in bytes.
const (
	maxObjects    = 16
	maxHandedOver = 1 << 20
)

// HandedOver reads a result that a model wrote into its answer instead of calling submit_result: the call's arguments
// as a JSON object, which has a summary and a status, alone or in a fence. What else the object says, and the text
// around it, become part of the details, so that nothing is lost. ok is false for every other text.
func HandedOver(text string) (result event.ChildResult, ok bool) {
	if len(text) > maxHandedOver {
		return result, false
	}
	at, looked := 0, 0
	for line := range strings.Lines(text) {
		begin := at + len(line) - len(strings.TrimLeft(line, " \t"))
		at += len(line)
		if begin >= len(text) || text[begin] != '{' {
			continue
		}
		if looked++; looked > maxObjects {
			break
		}
		decoder := json.NewDecoder(strings.NewReader(text[begin:]))
		var members map[string]json.RawMessage
		if decoder.Decode(&members) != nil {
			continue
		}
		a, more, ok := submitted(members)
		if !ok {
			continue
		}
		before, after := strings.TrimSpace(text[:begin]), strings.TrimSpace(text[begin+int(decoder.InputOffset()):])
		before = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(before, "json"), "```"))
		after = strings.TrimSpace(strings.TrimPrefix(after, "```"))
		parts := []string{before, a.Details, more, after}
		a.Details = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" }),
			"\n\n")
		return a.result(), true
	}
	return result, false
}

// submitted reads the arguments of submit_result. more are the members that it does not know, as text. ok is false
// where it is no result.
func submitted(members map[string]json.RawMessage) (a submitArguments, more string, ok bool) {
	t := submitResultTool()
	_, shape, err := shapeOf(t)
	if err != nil {
		return a, "", false
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if shape.schema.Properties[name] == nil && knownName(shape.schema, name, shape.spellings[shape.schema]) == "" {
			more += fmt.Sprintf("\n%s: %s", name, members[name])
			delete(members, name)
		}
	}
	raw, err := json.Marshal(members)
	if err == nil {
		raw, err = Check(t, raw)
	}
	if err != nil || json.Unmarshal(raw, &a) != nil {
		return a, "", false
	}
	return a, strings.TrimSpace(more), strings.TrimSpace(a.Summary) != "" && a.Status != ""
}

func submitResultTool() Tool {
	return New(Definition[submitArguments, Delegation]{
		Name: "submit_result",
		Description: "End your task and hand its result to the agent that asked. Call it alone, as your last call; " +
			"nothing that you say afterwards is read.",
		Effect:  Notes,
		Access:  Internal[submitArguments],
		Private: true,
		Example: submitArguments{
			Summary: "Both callers pass nil; the parser never checks it.",
			Details: "parse.go:41 …",
		},
		Title: func(submitArguments) string { return "hands over its result" },
		Run: func(ctx context.Context, host Delegation, a submitArguments) (Result, error) {
			if strings.TrimSpace(a.Summary) == "" {
				return Result{}, errors.New("the summary is empty; say the outcome in a sentence")
			}
			return Result{Text: "handed over", Summary: clip(a.Summary, titleLimit)}, host.SubmitResult(ctx, a.result())
		},
	})
}
