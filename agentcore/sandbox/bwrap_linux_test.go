//go:build amd64 || arm64

package sandbox

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentls/agentls/agentcore/needs"
)

// setuidCopy copies a program and gives it root's rights, in a folder that everybody may enter.
func setuidCopy(t *testing.T, program, to string) {
	t.Helper()
	from, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, from)
	if err == nil {
		err = f.Chmod(0o755 | os.ModeSetuid)
	}
	if cerr := f.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
}

// TestBubblewrapInstead probes where an ordinary user may make no namespaces, but a setuid bwrap may.
func TestBubblewrapInstead(t *testing.T) {
	if testing.Short() {
		t.Skip("not every machine has bwrap")
	}
	needs.Root(t)
	bwrap, err := findBwrap()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		setuid bool
		want   string
	}{
		"setuid":   {true, "bubblewrap a=new"},
		"ordinary": {false, "copy a=new"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := nobodyDir(t)
			program := filepath.Join(dir, "bwrap")
			setuidCopy(t, bwrap, program)
			if !test.setuid {
				if err := os.Chmod(program, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = []string{playVariable + "=forbidden", "PATH=" + dir + ":" + os.Getenv("PATH"), "DIR=" + dir}
			uids, gids, _ := idMaps()
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:                 syscall.CLONE_NEWUSER,
				UidMappings:                uids,
				GidMappings:                gids,
				GidMappingsEnableSetgroups: true,
			}
			out, err := cmd.CombinedOutput()
			if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil ||
				lines[len(lines)-1] != test.want {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func init() {
	// forbidden forbids namespaces in a user namespace of its own, and goes on as an ordinary user.
	plays["forbidden"] = func() int {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			fmt.Println(err)
			return 1
		}
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), playVariable+"=instead")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
	plays["instead"] = func() int {
		dir := os.Getenv("DIR")
		if err := os.Mkdir(filepath.Join(dir, "work"), 0o755); err != nil {
			fmt.Println(err)
			return 1
		}
		b, err := Open(context.Background(), Options{
			Roots:    []string{filepath.Join(dir, "work")},
			StateDir: filepath.Join(dir, "state"),
			Env:      []string{"PATH=" + os.Getenv("PATH")},
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(b.report)
		r, err := b.Run(context.Background(), Command{
			Script: `printf new > a; id -u; grep -E 'NoNewPrivs|CapBnd|CapEff' /proc/self/status`,
		})
		fmt.Printf("%v %d %s\n%s %s\n", err, r.Exit, r.Output,
			r.Level, changesOf(filepath.Join(dir, "work"), r.Changes))
		if err := b.Close(); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
}

// TestBubblewrapRun runs what TestRun does.
func TestBubblewrapRun(t *testing.T) {
	if testing.Short() {
		t.Skip("not every machine has bwrap")
	}
	b, ws := open(t, map[string]string{"a": "old", "b": "disk", ".env": "K=1"}, atLevel(Bubblewrap), func(o *Options) {
		o.Secret = func(path string) bool { return filepath.Base(path) == ".env" }
	})
	r := sh(t, b,
		`pwd; cat a b; echo " $AGENTLS_RUN"; cat .env; printf new > a; printf c > d/c; rm b; printf h > ~/h; exit 3`,
		func(c *Command) {
			c.Overlay = map[string]Text{
				filepath.Join(ws, "b"): {Content: []byte("shown")}, filepath.Join(ws, "d/x"): {Content: []byte("x")},
			}
		})
	if want := ws + "\noldshown run-1\n"; !strings.HasPrefix(string(r.Output), want) ||
		r.Exit != 3 || strings.Contains(string(r.Output), "K=1") {
		t.Errorf("exit %d, output %q, want %q first", r.Exit, r.Output, want)
	}
	if got := changesOf(ws, r.Changes); got != "a=new -b d/c=c" || r.Level != Bubblewrap {
		t.Errorf("%s: changes: %s", r.Level, got)
	}
	if text, err := os.ReadFile(filepath.Join(ws, "a")); err != nil || string(text) != "old" {
		t.Errorf("on disk: %q %v", text, err)
	}
	// In the background it sees what the first one left, and no process outlives the box.
	p, err := b.Start(t.Context(), Command{Script: `cat ~/h a; sleep 1000`})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { out, _ := p.Output(0); return string(out) == "hold" })
	p.Kill()
	if r, err := p.Wait(t.Context()); err != nil || r.Signal != "SIGKILL" {
		t.Errorf("%+v %v", r, err)
	}
	if r := sh(t, b, `nonsense`); r.Exit != 127 {
		t.Errorf("exit %d: %s", r.Exit, r.Output)
	}
	if _, err := b.Run(t.Context(), Command{Argv: []string{"nonsense"}}); err == nil ||
		!strings.Contains(err.Error(), "nonsense") {
		t.Errorf("the error is %v", err)
	}
}
