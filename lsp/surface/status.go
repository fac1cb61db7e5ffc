package surface

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/statusline"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/short"
)

const (
	// statusInterval is the least time between two notifications.
	statusInterval = 250 * time.Millisecond
	// commandInterval is the least time between two runs of the user's command for the status line.
	commandInterval = time.Second
)

// Status tells a client that speaks the custom protocol the state of the server, and the status line, when they change.
// Its goroutine is Run; Wake may be called from any goroutine.
type Status struct {
	StatusMeans
	news chan struct{} // has room for one: something may have changed

	mu   sync.Mutex
	line commandLine // what the user's command printed last
	busy bool        // whether the command runs

	sent methods.StatusParams // owned by Run
	told bool                 // anything was sent; owned by Run
}

// commandLine is the line that a command printed for an input.
type commandLine struct {
	command, input, text string
	err                  error
}

// StatusMeans are what the status is made from. All of it is set, and any goroutine may use it.
type StatusMeans struct {
	Means
	Board *Board
	// Failing says why nothing can work; nil where it can, or where that is not known yet.
	Failing func() error
	// Fault is what is wrong with the settings, "" for nothing.
	Fault func() string
	// Facts returns the facts of the server and its session, without those of the runs.
	Facts func() statusline.Facts
	// Command runs the user's command for the status line in a folder.
	Command func(ctx context.Context, command, dir string, input []byte) (string, error)
	// Tell sends the status to the editor.
	Tell func(context.Context, *methods.StatusParams) error
}

// NewStatus makes what Run tells of.
func NewStatus(m StatusMeans) *Status { return &Status{StatusMeans: m, news: make(chan struct{}, 1)} }

// Wake says that there may be news. It never waits.
func (b *Status) Wake() { wake(b.news) }

// Run tells the client until ctx ends.
func (b *Status) Run(ctx context.Context) {
	if !b.Client.KnowsProtocol() {
		return
	}
	pause := time.NewTimer(time.Hour)
	defer pause.Stop()
	b.Wake()
	news := b.news // nil until the least time between two notifications has passed
	for {
		select {
		case <-news:
		case <-pause.C:
			news = b.news
			continue
		case <-ctx.Done():
			return
		}
		now := b.status()
		if !b.told || now != b.sent {
			if err := b.Tell(ctx, &now); err != nil {
				if ctx.Err() == nil {
					b.Logger.Warn("the status could not be told", "error", err)
				}
				return
			}
			b.sent, b.told = now, true
		}
		news = nil
		pause.Reset(statusInterval)
	}
}

// status is the present state of the server.
func (b *Status) status() methods.StatusParams {
	if err := b.Failing(); err != nil {
		return methods.StatusParams{
			Health: methods.HealthError, Quiescent: true,
			Message: "agentls cannot work: " + err.Error(), Statusline: "agentls cannot work",
		}
	}
	facts := b.Board.live.facts(b.Facts())
	status := methods.StatusParams{Health: methods.HealthOK, Quiescent: facts.Running == 0}
	status.Message = b.Fault()
	if status.Message != "" {
		status.Health = methods.HealthWarning
	}
	setting := ""
	if c := b.Settings(); c != nil {
		setting = strings.TrimSpace(c.Statusline)
	}
	command, isCommand := strings.CutPrefix(setting, "!")
	switch {
	case setting == "":
		status.Statusline = statusLineOf(facts)
	case !isCommand:
		status.Statusline = statusline.Text(expandStatus(facts, setting))
	default:
		line, err := b.commanded(strings.TrimSpace(command), facts)
		status.Statusline = cmp.Or(line, statusLineOf(facts))
		if err != nil {
			fault := err.Error() + "; mend `statusline` in config.toml, or leave it empty for the built-in line"
			status.Health, status.Message = methods.HealthWarning, strings.TrimSpace(status.Message+"\n\n"+fault)
		}
	}
	return status
}

// commanded is the line that the user's command printed last. Where the facts have changed since, it runs the command
// again on another goroutine, which wakes the status at the end.
func (b *Status) commanded(command string, facts statusline.Facts) (string, error) {
	input, err := json.Marshal(facts)
	if err != nil {
		return "", fmt.Errorf("encode the session for the status line: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.line
	if last.command != command {
		last.text, last.err = "", nil
	}
	if b.busy || last.command == command && last.input == string(input) {
		return last.text, last.err
	}
	b.busy = true
	b.Goes(func(ctx context.Context) {
		text, err := b.Command(ctx, command, facts.WorkingDirectory, input)
		b.mu.Lock()
		b.line = commandLine{command: command, input: string(input), text: text, err: err}
		b.mu.Unlock()
		b.Wake()
		select { // before it may run again
		case <-time.After(commandInterval):
		case <-ctx.Done():
		}
		b.mu.Lock()
		b.busy = false
		b.mu.Unlock()
		b.Wake()
	})
	return last.text, last.err
}

// facts adds the facts of the runs.
func (b *liveRuns) facts(f statusline.Facts) statusline.Facts {
	b.each(func(r *liveRun) {
		f.Running++
		if r.status == event.StatusWaiting || r.status == event.StatusPending {
			f.Waiting++
		}
		if r.parent != nil {
			f.Children++
			return
		}
		f.Agent, f.Model, f.Title, f.Activity, f.Turn = r.agent, r.model, r.title, r.doing(), r.turn
		f.Tokens += r.usage.InputTokens + r.usage.OutputTokens
		if r.usage.Cost != nil {
			sum := *r.usage.Cost
			if f.Cost != nil {
				sum += *f.Cost
			}
			f.Cost = &sum
		}
	})
	return f
}

// statusValues are the facts for a template. A zero is an empty text, so that it makes a condition false.
func statusValues(f statusline.Facts) map[string]string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	values := map[string]string{
		"session": string(f.Session), "version": f.Version, "project": f.Project, "cwd": f.WorkingDirectory,
		"git_branch": f.GitBranch, "running": number(f.Running), "waiting": number(f.Waiting),
		"children": number(f.Children), "agent": f.Agent, "model": f.Model, "title": f.Title, "activity": f.Activity,
		"turn": number(f.Turn), "asks": number(f.Asks), "findings": number(f.Findings), "edits": number(f.Edits),
		"tokens": "", "cost": "",
	}
	if f.Tokens > 0 {
		values["tokens"] = short.Tokens(f.Tokens)
	}
	if f.Cost != nil {
		values["cost"] = fmt.Sprintf("$%.2f", *f.Cost)
	}
	return values
}

func expandStatus(f statusline.Facts, text string) string {
	template, _ := agent.ParseTemplate(text) // faulty parts stay as they are written
	return template.Expand(statusValues(f))
}

// statusLineOf is the built-in status line.
func statusLineOf(f statusline.Facts) string {
	var parts []string
	count := func(n int, noun string) {
		if n > 0 {
			parts = append(parts, short.Count(n, noun))
		}
	}
	if f.Running > 0 {
		parts = append(parts, "⟳ "+f.Agent+": "+cmp.Or(f.Activity, f.Title))
		if more := f.Running - 1; more > 0 {
			parts = append(parts, fmt.Sprintf("%d more", more))
		}
		if f.Tokens > 0 {
			parts = append(parts, short.Tokens(f.Tokens)+" tok")
		}
	}
	count(f.Asks, "question")
	count(f.Findings, "finding")
	count(f.Edits, "edit")
	if len(parts) == 0 {
		return "agentls"
	}
	return statusline.Text(strings.Join(parts, " · "))
}
