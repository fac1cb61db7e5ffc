//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mounted is a mount that is not attached yet.
type mounted struct {
	target string
	fd     int
	dir    bool
}

// mount builds the sandbox's view of the disk. All mounts are made while the old view is still whole and writable, and
// are attached after that one is read-only, so that no path is looked up in a place that is hidden by then.
func (s *spec) mount() error {
	unix.Umask(0)
	defer unix.Umask(0o022)
	ready, err := s.make()
	if err != nil {
		return err
	}
	devices, err := cloneDevices()
	if err != nil {
		return failed("devices", err)
	}
	covers, err := newCovers(s.Mask)
	if err != nil {
		return failed("mask", err)
	}

	// One call makes the whole disk read-only, and separates it from the mounts outside.
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{
		Attr_set:    unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV,
		Propagation: unix.MS_PRIVATE,
	}); err != nil {
		return failed("read-only", err)
	}

	// Outer folders come first, since they cover what lies in them.
	slices.SortStableFunc(ready, func(a, b mounted) int { return len(a.target) - len(b.target) })
	for _, m := range ready {
		if err := attach(m); err != nil {
			return failed("attach", err)
		}
	}
	for name, target := range s.Links {
		if err := link(name, target); err != nil {
			return failed("link", err)
		}
	}
	if err := mountDevices(devices); err != nil {
		return failed("devices", err)
	}
	if err := boundPIDs(s.Limits.Processes); err != nil {
		return failed("limits", err)
	}
	for _, path := range slices.Concat(s.ReadOnly, frozenKernel) {
		if err := freeze(path); err != nil {
			return failed("protect", err)
		}
	}
	for _, path := range slices.Concat(s.Masks, maskedKernel) {
		if err := covers.cover(path); err != nil {
			return failed("mask", err)
		}
	}
	for _, blank := range s.Blank {
		if err := setReadOnly(blank); err != nil {
			return failed("blank", err)
		}
	}
	return nil
}

// make makes the mounts, which mount attaches later.
func (s *spec) make() (ready []mounted, err error) {
	add := func(step, target string, dir bool, fd int, err error) error {
		if err != nil {
			return failed(step, fmt.Errorf("%s: %w", target, err))
		}
		ready = append(ready, mounted{target, fd, dir})
		return nil
	}
	fd, err := newMount("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err := add("proc", "/proc", true, fd, err); err != nil {
		return nil, err
	}
	for _, blank := range s.Blank {
		fd, err := newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "mode=755", "size=16m")
		if err := add("blank", blank, true, fd, err); err != nil {
			return nil, err
		}
	}
	for _, l := range s.Layers {
		fd, err := overlay(l)
		if err := add(stepOverlay, l.Target, true, fd, err); err != nil {
			return nil, err
		}
	}
	for _, b := range s.Binds {
		info, err := os.Stat(b.Source)
		if err != nil {
			return nil, failed("bind", err)
		}
		fd, err := b.clone()
		if err := add("bind", b.Target, info.IsDir(), fd, err); err != nil {
			return nil, err
		}
	}
	return ready, nil
}

// frozenKernel are the places where root could change the kernel without any capability.
var frozenKernel = []string{
	"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi",
	"/proc/asound",
}

// maskedKernel are the files that tell of the kernel or of other processes.
var maskedKernel = []string{
	"/proc/kcore", "/proc/keys", "/proc/kmsg", "/proc/kallsyms", "/proc/timer_list", "/proc/sched_debug",
	"/proc/latency_stats",
	"/proc/config.gz", "/sys/firmware", "/sys/fs/bpf", "/sys/kernel/debug", "/sys/kernel/tracing",
	"/sys/kernel/security",
}

// newMount makes a file system of this kind, with options of the form key=value. See fsopen(2).
func newMount(kind string, attributes int, options ...string) (int, error) {
	context, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open the file system %s: %w", kind, err)
	}
	defer unix.Close(context)
	for _, option := range options {
		key, value, ok := strings.Cut(option, "=")
		if ok {
			err = unix.FsconfigSetString(context, key, value)
		} else {
			err = unix.FsconfigSetFlag(context, key)
		}
		if err != nil {
			return -1, fmt.Errorf("set %s of the file system %s: %w%s", option, kind, err, complaint(context))
		}
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, fmt.Errorf("make the file system %s: %w%s", kind, err, complaint(context))
	}
	fd, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, attributes)
	if err != nil {
		return -1, fmt.Errorf("mount the file system %s: %w%s", kind, err, complaint(context))
	}
	return fd, nil
}

// complaint is the kernel's text about the last failure, which says more than the number.
func complaint(context int) string {
	var b [512]byte
	n, err := unix.Read(context, b[:])
	if err != nil || n < 1 {
		return ""
	}
	return " (" + strings.TrimSpace(string(b[:n])) + ")"
}

// overlay mounts a layer. It names the folders by descriptors, since their names may hold characters that overlayfs
// takes for separators. With the option volatile, the end of a command does not have to sync the whole disk.
func overlay(l layer) (int, error) {
	var fds []int
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	byDescriptor := func(path string) (string, error) {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", fmt.Errorf("open %s: %w", path, err)
		}
		fds = append(fds, fd)
		return fmt.Sprintf("/proc/self/fd/%d", fd), nil
	}
	var lowers []string
	for _, path := range l.Lower {
		name, err := byDescriptor(path)
		if err != nil {
			return -1, err
		}
		lowers = append(lowers, name)
	}
	upper, err := byDescriptor(l.Upper)
	if err != nil {
		return -1, err
	}
	work, err := byDescriptor(l.Work)
	if err != nil {
		return -1, err
	}
	// An unprivileged mount must use userxattr; see the kernel's overlayfs.rst.
	return newMount("overlay", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV,
		"lowerdir="+strings.Join(lowers, ":"), "upperdir="+upper, "workdir="+work, "userxattr", "volatile")
}

