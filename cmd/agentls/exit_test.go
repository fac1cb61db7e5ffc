package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestHelpNamesExitCodes: each command that starts runs says in its help what its exit codes mean.
func TestHelpNamesExitCodes(t *testing.T) {
	root := rootCommand(&process{})
	for _, path := range [][]string{{"run"}, {"review"}, {"sessions", "resume"}} {
		c, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range []int{exitOK, exitFindings, exitUsage, exitFailed, exitDenied, exitInterrupted} {
			if !strings.Contains(c.Long, fmt.Sprintf("\n  %-5d", code)) {
				t.Errorf("the help of %s does not name exit code %d", c.CommandPath(), code)
			}
		}
	}
}
