//go:build amd64 || arm64

package sandbox

import (
	"time"
)

// machine is what a box needs of this system: the thread that starts its processes, their cgroup, if any, and the
// process that waits for the next command. The holder of the box's turn uses it.
type machine struct {
	launcher *launcher
	cgroup   string
	counted  int // how many commands were in the cgroup so far
	spare    *spare
	used     []string // work folders of commands that have ended
	// patience is how long a spare waits.
	patience time.Duration
}

// newMachine makes the machine of a box with a folder of its own. counting says that the kernel counts what commands
// use.
func newMachine(dir string, counting bool) machine {
	m := machine{launcher: newLauncher(), patience: sparePatience}
	if counting {
		// Making a cgroup worked in the probe. If it fails now, commands are counted as on a machine without cgroups.
		m.cgroup, _ = openCgroup(dir)
	}
	return m
}

func (m *machine) close() error {
	if m.launcher != nil {
		m.launcher.close()
	}
	if m.cgroup == "" {
		return nil
	}
	return removeCgroup(m.cgroup)
}

// leave has the work folder of an ended command deleted later. There may be none.
func (m *machine) leave(work string) {
	if work != "" {
		m.used = append(m.used, work)
	}
}

// count makes the cgroup of the next command; nil where the kernel does not count.
func (m *machine) count(limits Limits) (*counted, error) {
	if m.cgroup == "" {
		return nil, nil
	}
	m.counted++
	return newCounted(m.cgroup, m.counted, limits)
}
