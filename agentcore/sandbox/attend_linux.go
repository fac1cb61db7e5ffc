//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// attend prepares this process for a command without walls. The command may do what the user may, but cannot gain
// rights by setuid programs.
func (in *inner) attend() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	return in.limit()
}

// endDescendants ends every process below this one: a process whose parent ends becomes a child of this one. Other
// goroutines may wait for children meanwhile.
func endDescendants() {
	for {
		switch pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); {
		case err == unix.ECHILD:
			return
		case pid > 0:
			continue
		}
		for _, pid := range children() {
			_ = unix.Kill(pid, unix.SIGKILL) // the process may be gone already
		}
		time.Sleep(time.Millisecond) // gives the kernel time to carry it out
	}
}

// children are the processes whose parent this one is.
func children() []int {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	own := strconv.Itoa(os.Getpid())
	var found []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process is gone
		}
		// pid (name) state ppid …: proc_pid_stat(5). The name may hold anything.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != own {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// inner is the first process of a sandbox. It builds the walls, gives up every right that it needed for that, starts
// the command, and ends with it; the kernel then ends every other process of the namespace.
type inner struct {
	spec   spec
	status *os.File
}
