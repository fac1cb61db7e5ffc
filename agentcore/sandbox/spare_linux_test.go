//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	plays["spare"] = sparePlay
	plays["mounts"] = mountsPlay
}

// attendants are the processes below this one that attend to commands, or will.
func attendants() (found []int) {
	for _, pid := range children() {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && string(line) == marker+"\x00" {
			found = append(found, pid)
		}
	}
	return found
}

// spareOf waits for the spare of a box that has just run a command.
func spareOf(t *testing.T) (pid int) {
	t.Helper()
	waitFor(t, func() bool { return len(attendants()) == 1 })
	return attendants()[0]
}

// dismiss ends the spare of a box.
func dismiss(b *Box) {
	s := b.machine.spare
	b.machine.spare = nil
	if s == nil {
		return
	}
	select {
	case w := <-s.hand:
		w.end()
	case <-s.ended:
	}
}

// TestSpare: one process at a time waits for the next command, which runs in its namespaces and sees what is there by
// then. It knows nothing of the commands before, holds nothing open, and there is none before the first.
func TestSpare(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "old"}, func(o *Options) { o.Env = append(o.Env, "KEY=secret") })
	if found := attendants(); len(found) > 0 || b.machine.spare != nil {
		t.Errorf("before the first command %d processes wait", len(found))
	}
	last := ""
	for i := range 5 {
		text := fmt.Sprint("text ", i)
		write(t, filepath.Join(ws, "a"), text)
		write(t, filepath.Join(ws, fmt.Sprint("new", i)), "")
		r := sh(t, b, `readlink /proc/self/ns/net; cat a b; echo " $KEY"; ls`, func(c *Command) {
			c.Overlay = map[string]Text{filepath.Join(ws, "b"): {Content: []byte(text)}}
		})
		lines := strings.Split(string(r.Output), "\n")
		if len(lines) < 2 || lines[1] != text+text+" secret" || !slices.Contains(lines, fmt.Sprint("new", i)) {
			t.Errorf("command %d says %q", i, r.Output)
		}
		if i > 0 && lines[0] != last {
			t.Errorf("command %d ran in %s, the spare was in %s", i, lines[0], last)
		}
		pid := spareOf(t)
		var err error
		if last, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil {
			t.Fatal(err)
		}
		if last == lines[0] {
			t.Errorf("the spare is in the namespaces of command %d", i)
		}
		checkIdle(t, pid)
	}
}

// checkIdle looks at what a spare has: its pipes, nothing of a workspace, and no variable of a command.
func checkIdle(t *testing.T, pid int) {
	t.Helper()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if want := "GOMAXPROCS=2\x00GOTRACEBACK=none\x00"; err != nil || string(environ) != want {
		t.Errorf("the environment of the spare is %q, %v", environ, err)
	}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	pipes := 0
	for _, link := range links {
		fd, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			t.Fatal(err)
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); fd > statusFD &&
			err == nil && flags&unix.FD_CLOEXEC == 0 {
			continue // whoever started the tests has left it open for every process
		}
		to, err := os.Readlink(link)
		switch {
		case err != nil, to == "/dev/null",
			strings.HasPrefix(to, "anon_inode:"), strings.HasPrefix(to, "/sys/fs/cgroup/"):
		case strings.HasPrefix(to, "pipe:"):
			pipes++
		default:
			t.Errorf("the spare has %s open", to)
		}
	}
	if pipes != 4 { // output and errors, control and status
		t.Errorf("the spare has %d ends of pipes", pipes)
	}
}

// TestSpareFits: a command that a spare cannot attend to runs beside it, and starts none.
func TestSpareFits(t *testing.T) {
	b, _ := open(t, nil)
	for name, change := range map[string]func(*Command){
		"input":   func(c *Command) { c.Stdin = []byte("in\n") },
		"errors":  func(c *Command) { c.SplitErrors = true },
		"offline": func(c *Command) { c.Offline = true },
	} {
		if r := sh(t, b, "cat; echo out", change); !strings.HasSuffix(string(r.Output), "out\n") ||
			b.machine.spare != nil {
			t.Errorf("%s: output %q, a spare: %v", name, r.Output, b.machine.spare != nil)
		}
	}
	sh(t, b, "true")
	pid := spareOf(t)
	sh(t, b, "true", func(c *Command) { c.Offline = true })
	if now := spareOf(t); now != pid {
		t.Errorf("the spare was %d and is %d", pid, now)
	}
	p, _, out := converse(t, b, Command{Script: "echo here; read line", Live: true})
	if line, err := out.ReadString('\n'); line != "here\n" || len(attendants()) != 2 {
		t.Errorf("it says %q %v; %d processes attend", line, err, len(attendants()))
	}
	p.Kill()
	<-p.Done()
	if now := spareOf(t); now != pid {
		t.Errorf("the spare was %d and is %d", pid, now)
	}
}

