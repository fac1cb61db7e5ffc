package sandbox

import (
	"fmt"
	"strings"
)

// Report is which level can be had on this machine, and what every check found.
type Report struct {
	Level Level
	// Overlay says that the workspace is mounted copy-on-write; otherwise commands get a synced copy of it.
	Overlay bool
	// Cgroup says that the kernel counts the memory and the processes of a command together, in a cgroup (v2).
	// Otherwise memory is measured ten times a second, except for commands on copies, and processes are limited where
	// there are namespaces.
	Cgroup bool
	Checks []Check
}

// Check is one thing that the sandbox needs.
type Check struct {
	// Name is what was looked at, such as "user namespace".
	Name string
	OK   bool
	// Detail is what was found, and if it is not OK, what to do.
	Detail string
}

// checkCgroup is the name of the check that no level depends on.
const checkCgroup = "cgroup"

// Reason is why the level is not the full one, in one line; empty where it is.
func (r Report) Reason() string {
	if r.Level == Full && r.Overlay {
		return ""
	}
	var failed []string
	for _, c := range r.Checks {
		if !c.OK && c.Name != checkCgroup {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	return strings.Join(failed, "; ")
}

// String is the report for people, a line for each check.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sandbox: %s, %s, %s\n", r.Level, levelText[r.Level], r.limits())
	if r.Level != None {
		view := "a synced copy"
		if r.Overlay {
			view = "a copy-on-write mount"
		}
		fmt.Fprintf(&b, "  workspace: %s\n", view)
	}
	for _, c := range r.Checks {
		mark := "ok"
		if !c.OK {
			mark = "no"
		}
		fmt.Fprintf(&b, "  %s  %s: %s\n", mark, c.Name, c.Detail)
	}
	return b.String()
}

// limits says how memory and processes are bounded.
func (r Report) limits() string {
	switch {
	case r.Cgroup:
		return "memory and processes bounded by a cgroup"
	case r.Level == Copy || r.Level == None:
		return "only the size of files bounded"
	}
	return "memory and processes bounded by resource limits and counting"
}

var levelText = map[Level]string{
	Full:       "commands run in namespaces of their own",
	Bubblewrap: "commands run inside bubblewrap",
	Copy:       "commands run on a copy of the workspace, but may do all that you may",
	None:       "commands cannot be held back",
}

// note adds what a check found.
func (r *Report) note(name string, err error, fine string) bool {
	c := Check{Name: name, OK: err == nil, Detail: fine}
	if err != nil {
		c.Detail = err.Error()
	}
	r.Checks = append(r.Checks, c)
	return c.OK
}
