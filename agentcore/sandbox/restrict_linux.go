//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// raiseLoopback makes 127.0.0.1 reachable in a new network namespace, where it begins down.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("raise the loopback device: %w", err)
	}
	return nil
}

// dropCapabilities drops every capability of this thread and its children, for good.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	for c := range unix.CAP_LAST_CAP + 1 {
		// Without CAP_SETPCAP, as inside another sandbox, no capability can be dropped, but none can be gained either.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EINVAL &&
			err != unix.EPERM {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear the ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop the capabilities: %w", err)
	}
	// No process inside may look into this process, which still holds the pipes to the outside.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process: %w", err)
	}
	// The change of rights may have reset the signal.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("end with the starting process: %w", err)
	}
	return nil
}

// minLandlock is the first ABI that allows a rename between folders, which programs rely on.
const minLandlock = 2

// landlockABI is the kernel's version of Landlock, 0 where there is none.
func landlockABI() int {
	version, err := landlocksys.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// restrictFiles is a second wall beside the mounts: whatever they show, only these folders can be written. A kernel
// without Landlock has the mounts alone; Probe says so.
func restrictFiles(writable []string) error {
	if landlockABI() < minLandlock {
		return nil
	}
	// Files, signals and abstract sockets are restricted in one call, since each call is made on every thread. The
	// network has its namespace.
	config := landlock.V6.BestEffort()
	config.HandledAccessNet = 0
	return config.Restrict(
		landlock.RODirs("/"),
		landlock.RWDirs(writable...).WithRefer().WithIoctlDev().IgnoreIfMissing(),
	)
}

// Offsets in struct seccomp_data (linux/seccomp.h), little-endian.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg0 = 16
	offsetArg1 = 24
)

// denied are calls that fail with EPERM, since they reach other processes, mounts, namespaces or the kernel itself.
var denied = append([]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_SYSLOG,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX,
	unix.SYS_CLOCK_ADJTIME, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL,
}, deniedHere...)

// missing are calls that fail with ENOSYS, so that programs use an older call that the filter can judge.
var missing = []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

// newNamespaces are the flags of clone(2) that make a namespace.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// callFilter is the BPF program that judges each system call.
func callFilter() []unix.SockFilter {
	statement := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	jump := func(kind uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | kind | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	const load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	const verdict = unix.BPF_RET | unix.BPF_K
	fail := func(errno unix.Errno) unix.SockFilter {
		return statement(verdict, unix.SECCOMP_RET_ERRNO|uint32(errno))
	}
	allow := statement(verdict, unix.SECCOMP_RET_ALLOW)

	// A program for another instruction set has other numbers of calls, which the filter does not judge.
	program := []unix.SockFilter{
		statement(load, offsetArch),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		fail(unix.ENOSYS),
		statement(load, offsetCall),
		jump(unix.BPF_JGE, foreignCalls, 0, 1),
		fail(unix.ENOSYS),
	}
	for _, call := range denied {
		program = append(program, jump(unix.BPF_JEQ, call, 0, 1), fail(unix.EPERM))
	}
	for _, call := range missing {
		program = append(program, jump(unix.BPF_JEQ, call, 0, 1), fail(unix.ENOSYS))
	}
	// clone: no new namespace.
	program = append(program,
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4),
		statement(load, offsetArg0),
		jump(unix.BPF_JSET, newNamespaces, 0, 1),
		fail(unix.EPERM),
		allow,
	)
	// ioctl: no input for a terminal that others read.
	program = append(program,
		jump(unix.BPF_JEQ, unix.SYS_IOCTL, 0, 5),
		statement(load, offsetArg1),
		jump(unix.BPF_JEQ, unix.TIOCSTI, 1, 0),
		jump(unix.BPF_JEQ, tiocLinux, 0, 1),
		fail(unix.EPERM),
		allow,
	)
	// socket: other families, such as vsock, pass by the network namespace.
	program = append(program, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 6), statement(load, offsetArg0))
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	for i, family := range families {
		program = append(program, jump(unix.BPF_JEQ, family, uint8(len(families)-i), 0))
	}
	return append(program, fail(unix.EAFNOSUPPORT), allow)
}

// tiocLinux is TIOCLINUX (asm-generic/ioctls.h), by which a console can be fed.
const tiocLinux = 0x541c

// filterCalls installs the filter for every thread of this process, and so for all that it starts.
func filterCalls() error {
	program := callFilter()
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return fmt.Errorf("install the filter of system calls: %w", errno)
	}
	return nil
}
