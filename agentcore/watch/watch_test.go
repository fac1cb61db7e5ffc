package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watchdog ends a test that waits for a change which is never told.
const watchdog = 4 * time.Minute

// seen is a Watcher under test with what it tells.
type seen struct {
	t       *testing.T
	root    string
	watcher *Watcher
	told    chan []string
}

// start watches targets below a new folder, relative to it, after the files are written.
func start(t *testing.T, files []string, targets ...Target) *seen {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &seen{t: t, root: root, told: make(chan []string, 1000)}
	for _, name := range files {
		s.write(name, "old")
	}
	s.watcher, err = Start(s.in(targets), Options{
		Changed: func(paths []string) { s.told <- paths },
		Failed:  func(err error) { t.Errorf("the watch failed: %v", err) },
		Quiet:   time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.watcher.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *seen) in(targets []Target) []Target {
	list := slices.Clone(targets)
	for i := range list {
		list[i].Path = s.path(list[i].Path)
		if list[i].Base != "" {
			list[i].Base = s.path(list[i].Base)
		}
	}
	return list
}

func (s *seen) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

func (s *seen) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *seen) write(name, text string) {
	s.t.Helper()
	s.do(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.do(os.WriteFile(s.path(name), []byte(text), 0o644))
}

// wait returns when a change of the path was told.
func (s *seen) wait(name string) {
	s.t.Helper()
	dead := time.After(watchdog)
	for {
		select {
		case paths := <-s.told:
			if paths == nil || slices.Contains(paths, s.path(name)) {
				return
			}
		case <-dead:
			s.t.Fatalf("nobody told that %s has changed", name)
		}
	}
}

func TestChanges(t *testing.T) {
	folder := Target{Path: "project/.agentls/agents", Base: "project", Depth: 1}
	file := Target{Path: "config/agentls/config.toml", Base: "config"}
	for _, test := range []struct {
		name   string
		files  []string
		target Target
		change func(*seen)
	}{
		{"a file in a folder", []string{"project/.agentls/agents/a.md"}, folder, func(s *seen) {
			s.write("project/.agentls/agents/a.md", "new")
			s.wait("project/.agentls/agents/a.md")
		}},
		{"a new file", []string{"project/.agentls/agents/a.md"}, folder, func(s *seen) {
			s.write("project/.agentls/agents/b.md", "new")
			s.wait("project/.agentls/agents/b.md")
		}},
		{"a removed file", []string{"project/.agentls/agents/a.md"}, folder, func(s *seen) {
			s.do(os.Remove(s.path("project/.agentls/agents/a.md")))
			s.wait("project/.agentls/agents/a.md")
		}},
		{
			"a file in a folder of the folder, which is new",
			[]string{"project/.agentls/agents/a.md"},
			folder,
			func(s *seen) {
				s.do(os.Mkdir(s.path("project/.agentls/agents/more"), 0o755))
				s.wait("project/.agentls/agents/more")
				s.write("project/.agentls/agents/more/b.md", "new")
				s.wait("project/.agentls/agents/more/b.md")
			},
		},
		{
			"a file that is replaced by another, again and again",
			[]string{"config/agentls/config.toml"},
			file,
			func(s *seen) {
				for i := range 3 {
					s.write("config/agentls/config.toml~", fmt.Sprint("new", i))
					s.do(os.Rename(s.path("config/agentls/config.toml~"), s.path("config/agentls/config.toml")))
					s.wait("config/agentls/config.toml")
				}
			},
		},
		{
			"a file that is moved away first, as for a backup",
			[]string{"config/agentls/config.toml"},
			file,
			func(s *seen) {
				s.do(os.Rename(s.path("config/agentls/config.toml"), s.path("config/agentls/config.toml~")))
				s.wait("config/agentls/config.toml")
				s.write("config/agentls/config.toml", "new")
				s.wait("config/agentls/config.toml")
			},
		},
		{"a file whose folders come later", []string{"config/other"}, file, func(s *seen) {
			s.do(os.Mkdir(s.path("config/agentls"), 0o755))
			s.wait("config/agentls")
			s.write("config/agentls/config.toml", "new")
			s.wait("config/agentls/config.toml")
		}},
		{"a folder whose base comes later", nil, folder, func(s *seen) {
			for _, name := range []string{"project", "project/.agentls", "project/.agentls/agents"} {
				s.do(os.Mkdir(s.path(name), 0o755))
				s.wait(name)
			}
			s.write("project/.agentls/agents/a.md", "new")
			s.wait("project/.agentls/agents/a.md")
		}},
		{"a folder that goes and comes again", []string{"project/.agentls/agents/a.md"}, folder, func(s *seen) {
			s.do(os.RemoveAll(s.path("project/.agentls")))
			s.wait("project/.agentls")
			s.write("project/.agentls/agents/a.md", "new")
			s.wait("project/.agentls")
			s.write("project/.agentls/agents/a.md", "newer")
			s.wait("project/.agentls/agents/a.md")
		}},
		{
			"a folder that is exchanged by a branch switch",
			[]string{"project/.agentls/agents/a.md", "project/other/agents/a.md"},
			folder,
			func(s *seen) {
				s.do(os.Rename(s.path("project/.agentls"), s.path("project/gone")))
				s.wait("project/.agentls")
				s.do(os.Rename(s.path("project/other"), s.path("project/.agentls")))
				s.wait("project/.agentls")
				s.write("project/.agentls/agents/a.md", "newer")
				s.wait("project/.agentls/agents/a.md")
			},
		},
		{"a file behind a link", []string{"dotfiles/config.toml", "config/agentls/other"}, file, func(s *seen) {
			s.do(os.Symlink(s.path("dotfiles/config.toml"), s.path("config/agentls/config.toml")))
			s.wait("config/agentls/config.toml")
			s.write("dotfiles/config.toml", "new")
			s.wait("dotfiles/config.toml")
		}},
		{
			"a file behind a link in a folder",
			[]string{"dotfiles/a.md", "project/.agentls/agents/b.md"},
			folder,
			func(s *seen) {
				s.do(os.Symlink(s.path("dotfiles/a.md"), s.path("project/.agentls/agents/a.md")))
				s.wait("project/.agentls/agents/a.md")
				s.write("dotfiles/a.md", "new")
				s.wait("dotfiles/a.md")
			},
		},
		{"a folder behind a link", []string{"dotfiles/agents/a.md", "project/.agentls/other"}, folder, func(s *seen) {
			s.do(os.Symlink(s.path("dotfiles/agents"), s.path("project/.agentls/agents")))
			s.wait("project/.agentls/agents")
			s.write("project/.agentls/agents/a.md", "new")
			s.wait("project/.agentls/agents/a.md")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, test.files, test.target)
			test.change(s)
		})
	}
}

// TestStrangers shows that what is beside the targets is not told.
func TestStrangers(t *testing.T) {
	s := start(t, []string{"project/.agentls/agents/a.md", "project/main.go"},
		Target{Path: "project/.agentls/agents", Base: "project"})
	s.write("project/main.go", "new")
	s.write("project/.agentls/notes", "new")
	s.write("project/.agentls/agents/a.md", "new") // comes after the others, by the order of the kernel
	for {
		select {
		case paths := <-s.told:
			for _, p := range paths {
				if strings.HasSuffix(p, "main.go") || strings.HasSuffix(p, "notes") {
					t.Errorf("%s is no target and was told", p)
				}
			}
			if slices.Contains(paths, s.path("project/.agentls/agents/a.md")) {
				return
			}
		case <-time.After(watchdog):
			t.Fatal("the change of the target was not told")
		}
	}
}

func TestSet(t *testing.T) {
	s := start(t, []string{"one/a", "two/b"}, Target{Path: "one"})
	s.watcher.Set(s.in([]Target{{Path: "two"}}))
	s.wait("two")
	s.write("two/b", "new")
	s.wait("two/b")
}

func TestLoop(t *testing.T) {
	s := start(t, []string{"agents/a"}, Target{Path: "agents", Base: ".", Depth: 3})
	s.do(os.Symlink(s.path("agents"), s.path("agents/again")))
	s.wait("agents/again")
	s.write("agents/a", "new")
	s.wait("agents/a")
}

func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBurst(50 * time.Millisecond)
		begin := time.Now()
		var told []time.Duration
		next := time.NewTicker(10 * time.Millisecond) // never quiet for long enough
		defer next.Stop()
		for i := 0; len(told) < 2; {
			select {
			case <-next.C:
				if i++; i <= 60 {
					b.add(fmt.Sprint("file", i%7))
				}
			case <-b.over():
				told = append(told, time.Since(begin))
				if paths := b.take(); len(paths) != 7 {
					t.Errorf("the burst holds %q", paths)
				}
			}
		}
		// The first is told 500 ms after its beginning at 10 ms, the second 50 ms after the last change, that at 600
		// ms.
		if told[0] != 510*time.Millisecond || told[1] != 650*time.Millisecond {
			t.Errorf("the bursts were told after %v", told)
		}
		b.add("file")
		b.add("")
		<-b.over()
		if paths := b.take(); paths != nil {
			t.Errorf("a burst in which anything may have changed names %q", paths)
		}
	})
}

func TestClose(t *testing.T) {
	s := start(t, []string{"one/a"}, Target{Path: "one"})
	if err := s.watcher.Close(); err != nil {
		t.Fatal(err)
	}
	s.watcher.Set(nil) // does not hang
	if err := s.watcher.Close(); err != nil {
		t.Errorf("closing it twice: %v", err)
	}
}
