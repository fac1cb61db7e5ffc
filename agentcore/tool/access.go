package tool

import "strings"

// Access is what a call reaches for, as its arguments name it; permissions are decided on it.
type Access struct {
	// Paths of files and folders, as the model wrote them.
	Paths []string
	// Whole says that after the call the conversation has the whole text of the files.
	Whole bool
	// Search says that the paths are where the call looks, not what it is about.
	Search bool
	// Sections are the parts of the arguments' text that are about some of the files alone; none where all of it is
	// about all.
	Sections []PatchSection
	// Command line.
	Command string
	// Hosts, as host:port.
	Hosts []string
	// Network says that the call reaches the network, even where it names no host.
	Network bool
	// Call is what else names the call: a subagent's type, a skill's name.
	Call string
}

// Internal is the Access of calls that reach for nothing but the run's own records.
func Internal[A any](A) Access { return Access{} }

// onPath is the Access of a call on a file or folder, which may be left out.
func onPath(path string) Access {
	if path == "" {
		return Access{}
	}
	return Access{Paths: []string{path}}
}

// lookingIn is the Access of a call that looks for something below a folder, which may be left out.
func lookingIn(path string) Access {
	access := onPath(path)
	access.Search = true
	return access
}

// Subject is what rules speak of where they speak of a tool's calls.
type Subject int

// The subjects.
const (
	// ByNothing is the subject of tools whose calls no rule tells apart.
	ByNothing Subject = iota
	ByPath
	ByCommand
	ByAddress
	// ByName is that of calls that name an agent or a skill.
	ByName
)

// Access is that of a call which has the text for its subject.
func (s Subject) Access(text string) Access {
	switch s {
	case ByPath:
		return onPath(text)
	case ByCommand:
		return Access{Command: text}
	case ByAddress:
		if !strings.Contains(text, "://") {
			text = "https://" + text
		}
		return onAddress(text)
	case ByName:
		return Access{Call: text}
	}
	return Access{}
}

// onAddress is the Access of a call that fetches an address; of one that names no host, it reaches for nothing.
func onAddress(address string) Access {
	if host := hostOf(address); host != "" {
		return Access{Hosts: []string{host}}
	}
	return Access{}
}

// PatchSection is a part of a patch.
type PatchSection struct {
	Text  string
	Paths []string
}
