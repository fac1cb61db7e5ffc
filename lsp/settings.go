package lsp

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
)

// settings is the effective configuration of the connection and what was wrong with its sources. It owns
// both; any goroutine may read, renew, load and tell.
type settings struct {
	options *Options
	initial json.RawMessage // initializationOptions
	// trusted adds what the user trusts of the workspace; set before any other use.
	trusted func(config.Sources) config.Sources
	news    chan struct{} // has room for one: they have changed

	loading  sync.Mutex // held while the layers are read, so that the newest are read last
	mu       sync.Mutex
	asked    json.RawMessage // the editor's answer to workspace/configuration, nil for none
	pushed   json.RawMessage // from the newest workspace/didChangeConfiguration that had some
	config   *config.Config
	lost     []string // the sources of which config has nothing
	problems []config.Problem
	told     []string
}

func (c *settings) current() *config.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.config
}

// ask keeps the editor's answer to workspace/configuration for the next load.
func (c *settings) ask(answer json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = answer
}

// load reads all layers again. Where a layer cannot be used at all any more, with its permission rules, the
// configuration stays as it was before. It reads the disk.
func (c *settings) load() {
	c.loading.Lock()
	defer c.loading.Unlock()
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // only used to shorten paths for people
	}
	sources := c.trusted(config.Sources{
		Getenv: c.options.Getenv, Home: home, UserFile: c.options.Dirs.File,
		Initialization: c.initial, Settings: asked, Flags: c.options.Flags,
	})
	loaded, problems := config.Load(sources)
	problems = append(problems, authority.RuleProblems(loaded)...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = problems
	var lost []string
	for _, p := range problems {
		if p.Whole {
			lost = append(lost, p.Source+" "+p.File)
		}
	}
	if c.config == nil ||
		!slices.ContainsFunc(lost, func(source string) bool { return !slices.Contains(c.lost, source) }) {
		c.config, c.lost = loaded, lost
	}
}

// tell shows the user each problem once: errors in a message, warnings in the log. A problem of a file that is open is
// shown there.
func (c *settings) tell(ctx context.Context, e *editor) {
	_, diagnostics := e.client.PublishDiagnostics()
	c.mu.Lock()
	var fresh []config.Problem
	var told []string
	for _, p := range c.problems {
		if diagnostics && p.File != "" && e.documents.Get(p.File) != nil {
			continue
		}
		text := p.String()
		told = append(told, text)
		if !slices.Contains(c.told, text) {
			fresh = append(fresh, p)
		}
	}
	c.told = told
	c.mu.Unlock()
	for _, p := range fresh {
		kind := protocol.MessageTypeWarning
		if p.Severity == config.SeverityError {
			kind = protocol.MessageTypeError
		}
		e.tell(ctx, kind, "agentls configuration: "+p.String())
	}
}

// renew says that the editor's settings have changed. pushed are those that it sent along, nil for none.
func (c *settings) renew(pushed json.RawMessage) {
	if len(pushed) > 0 && string(pushed) != "null" {
		c.mu.Lock()
		c.pushed = pushed
		c.mu.Unlock()
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// didChangeConfiguration has the settings read again.
func (c *connected) didChangeConfiguration(p *protocol.DidChangeConfigurationParams) error {
	c.settings.renew(json.RawMessage(slices.Clone(p.Settings)))
	return nil
}

// readSettings asks the editor for its settings, and loads the configuration with them.
func (c *connected) readSettings(ctx context.Context) {
	answer, err := c.client.Settings(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.logger.Warn("the editor's settings are not used", "error", err)
		}
		return
	}
	if answer == nil {
		c.settings.mu.Lock()
		answer = c.settings.pushed
		c.settings.mu.Unlock()
	}
	c.settings.ask(answer)
	c.settings.load()
}

// followSettings reads the settings again after each change, one after the other, until ctx ends: by asking the editor,
// else from what it sent. It closes asked after the first answer.
func (c *connected) followSettings(ctx context.Context, asked chan<- struct{}) {
	for first := true; ; first = false {
		select {
		case <-c.settings.news:
		case <-ctx.Done():
			return
		}
		c.guarded(func() { c.readSettings(ctx) })
		if first {
			close(asked)
		}
		if c.ready() { // else whoever opens the engine takes them from here
			c.reloader.touch()
		}
	}
}

// fault is what is wrong with the settings, empty for nothing.
func (c *settings) fault() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.problems {
		if p.Severity == config.SeverityError {
			return "the configuration has faults: " + p.String()
		}
	}
	return ""
}
