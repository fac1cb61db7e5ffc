package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// commandTime is the time limit of a command that names none, commandTimeMax the longest that any may name.
	commandTime    = 2 * time.Minute
	commandTimeMax = 10 * time.Minute
	// waitMax bounds how long bash_output waits.
	waitMax = 5 * time.Minute
	// namedMax is how many changed files the result names. toldMax is how many files with a problem, a conflict or a
	// note it tells about.
	namedMax = 100
	toldMax  = 20
	// conflictLimit is how much of each side of a conflict is shown, in bytes.
	conflictLimit = 2000
)

// shell is what commands need of a host: to run, and to name changed files.
type shell interface {
	Workspace
	Commands
}

type bashArguments struct {
	Command     string `json:"command" alias:"cmd,script"`
	TimeoutMs   int    `json:"timeout_ms,omitempty" jsonschema:"default 120000" minimum:"1" alias:"timeout"`
	Description string `json:"description,omitempty" alias:"explanation,purpose"`
	Background  bool   `json:"background,omitempty" jsonschema:"for servers; answers an id" alias:"run_in_background,is_background"`
}

func bashTool() Tool {
	return New(Definition[bashArguments, shell]{
		Name: "bash",
		Description: "Run a bash command line in the workspace folder. Each call starts a new shell; nobody can type. " +
			"Read, search and edit files by the tools for that.",
		Effect:  Executes,
		Access:  func(a bashArguments) Access { return Access{Command: a.Command} },
		Subject: ByCommand,
		Example: bashArguments{Command: "go test ./...", TimeoutMs: 120_000, Description: "run the tests"},
		Title: func(a bashArguments) string {
			if a.Background {
				return "start " + a.Command
			}
			return "run " + a.Command
		},
		Run: bash,
	})
}

func bash(ctx context.Context, host shell, a bashArguments) (Result, error) {
	if strings.TrimSpace(a.Command) == "" {
		return Result{}, errors.New("the command is empty; say what to run")
	}
	why := strings.TrimSpace(a.Description)
	if why == "" {
		why = "made by " + clip(strings.Join(strings.Fields(a.Command), " "), titleLimit)
	}
	command := Command{Script: a.Command, Why: why, Timeout: time.Duration(a.TimeoutMs) * time.Millisecond}
	if command.Timeout > commandTimeMax {
		return Result{}, fmt.Errorf("timeout_ms is %d, and %d at most; run what takes longer in the background",
			a.TimeoutMs, commandTimeMax.Milliseconds())
	}
	if a.Background {
		id, err := host.StartCommand(ctx, command)
		if err != nil {
			return Result{}, err
		}
		return Result{
			Text: fmt.Sprintf(
				"Started in the background as %s. See its output with bash_output, end it with bash_kill; it ends "+
					"with this run at the latest.", id),
			Summary: "started as " + id,
		}, nil
	}
	if command.Timeout == 0 {
		command.Timeout = commandTime
	}
	result, err := host.RunCommand(ctx, command)
	if err != nil {
		return Result{}, err
	}
	view := host.Files().View()
	told := Result{Text: result.Output, Summary: result.ending(), ExitCode: &result.Exit}
	if result.Output == "" {
		told.Text = "(no output)"
	}
	told.Text = strings.TrimSuffix(told.Text, "\n") + "\n\n" + result.report(view)
	changed := 0
	for _, file := range result.Files {
		if file.Changed {
			told.Paths = append(told.Paths, file.Path)
			if file.MovedFrom != "" {
				told.Paths = append(told.Paths, file.MovedFrom)
			}
			changed++
		}
	}
	if changed > 0 {
		told.Summary += ", changed " + count(changed, "file", "files")
	}
	return told, nil
}

// ending says how a command ended, in a few words.
func (r CommandResult) ending() string {
	switch {
	case r.TimedOut:
		return "timed out"
	case r.Signal != "":
		return "ended by " + r.Signal
	}
	return fmt.Sprintf("exit code %d", r.Exit)
}

