package lsptest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/agentls/agentls/agentcore/model/script"
)

// update rewrites what the scenarios want with what they got.
var update = flag.Bool("update", false, "rewrite the want/ sections of the scenarios")

// watchdog ends a scenario that hangs. It is no expectation: nothing that works comes near to it.
var watchdog = flag.Duration("watchdog", 3*time.Minute, "end a scenario that hangs after so long")

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

// Scenario is a parsed scenario file. README.md in this folder describes the format.
type Scenario struct {
	file     string
	name     string
	profiles []string
	lines    []line
	archive  *txtar.Archive
	changed  bool
}

// line is one line of the script.
type line struct {
	number int
	// only are the profiles that the line is for, nil for all; not turns it round.
	only []string
	not  bool
	verb string
	args []string
}

func (l line) isFor(profile string) bool {
	return l.only == nil || slices.Contains(l.only, profile) != l.not
}

// Load reads a scenario file.
func Load(file string) (*Scenario, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	s := &Scenario{file: file, name: strings.TrimSuffix(filepath.Base(file), ".txtar"), archive: archive}
	for i, text := range strings.Split(string(archive.Comment), "\n") {
		l, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		l.number = i + 1
		switch l.verb {
		case "":
		case "profile":
			s.profiles = append(s.profiles, l.args...)
		default:
			s.lines = append(s.lines, l)
		}
	}
	if len(s.profiles) == 0 {
		return nil, fmt.Errorf("%s: no line names the client profiles", file)
	}
	for _, l := range s.lines {
		for _, name := range l.only {
			if !slices.Contains(s.profiles, name) {
				return nil, fmt.Errorf("%s:%d: the scenario does not run with the profile %q", file, l.number, name)
			}
		}
	}
	return s, nil
}

// section returns a section of the file, nil if it is not there.
func (s *Scenario) section(name string) *txtar.File {
	for i := range s.archive.Files {
		if s.archive.Files[i].Name == name {
			return &s.archive.Files[i]
		}
	}
	return nil
}

// sectionFor prefers the section NAME@PROFILE.
func (s *Scenario) sectionFor(name, profile string) *txtar.File {
	if f := s.section(name + "@" + profile); f != nil {
		return f
	}
	return s.section(name)
}

// save writes the file back after an update.
func (s *Scenario) save() error {
	if !s.changed {
		return nil
	}
	if err := os.WriteFile(s.file, txtar.Format(s.archive), 0o644); err != nil {
		return fmt.Errorf("update the scenario: %w", err)
	}
	return nil
}

// reserved reports whether a section is not a file of the workspace.
func reserved(name string) bool {
	return name == "model.script" || name == "config.toml" || strings.HasPrefix(name, "want/") ||
		strings.HasPrefix(name, "text/") || strings.HasPrefix(name, sitePrefix)
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
		requests: requests{vars: map[string]string{}, begun: map[string]*Pending{}},
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

func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// snapshot reads all files below a folder, by path.
func snapshot(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	return files, err
}

// compareDisk reports what has changed below a folder since a snapshot, but for what the editor wrote.
func compareDisk(old, now map[string][]byte, written func(string) bool) []string {
	var list []string
	for path, data := range now {
		before, there := old[path]
		switch {
		case written(path):
		case !there:
			list = append(list, "the server made "+path)
		case !bytes.Equal(before, data):
			list = append(list, "the server changed "+path)
		}
	}
	for path := range old {
		if _, there := now[path]; !there && !written(path) {
			list = append(list, "the server removed "+path)
		}
	}
	slices.Sort(list)
	return list
}
