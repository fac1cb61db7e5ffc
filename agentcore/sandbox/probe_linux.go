//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// probe tries every step in a sandbox of its own.
func (in *inner) probe() []Check {
	var r Report
	for _, l := range in.spec.Layers {
		_, err := overlay(l)
		r.note(checkOverlay, err, "the state folder can hold the upper layers")
	}
	in.spec.Layers = nil
	if r.note(checkMounts, in.spec.mount(), "the disk is read-only, /proc, /dev and the home folder are private") {
		err := os.WriteFile(filepath.Join("/usr", ".agentls-probe"), nil, 0o600)
		if err == nil {
			r.note(checkWrite, errors.New("a file could be written into /usr"), "")
		}
	}
	if !in.spec.NetworkOpen {
		r.note(checkNetwork, raiseLoopback(), "only the loopback of the sandbox can be reached")
	}
	r.note(checkLimits, in.limit(), "memory is counted for all processes together, ten times a second")
	r.note(checkRights, dropCapabilities(), "no capabilities, no new privileges")
	if abi := landlockABI(); abi < minLandlock {
		r.note(checkLandlock, fmt.Errorf("the kernel has ABI %d, at least %d is needed; the mounts alone keep files", abi, minLandlock), "")
	} else {
		r.note(checkLandlock, restrictFiles(nil), fmt.Sprintf("ABI %d", abi))
	}
	r.note(checkCalls, filterCalls(), "a filter is in place")
	return r.Checks
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
)

// probe finds out which level this machine allows. stateDir is where the upper layers will be.
func probe(ctx context.Context, stateDir string) Report {
	var r Report
	if !dispatched.Load() {
		r.note(checkNamespaces, errors.New("this program does not call sandbox.Dispatch first"), "")
		r.Level = Copy
		return r
	}
	checks, err := tryNamespaces(ctx, stateDir)
	if err != nil {
		err = fmt.Errorf("%w%s", err, hints())
	}
	r.note(checkNamespaces, err, "user, mount, PID, network, IPC and UTS")
	r.Checks = append(r.Checks, checks...)
	fine := err == nil
	for _, c := range checks {
		switch c.Name {
		case checkOverlay:
			r.Overlay = c.OK
		case checkLandlock:
		default:
			fine = fine && c.OK
		}
	}
	if fine {
		r.Level = Full
		return r
	}
	r.Overlay = false
	r.Level = Copy
	return r
}

// tryNamespaces runs the checks inside. An error means that there is no inside.
func tryNamespaces(ctx context.Context, stateDir string) (checks []Check, err error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(stateDir, "probe-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if rerr := removeTree(dir); rerr != nil && err == nil {
			err = rerr
		}
	}()
	l := layer{Target: "/", Lower: []string{filepath.Join(dir, "lower")}, Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work")}
	for _, d := range []string{l.Lower[0], l.Upper, l.Work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	launcher := newLauncher()
	defer launcher.close()
	c, err := launcher.launch(spec{Probe: true, Mount: true, Layers: []layer{l}, Blank: []string{"/tmp"}, Limits: Limits{}.withDefaults()}, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	s, err := c.wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case s.Step != "":
		return nil, fmt.Errorf("%s: %s", s.Step, s.Error)
	}
	return s.Checks, nil
}

// hints name the settings of this machine that forbid namespaces to ordinary users.
func hints() string {
	var found []string
	for _, h := range []struct{ file, bad, say string }{
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"},
		{"/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces is 0"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)"},
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
