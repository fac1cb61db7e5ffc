package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
)

// chatHelp describes `agentls chat`.
const chatHelp = `Talk with an agent: each prompt follows the last one, with everything said and done still known. Answers
stream in, each call is a line, and questions are asked where you type. Nothing is written unless you /accept it, or
--write is given.

Keys:
  Enter          send; while a run works, tell it something more
  Alt-Enter      begin a new line
  Tab            complete
  Up, Down       bring back what you typed
  Ctrl-C         clear the line; cancel the run where the line is empty
  Ctrl-D, /exit  end the chat
/help lists the other commands. Chat needs a terminal; scripts use ` + "`agentls run` and `agentls run --continue`." + `

What you type is kept in the state folder, without secrets, for you alone; --no-history neither keeps nor reads it.

Exit codes:
  0    you ended the chat
  2    there is no terminal, or an agent or an option cannot be used
  3    the engine failed
  130  you ended the chat by Ctrl-C on an empty line, twice`

func chatCommand(p *process, s *settings) *cobra.Command {
	f := &workFlags{settings: s, format: "text", failOn: "never"}
	var j job
	var goesOn, forgets bool
	var named string
	c := &cobra.Command{
		Use:   "chat [PROMPT]",
		Short: "Talk with an agent on this terminal",
		Long:  chatHelp,
		Example: `  agentls chat
  agentls chat --agent explore "How are orders priced?"
  agentls chat --continue
  agentls chat --resume s06gztwbxd6zemeez8z`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("chat takes one prompt; put it in quotes: `agentls chat %q`", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.canTalk(); err != nil {
				return err
			}
			if goesOn && named != "" {
				return usage("--continue goes on with the latest conversation, and --resume with %s; leave one out", named)
			}
			if len(args) > 0 {
				j.prompt = strings.TrimSpace(args[0])
			}
			if goesOn || named != "" {
				if err := p.goesBack(c.Context(), s, named, f, &j); err != nil {
					return err
				}
			}
			return p.chat(c.Context(), f, j, !forgets)
		},
	}
	c.Flags().StringVar(&j.agent, "agent", "",
		"slug or alias of the `agent` (default: default_agent of the configuration)")
	c.Flags().BoolVarP(&goesOn, "continue", "c", false, "go on with the latest conversation on this folder")
	c.Flags().StringVar(&named, "resume", "", "go on with this `session or run`")
	c.Flags().BoolVar(&forgets, "no-history", false, "neither keep what you type nor bring back what you typed before")
	f.addRun(c)
	return c
}

// canTalk refuses a chat where nobody could type.
func (o *console) canTalk() error {
	const instead = "run `agentls run \"PROMPT\"` instead, and `agentls run --continue \"PROMPT\"` for each further message"
	switch {
	case !o.stdinTerminal:
		return usage("chat needs a terminal, but standard input is not one; %s", instead)
	case !o.stdout.terminal:
		return usage("chat needs a terminal, but standard output is not one; %s", instead)
	case o.stdout.dumb:
		return usage("chat needs a terminal whose cursor can be moved, but TERM is dumb; %s", instead)
	}
	return nil
}

// goesBack makes a job one that goes on with a session or run, or with the latest conversation where none is named.
func (p *process) goesBack(ctx context.Context, s *settings, named string, f *workFlags, j *job) error {
	if named == "" {
		return p.continues(ctx, s, f, j)
	}
	if err := j.ownWay(f, "--resume"); err != nil {
		return err
	}
	return p.withEngine(ctx, s, p.dir, func(engine *agentcore.Engine) error {
		return p.goOn(ctx, engine, named, f, j)
	})
}

// chat is a conversation in a workspace, on this process's terminal. keeps says that what is typed is kept.
func (p *process) chat(ctx context.Context, f *workFlags, j job, keeps bool) error {
	if err := f.check(); err != nil {
		return err
	}
	root, _, err := p.rootOf(f, &j, nil)
	if err != nil {
		return err
	}
	dirs, err := config.FindDirs(p.getenv, p.home)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	var kept typedLines
	if keeps {
		kept = typedLines{filepath.Join(dirs.State, "chat_history"), p.redactor()}
	}
	return p.opened(ctx, f, j, workplace{root: root},
		func(engine *agentcore.Engine, view *workspace.View, trust authority.FolderTrust, _ []string) error {
			session, err := openSession(ctx, engine, view, trust, "", j.resume)
			if err != nil {
				return err
			}
			c := &chat{
				f: f, engine: engine, view: view, trust: trust, last: j.resume, kept: kept,
				heard: map[string]bool{},
			}
			c.session.Store(session)
			c.agent.Store(&j.agent)
			return c.open(ctx, p, j.prompt)
		})
}

// chat is a conversation with an agent on a terminal. It belongs to the goroutine that reads what the user types.
type chat struct {
	p        *process // whose output is above the line that the user types
	f        *workFlags
	terminal chatTerminal
	kept     typedLines

	engine  *agentcore.Engine
	view    *workspace.View
	trust   authority.FolderTrust
	session atomic.Pointer[agentcore.Session] // which completes what is typed, too
	// agent is whom the user talks with, nil for the default one; what is typed is completed for it, too.
	agent atomic.Pointer[string]
	// last is the run that the next prompt follows, "" where nothing was said.
	last event.RunID
	// queue are prompts that wait for the run under way.
	queue []string
	heard map[string]bool // the notices that were printed
}

// above writes above the line that the user types.
type above struct{ chatTerminal }

