package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// SubmitResult keeps what the model hands over; the run ends with this turn.
func (h hostDelegation) SubmitResult(_ context.Context, result event.ChildResult) error {
	if n := h.run.tasks.inbox.coming(); n > 0 {
		return fmt.Errorf(
			"%s that you started still run in the background; wait for them with task_wait, or end them with "+
				"task_cancel", clip.Counted(n, "task", "tasks"))
	}
	h.run.mu.Lock()
	defer h.run.mu.Unlock()
	h.run.submitted = &result
	return nil
}

// readAnswer takes a child's answer for its result where that is what the model wrote instead of calling
// submit_result. The lock is held.
func (r *shared) readAnswer() {
	if r.submitted != nil {
		return
	}
	if result, ok := tool.HandedOver(r.result.Output); ok {
		r.submitted, r.result.Output = &result, written(&result)
	}
}

// childResult is the structured result of a child: what it says, and in files and tests what the engine saw. Where the
// two differ, that is a warning. The lock is held.
func (r *shared) childResult(view *workspace.View, touched map[string]bool) *event.ChildResult {
	result := event.ChildResult{Summary: clip.FirstLine(r.result.Output)}
	if r.submitted != nil {
		result = *r.submitted
	}
	if result.Status == "" || r.result.Status != event.StatusCompleted { // what its end says
		result.Status = event.Outcome(r.result.Status, r.result.Reason, nil)
	}
	claims := append(slices.Clone(result.FilesModified), result.FilesCreated...)
	claimed := testCount{run: result.TestsRun, passed: result.TestsPassed}
	result.FilesModified, result.FilesCreated, result.Warnings = nil, nil, slices.Clone(result.Warnings)
	for path, made := range touched {
		if made {
			result.FilesCreated = append(result.FilesCreated, view.Shown(path))
		} else {
			result.FilesModified = append(result.FilesModified, view.Shown(path))
		}
	}
	slices.Sort(result.FilesModified)
	slices.Sort(result.FilesCreated)
	for _, claim := range claims {
		path, err := view.Resolve(claim)
		if _, seen := touched[path]; err != nil || !seen {
			result.Warnings = append(result.Warnings,
				fmt.Sprintf("it says that it changed %s, and did not", filepath.ToSlash(claim)))
		}
	}
	result.TestsRun, result.TestsPassed = r.tests.run, r.tests.passed
	switch prose, ok := claimedTests(r.result.Output); {
	case claimed == testCount{}:
		if ok {
			result.Warnings = append(result.Warnings, prose.doubts(r.tests)...)
		}
	case !r.tests.seen:
		result.Warnings = append(result.Warnings,
			fmt.Sprintf("it says that it ran %d tests and that %d passed, but agentls saw it run none",
				claimed.run, claimed.passed))
	case r.tests.counted && (claimed.run != r.tests.run || claimed.passed != r.tests.passed):
		result.Warnings = append(result.Warnings,
			fmt.Sprintf("it says that %d of %d tests passed; those that were seen last were %d of %d", claimed.passed,
				claimed.run, r.tests.passed, r.tests.run))
	case r.tests.failed && claimed.passed == claimed.run:
		result.Warnings = append(result.Warnings, "it says that all tests passed; those that were seen last did not")
	}
	result.Warnings = append(result.Warnings, r.denialWarnings()...)
	usage := r.result.Usage
	result.Iterations, result.DurationMs, result.Tokens, result.Cost = r.result.Turns, r.result.DurationMs,
		usage.InputTokens+usage.OutputTokens, usage.Cost
	return &result
}