// clone is the mount of a bind, not attached yet.
func (b bind) clone() (int, error) {
	if !b.Plain {
		return clone(b.Source, b.Write)
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, b.Source, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return -1, fmt.Errorf("open it without following links: %w", err)
	}
	defer unix.Close(fd)
	return cloneAt(fd, "", b.Write)
}

// clone is a bind mount of a path with everything below it, not attached yet.
func clone(path string, write bool) (int, error) { return cloneAt(unix.AT_FDCWD, path, write) }

// cloneAt is clone of a path below an open folder, or of what is open where the path is empty.
func cloneAt(dir int, path string, write bool) (int, error) {
	fd, err := unix.OpenTree(dir, path,
		unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, fmt.Errorf("clone: %w", err)
	}
	attributes := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if !write {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE,
		&unix.MountAttr{Attr_set: attributes, Propagation: unix.MS_PRIVATE})
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("restrict: %w", err)
	}
	return fd, nil
}

// attach attaches a mount at its place, which it makes if it is missing.
func attach(m mounted) error {
	defer unix.Close(m.fd)
	if err := makeTarget(m.target, m.dir); err != nil {
		return err
	}
	if err := unix.MoveMount(m.fd, "", unix.AT_FDCWD, m.target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach at %s: %w", m.target, err)
	}
	return nil
}

func makeTarget(target string, dir bool) error {
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	parent := target
	if !dir {
		parent = filepath.Dir(target)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	if dir {
		return nil
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func link(name, target string) error {
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, name)
}

// freeze makes a path and everything below it read-only, by a bind mount on itself. It ignores a path that does not
// exist.
func freeze(path string) error {
	fd, err := clone(path, false)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil
	case err != nil:
		return fmt.Errorf("protect %s: %w", path, err)
	}
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("protect %s: %w", path, err)
	}
	return nil
}

func setReadOnly(path string) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("make %s read-only: %w", path, err)
	}
	return nil
}

// newMask makes the file and the folder of a mask in a folder, unless they exist.
func newMask(dir string) (mask, error) {
	m := mask{filepath.Join(dir, "hidden-file"), filepath.Join(dir, "hidden-dir")}
	if err := os.Mkdir(m.Dir, 0); err != nil && !errors.Is(err, os.ErrExist) {
		return mask{}, err
	}
	f, err := os.OpenFile(m.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if errors.Is(err, os.ErrExist) {
		return m, nil
	}
	if err != nil {
		return mask{}, err
	}
	return m, f.Close()
}

// covers are a mask, opened.
type covers struct{ file, dir int }

// newCovers opens a mask. What is open here can be cloned also when its place is covered. Before Linux 6.15, a file
// system that was never attached cannot be cloned.
func newCovers(m mask) (c covers, err error) {
	if c.file, err = unix.Open(m.File, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0); err != nil {
		return c, err
	}
	c.dir, err = unix.Open(m.Dir, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	return c, err
}

// cover hides the file or folder at a path. It ignores a path that does not exist.
func (c covers) cover(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // the path cannot be reached
	}
	from := c.dir
	if !info.IsDir() {
		from = c.file
	}
	fd, err := unix.OpenTree(from, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	defer unix.Close(fd)
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{
		Attr_set:    unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC,
		Propagation: unix.MS_PRIVATE,
	}); err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	return nil
}

// deviceNames are the devices that commands find in /dev.
var deviceNames = []string{"null", "zero", "full", "random", "urandom", "tty"}

// cloneDevices clones the devices in the /dev of the machine, since a user namespace may not make any.
func cloneDevices() ([]mounted, error) {
	var devices []mounted
	for _, name := range deviceNames {
		path := "/dev/" + name
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("clone %s: %w", path, err)
		}
		devices = append(devices, mounted{target: path, fd: fd})
	}
	return devices, nil
}

// mountDevices covers /dev with a small one.
func mountDevices(devices []mounted) error {
	fd, err := newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "mode=755", "size=64k")
	if err != nil {
		return err
	}
	if err := attach(mounted{target: "/dev", fd: fd, dir: true}); err != nil {
		return err
	}
	for _, device := range devices {
		if err := attach(device); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return err
		}
	}
	fd, err = newMount("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "newinstance",
		"ptmxmode=0666", "mode=620")
	if err != nil {
		return err
	}
	if err := attach(mounted{target: "/dev/pts", fd: fd, dir: true}); err != nil {
		return err
	}
	fd, err = newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "mode=1777", "size=256m")
	if err != nil {
		return err
	}
	if err := attach(mounted{target: "/dev/shm", fd: fd, dir: true}); err != nil {
		return err
	}
	return setReadOnly("/dev")
}

// boundPIDs bounds the processes of the namespace also for root, for whom RLIMIT_NPROC does not hold. Before Linux
// 6.14, pid_max was a setting of the whole machine, and must not be changed.
func boundPIDs(processes int) error {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("read the kernel's version: %w", err)
	}
	if major < 6 || major == 6 && minor < 14 {
		return nil
	}
	return os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(max(processes, minPIDs))), 0)
}

// minPIDs is the least value of pid_max that the kernel takes.
const minPIDs = 301
