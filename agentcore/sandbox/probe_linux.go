//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// probeWrapped tries the steps that bwrap leaves to us, and checks the walls that it has built.
func (in *inner) probeWrapped() []Check {
	var r Report
	err := os.WriteFile(filepath.Join("/usr", ".agentls-probe"), nil, 0o600)
	if err == nil {
		err = errors.New("a file could be written into /usr")
	} else if f, oerr := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0); oerr == nil {
		err = errors.Join(errors.New("settings of the kernel can be written"), f.Close())
	} else {
		err = nil
	}
	r.note(checkWrite, err, "the disk is read-only")
	own, err := os.Readlink("/proc/self/ns/net")
	if err == nil && own == in.spec.Net {
		err = errors.New("it is that of the machine")
	}
	r.note(checkNetwork, err, "only the loopback of the sandbox can be reached")
	if pid := os.Getpid(); pid != 1 {
		r.note(checkProcesses, fmt.Errorf("the first process inside has the id %d", pid), "")
	}
	in.probeRights(&r)
	return r.Checks
}

// probeRights tries the steps that both kinds of walls need.
func (in *inner) probeRights(r *Report) {
	r.note(checkLimits, in.limit(), "memory is counted for all processes together, ten times a second")
	r.note(checkRights, dropCapabilities(), "no capabilities, no new privileges")
	if abi := landlockABI(); abi < minLandlock {
		r.note(checkLandlock, fmt.Errorf("the kernel has ABI %d, at least %d is needed; the mounts alone keep files",
			abi, minLandlock), "")
	} else {
		r.note(checkLandlock, restrictFiles(nil), fmt.Sprintf("ABI %d", abi))
	}
	r.note(checkCalls, filterCalls(), "a filter is in place")
}

// The names of the checks.
const (
	checkNamespaces = "namespaces"
	checkOverlay    = "overlayfs"
	checkMounts     = "mounts"
	checkWrite      = "read-only disk"
	checkNetwork    = "network"
	checkLimits     = "limits"
	checkRights     = "capabilities"
	checkLandlock   = "landlock"
	checkCalls      = "seccomp"
	checkProcesses  = "processes"
	checkBwrap      = "bubblewrap"
	checkFolder     = "its folder"
)

// probe finds out which level this machine allows. stateDir is where the upper layers will be.
func probe(ctx context.Context, stateDir string, tell func(Level)) Report {
	var tried attempts
	r := probeLevel(ctx, stateDir, &tried)
	tell(r.Level)
	if dispatched.Load() {
		checks, err := tryCgroup(ctx, stateDir, &tried)
		if r.Cgroup = err == nil; err != nil {
			r.note(checkCgroup, err, "")
		}
		r.Checks = append(r.Checks, checks...)
	}
	if err := tried.clear(); err != nil {
		r.note(checkFolder, err, "")
	}
	return r
}

// attempts clear away what the checks leave.
type attempts []func() error

// clear runs all of them.
func (a attempts) clear() (err error) {
	for _, clear := range a {
		err = errors.Join(err, clear())
	}
	return err
}

func probeLevel(ctx context.Context, stateDir string, tried *attempts) Report {
	var r Report
	if !dispatched.Load() {
		r.note(checkNamespaces, errors.New("this program does not call sandbox.Dispatch first"), "")
		r.Level = Copy
		return r
	}
	checks, err := tryNamespaces(ctx, stateDir, tried)
	if err != nil {
		err = fmt.Errorf("%w%s", err, hints())
	}
	r.note(checkNamespaces, err, "user, mount, PID, network, IPC and UTS")
	r.Checks = append(r.Checks, checks...)
	if err == nil && judge(checks, &r.Overlay) {
		r.Level = Full
		return r
	}
	r.Overlay = false
	checks, err = tryBwrap(ctx, stateDir, tried)
	r.note(checkBwrap, err, "a command ran inside")
	r.Checks = append(r.Checks, checks...)
	if r.Level = Copy; err == nil && judge(checks, &r.Overlay) {
		r.Level = Bubblewrap
	}
	return r
}

// judge reports whether the checks are good enough for walls. The overlay and Landlock are not needed.
func judge(checks []Check, overlay *bool) bool {
	fine := true
	for _, c := range checks {
		switch c.Name {
		case checkOverlay:
			*overlay = c.OK
		case checkLandlock, checkCgroup:
		default:
			fine = fine && c.OK
		}
	}
	return fine
}

