//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel counts the memory and the processes of a command in a cgroup of its own where this process may make one:
// see the kernel's cgroup-v2.rst, also for the names of the files here. A box has a cgroup, and in it one for each
// command.

// controllers are what a cgroup must be able to count.
var controllers = []string{"memory", "pids"}

const (
	// cgroupPrefix begins the names of the cgroups of boxes.
	cgroupPrefix = "agentls-"
	// cgroupNote is the file in the folder of a box that holds the path of the box's cgroup, so that the next process
	// can remove the cgroup after a kill.
	cgroupNote = "cgroup"
)

// errNoCgroup is the error of a machine where this process can make no cgroup that counts.
var errNoCgroup = errors.New("no cgroup v2 with the controllers memory and pids can be made here")

// ownCgroup returns the folder of this process's cgroup, and that of the uppermost cgroup that it can see. The
// arguments are the texts of /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/self/cgroup (cgroups(7)).
func ownCgroup(mountinfo, cgroup string) (own, top string, err error) {
	path := ""
	for line := range strings.Lines(cgroup) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			path = rest
		}
	}
	for line := range strings.Lines(mountinfo) {
		mount, kind, ok := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !ok || len(fields) < 5 || !strings.HasPrefix(kind, "cgroup2 ") {
			continue
		}
		rel, err := filepath.Rel(unescape(fields[3]), path)
		if err != nil || !filepath.IsLocal(rel) || path == "" {
			continue
		}
		top = unescape(fields[4])
		return filepath.Join(top, rel), top, nil
	}
	return "", "", errNoCgroup
}

// unescape undoes how the kernel writes white space in mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// makeCgroup makes a cgroup for a box. Its parent is the nearest cgroup above this process that counts what those below
// it use. A cgroup that has processes of its own cannot do that, so that it is hardly ever this process's own.
func makeCgroup(name string) (string, error) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	cgroup, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	own, top, err := ownCgroup(string(mountinfo), string(cgroup))
	if err != nil {
		return "", err
	}
	problem := errNoCgroup
	for dir := own; below(dir, top); dir = filepath.Dir(dir) {
		if counts(dir) {
			made, err := makeCgroupIn(dir, name, controllers)
			if err == nil {
				return made, nil
			}
			problem = fmt.Errorf("%w: %w", errNoCgroup, err)
		}
	}
	return "", problem
}

// counts reports whether a cgroup counts what each cgroup below it uses.
func counts(dir string) bool {
	enabled, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	words := strings.Fields(string(enabled))
	return err == nil && !slices.ContainsFunc(controllers, func(c string) bool { return !slices.Contains(words, c) })
}

// makeCgroupIn makes a cgroup for a box in which controllers count what each command uses.
func makeCgroupIn(parent, name string, controllers []string) (string, error) {
	dir := filepath.Join(parent, cgroupPrefix+name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for _, c := range controllers {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0); err != nil {
			return "", errors.Join(err, os.Remove(dir))
		}
	}
	return dir, nil
}

// counted is the cgroup of one command.
type counted struct {
	dir    string
	limits Limits
}

// newCounted makes the cgroup of a command in that of its box.
func newCounted(box string, number int, limits Limits) (*counted, error) {
	c := &counted{filepath.Join(box, strconv.Itoa(number)), limits}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	for _, set := range []struct {
		file, value string
		needed      bool
	}{
		{"memory.max", strconv.FormatInt(limits.Memory, 10), true},
		{"memory.swap.max", "0", false}, // a kernel may have no swap
		// without it, the end of one program would look like a fault of the command
		{"memory.oom.group", "1", false},
		{"pids.max", strconv.Itoa(limits.Processes), true},
	} {
		// Opened without O_CREATE: the files of a cgroup exist already.
		f, err := os.OpenFile(filepath.Join(c.dir, set.file), os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(set.value)
			err = errors.Join(err, f.Close())
		}
		if err != nil && set.needed {
			return nil, errors.Join(fmt.Errorf("limit a cgroup: %w", err), os.Remove(c.dir))
		}
	}
	return c, nil
}

// kill ends every process of the command at once and does not wait. Before Linux 5.14 it does nothing.
func (c *counted) kill() { _ = killCgroup(c.dir) }

// remove removes the cgroup of a command that did not start, if there is one.
func (c *counted) remove() error {
	if c == nil {
		return nil
	}
	return removeCgroup(c.dir)
}

func killCgroup(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "cgroup.kill"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("1")
	return errors.Join(err, f.Close())
}

// reached says which limit has ended the command, and which one has only held it back.
func (c *counted) reached() (ended, held string) {
	if c.event("memory.events", "oom_kill") > 0 {
		ended = fmt.Sprintf("memory: more than %d MiB", c.limits.Memory>>20)
	}
	if c.event("pids.events", "max") > 0 {
		held = fmt.Sprintf("the command could not have more than %d processes and threads at once", c.limits.Processes)
	}
	return ended, held
}

// event reads a number from a file with lines "key number"; 0 where the key is missing.
func (c *counted) event(file, key string) int {
	text, err := os.ReadFile(filepath.Join(c.dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if name, number, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == key {
			n, err := strconv.Atoi(number)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

// removeCgroup ends the processes in a cgroup and in those below it, and removes all of them. It waits a little for
// processes that are ending.
func removeCgroup(dir string) error {
	// Before Linux 5.14 there is no such file; the processes of a box have been ended in another way then.
	if err := killCgroup(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end a cgroup: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove a cgroup: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeCgroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for end := time.Now().Add(waitDelay); ; time.Sleep(time.Millisecond) {
		switch err := unix.Rmdir(dir); {
		case err == nil, err == unix.ENOENT:
			return nil
		case err != unix.EBUSY && err != unix.EINTR || time.Now().After(end):
			return fmt.Errorf("remove the cgroup %s: %w", dir, err)
		}
	}
}

// openCgroup makes the cgroup of the box with this folder. It writes the cgroup's path down before any process can be
// in it.
func openCgroup(boxDir string) (string, error) {
	dir, err := makeCgroup(filepath.Base(boxDir))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(boxDir, cgroupNote), []byte(dir), 0o600); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// sweepCgroup removes the cgroup of a box whose process is gone, with what is left in it.
func sweepCgroup(boxDir string) error {
	text, err := os.ReadFile(filepath.Join(boxDir, cgroupNote))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := string(text)
	if filepath.Base(dir) != cgroupPrefix+filepath.Base(boxDir) || !filepath.IsAbs(dir) {
		return fmt.Errorf("%s names %q, which is no cgroup of it", filepath.Join(boxDir, cgroupNote), dir)
	}
	return removeCgroup(dir)
}
