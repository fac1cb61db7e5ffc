package lsptest

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// update replaces what the scenarios expect by what they got.
var update = flag.Bool("update", false, "rewrite the want/ sections of the scenarios")

// watchdog ends a scenario that hangs. It is no expectation: a working scenario never takes nearly as long.
var watchdog = flag.Duration("watchdog", 3*time.Minute, "end a scenario that hangs after so long")

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
