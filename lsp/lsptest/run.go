package lsptest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
)

// Options are how scenarios are run.
type Options struct {
	// Start starts a server for a scenario. It is called again when the scenario restarts it.
	Start func(env Env) (*Server, error)
	// Scripts says that Start can give the server a scripted model. Scenarios with a model.script are not for a
	// server that cannot have one.
	Scripts bool
}

// Run runs each scenario (*.txtar) of a folder as a parallel subtest, and in it one for each client profile.
func Run(t *testing.T, dir string, o Options) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		s, err := Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.section("model.script") != nil && !o.Scripts {
			continue
		}
		ran++
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, profile := range s.profiles {
				t.Run(profile, func(t *testing.T) { s.run(t, profile, o) })
			}
			if *update && !t.Failed() {
				if err := s.save(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if ran == 0 {
		t.Errorf("no scenario in %s can be run", dir)
	}
}

// run plays the scenario once.
func (s *Scenario) run(t *testing.T, profile string, o Options) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), *watchdog, errors.New("the scenario hangs"))
	defer cancel()
	p, err := newPlay(t, s, profile, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.cleanUp()
	p.ctx = ctx
	for i, l := range s.lines {
		if !l.isFor(profile) {
			continue
		}
		if err := p.do(l); err != nil {
			p.fail("%s:%d: %s: %v", filepath.Base(s.file), l.number, l.verb, err)
			return
		}
		// A request that fails is a failure unless the script expects it.
		if p.lastErr != nil && !p.errExpected(s.lines[i+1:]) {
			p.fail("%s:%d: %s: %v", filepath.Base(s.file), l.number, l.verb, p.lastErr)
			return
		}
	}
	p.finish()
}

// newPlay lays out the workspace.
func newPlay(t *testing.T, s *Scenario, profile string, o Options) (*play, error) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		return nil, err
	}
	prof, err := LoadProfile(profile)
	if err != nil {
		return nil, err
	}
	p := &play{
		stage:    stage{t: t, scenario: s, profile: prof, start: o.Start, base: base, log: &logBuffer{}},
		requests: requests{vars: map[string]string{}, begun: map[string]*Pending{}, runs: map[string]bool{}},
	}
	p.env = Env{
		Root: filepath.Join(base, "workspace"), State: filepath.Join(base, "state", "agentls"),
		Config: filepath.Join(base, "config", "agentls"),
		File:   filepath.Join(base, "config", "agentls", "config.toml"), Log: p.log,
	}
	p.env.Vars = map[string]string{
		// not the machine's own
		"HOME": filepath.Join(base, "home"), "PATH": os.Getenv("PATH"), "TMPDIR": os.TempDir(),
		"OLLAMA_HOST":    "127.0.0.1:9",
		"XDG_STATE_HOME": filepath.Join(base, "state"), "XDG_CONFIG_HOME": filepath.Join(base, "config"),
	}
	for _, dir := range []string{p.env.Root, p.env.State, p.env.Config, p.env.Vars["HOME"]} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	p.openSites(s.archive)
	maps.Copy(p.vars, p.sites)
	for _, f := range s.archive.Files {
		file := filepath.Join(p.env.Root, filepath.FromSlash(f.Name))
		switch {
		case f.Name == "config.toml":
			file, f.Data = p.env.File, []byte(p.sited(string(f.Data)))
		case f.Name == "model.script":
			if p.env.Script, err = script.Parse(s.name, p.sited(string(f.Data))); err != nil {
				return nil, err
			}
			continue
		case reserved(f.Name):
			continue
		}
		if err := writeFile(file, f.Data); err != nil {
			return nil, err
		}
	}
	return p, nil
}
