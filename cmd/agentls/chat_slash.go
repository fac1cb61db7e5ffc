package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// slash is a command that the user types in a chat.
type slash struct {
	name, takes, about string
	do                 func(c *chat, ctx context.Context, rest string) error
}

// slashes are the commands, but for /exit.
func slashes() []slash {
	return []slash{
		{"/accept", "", "write the proposed edits to the files", (*chat).accept},
		{"/reject", "", "drop the proposed edits", (*chat).reject},
		{"/diff", "", "show the proposed edits", (*chat).diff},
		{"/new", "", "begin a new conversation", (*chat).anew},
		{"/agent", "[AGENT]", "list the agents, or begin a new conversation with one", (*chat).chooseAgent},
		{"/model", "[MODEL]", "list the models, or take one for what follows", (*chat).chooseModel},
		{"/cost", "", "sum up what the conversation has used", (*chat).cost},
		{"/help", "", "say what there is", (*chat).help},
	}
}

// exitCommand is the command that ends the chat.
const exitCommand = "/exit"

// slashNames are the names of all commands.
func slashNames() []string {
	names := []string{exitCommand}
	for _, s := range slashes() {
		names = append(names, s.name)
	}
	return names
}

// cutCommand parts a line into a command and the rest; ok is false where it is a prompt.
func cutCommand(text string) (name, rest string, ok bool) {
	name, rest, _ = strings.Cut(text, " ")
	return name, strings.TrimSpace(rest), slices.Contains(slashNames(), name)
}

// mistyped says which command a prompt may be meant for that calls nothing; nil where it is fine, or the engine knows
// better.
func (c *chat) mistyped(ctx context.Context, text string) error {
	name, _, _ := strings.Cut(text, " ")
	hint := didYouMean(name, slashNames())
	if !strings.HasPrefix(name, "/") || hint == "" || name == "/iter" {
		return nil
	}
	prompts, err := agentcore.Prompts(ctx, c.session.Load())
	if err != nil {
		return err
	}
	if _, err := prompts.Find(name[1:]); err == nil {
		return nil
	}
	return fmt.Errorf("there is no command or prompt %s%s", name, hint)
}

// command carries out a command, and reports whether the chat ends.
func (c *chat) command(ctx context.Context, name, rest string) (ends bool) {
	if name == exitCommand {
		return true
	}
	all := slashes()
	s := all[slices.IndexFunc(all, func(s slash) bool { return s.name == name })]
	err := fmt.Errorf("%s takes no argument, but %q follows it; write %s alone", name, rest, name)
	if s.takes != "" || rest == "" {
		err = s.do(c, ctx, rest)
	}
	if err != nil {
		c.p.complain(err)
	}
	return false
}

func (c *chat) help(ctx context.Context, _ string) error {
	var rows strings.Builder
	for _, s := range slashes() {
		fmt.Fprintf(&rows, "%s\t%s\n", strings.TrimSpace(s.name+" "+s.takes), s.about)
	}
	fmt.Fprintf(&rows, "%s\tend the chat, as Ctrl-D does on an empty line\n", exitCommand)
	c.terminal.say(inColumns(rows.String()))
	if prompts, err := agentcore.Prompts(ctx, c.session.Load()); err == nil && len(prompts.List()) > 0 {
		c.terminal.say(count(len(prompts.List()), "prompt") + " can be called in the same way; Tab lists them.")
	}
	c.terminal.say("@path and @path:10-20 add files to the prompt; @diff and @diagnostics add the changes and the diagnostics. " +
		"Tab completes them.\n" +
		"Alt-Enter begins a new line, the arrow keys bring back former ones. While a run works, Enter tells it " +
		"something more, and Ctrl-C cancels it.")
	return nil
}

// proposed is what the conversation proposes now. Who decides on it has seen it.
func (c *chat) proposed() *result {
	r := newResult(c.p.dir, c.session.Load(), c.last)
	r.outcome.Status = event.StatusCompleted
	r.collect(c.session.Load())
	return r
}

// proposals lists the proposed edits, and says how to decide on them.
func (c *chat) proposals(r *result) {
	if len(r.hunks) == 0 {
		return
	}
	paint := painter(c.p.stdout.color)
	var b strings.Builder
	for _, e := range r.edits {
		what := "changes"
		switch {
		case e.Create:
			what = "creates"
		case e.Delete:
			what = "deletes"
		case e.MoveTo != "":
			what = "moves to " + visible(r.name(e.MoveTo)) + ","
		}
		added, removed := lineCounts(r, e)
		fmt.Fprintf(&b, "  %s %s  %s %s\n", what, visible(r.name(e.Path)), paint(green, fmt.Sprintf("+%d", added)),
			paint(red, fmt.Sprintf("-%d", removed)))
	}
	open := r.openHunks()
	head := count(open, "proposed edit")
	if n := len(r.hunks) - open; n > 0 {
		head += fmt.Sprintf(", %d more in conflict with what is in the files", n)
	}
	head = paint(bold, head) + paint(dim, ": /diff shows, /accept writes, /reject drops them")
	c.terminal.say(head + "\n" + b.String())
}

