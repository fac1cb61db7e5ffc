package tool

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/price"
)

type taskArguments struct {
	Agent        string   `json:"subagent_type" alias:"agent,agent_type,agent_name,subagent,role,name,type,mode"`
	Prompt       string   `json:"prompt" jsonschema:"the whole job; it knows nothing else" alias:"task,message,instructions,input,objective"`
	Description  string   `json:"description,omitempty" jsonschema:"3 to 6 words" alias:"title,summary"`
	Background   bool     `json:"run_in_background,omitempty" alias:"background,async"`
	MaxTurns     int      `json:"max_turns,omitempty" minimum:"1" alias:"max_iterations,turns"`
	Model        string   `json:"model,omitempty" jsonschema:"provider/model or preset"`
	Resume       string   `json:"resume,omitempty" jsonschema:"id of an ended task" alias:"task_id,resume_id"`
	AllowedTools []string `json:"allowed_tools,omitempty" jsonschema:"beside its own, if the user agrees" alias:"tools"`
	ContextFiles []string `json:"context_files,omitempty" alias:"files,paths"`
	Criteria     string   `json:"success_criteria,omitempty" alias:"criteria,acceptance_criteria"`
	Thoroughness string   `json:"thoroughness,omitempty" enum:"quick,medium,very thorough" synonym:"thorough=very thorough"`
}

func taskTool() Tool {
	return New(Definition[taskArguments, Delegation]{
		Name: "task",
		Description: "Give a job to another agent and get its result. Calls of one turn run in parallel. You " +
			"see its edits.",
		Effect:  Delegates,
		Access:  func(a taskArguments) Access { return Access{Call: a.Agent} },
		Needs:   Subagents,
		Private: true,
		Subject: ByName,
		Example: taskArguments{
			Agent: "explore", Prompt: "Find where sessions are refreshed; name files and lines.",
			Description: "find session refresh",
		},
		Title: func(a taskArguments) string {
			title := a.Description
			if strings.TrimSpace(title) == "" {
				title = a.Prompt
			}
			return a.Agent + ": " + clip(strings.Join(strings.Fields(title), " "), titleLimit)
		},
		Run: task,
	})
}

func task(ctx context.Context, host Delegation, a taskArguments) (Result, error) {
	if strings.TrimSpace(a.Prompt) == "" {
		about, err := host.DescribeAgent(a.Agent)
		if err != nil {
			return Result{}, err
		}
		text := "nothing was started, since the prompt is empty; to start it, say what it shall do\n" + about
		return Result{Text: text, Summary: "tells of " + a.Agent}, nil
	}
	state, err := host.Delegate(ctx, Task{
		Agent: a.Agent, Prompt: a.Prompt, Title: a.Description, Background: a.Background, MaxTurns: a.MaxTurns,
		Model:  a.Model,
		Resume: event.RunID(a.Resume), AllowedTools: a.AllowedTools, ContextFiles: a.ContextFiles, Criteria: a.Criteria,
		Thoroughness: a.Thoroughness,
	})
	if err != nil {
		return Result{}, err
	}
	if !state.Result.Status.Final() {
		return Result{Text: state.started(), Summary: "started as " + string(state.ID)}, nil
	}
	return state.Outcome(), nil
}

// Outcome is the result of a call that waited for the end of a run. If the run did not complete its task, the call has
// failed.
func (s TaskState) Outcome() Result {
	result := Result{Text: s.Report(), Summary: s.summary()}
	if s.Result.Status != event.StatusCompleted {
		result.Failed = true
		result.Text = fmt.Sprintf("error: the task ended as %s, and may be done in part; "+
			"go on without it, or start another one with resume = %q\n%s", s.Result.Status, s.ID, result.Text)
	}
	return result
}

func (s TaskState) started() string {
	text := fmt.Sprintf("Started in the background as %s. You are told when it ends.", s.ID)
	if s.Output != "" {
		text += fmt.Sprintf(" Its result will be in %s.", s.Output)
	}
	if s.Bounded != "" {
		text += " Its limit: " + s.Bounded + "."
	}
	return text
}

// summary is the outcome in one line for people.
func (s TaskState) summary() string {
	r := s.Result
	outcome := cmp.Or(string(r.Outcome), string(r.Status))
	return fmt.Sprintf("%s, %s, %s", outcome, count(r.Turns, "turn", "turns"), took(r.DurationMs))
}

// took is a duration as people and models read it: "0.4s", "12.3s", "4m30s".
func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Report is the end of a run in the form in which the agent that started it is told of it.
func (s TaskState) Report() string {
	r := s.Result
	var b strings.Builder
	fmt.Fprintf(&b, "<task id=%q agent=%q status=%q>\n", s.ID, s.Agent, r.Status)
	if r.Reason != "" {
		fmt.Fprintf(&b, "ended by: %s\n", r.Reason)
	}
	if r.Error != nil {
		fmt.Fprintf(&b, "error: %s\n", r.Error.Detail)
	}
	if r.Status == event.StatusInterrupted {
		fmt.Fprintf(&b, "to go on with it: task with resume = %q, or the user by `agentls sessions resume %s`\n", s.ID,
			s.ID)
	}
	body := strings.TrimSpace(r.Output)
	if r.Result == nil { // the run was killed before it could report
		for _, file := range r.Files {
			fmt.Fprintf(&b, "changed: %s\n", file)
		}
	}
	if c := r.Result; c != nil {
		writeClaims(&b, c, r.Reason)
		if c.Details != "" {
			body = strings.TrimSpace(c.Details)
		}
	}
	for _, conflict := range s.Conflicts {
		fmt.Fprintf(&b, "conflict: %s\n", conflict)
	}
	if s.Bounded != "" {
		fmt.Fprintf(&b, "limit: %s\n", s.Bounded)
	}
	fmt.Fprintf(&b, "cost: %s, %s, %d tokens in, %d out",
		count(r.Turns, "turn",
			"turns"), took(r.DurationMs), r.Usage.InputTokens+r.Usage.CachedTokens, r.Usage.OutputTokens)
	if r.Usage.Cost != nil {
		b.WriteString(", " + price.Dollars(*r.Usage.Cost))
	}
	b.WriteByte('\n')
	if body == "" {
		body = "(it said nothing)"
	}
	fmt.Fprintf(&b, "\n%s\n</task>", body)
	return b.String()
}

// writeClaims writes what a run has reported, except for the details. reason is why the run ended, if that is known.
func writeClaims(b *strings.Builder, c *event.ChildResult, reason string) {
	failed := c.Status == event.ChildStatusFailed
	if c.Status != "" && c.Status != event.ChildStatusCompleted && (reason == "" || failed) {
		// otherwise the end of the run says it
		fmt.Fprintf(b, "it says: %s\n", c.Status)
	}
	if c.Details != "" { // without details, the summary is the whole report, or its first line
		fmt.Fprintf(b, "summary: %s\n", c.Summary)
	}
	for _, list := range []struct {
		name  string
		items []string
	}{{"changed", c.FilesModified}, {"created", c.FilesCreated}, {"warning", c.Warnings}, {
		"suggestion",
		c.Suggestions,
	}} {
		for _, item := range list.items {
			fmt.Fprintf(b, "%s: %s\n", list.name, item)
		}
	}
	if c.TestsRun > 0 {
		fmt.Fprintf(b, "tests: %d run, %d passed\n", c.TestsRun, c.TestsPassed)
	}
}
