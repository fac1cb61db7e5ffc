package lsp

import (
	"encoding/json"
	"os"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
)

// settings owns the effective configuration of the connection and what was wrong with its sources. Its methods may be
// called from any goroutine.
type settings struct {
	options *Options
	initial json.RawMessage // initializationOptions
	// trusted adds what the user trusts of the workspace; set before any other use.
	trusted func(config.Sources) config.Sources
	news    chan struct{} // has room for one value, which says that the settings have changed

	loading  sync.Mutex // held while the layers are read, so that the last reading sees the newest
	mu       sync.Mutex
	asked    json.RawMessage // the editor's answer to workspace/configuration, nil for none
	pushed   json.RawMessage // from the newest workspace/didChangeConfiguration that had settings
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

// answered keeps the editor's answer to workspace/configuration for the next load. With nil, what the editor sent last
// counts.
func (c *settings) answered(answer json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked = answer; answer == nil {
		c.asked = c.pushed
	}
}

// load reads all layers again, from the disk. Where a layer as a whole has become useless, and its permission rules
// with it, the configuration stays as it was.
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

// untold returns the problems that it has not returned before, without those in files that show their problems
// themselves.
func (c *settings) untold(shows func(file string) bool) []config.Problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	var fresh []config.Problem
	var told []string
	for _, p := range c.problems {
		if p.File != "" && shows(p.File) {
			continue
		}
		text := p.String()
		told = append(told, text)
		if !slices.Contains(c.told, text) {
			fresh = append(fresh, p)
		}
	}
	c.told = told
	return fresh
}

// renew says that the editor's settings have changed. pushed are the settings that it sent along, nil for none.
func (c *settings) renew(pushed json.RawMessage) {
	if len(pushed) > 0 && string(pushed) != "null" {
		c.mu.Lock()
		c.pushed = pushed
		c.mu.Unlock()
	}
	wake(c.news)
}

// didChangeConfiguration makes the settings be read again.
func (c *settings) didChangeConfiguration(p *protocol.DidChangeConfigurationParams) error {
	c.renew(json.RawMessage(slices.Clone(p.Settings)))
	return nil
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
