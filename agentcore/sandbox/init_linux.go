//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// enter is all that a process does that was started to set up a sandbox.
func enter() int {
	// Rights, filters and the death signal belong to a thread: the thread that gives up its rights must be the one that
	// starts the command.
	runtime.LockOSThread()
	control := os.NewFile(controlFD, "control")
	in := &inner{status: os.NewFile(statusFD, "status")}
	keepDescriptors()
	if len(os.Args) == 2 {
		_ = unix.Close(programFD) // bwrap started this process through the descriptor
	}
	// Decoding JSON takes a while the first time. A spare has that time before it is told anything.
	_ = json.Unmarshal([]byte("{}"), &in.spec)
	reader := bufio.NewReader(control)
	line, err := reader.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &in.spec)
	}
	if err != nil {
		in.tell(status{Step: "spec", Error: err.Error()})
		return 1
	}
	in.tell(status{Heard: true})
	// When the control pipe ends, the process that started this one has ended.
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		if in.spec.Bare {
			endDescendants()
		}
		syscall.Exit(1)
	}()
	if in.spec.Probe {
		in.tell(status{Checks: in.probe()})
		return 0
	}
	if err := in.setUp(); err != nil {
		s := status{Step: "sandbox", Error: err.Error()}
		if step, ok := errors.AsType[*stepError](err); ok {
			s.Step, s.Error = step.step, step.err.Error()
		}
		in.tell(s)
		return 1
	}
	return in.run()
}

// keepDescriptors closes for commands what this process has open, except for their streams: its pipes, and files that
// the program that started the server has left open in every process, of which some may be writable.
func keepDescriptors() {
	if unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := controlFD; fd < oldDescriptors; fd++ { // before Linux 5.11, where there is no level with walls of ours
		unix.CloseOnExec(fd)
	}
}

// oldDescriptors is how many descriptors a process may have by default.
const oldDescriptors = 1024

// tell reports to the starting side. Where that is gone, this process is not needed any more.
func (in *inner) tell(s status) {
	line, err := json.Marshal(s)
	if err == nil {
		_, err = in.status.Write(append(line, '\n'))
	}
	if err != nil {
		syscall.Exit(1)
	}
}

// setUp builds the walls and gives up the rights.
func (in *inner) setUp() error {
	if in.spec.Bare {
		return failed("attend", in.attend())
	}
	if in.spec.Mount {
		if err := in.spec.mount(); err != nil {
			return err
		}
	}
	if len(in.spec.Shown) > 0 {
		if err := failed("view", sendShown(shownFD, in.spec.Shown)); err != nil {
			return err
		}
	}
	if in.spec.Mount && !in.spec.NetworkOpen {
		if err := failed("network", raiseLoopback()); err != nil {
			return err
		}
	}
	if in.spec.Gate != nil {
		if err := failed("gate", offer(offerFD, in.spec.Gate.Listen)); err != nil {
			return err
		}
	}
	if err := failed("limits", in.limit()); err != nil {
		return err
	}
	if err := failed("capabilities", dropCapabilities()); err != nil {
		return err
	}
	if err := failed("landlock", restrictFiles(in.spec.Writable)); err != nil {
		return err
	}
	return failed("seccomp", filterCalls())
}