// tryNamespaces runs the checks in namespaces of our own making. The error says why there is no sandbox to run them in.
func tryNamespaces(ctx context.Context, stateDir string, tried *attempts) ([]Check, error) {
	return try(ctx, stateDir, tried, func(dir string) (spec, []string, *counted, error) {
		l := layer{
			Target: "/", Lower: []string{filepath.Join(dir, "lower")}, Upper: filepath.Join(dir, "upper"),
			Work: filepath.Join(dir, "work"),
		}
		for _, d := range []string{l.Lower[0], l.Upper, l.Work} {
			if err := os.Mkdir(d, 0o700); err != nil {
				return spec{}, nil, nil, err
			}
		}
		m, err := newMask(dir)
		return spec{Mount: true, Layers: []layer{l}, Blank: []string{"/tmp"}, Mask: m}, nil, nil, err
	})
}

// tryBwrap runs the checks inside of bwrap, with one option of each kind that its command line can have.
func tryBwrap(ctx context.Context, stateDir string, tried *attempts) ([]Check, error) {
	bwrap, err := findBwrap()
	if err != nil {
		return nil, err
	}
	return try(ctx, stateDir, tried, func(dir string) (spec, []string, *counted, error) {
		tmp := filepath.Join(dir, "tmp")
		s := spec{
			Blank: []string{"/tmp"}, Binds: []bind{{Source: tmp, Target: "/tmp/probe", Write: true}},
			ReadOnly: []string{"/tmp/probe"},
			Masks:    []string{"/etc/passwd"},
		}
		if err := os.Mkdir(tmp, 0o700); err != nil {
			return s, nil, nil, err
		}
		var err error
		s.Mask, err = newMask(dir)
		return s, s.wrap(bwrap), nil, err
	})
}

// tryCgroup starts a process in a cgroup.
func tryCgroup(ctx context.Context, stateDir string, tried *attempts) (checks []Check, err error) {
	cgroup := ""
	defer func() {
		if cgroup != "" {
			err = errors.Join(err, removeCgroup(cgroup))
		}
	}()
	return try(ctx, stateDir, tried, func(dir string) (spec, []string, *counted, error) {
		var err error
		if cgroup, err = openCgroup(dir); err != nil {
			return spec{}, nil, nil, err
		}
		in, err := newCounted(cgroup, 1, Limits{}.withDefaults())
		return spec{Bare: true}, nil, in, err
	})
}

// try runs the checks in a sandbox that prepare describes. prepare gets a folder for what the sandbox needs, which
// tried will delete.
func try(ctx context.Context, stateDir string, tried *attempts,
	prepare func(dir string) (spec, []string, *counted, error),
) (checks []Check, err error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, err
	}
	// It is an ordinary box, so that the next one deletes it if this process is killed.
	dir, unlock, err := makeBoxDir(stateDir)
	if err != nil {
		return nil, err
	}
	*tried = append(*tried, func() error { return errors.Join(removeTree(dir), unlock()) })
	s, wrap, in, err := prepare(dir)
	if err != nil {
		return nil, err
	}
	s.Probe, s.Limits = true, Limits{}.withDefaults()
	launcher := newLauncher()
	defer launcher.close()
	said := &spool{keep: 1 << 10, dir: dir}
	c, err := launcher.launch(s, wrap, in, nil, said)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	st, err := c.wait()
	if _, serr := said.close(); serr != nil && err == nil {
		err = serr
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && said.size > 0:
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.bytes()))
	case err != nil:
		return nil, err
	case st.Step != "":
		return nil, fmt.Errorf("%s: %s", st.Step, st.Error)
	}
	return st.Checks, nil
}

// hints name the settings of this machine that forbid namespaces to ordinary users.
func hints() string {
	var found []string
	for _, h := range []struct{ file, bad, say string }{
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"},
		{"/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces is 0"},
		{
			"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
			"AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
		},
	} {
		text, err := os.ReadFile(h.file)
		if err == nil && strings.TrimSpace(string(text)) == h.bad {
			found = append(found, h.say)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "; " + strings.Join(found, "; ") + ": an administrator can change that"
}
