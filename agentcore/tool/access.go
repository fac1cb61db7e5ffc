package tool

import "strings"

// Access is what a call reaches for, as its arguments name it. Permissions are decided on it.
type Access struct {
	// Paths of files and folders, as the model wrote them.
	Paths []string
	// Whole says that the conversation has the whole text of the files after the call.
	Whole bool
	// Search says that the call looks for something below the paths, and is not about the paths themselves.
	Search bool
	// Sections are the parts of the arguments' text that concern only some of the files; none where all of the text
	// concerns all files.
	Sections []PatchSection
	// Command line.
	Command string
	// Hosts, as host:port.
	Hosts []string
	// Network says that the call reaches the network, even where it names no host.
	Network bool
	// Call names the call in another way: a subagent's type, a skill's name.
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

// lookingIn is the Access of a call that searches a folder, which may be left out.
func lookingIn(path string) Access {
	access := onPath(path)
	access.Search = true
	return access
}

// Subject is the part of a tool's calls that rules are about.
type Subject int

// The subjects.
const (
	// ByNothing is the subject of tools whose calls no rule tells apart.
	ByNothing Subject = iota
	ByPath
	ByCommand
	ByAddress
	// ByName is the subject of calls that name an agent or a skill.
	ByName
)

// Access is the Access of a call whose subject is the text.
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

// onAddress is the Access of a call that fetches an address. It is empty for an address without a host.
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