// limit sets the limits that the kernel keeps for each process and, where possible, for the namespace.
func (in *inner) limit() error {
	set := func(resource int, value uint64) error {
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err != nil {
			return err
		}
		value = min(value, have.Max)
		return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
	}
	if err := set(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	if err := set(unix.RLIMIT_FSIZE, uint64(in.spec.Limits.FileSize)); err != nil {
		return fmt.Errorf("limit the size of files: %w", err)
	}
	// In a user namespace, since Linux 5.14, the kernel counts processes for the namespace, but never for the machine's
	// root. Outside of one, it would count all processes of the user.
	if users, err := os.Readlink("/proc/self/ns/user"); err != nil || users == in.spec.Users {
		return err
	}
	if err := set(unix.RLIMIT_NPROC, uint64(in.spec.Limits.Processes)); err != nil {
		return fmt.Errorf("limit the processes: %w", err)
	}
	return nil
}

// run starts the command, reaps whatever ends, and returns when the command does.
func (in *inner) run() int {
	os.Clearenv()
	for _, pair := range in.spec.Env {
		if key, value, ok := strings.Cut(pair, "="); ok {
			os.Setenv(key, value)
		}
	}
	if err := os.Chdir(in.spec.Dir); err != nil {
		in.tell(status{Step: stepCommand, Error: err.Error()})
		return 1
	}
	path, err := exec.LookPath(in.spec.Argv[0])
	if err == nil && !filepath.IsAbs(path) {
		path, err = filepath.Abs(path)
	}
	var child int
	if err == nil {
		// Reported before the command runs, since a command without walls could end this process.
		in.tell(status{Started: true})
		child, err = syscall.ForkExec(path, in.spec.Argv, &syscall.ProcAttr{
			Env:   os.Environ(),
			Files: []uintptr{0, 1, 2},
			Sys:   &syscall.SysProcAttr{Setpgid: true},
		})
	}
	if err != nil {
		in.tell(status{Step: stepCommand, Error: err.Error()})
		return 1
	}
	leaveStreams()
	if !in.spec.Bare && !in.spec.Counted {
		go in.guard()
	}
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			in.tell(status{Step: "wait", Error: err.Error()})
			return 1
		case pid != child, !ws.Exited() && !ws.Signaled():
			continue
		}
		s := status{Done: true}
		if ws.Signaled() {
			s.Signal = int(ws.Signal())
		} else {
			s.Exit = ws.ExitStatus()
		}
		if in.spec.Bare {
			endDescendants()
		}
		in.tell(s)
		return 0
	}
}

// leaveStreams leaves the input and the output to the command, so that who speaks with it sees at once that it has
// closed them, although this process lives on. Standard error stays, for this process may have to complain.
func leaveStreams() {
	nothing, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		// The numbers stay taken by something harmless in any case: what is opened next must not get them.
		nothing = int(os.Stderr.Fd())
	}
	for fd := range 2 {
		_ = unix.Dup3(nothing, fd, 0) // both are open descriptors
	}
	if err == nil {
		unix.Close(nothing)
	}
}

// guardInterval is how often memory and processes are counted.
const guardInterval = 100 * time.Millisecond

// guard measures the memory and the processes of the namespace, and ends it where they exceed the limits. It runs as
// long as the process. It notices with a delay of up to an interval; what one process may take at once is limited by
// the kernel.
func (in *inner) guard() {
	for range time.Tick(guardInterval) {
		memory, processes := usage()
		var what string
		switch {
		case memory > in.spec.Limits.Memory:
			what = fmt.Sprintf("memory: more than %d MiB", in.spec.Limits.Memory>>20)
		case processes > in.spec.Limits.Processes:
			what = fmt.Sprintf("processes: more than %d", in.spec.Limits.Processes)
		default:
			continue
		}
		in.tell(status{Limit: what})
		syscall.Exit(1)
	}
}

// usage returns how much memory the processes of this PID namespace use, in bytes, and how many threads there are. It
// leaves out this process.
func usage() (memory int64, processes int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// The process may have ended meanwhile.
		statm, err := os.ReadFile("/proc/" + e.Name() + "/statm")
		if err != nil {
			continue
		}
		processes++
		// size resident shared …, in pages: proc_pid_statm(5). Shared pages would count more than once.
		if fields := strings.Fields(string(statm)); len(fields) > 2 {
			resident, _ := strconv.ParseInt(fields[1], 10, 64)
			shared, _ := strconv.ParseInt(fields[2], 10, 64)
			memory += max(0, resident-shared) * page
		}
	}
	return memory, processes
}

// probe tries each step in a sandbox of its own.
func (in *inner) probe() []Check {
	var r Report
	if in.spec.Bare {
		r.note(checkCgroup, nil, "the kernel counts memory and processes of a command together")
		return r.Checks
	}
	if !in.spec.Mount {
		return in.probeWrapped()
	}
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
	in.probeRights(&r)
	return r.Checks
}