// lineCounts are how many lines the open hunks of a file add and take.
func lineCounts(r *result, e workspace.FileEdit) (added, removed int) {
	for _, h := range r.hunks {
		if h.Path == e.Path && h.State == event.StateOpen {
			added += len(workspace.Lines(h.After))
			removed += len(workspace.Lines(h.Before))
		}
	}
	return added, removed
}

// errNothingProposed refuses to decide on nothing.
var errNothingProposed = fmt.Errorf("nothing is proposed; ask for a change first")

func (c *chat) accept(ctx context.Context, _ string) error {
	r := c.proposed()
	if len(r.edits) == 0 {
		return errNothingProposed
	}
	refused, err := r.accept(ctx, c.session.Load())
	if err != nil {
		return err
	}
	c.written(r, refused)
	return nil
}

// written says which files were written, and which were not.
func (c *chat) written(r *result, refused error) {
	for _, e := range r.edits {
		if r.written[e.Path] {
			c.say(green, "wrote "+visible(r.name(cmp.Or(e.MoveTo, e.Path))))
		}
	}
	if refused != nil {
		c.p.complain(refused)
	}
}

func (c *chat) reject(ctx context.Context, _ string) error {
	r := c.proposed()
	if len(r.hunks) == 0 {
		return errNothingProposed
	}
	ids := workspace.IDs(r.hunks)
	failures, err := c.session.Load().Board().Reject(ctx, ids)
	if err != nil {
		return err
	}
	if len(failures) > 0 {
		return fmt.Errorf("%s could not be dropped: %s", count(len(failures), "edit"), failures[0].Reason)
	}
	c.say("", count(len(ids), "proposed edit")+" dropped")
	return nil
}

func (c *chat) diff(context.Context, string) error {
	diff := c.proposed().diff()
	if diff == "" {
		return errNothingProposed
	}
	c.terminal.say(paintDiff(visible(diff), c.p.stdout.color))
	return nil
}

// anew begins a new conversation. What the former one proposed stays with it.
func (c *chat) anew(ctx context.Context, _ string) error {
	if c.last == "" {
		return nil
	}
	session, err := openSession(ctx, c.engine, c.view, c.trust, "", "")
	if err != nil {
		return err
	}
	text := fmt.Sprintf("A new conversation. `agentls chat --resume %s` goes on with the former one",
		c.session.Load().ID)
	if n := c.proposed().openHunks(); n > 0 {
		text += fmt.Sprintf(", with its %s", count(n, "proposed edit"))
	}
	c.session.Store(session)
	c.last = ""
	c.say(dim, text+".")
	return nil
}

func (c *chat) chooseAgent(ctx context.Context, name string) error {
	agents := c.engine.Agents()
	if name == "" {
		var rows strings.Builder
		for _, d := range agents.List(agent.Primary) {
			fmt.Fprintf(&rows, "%s\t%s\n", d.Slug, oneLine(d.Description))
		}
		c.terminal.say(inColumns(rows.String()))
		return nil
	}
	if err := startable(agents, name, ""); err != nil {
		return err
	}
	if err := c.anew(ctx, ""); err != nil {
		return err
	}
	c.agent.Store(&name)
	c.greet(ctx)
	return nil
}

func (c *chat) chooseModel(ctx context.Context, name string) error {
	models, resolved, err := c.engine.Models(ctx, c.partner(), cmp.Or(name, c.f.model))
	if err != nil {
		return err
	}
	if name == "" {
		c.terminal.say(modelsTable(models, resolved))
		return nil
	}
	c.f.model = name
	c.say("", "What follows is asked of "+visible(resolved.Name)+".")
	return nil
}

func (c *chat) cost(ctx context.Context, _ string) error {
	if c.last == "" {
		return fmt.Errorf("nothing was asked yet in this conversation")
	}
	filter := store.UsageFilter{By: store.UsageByModel, Session: c.session.Load().ID}
	sums, err := c.engine.History().Usage(ctx, filter)
	if err != nil {
		return err
	}
	c.terminal.say(usageTable(filter.By, sums))
	return nil
}
