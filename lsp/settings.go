package lsp

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/config"
)

// settings is the effective configuration of the connection and what was wrong with its sources. It owns
// both; any goroutine may read, load and tell.
type settings struct {
	initial json.RawMessage // initializationOptions; set before any other use

	mu       sync.Mutex
	config   *config.Config
	problems []config.Problem
	told     []string
}

func (c *settings) current() *config.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.config
}

// load reads all layers again. Asked is the editor's answer to workspace/configuration, nil for none.
func (c *settings) load(s *Server, asked json.RawMessage) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // only used to shorten paths for people
	}
	sources := config.Sources{
		Getenv: s.options.Getenv, Home: home, UserFile: s.options.Dirs.File, Trusted: s.trusted,
		Initialization: c.initial, Settings: asked, Flags: s.options.Flags,
	}
	if roots := s.view.Roots(); len(roots) > 0 {
		sources.ProjectDir = roots[0].Path
	}
	loaded, problems := config.Load(sources)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.config, c.problems = loaded, problems
}

// tell shows the user each problem once: errors in a message, warnings in the log.
func (c *settings) tell(ctx context.Context, s *Server) {
	c.mu.Lock()
	var fresh []config.Problem
	for _, p := range c.problems {
		if text := p.String(); !slices.Contains(c.told, text) {
			c.told = append(c.told, text)
			fresh = append(fresh, p)
		}
	}
	c.mu.Unlock()
	for _, p := range fresh {
		kind := protocol.MessageTypeWarning
		if p.Severity == config.SeverityError {
			kind = protocol.MessageTypeError
		}
		s.tell(ctx, kind, "agentls configuration: "+p.String())
	}
}

// didChangeConfiguration reads the settings again: from the notification if it has them, else by asking.
func (s *Server) didChangeConfiguration(p *protocol.DidChangeConfigurationParams) error {
	pushed := json.RawMessage(slices.Clone(p.Settings))
	s.goes(func(ctx context.Context) {
		if _, err := s.open(ctx); err != nil {
			return // said when it happened
		}
		asked, err := s.client.settings(ctx)
		if err != nil {
			s.logger.Warn("the editor's settings are not used", "error", err)
		}
		if asked == nil {
			asked = pushed
		}
		s.settings.load(s, asked)
		s.engine.SetConfig(s.settings.current())
		s.settings.tell(ctx, s)
	})
	return nil
}
