package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

const (
	// taskWait is how long task_wait waits where the call names no time, taskWaitMax how long any may.
	taskWait    = 5 * time.Minute
	taskWaitMax = time.Hour
)

type (
	taskStatusArguments struct {
		IDs []string `json:"ids,omitempty" alias:"task_ids,id,task_id"`
	}
	taskOutputArguments struct {
		ID     string `json:"id" alias:"task_id,agent_id"`
		WaitMs int    `json:"wait_ms,omitempty" jsonschema:"for its end" minimum:"0" alias:"timeout,timeout_ms"`
	}
	taskWaitArguments struct {
		IDs    []string `json:"ids,omitempty" alias:"task_ids,id,task_id"`
		Mode   string   `json:"mode,omitempty" enum:"any,all"`
		WaitMs int      `json:"wait_ms,omitempty" minimum:"1" alias:"timeout,timeout_ms"`
	}
	taskSendArguments struct {
		ID      string `json:"id" alias:"task_id,agent_id,to"`
		Message string `json:"message" alias:"input,prompt,text"`
	}
	taskCancelArguments struct {
		ID string `json:"id" alias:"task_id,agent_id"`
	}
)

// taskControlTools follow tasks that run in the background.
func taskControlTools() []Tool {
	return []Tool{
		New(Definition[taskStatusArguments, Delegation]{
			Name: "task_status", Description: "See how far your tasks are (default all).", Effect: Delegates,
			Access:  Internal[taskStatusArguments],
			With:    "task",
			Example: taskStatusArguments{},
			Title:   func(a taskStatusArguments) string { return "status of tasks " + strings.Join(a.IDs, ", ") },
			Run:     taskStatus,
		}),
		New(Definition[taskOutputArguments, Delegation]{
			Name: "task_output", Description: "Get a task's result, or what it has so far.", Effect: Delegates,
			Access:  Internal[taskOutputArguments],
			With:    "task",
			Example: taskOutputArguments{ID: "r1", WaitMs: 60_000},
			Title:   func(a taskOutputArguments) string { return "output of task " + a.ID },
			Run:     taskOutput,
		}),
		New(Definition[taskWaitArguments, Delegation]{
			Name: "task_wait", Description: "Wait for any or all (default) of your tasks and get their results.",
			Effect:  Delegates,
			Access:  Internal[taskWaitArguments],
			With:    "task",
			Example: taskWaitArguments{IDs: []string{"r1", "r2"}, Mode: "any"},
			Title:   func(a taskWaitArguments) string { return "wait for tasks " + strings.Join(a.IDs, ", ") },
			Run:     taskWaits,
		}),
		New(Definition[taskSendArguments, Delegation]{
			Name: "task_send", Description: "Tell a running task something, for its next turn.", Effect: Delegates,
			Access:  Internal[taskSendArguments],
			With:    "task",
			Example: taskSendArguments{ID: "r1", Message: "Look at cmd/ too."},
			Title:   func(a taskSendArguments) string { return "tell task " + a.ID },
			Run: func(ctx context.Context, host Delegation, a taskSendArguments) (Result, error) {
				if err := host.SendTask(ctx, event.RunID(a.ID), a.Message); err != nil {
					return Result{}, err
				}
				return Result{Text: "It will read this at its next turn.", Summary: clip(a.Message, titleLimit)}, nil
			},
		}),
		New(Definition[taskCancelArguments, Delegation]{
			Name: "task_cancel", Description: "End a task; what it has done stays.", Effect: Delegates,
			Access:  Internal[taskCancelArguments],
			With:    "task",
			Example: taskCancelArguments{ID: "r1"},
			Title:   func(a taskCancelArguments) string { return "end task " + a.ID },
			Run: func(ctx context.Context, host Delegation, a taskCancelArguments) (Result, error) {
				state, err := host.CancelTask(ctx, event.RunID(a.ID))
				if err != nil {
					return Result{}, err
				}
				return Result{Text: state.Report(), Summary: state.summary()}, nil
			},
		}),
	}
}

func taskStatus(ctx context.Context, host Delegation, a taskStatusArguments) (Result, error) {
	states, err := host.Tasks(ctx, runIDs(a.IDs))
	if err != nil {
		return Result{}, err
	}
	if len(states) == 0 {
		return Result{Text: "You have started no task.", Summary: "none"}, nil
	}
	running := 0
	var b strings.Builder
	for _, s := range states {
		if !s.Result.Status.Final() {
			running++
		}
		fmt.Fprintln(&b, s.line())
	}
	return Result{Text: b.String(), Summary: fmt.Sprintf("%d running of %d", running, len(states))}, nil
}

func taskOutput(ctx context.Context, host Delegation, a taskOutputArguments) (Result, error) {
	states, err := host.WaitTasks(ctx, []event.RunID{event.RunID(a.ID)}, false,
		min(time.Duration(a.WaitMs)*time.Millisecond, taskWaitMax))
	if err != nil {
		return Result{}, err
	}
	if len(states) == 0 {
		return Result{}, errors.New("name the task by its id; task_status lists those that there are")
	}
	s := states[0]
	if s.Result.Status.Final() {
		return Result{Text: s.Report(), Summary: s.summary()}, nil
	}
	text := s.line() + "\n"
	if s.Result.Output != "" {
		text += "\nIt said last:\n" + s.Result.Output
	}
	return Result{Text: text, Summary: string(s.Result.Status)}, nil
}

func taskWaits(ctx context.Context, host Delegation, a taskWaitArguments) (Result, error) {
	limit := taskWait
	if a.WaitMs > 0 {
		limit = min(time.Duration(a.WaitMs)*time.Millisecond, taskWaitMax)
	}
	states, err := host.WaitTasks(ctx, runIDs(a.IDs), a.Mode == "any", limit)
	if err != nil {
		return Result{}, err
	}
	if len(states) == 0 {
		return Result{Text: "None of your tasks runs.", Summary: "none"}, nil
	}
	var ended, running []string
	for _, s := range states {
		if s.Result.Status.Final() {
			ended = append(ended, s.Report())
		} else {
			running = append(running, s.line())
		}
	}
	return Result{
		Text:    strings.Join(append(ended, running...), "\n\n"),
		Summary: fmt.Sprintf("%d of %d have ended", len(ended), len(states)),
	}, nil
}

// line says how far a task is.
func (s TaskState) line() string {
	r := s.Result
	text := fmt.Sprintf("%s %s %s (%s): %s, %d tokens", s.ID, s.Agent, r.Status, s.Title,
		count(r.Turns, "turn", "turns"), r.Usage.InputTokens+r.Usage.CachedTokens+r.Usage.OutputTokens)
	switch {
	case s.Message != "" && !r.Status.Final():
		text += "; " + s.Message
	case r.Status == event.StatusInterrupted:
		text += fmt.Sprintf("; to go on with it: task with resume = %q", s.ID)
	}
	return text
}

func runIDs(names []string) []event.RunID {
	var ids []event.RunID
	for _, name := range names {
		ids = append(ids, event.RunID(strings.TrimSpace(name)))
	}
	return ids
}
