//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLoadFromDisk(t *testing.T) {
	c, problems := Load(Sources{UserFile: write(t, "max_depth = 9\n", 0o644)})
	if c.MaxDepth != 9 || len(problems) != 0 {
		t.Errorf("max_depth = %d, problems %v", c.MaxDepth, problems)
	}
}

func TestFilesThatAreNotUsed(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		file     string
		severity Severity
		message  string
	}{
		"group":  {write(t, "max_depth = 9\n", 0o664), SeverityWarning, "others can write"},
		"others": {write(t, "max_depth = 9\n", 0o646), SeverityWarning, "others can write"},
		"folder": {t.TempDir(), SeverityError, "not a regular file"},
		"pipe":   {pipe, SeverityError, "not a regular file"},
		"huge":   {write(t, "#"+strings.Repeat("x", maxFile), 0o600), SeverityError, "more than"},
		"below a file": {
			filepath.Join(write(t, "", 0o600), "config.toml"), SeverityError, "not a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, problems := Load(Sources{UserFile: test.file})
			if c.MaxDepth != 3 {
				t.Error("the file was used")
			}
			if len(problems) != 1 || problems[0].Severity != test.severity ||
				!strings.Contains(problems[0].Message, test.message) ||
				problems[0].File != test.file || !problems[0].Whole || problems[0].Line != 1 || problems[0].Hint == "" {
				t.Errorf("problems = %v", problems)
			}
		})
	}
	if _, problems := Load(Sources{UserFile: filepath.Join(t.TempDir(), "none")}); len(problems) != 0 {
		t.Errorf("a missing file is no problem, got %v", problems)
	}
}

// owned is a file's information with an owner of choice.
type owned struct {
	fs.FileInfo
	uid uint32
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

func TestOwner(t *testing.T) {
	info, err := os.Stat(write(t, "", 0o644))
	if err != nil {
		t.Fatal(err)
	}
	me := uint32(os.Geteuid())
	for uid, want := range map[uint32]bool{0: false, me: false, me + 4711: true} {
		if got := othersCanWrite(owned{info, uid}); got != want {
			t.Errorf("owner %d: %v, want %v", uid, got, want)
		}
	}
	if _, err := ReadFile(write(t, "", 0o622)); !errors.Is(err, ErrUnsafe) {
		t.Errorf("error = %v", err)
	}
}

func TestFindDirs(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		home string
		want Dirs
	}{
		"home": {nil, "/home/u", Dirs{
			"/home/u/.config/agentls", "/home/u/.local/state/agentls",
			"/home/u/.config/agentls/config.toml",
		}},
		"XDG": {
			map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"},
			"",
			Dirs{"/c/agentls", "/s/agentls", "/c/agentls/config.toml"},
		},
		"relative": {
			map[string]string{"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "s"},
			"/h",
			Dirs{"/h/.config/agentls", "/h/.local/state/agentls", "/h/.config/agentls/config.toml"},
		},
		"own": {
			map[string]string{"AGENTLS_CONFIG": "/x/y.toml", "AGENTLS_STATE": "/z"},
			"/h",
			Dirs{"/h/.config/agentls", "/z", "/x/y.toml"},
		},
	} {
		got, err := FindDirs(func(k string) string { return test.env[k] }, test.home)
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if d, err := FindDirs(func(string) string { return "" }, ""); err == nil {
		t.Errorf("no home: %+v", d)
	}
}
