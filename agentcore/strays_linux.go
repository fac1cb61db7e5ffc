package agentcore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/agentls/agentls/agentcore/event"
)

// endStrays ends processes of a run that have left their group: each has the run in its environment. A process that
// starts others meanwhile is found again in the next round.
func endStrays(id event.RunID) error {
	want := []byte(runVariable(id))
	for range 10 {
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return fmt.Errorf("look for processes of the run: %w", err)
		}
		found := false
		for _, name := range environs {
			environ, err := os.ReadFile(name)
			if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return bytes.Equal(v, want) }) {
				continue // it is another user's, is gone, or is none of ours
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err == nil && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
		if !found {
			break
		}
	}
	return nil
}
