//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnCgroup(t *testing.T) {
	const rest = "24 30 0:22 / /proc rw,nosuid shared:12 - proc proc rw\n"
	for name, test := range map[string]struct{ mountinfo, cgroup, own, top string }{
		"a user's terminal": {
			rest + "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			"0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n",
			"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope", "/sys/fs/cgroup",
		},
		"a container": {
			rest + "35 24 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/\n", "/sys/fs/cgroup", "/sys/fs/cgroup",
		},
		"a part of it": {
			"35 24 0:30 /box /sys/fs/cg\\040roup rw - cgroup2 cgroup rw\n", "0::/box/in\n", "/sys/fs/cg roup/in",
			"/sys/fs/cg roup",
		},
		"beside version 1": {
			"35 24 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n", "4:memory:/x\n0::/y\n",
			"/sys/fs/cgroup/unified/y", "/sys/fs/cgroup/unified",
		},
		"version 1": {
			"35 24 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/x\n", "", "",
		},
		"another's part": {"35 24 0:30 /box /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/other\n", "", ""},
		"none":           {rest, "", "", ""},
	} {
		own, top, err := ownCgroup(test.mountinfo, test.cgroup)
		if own != test.own || top != test.top || (err != nil) != (own == "") ||
			err != nil && !errors.Is(err, errNoCgroup) {
			t.Errorf("%s: %q below %q, %v", name, own, top, err)
		}
	}
}

