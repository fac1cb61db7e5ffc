package agentcore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/agentls/agentls/agentcore/event"
)

// endStrays ends processes of runs that have left their group, or whose server is gone: each has the run in its environment. A
// process that starts others meanwhile is found again in the next round.
func endStrays(runs ...event.RunID) error {
	ours := map[string]bool{}
	for _, id := range runs {
		ours[runVariable(id)] = true
	}
	const rounds = 20
	for round, found := 0, len(ours) > 0; found && round < rounds; round++ {
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return fmt.Errorf("look for processes of runs: %w", err)
		}
		found = false
		for _, name := range environs {
			environ, err := os.ReadFile(name)
			if err != nil {
				continue // it is another user's, or gone
			}
			for variable := range bytes.SplitSeq(environ, []byte{0}) {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
				if ours[string(variable)] && err == nil && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
					found = true
				}
			}
		}
	}
	return nil
}