// TestSpareEnds: a spare ends with its patience, with its box, with a signal and with its pipe; the next command then
// starts afresh.
func TestSpareEnds(t *testing.T) {
	none := func(t *testing.T) {
		t.Helper()
		waitFor(t, func() bool { return len(attendants()) == 0 })
	}
	t.Run("patience", func(t *testing.T) {
		b, _ := open(t, nil)
		b.machine.patience = time.Millisecond
		for range 3 {
			sh(t, b, "true")
			none(t)
		}
	})
	t.Run("close", func(t *testing.T) {
		for range 5 {
			b, _ := open(t, nil)
			sh(t, b, "true")
			if err := b.Close(); err != nil { // the spare may be there, or on its way
				t.Error(err)
			}
			if found := attendants(); len(found) > 0 {
				t.Errorf("behind a closed box are %v", found)
			}
		}
	})
	t.Run("close ahead", func(t *testing.T) {
		b, _ := open(t, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.Ahead()
		}()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		<-done
		if found := attendants(); len(found) > 0 {
			t.Errorf("behind a closed box are %v", found)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		b, _ := open(t, nil)
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			p, err := b.Start(ctx, Command{Script: "sleep 1000"})
			if err != nil {
				t.Fatal(err)
			}
			cancel() // bounds the start alone
			p.Kill() // while the next spare starts
			<-p.Done()
			spareOf(t)
			if _, err := b.Run(ctx, Command{Script: "true"}); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled command answers %v", err)
			}
		}
	})
	t.Run("killed", func(t *testing.T) {
		b, _ := open(t, nil)
		sh(t, b, "true")
		pid := spareOf(t)
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if r := sh(t, b, "echo fine"); string(r.Output) != "fine\n" {
			t.Errorf("the next command says %q", r.Output)
		}
	})
	t.Run("pipe", func(t *testing.T) {
		b, _ := open(t, nil)
		sh(t, b, "true")
		w := <-b.machine.spare.hand
		defer unix.Close(w.mounts)
		if err := w.control.Close(); err != nil {
			t.Fatal(err)
		}
		if s, _ := w.wait(); s.Started || s.Step != "spec" {
			t.Errorf("the spare ended with %+v", s)
		}
	})
	t.Run("server", func(t *testing.T) {
		o := Options{Roots: []string{t.TempDir()}, StateDir: t.TempDir()}
		server := exec.Command("/proc/self/exe")
		server.Env = append(os.Environ(), playVariable+"=spare", "WORK="+o.Roots[0], "STATE="+o.StateDir)
		server.Stderr = os.Stderr
		said, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(said).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Wait(); err == nil {
			t.Error("the server was not killed")
		}
		waitFor(t, func() bool {
			text, err := os.ReadFile("/proc/" + strings.TrimSpace(line) + "/cmdline")
			return err != nil || !bytes.HasPrefix(text, []byte(marker))
		})
		b, err := Open(t.Context(), o) // deletes what is left on disk
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// openPlay opens a box for a play.
func openPlay() *Box {
	o := Options{
		Roots: []string{os.Getenv("WORK")}, StateDir: os.Getenv("STATE"), Env: []string{"PATH=" + os.Getenv("PATH")},
	}
	b, err := Open(context.Background(), o)
	if err != nil {
		panic(err)
	}
	if b.Level() != Full {
		panic(b.report.String())
	}
	return b
}

// sparePlay says which process is its spare, until it is killed.
func sparePlay() int {
	b := openPlay()
	if _, err := b.Run(context.Background(), Command{Script: "true"}); err != nil {
		panic(err)
	}
	w := <-b.machine.spare.hand
	fmt.Println(w.cmd.Process.Pid)
	_, _ = w.wait()
	return 1
}

// TestSpareMounts: what has been mounted since the spare was started is there for the next command.
func TestSpareMounts(t *testing.T) {
	work, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(work, "a"), "before")
	write(t, filepath.Join(other, "a"), "after")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), playVariable+"=mounts", "WORK="+work, "OTHER="+other, "STATE="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS}
	cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings, cmd.SysProcAttr.GidMappingsEnableSetgroups = idMaps()
	cmd.SysProcAttr.AmbientCaps = ambient
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "before after" {
		t.Errorf("%v: %s", err, out)
	}
}

func mountsPlay() int {
	// What is mounted here from now on is told to no namespace below.
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		panic(err)
	}
	b := openPlay()
	cat := func() {
		r, err := b.Run(context.Background(), Command{Script: "cat a"})
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(r.Output)
	}
	cat()
	// The spare is taken, which waits until it runs and has the mounts of now, and offered again.
	w := <-b.machine.spare.hand
	again := &spare{hand: make(chan waiting), ended: make(chan struct{})}
	b.machine.spare = again
	go func() { again.hand <- w }()
	if err := unix.Mount(os.Getenv("OTHER"), os.Getenv("WORK"), "", unix.MS_BIND, ""); err != nil {
		panic(err)
	}
	fmt.Print(" ")
	cat()
	if err := b.Close(); err != nil {
		panic(err)
	}
	return 0
}
