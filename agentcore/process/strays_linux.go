package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// EndStrays ends the processes of this user that were started with one of the variables, as NAME=value, in their
// environment: processes that have left their group, or whose server is gone. It looks again until it finds none, since
// a process may start others meanwhile. It may be called from any goroutine.
func EndStrays(variables ...string) error {
	ours := map[string]bool{}
	for _, variable := range variables {
		ours[variable] = true
	}
	const rounds = 20
	for round, found := 0, len(ours) > 0; found && round < rounds; round++ {
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return fmt.Errorf("look for processes of commands: %w", err)
		}
		found = false
		for _, name := range environs {
			environ, err := os.ReadFile(name)
			if err != nil {
				continue // the process is another user's, or gone
			}
			for variable := range bytes.SplitSeq(environ, []byte{0}) {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
				if ours[string(variable)] && err == nil && pid != os.Getpid() &&
					syscall.Kill(pid, syscall.SIGKILL) == nil {
					found = true
				}
			}
		}
	}
	return nil
}