func (a above) Write(text []byte) (int, error) {
	a.say(string(text))
	return len(text), nil
}

// partner is the agent that the user talks with, "" for the default one. Any goroutine may call it.
func (c *chat) partner() string {
	if name := c.agent.Load(); name != nil {
		return *name
	}
	return ""
}

// open takes the terminal, talks, and gives it back.
func (c *chat) open(ctx context.Context, p *process, prompt string) error {
	past, err := c.kept.read()
	if err != nil {
		p.complain(err) // the lines of before are no reason not to talk
	}
	if open := p.openTerminal; open != nil {
		c.terminal = open(past, c.complete)
	} else {
		c.terminal = openScreen(ctx, p.stdout, past, c.complete)
	}
	own := *p
	own.stdout.Writer, own.stderr.Writer = above{c.terminal}, above{c.terminal}
	c.p = &own
	closing := sync.OnceValue(c.terminal.close)
	defer func() { _ = closing() }() // a panic leaves a terminal that can be used
	err = c.talk(ctx, prompt)
	err = errors.Join(err, closing())
	if c.last == "" {
		return err
	}
	text := fmt.Sprintf("`agentls chat --resume %s` goes on with this conversation", c.session.Load().ID)
	if n := c.proposed().openHunks(); n > 0 {
		text += fmt.Sprintf(", with its %s", count(n, "proposed edit"))
	}
	return errors.Join(err, p.print(text+"\n"))
}

// say prints above the line that the user types; blank lines behind the text get no colour.
func (c *chat) say(sgr, text string) {
	bare := strings.TrimRight(text, "\n")
	c.terminal.say(painter(c.p.stdout.color)(sgr, bare) + text[len(bare):])
}

// greet says whom the user talks with.
func (c *chat) greet(ctx context.Context) {
	name := cmp.Or(c.partner(), c.engine.Config().DefaultAgent)
	if d, err := c.engine.Agents().Find(name); err == nil {
		name = d.Slug
	}
	text := "You talk with " + name
	if _, resolved, err := c.engine.Models(ctx, c.partner(), c.f.model); err == nil {
		text += " (" + resolved.Name + ")"
	}
	if c.last != "" {
		text += fmt.Sprintf(", and go on with “%s”", cmp.Or(oneLine(c.title(ctx)), string(c.last)))
	}
	c.say(dim, visible(text+". /help says what there is, Ctrl-D ends it.")+"\n\n")
	c.proposals(c.proposed())
}

// title is that of the conversation that is gone on with.
func (c *chat) title(ctx context.Context) string {
	run, err := c.engine.History().Run(ctx, c.last)
	if err != nil {
		return ""
	}
	info, _, err := c.engine.History().Tree(ctx, run.Session)
	if err != nil {
		return ""
	}
	return info.Title
}

// talk reads what the user types until that ends.
func (c *chat) talk(ctx context.Context, prompt string) error {
	c.greet(ctx)
	if prompt != "" {
		c.queue = append(c.queue, prompt)
	}
	warned := false
	for {
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if ends, err := c.enter(ctx, next); ends || err != nil {
				return err
			}
			continue
		}
		c.terminal.show(showing{sign: "> "})
		select {
		case <-ctx.Done():
			return nil // the cause says why
		case e, ok := <-c.terminal.typed():
			switch {
			case !ok, e.kind == left:
				return nil
			case e.kind == stopped && warned:
				return &exitError{exitInterrupted, nil}
			case e.kind == stopped:
				c.say(dim, "Nothing is under way. Ctrl-C again, Ctrl-D or /exit ends the chat.")
			default:
				c.keep(e.text)
				c.queue = append(c.queue, strings.TrimSpace(e.text))
			}
			warned = e.kind == stopped
		}
	}
}

// keep keeps what was typed. Where that fails it is told once.
func (c *chat) keep(text string) {
	if err := c.kept.add(text); err != nil {
		c.kept = typedLines{}
		c.p.complain(err)
	}
}

// enter carries out a line: a command, or a prompt for the agent. It reports whether the chat ends.
func (c *chat) enter(ctx context.Context, text string) (ends bool, err error) {
	c.say(bold, "> "+strings.ReplaceAll(visible(text), "\n", "\n  "))
	if name, rest, ok := cutCommand(text); ok {
		return c.command(ctx, name, rest), nil
	}
	if err := c.mistyped(ctx, text); err != nil {
		c.p.complain(err)
		return false, nil
	}
	return c.prompt(ctx, text)
}

// prompt has the agent work on a prompt, to the end of its run.
func (c *chat) prompt(ctx context.Context, text string) (ends bool, err error) {
	request := job{agent: c.partner(), prompt: text, iterations: 1}.request(c.f, nil)
	events := c.engine.Subscribe("", 0)
	defer events.Close() // each prompt has its own, and a reader that is left holds back the trimming of long sessions
	start := context.WithoutCancel(ctx)
	var run event.RunID
	if c.last == "" {
		run, err = c.session.Load().Start(start, request)
	} else {
		run, err = c.session.Load().ResumeWith(start, c.last, request)
	}
	if err != nil {
		c.p.complain(err) // what is wrong with one prompt does not end the chat
		if strings.HasPrefix(text, "/") && fault.Is(err, fault.NotFound) {
			c.say(dim, "/help lists the commands of the chat.")
		}
		return false, nil
	}
	c.last = run
	t := c.newTurn(run)
	if err := t.follow(ctx, events); err != nil {
		return true, err
	}
	return t.ends, t.conclude(ctx)
}
