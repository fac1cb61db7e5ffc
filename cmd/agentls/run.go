package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/tool"
)

// runHelp describes `agentls run`.
const runHelp = `Have an agent carry out a prompt, about files if some are named. Its answer, findings and proposed edits go to
standard output, progress to standard error. Nothing is written unless --write is given.

A PROMPT of - is read from standard input. A FILE of - is a text from standard input; --stdin-filename says which
file it stands for.

` + formatHelp + `

` + runExits

// runExits are the exit codes of a run.
const runExits = `Exit codes:
  0    done
  1    there is a finding at or above --fail-on
  2    an agent, a file or an option cannot be used
  3    a run failed or reached a limit before its task was done, or one of its subagents failed, or the command of
       --until or --goal never succeeded, or the last pass of --iter says that the task is not done, or an edit could
       not be written. A subagent that was cancelled on purpose does not count, nor one whose task another then did
` + exitsOfEach

func runCommand(p *process, s *settings) *cobra.Command {
	f := &workFlags{settings: s}
	var j job
	var goesOn bool
	var schema string
	c := &cobra.Command{
		Use:   "run [--agent AGENT] PROMPT [FILE...]",
		Short: "Have an agent carry out a prompt",
		Long:  runHelp,
		Example: `  agentls run "Where is the cache filled?"
  agentls run --continue "And who calls it?"
  agentls run --agent explore "How are orders priced?"
  agentls run --schema order.schema.json "What does an order hold?"
  agentls run --goal "go test ./..." "Make the tests pass."
  agentls run --iter 5 --until "go test ./..." "Make the tests pass."
  agentls run --each --write "Give every exported name a doc comment" *.go`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("there is no prompt; write `agentls run PROMPT [FILE...]`")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			prompt, err := p.readPrompt(args[0])
			if err != nil {
				return err
			}
			j.prompt, j.files = prompt, args[1:]
			if j.each && len(j.files) == 0 {
				return usage("--each starts a run for each file, but no file is named; write the files behind the prompt")
			}
			if j.schema, err = p.readSchema(f, schema); err != nil {
				return err
			}
			if j.goal != "" && !c.Flags().Changed("iter") {
				j.iterations = 0 // as many as a goal has
			} else if err := checkIterations(j.iterations, cmp.Or(j.until, j.goal), prompt); err != nil {
				return err
			}
			if j.goal != "" && j.until != "" {
				return usage("--goal is a check, as --until is; leave one of them out")
			}
			if goesOn {
				if err := p.continues(c.Context(), s, f, &j); err != nil {
					return err
				}
			}
			return p.work(c.Context(), f, j)
		},
	}
	c.Flags().StringVar(&j.agent, "agent", "",
		"slug or alias of the `agent` (default: default_agent of the configuration)")
	c.Flags().BoolVar(&j.each, "each", false, "start a run for each file, in parallel")
	c.Flags().IntVar(&j.iterations, "iter", 1, "repeat the task by fresh agents, at most `N` times, until it is done")
	c.Flags().StringVar(&j.until, "until", "",
		"with --iter: the task is done when this `command` succeeds with the proposed edits")
	c.Flags().StringVar(&schema, "schema", "",
		"have the agent answer with a JSON object that fits the JSON Schema in `file`, and print only that")
	c.Flags().StringVar(&j.goal, "goal", "",
		"repeat the task, at most 10 times or as --iter says, until this `command` succeeds with the proposed edits")
	c.Flags().BoolVarP(&goesOn, "continue", "c", false, "go on with the latest conversation on this folder")
	f.add(c, "never")
	return c
}

// continues makes a job go on with the latest conversation on the folder.
func (p *process) continues(ctx context.Context, s *settings, f *workFlags, j *job) error {
	if err := j.ownWay(f, "--continue"); err != nil {
		return err
	}
	if j.each {
		return usage("--continue goes on with one conversation, but --each starts a run for each file; leave one of them out")
	}
	return p.withEngine(ctx, s, p.dir, func(engine *agentcore.Engine) error {
		last, err := p.lastSession(ctx, engine)
		if err != nil {
			return err
		}
		return p.goOn(ctx, engine, last, f, j)
	})
}

// readSchema reads the file of an output schema; "" is none. The engine says what is wrong with what it holds.
func (p *process) readSchema(f *workFlags, name string) (json.RawMessage, error) {
	switch {
	case name == "":
		return nil, nil
	case f.format != "text" && f.format != "json":
		return nil, usage("--schema prints an object; leave out --format %s", f.format)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.dir, name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usage("read the output schema: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, tool.MaxOutputSchema+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, usage("read the output schema: %w", err)
	}
	if len(raw) == 0 {
		return nil, usage("the output schema %s is empty", name)
	}
	return raw, nil
}

// ownWay refuses what a conversation that a flag goes on with has settled.
func (j *job) ownWay(f *workFlags, flag string) error {
	switch {
	case j.agent != "":
		return usage("a conversation goes on with its own agent; leave out --agent, or %s", flag)
	case f.permissionMode != "":
		return usage("a conversation goes on in its own mode; leave out --permission-mode, or %s", flag)
	}
	return nil
}

// readPrompt is the prompt that an argument stands for: itself, or what is on standard input.
func (o *console) readPrompt(argument string) (string, error) {
	prompt := argument
	if prompt == "-" {
		text, err := io.ReadAll(io.LimitReader(o.stdin, maxStdin+1))
		switch {
		case err != nil:
			return "", fmt.Errorf("read the prompt from standard input: %w", err)
		case len(text) > maxStdin:
			return "", usage("the prompt on standard input has more than %d bytes; write a shorter one", maxStdin)
		case !validText(text):
			return "", usage("the text on standard input is not UTF-8; convert it first")
		}
		prompt = string(text)
	}
	if prompt = strings.TrimSpace(prompt); prompt == "" {
		return "", usage("the prompt is empty; say what the agent should do")
	}
	return prompt, nil
}

// checkIterations refuses flags that make no sense together, before anything is done. A prompt may ask for passes, too.
func checkIterations(n int, until, prompt string) error {
	word, _, _ := strings.Cut(prompt, " ")
	switch {
	case n < 1:
		return usage("--iter is %d; write how often the task may be done, 1 or more", n)
	case until != "" && n == 1 && word != "/iter":
		return usage("--until checks a task that --iter repeats; write --iter N, too")
	}
	return nil
}
