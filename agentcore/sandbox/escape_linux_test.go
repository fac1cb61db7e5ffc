//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// socketVariable names, for a play, the abstract socket of the test that runs it.
const socketVariable = "SANDBOX_TEST_SOCKET"

// abstractSocket is an address in the namespace of sockets without files, of this test process alone: others may run
// the same tests on the machine.
func abstractSocket() string { return "@agentls-sandbox-test-" + pid() }

// eachWalled runs a test on each level with walls: the one that the machine has, which must be the full one, and
// bubblewrap. The quick tests leave bubblewrap out, which not every machine has.
func eachWalled(t *testing.T, test func(*testing.T, func(*Options))) {
	t.Run("full", func(t *testing.T) { test(t, func(*Options) {}) })
	if !testing.Short() {
		t.Run("bubblewrap", func(t *testing.T) { test(t, atLevel(Bubblewrap)) })
	}
}

// TestEscapes runs what must fail; each script prints "out" where it got out.
func TestEscapes(t *testing.T) { eachWalled(t, testEscapes) }

func testEscapes(t *testing.T, walls func(*Options)) {
	outside := t.TempDir()
	path := filepath.Join(outside, "host.sock")
	for _, address := range []string{path, abstractSocket()} {
		l, err := net.Listen("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	write(t, filepath.Join(outside, "file"), "host")
	b, ws := open(t, map[string]string{"a": "a", ".git/config": "[core]", ".env": "KEY=1"}, walls, func(o *Options) {
		o.Secret = func(path string) bool { return filepath.Base(path) == ".env" }
		o.Env = append(o.Env, "OUTSIDE="+outside, "SOCKET="+path, "PORT="+port(tcp))
	})
	write(t, filepath.Join(filepath.Dir(ws), "private"), "private")
	if err := os.Symlink("/etc/passwd", filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"write into /usr":        `echo x > /usr/agentls-test && echo out`,
		"write into /etc":        `echo x >> /etc/passwd && echo out`,
		"write through a link":   `echo x >> link && echo out`,
		"write beside":           `echo x > "$OUTSIDE/file" && echo out`,
		"read the home":          `cat "$HOME/private" && echo out`,
		"read a secret":          `cat .env && echo out`,
		"replace a secret":       `rm .env && echo out`,
		"change git's settings":  `echo x >> .git/config && echo out`,
		"add a hook":             `mkdir -p .git/hooks && echo x > .git/hooks/pre-commit && echo out`,
		"move git's folder":      `mv .git g && echo out`,
		"the first process":      `cat /proc/1/environ /proc/1/maps && echo out`,
		"its root":               `ls /proc/1/root/ && echo out`,
		"its descriptors":        `ls -l /proc/1/fd/ && echo out`,
		"own root":               `cat "/proc/self/root/$HOME/private" && echo out`,
		"sysctl":                 `v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern && echo out`,
		"sysrq":                  `echo h > /proc/sysrq-trigger && echo out`,
		"cgroups":                `mkdir /sys/fs/cgroup/agentls-test && echo out`,
		"a new user namespace":   `unshare -Ur true && echo out`,
		"a new mount namespace":  `unshare -m true && echo out`,
		"mount":                  `mount -t tmpfs none /mnt && echo out`,
		"make the disk writable": `mount -o remount,rw / && echo out`,
		"a device":               `mknod dev b 8 0 && echo out`,
		"a disk":                 `cat /dev/sda /dev/vda && echo out`,
		"capabilities":           `grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo out`,
		"the bounding set":       `grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status && echo out`,
		"new privileges":         `grep -q 'NoNewPrivs:.*0' /proc/self/status && echo out`,
		"without a filter":       `grep -q 'Seccomp:.*0' /proc/self/status && echo out`,
		"other processes":        `kill -0 ` + pid() + ` && echo out`,
		"the password hashes":    `cat /etc/shadow && echo out`,
		"TCP of the host":        `(exec 3<>"/dev/tcp/127.0.0.1/$PORT") && echo out`,
		"other machines":         `(exec 3<>/dev/tcp/192.0.2.1/80) && echo out`,
		"the state folder":       `ls "` + filepath.Dir(b.dir) + `"/* && echo out`,
	} {
		t.Run(name, func(t *testing.T) {
			c := sh(t, b, script)
			if strings.Contains(string(c.Output), "out\n") {
				t.Errorf("it got out:\n%s", c.Output)
			}
		})
	}
	for name, play := range map[string]string{"unix socket": "unix", "abstract socket": "abstract", "calls": "calls"} {
		t.Run(name, func(t *testing.T) {
			r := playInside(t, b, play)
			if r.Exit != 0 {
				t.Errorf("exit %d:\n%s", r.Exit, r.Output)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(outside, "file")); err != nil || string(text) != "host" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(ws, ".git/config")); err != nil || string(text) != "[core]" {
		t.Errorf(".git/config is %q, %v", text, err)
	}
}

func port(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func pid() string { return strconv.Itoa(os.Getpid()) }

// playInside runs the test binary as one of plays in a box.
func playInside(t *testing.T, b *Box, play string) Result {
	t.Helper()
	putPlay(t, b)
	return sh(t, b, playVariable+"="+play+" "+socketVariable+"="+abstractSocket()+" /tmp/play")
}

// putPlay puts the test binary into a box, as /tmp/play.
func putPlay(t *testing.T, b *Box) {
	t.Helper()
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "tmp", "play"), exe, 0o700); err != nil {
		t.Fatal(err)
	}
}

func init() {
	plays["unix"] = func() int { return refused(os.Getenv("SOCKET")) }
	plays["abstract"] = func() int { return refused(os.Getenv(socketVariable)) }
	plays["calls"] = forbiddenCalls
	plays["server"] = serverPlay
}

// refused is 0 where nobody answers at a socket.
func refused(address string) int {
	c, err := net.Dial("unix", address)
	if err != nil {
		return 0
	}
	c.Close()
	return 1
}

// forbiddenCalls makes system calls that the filter must answer. What the arguments say does not matter to it.
func forbiddenCalls() int {
	bad := 0
	for name, test := range map[string]struct {
		call, arg0, arg1 uintptr
		want             syscall.Errno
	}{
		"ptrace":            {unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, unix.EPERM},
		"process_vm_writev": {unix.SYS_PROCESS_VM_WRITEV, 1, 0, unix.EPERM},
		"keyctl":            {unix.SYS_KEYCTL, 0, 0, unix.EPERM},
		"bpf":               {unix.SYS_BPF, 0, 0, unix.EPERM},
		"perf_event_open":   {unix.SYS_PERF_EVENT_OPEN, 0, 0, unix.EPERM},
		"userfaultfd":       {unix.SYS_USERFAULTFD, 0, 0, unix.EPERM},
		"io_uring_setup":    {unix.SYS_IO_URING_SETUP, 1, 0, unix.ENOSYS},
		"open_tree":         {unix.SYS_OPEN_TREE, 0, 0, unix.EPERM},
		"setns":             {unix.SYS_SETNS, 0, 0, unix.EPERM},
		"clone of a user":   {unix.SYS_CLONE, unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD), 0, unix.EPERM},
		"clone3":            {unix.SYS_CLONE3, 0, 0, unix.ENOSYS},
		"vsock":             {unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, unix.EAFNOSUPPORT},
		"packet":            {unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, unix.EAFNOSUPPORT},
		"TIOCSTI":           {unix.SYS_IOCTL, 0, unix.TIOCSTI, unix.EPERM},
	} {
		_, _, errno := syscall.RawSyscall(test.call, test.arg0, test.arg1, 0)
		if errno != test.want {
			println(name, "answers", errno.Error())
			bad++
		}
	}
	return bad
}

// TestNothingIsLeft runs what tries to live on, and looks for it by the variable that all processes of a run carry.
func TestNothingIsLeft(t *testing.T) { eachWalled(t, testNothingIsLeft) }

func testNothingIsLeft(t *testing.T, walls func(*Options)) {
	const hiding = `trap '' TERM HUP INT; (setsid sh -c 'trap "" TERM HUP; while :; do sleep 1000; done' &) ; sleep 1000 & `
	for name, test := range map[string]struct {
		script  string
		timeout time.Duration
	}{
		"end":      {hiding + `exit 0`, watchdog},
		"timeout":  {hiding + `wait; sleep 1000`, 300 * time.Millisecond},
		"kill all": {hiding + `kill -9 -1; exit 0`, watchdog},
	} {
		t.Run(name, func(t *testing.T) {
			run := "left-" + t.Name()
			b, _ := open(t, nil, walls, func(o *Options) { o.Run = run })
			r, err := b.Run(t.Context(), Command{Script: test.script, Timeout: test.timeout})
			if err != nil {
				t.Fatal(err)
			}
			if r.TimedOut != (name == "timeout") {
				t.Errorf("timed out: %v", r.TimedOut)
			}
			if left := processesOf(t, run); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
	t.Run("cancel", func(t *testing.T) {
		b, _ := open(t, nil, walls, func(o *Options) { o.Run = "left-cancel" })
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			waitFor(t, func() bool { return len(processesOf(t, "left-cancel")) > 2 })
		}()
		_, err := b.Run(ctx, Command{Script: hiding + `wait`, Timeout: watchdog})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		if left := processesOf(t, "left-cancel"); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	})
	t.Run("close", func(t *testing.T) {
		b, _ := open(t, nil, walls, func(o *Options) { o.Run = "left-close" })
		p, err := b.Start(t.Context(), Command{Script: hiding + `wait`})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return len(processesOf(t, "left-close")) > 2 })
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if left := processesOf(t, "left-close"); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
		if _, err := os.Stat(b.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the box's folder is left: %v", err)
		}
	})
}

// serverPlay opens a box and runs something endless, until it is killed.
func serverPlay() int {
	o := Options{
		Run:      "left-server",
		Roots:    []string{os.Getenv("WORK")},
		StateDir: os.Getenv("STATE"),
		Env:      []string{"PATH=" + os.Getenv("PATH")},
	}
	if level := os.Getenv("LEVEL"); level != "" {
		o.Report = &Report{Level: Level(level)}
	}
	b, err := Open(context.Background(), o)
	if err != nil {
		println(err.Error())
		return 1
	}
	_, err = b.Run(context.Background(), Command{Script: `(setsid sleep 1000 &); trap '' TERM; sleep 1000; true`})
	println(err.Error())
	return 1
}

// TestServerKilled kills the process that has a box.
func TestServerKilled(t *testing.T) { eachWalled(t, testServerKilled) }

func testServerKilled(t *testing.T, walls func(*Options)) {
	var o Options
	walls(&o)
	level := ""
	if o.Report != nil {
		level = string(o.Report.Level)
	}
	state, work := t.TempDir(), t.TempDir()
	server := exec.Command("/proc/self/exe")
	server.Env = append(os.Environ(), playVariable+"=server", "WORK="+work, "STATE="+state, "LEVEL="+level)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(processesOf(t, "left-server")) > 2 })
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err == nil {
		t.Error("the server was not killed")
	}
	waitFor(t, func() bool { return len(processesOf(t, "left-server")) == 0 })
	// The next box deletes what is left on disk.
	b, err := Open(t.Context(), Options{Run: "next", Roots: []string{work}, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(state); err != nil || len(left) > 0 {
		t.Errorf("left in the state folder: %v, %v", left, err)
	}
}

// TestControlEnds closes the control pipe, which is what the end of the starting process does, and sends no signal.
func TestControlEnds(t *testing.T) {
	b, _ := open(t, nil)
	s, err := b.spec(t.Context(), Command{Script: "sleep 1000; true"}, b.roots)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.machine.launcher.launch(s, nil, nil, nil, b.newSpool())
	if err != nil {
		t.Fatal(err)
	}
	<-c.began()
	if err := c.control.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := c.wait(); err == nil || s.Done {
		t.Errorf("the command ended by itself: %+v", s)
	}
}

// processesOf lists the processes of a run.
func processesOf(t *testing.T, run string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains("\x00"+string(text), "\x00"+runVariable+"="+run+"\x00") {
			found = append(found, file)
		}
	}
	return found
}

// waitFor polls for something that no event tells.
func waitFor(t *testing.T, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(watchdog)
	for !happened() {
		select {
		case <-tick.C:
		case <-end:
			t.Error("it did not happen")
			return
		}
	}
}

// TestStartingThreadEnds: the kernel sends the signal of a parent's death when the thread ends that started the
// process, which must not be the caller's.
func TestStartingThreadEnds(t *testing.T) {
	b, _ := open(t, nil)
	thread, started := make(chan int, 1), make(chan *Process, 1)
	var start func()
	start = func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if unix.Gettid() == os.Getpid() {
			go start() // the first thread never ends
			<-t.Context().Done()
			return
		}
		thread <- unix.Gettid()
		p, err := b.Start(t.Context(), Command{Script: "while :; do echo alive; sleep 0.01; done"})
		if err != nil {
			t.Error(err)
		}
		started <- p
	}
	go start()
	p := <-started
	if p == nil {
		return
	}
	task := fmt.Sprintf("/proc/self/task/%d", <-thread)
	waitFor(t, func() bool {
		_, err := os.Stat(task)
		return errors.Is(err, os.ErrNotExist)
	})
	_, before := p.Output(0)
	waitFor(t, func() bool {
		_, now := p.Output(0)
		return now > before+10*int64(len("alive\n"))
	})
	p.Kill()
	<-p.Done()
}