// TestCgroupLimits runs into the limits where the kernel counts, and sees that elsewhere the report says so.
func TestCgroupLimits(t *testing.T) {
	r := Probe(t.Context(), t.TempDir())
	if !r.Cgroup {
		if text := r.String(); !strings.Contains(text, "no  cgroup: ") ||
			strings.Contains(strings.SplitN(text, "\n", 2)[0], "cgroup") {
			t.Errorf("the report does not say why there is no cgroup:\n%s", text)
		}
		return // TestLimits has what bounds commands here
	}
	levels := []Level{r.Level, Copy}
	if _, err := findBwrap(); err == nil {
		levels = append(levels, Bubblewrap)
	}
	for _, level := range levels {
		t.Run(string(level), func(t *testing.T) {
			report := r
			report.Level, report.Overlay = level, r.Overlay && level == Full
			b, _ := open(t, nil, func(o *Options) {
				o.Report, o.Limits = &report, Limits{Memory: 64 << 20, Processes: 64}
			})
			cgroup := b.machine.cgroup
			if c := sh(t, b, `x=$(head -c 300000000 /dev/zero | tr '\0' x); sleep 1000`); c.Exit == 0 ||
				!strings.Contains(fmt.Sprint(c.Notes), "limit of memory: more than 64 MiB") {
				t.Errorf("memory: exit %d, notes %q", c.Exit, c.Notes)
			}
			c := sh(t, b, `for i in $(seq 100); do sleep 1000 & done; exit 3`)
			if !strings.Contains(fmt.Sprint(c.Notes), "more than 64 processes") {
				t.Errorf("processes: exit %d, notes %q, %s", c.Exit, c.Notes, c.Output)
			}
			if c := sh(t, b, `cat /proc/self/cgroup`); c.Exit != 0 || len(c.Notes) > 0 {
				t.Errorf("exit %d, notes %q", c.Exit, c.Notes)
			}
			dismiss(b) // the next command's has been made already
			if entries, err := filepath.Glob(filepath.Join(cgroup, "[0-9]*")); err != nil || len(entries) > 0 {
				t.Errorf("cgroups of commands are left: %v %v", entries, err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(cgroup); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the cgroup is left: %v", err)
			}
		})
	}
}

// cgroupOf makes a cgroup of a box that counts nothing, which root may wherever there are cgroups of version 2.
func cgroupOf(t *testing.T, name string) string {
	t.Helper()
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	cgroup, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	own, _, err := ownCgroup(string(mountinfo), string(cgroup))
	if err != nil {
		return ""
	}
	dir, err := makeCgroupIn(own, name, nil)
	if err != nil {
		return "" // it takes root, and a cgroup that is not read-only
	}
	t.Cleanup(func() {
		if err := removeCgroup(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestCgroupAfterKill kills a process that has a box with a cgroup; the next one clears up.
func TestCgroupAfterKill(t *testing.T) {
	state := t.TempDir()
	box := filepath.Join(state, boxPrefix+filepath.Base(t.TempDir())+"-"+pid())
	if err := os.Mkdir(box, 0o700); err != nil {
		t.Fatal(err)
	}
	cgroup := cgroupOf(t, filepath.Base(box))
	if cgroup == "" {
		// Nothing but a note that leads elsewhere can be tried here.
		cgroup = filepath.Join(t.TempDir(), "elsewhere")
		write(t, filepath.Join(cgroup, "cgroup.procs"), "")
		write(t, filepath.Join(box, cgroupNote), cgroup)
		if err := sweepCgroup(box); err == nil {
			t.Error("a cgroup of others was removed")
		}
		return
	}
	command := filepath.Join(cgroup, "1")
	if err := os.Mkdir(command, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(box, cgroupNote), cgroup)
	// A process that nobody waits for and that has left its group and its parent.
	script := fmt.Sprintf("echo $$ > %s/cgroup.procs; exec sleep 1000", command)
	cmd := exec.Command("sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		text, err := os.ReadFile(filepath.Join(command, "cgroup.procs"))
		return err == nil && len(text) > 0
	})
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := sweep(state); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("the process ended by itself")
	}
	for _, path := range []string{cgroup, box} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// TestCgroupKill starts commands in a cgroup that counts nothing, on each level, and ends them.
func TestCgroupKill(t *testing.T) {
	cgroup := cgroupOf(t, "kill-"+filepath.Base(t.TempDir())+"-"+pid())
	if cgroup == "" {
		return // TestCgroupLimits does it where the cgroup is delegated
	}
	levels := []Level{Full, Copy}
	if !testing.Short() {
		levels = append(levels, Bubblewrap)
	}
	for i, level := range levels {
		t.Run(string(level), func(t *testing.T) {
			b, _ := open(t, nil, atLevel(level))
			dir := filepath.Join(cgroup, fmt.Sprint(i))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			in := &counted{dir: dir, limits: b.options.Limits}
			c, err := b.launchIn(in, level, `echo begun; (setsid env -i sleep 1000 &) ; sleep 1000`)
			if err != nil {
				t.Fatal(err)
			}
			<-c.began()
			ctx, cancel := context.WithTimeout(t.Context(), watchdog)
			defer cancel()
			stop := context.AfterFunc(ctx, func() { t.Error("it did not end") })
			defer stop()
			c.kill()
			if s, err := c.wait(); s.Done {
				t.Errorf("it ended by itself: %+v %v", s, err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the cgroup is left: %v", err)
			}
		})
	}
}

// launchIn starts a script on a level in a cgroup.
func (b *Box) launchIn(in *counted, level Level, script string) (*confined, error) {
	command := Command{Script: script}
	if level == Copy {
		argv, env, dir, err := b.onCopies(command, b.roots)
		if err != nil {
			return nil, err
		}
		return b.machine.launcher.launch(spec{
			Bare: true, Argv: argv, Env: env, Dir: dir, Limits: b.options.Limits,
		}, nil, in, nil, b.newSpool())
	}
	s, err := b.spec(b.ctx, command, b.roots)
	if err != nil {
		return nil, err
	}
	var wrap []string
	if level == Bubblewrap {
		bwrap, err := findBwrap()
		if err != nil {
			return nil, err
		}
		s.Mount, wrap = false, s.wrap(bwrap)
	}
	return b.machine.launcher.launch(s, wrap, in, nil, b.newSpool())
}