// report is what the model is told of a result, except for the output.
func (r CommandResult) report(view *workspace.View) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.ending())
	if r.Whole != "" {
		fmt.Fprintf(&b, "the output has %d bytes; all of it is in %s, see parts of it with read\n", r.Size, r.Whole)
	}
	if changed := r.changed(view); len(changed) > 0 {
		fmt.Fprintf(&b, "changed files (proposed, not written): %s\n", strings.Join(changed, ", "))
	}
	told := 0
	for _, file := range r.Files {
		if file.Problem == nil && len(file.Conflicts)+len(file.Notes) == 0 {
			continue
		}
		if told++; told > toldMax {
			fmt.Fprintln(&b, "there is more of this kind; run the command on fewer files to see it")
			break
		}
		name := view.Shown(file.Path)
		if file.Problem != nil {
			fmt.Fprintf(&b, "left out: %s\n", problemOf(name, file.Problem))
		}
		for _, c := range file.Conflicts {
			fmt.Fprintf(&b,
				"left out: %s was changed at line %d while the command ran. The command made of it:\n%s\nIt now "+
					"reads:\n%s\nEdit it by hand if it is still wanted.\n",
				name, c.StartLine+1, side(c.Ours), side(c.Theirs))
		}
		for _, note := range file.Notes {
			fmt.Fprintf(&b, "%s: %s\n", name, note)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

// changed names the files that a command has changed, up to namedMax of them.
func (r CommandResult) changed(view *workspace.View) []string {
	var changed []string
	more := 0
	for _, file := range r.Files {
		if !file.Changed {
			continue
		}
		if len(changed) == namedMax {
			more++
			continue
		}
		name := view.Shown(file.Path)
		switch {
		case file.MovedFrom != "":
			name += fmt.Sprintf(" (moved from %s)", view.Shown(file.MovedFrom))
		case file.Created:
			name += " (new)"
		case file.Deleted:
			name += " (deleted)"
		}
		changed = append(changed, name)
	}
	if more > 0 {
		changed = append(changed, fmt.Sprintf("and %d more", more))
	}
	return changed
}

// problemOf says why a file was left out, under the name that models know.
func problemOf(name string, err error) string {
	if problem, ok := errors.AsType[*workspace.FileError](err); ok {
		told := *problem
		told.Path = name
		return told.Error()
	}
	return name + ": " + err.Error()
}

// side is one side of a conflict.
func side(text string) string {
	switch {
	case text == "":
		return "(nothing)"
	case len(text) > conflictLimit:
		return strings.ToValidUTF8(text[:conflictLimit], "") + "…"
	}
	return strings.TrimSuffix(text, "\n")
}

type bashOutputArguments struct {
	ID     string `json:"id" alias:"bash_id,shell_id,terminal_id"`
	WaitMs int    `json:"wait_ms,omitempty" jsonschema:"for its end" minimum:"0" alias:"timeout,timeout_ms"`
}

func bashOutputTool() Tool {
	return New(Definition[bashOutputArguments, shell]{
		Name:        "bash_output",
		Description: "Get a background command's new output, and whether it has ended.",
		Effect:      Notes,
		Access:      Internal[bashOutputArguments],
		With:        "bash",
		Example:     bashOutputArguments{ID: "bash-1", WaitMs: 10_000},
		Title:       func(a bashOutputArguments) string { return "output of " + a.ID },
		Run: func(ctx context.Context, host shell, a bashOutputArguments) (Result, error) {
			state, err := host.CommandOutput(ctx, a.ID, min(time.Duration(a.WaitMs)*time.Millisecond, waitMax))
			if err != nil {
				return Result{}, err
			}
			told := state.result(host)
			if state.Ended {
				told.ExitCode = &state.Result.Exit
			}
			return told, nil
		},
	})
}

type bashKillArguments struct {
	ID string `json:"id" alias:"bash_id,shell_id,terminal_id"`
}

func bashKillTool() Tool {
	return New(Definition[bashKillArguments, shell]{
		Name:        "bash_kill",
		Description: "End a background command.",
		Effect:      Notes,
		Access:      Internal[bashKillArguments],
		With:        "bash",
		Example:     bashKillArguments{ID: "bash-1"},
		Title:       func(a bashKillArguments) string { return "end " + a.ID },
		Run: func(ctx context.Context, host shell, a bashKillArguments) (Result, error) {
			state, err := host.KillCommand(ctx, a.ID)
			if err != nil {
				return Result{}, err
			}
			return state.result(host), nil
		},
	})
}

// result tells the model how far a command is.
func (c BackgroundCommand) result(host Workspace) Result {
	text, summary := c.Output, "still running"
	if text == "" {
		text = "(no new output)"
	}
	text = strings.TrimSuffix(text, "\n") + "\n\n"
	if c.Ended {
		summary = c.Result.ending()
		return Result{Text: text + c.Result.report(host.Files().View()), Summary: summary}
	}
	return Result{Text: text + "it is still running\n", Summary: summary}
}
