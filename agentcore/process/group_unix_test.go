//go:build unix

package process

import (
	"bufio"
	"errors"
	"os/exec"
	"testing"
)

// A group ends as a whole: what its leader has started holds the pipe no more.
func TestKillGroup(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "sleep 300 & echo began; wait")
	OwnGroup(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "began" {
		t.Fatalf("it says %q, %v", lines.Text(), lines.Err())
	}
	if err := KillGroup(cmd); err != nil {
		t.Error(err)
	}
	if lines.Scan() { // waits for the end of whoever holds the pipe
		t.Errorf("it goes on with %q", lines.Text())
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &failed) {
		t.Fatalf("it ended with %v", err)
	}
	if exit, signal := Ended(cmd.ProcessState); exit != 0 || SignalName(signal) != "SIGKILL" {
		t.Errorf("it ended with %d and %s", exit, SignalName(signal))
	}
}
