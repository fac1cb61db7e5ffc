package tool

import (
	"encoding/json"
	"strings"
)

// Access is what a call reaches for, as its arguments name it; permissions are decided on it.
type Access struct {
	// Paths of files and folders, as the model wrote them.
	Paths []string
	// Command line, for bash.
	Command string
	// Hosts, as host:port.
	Hosts []string
	// Network says that the call reaches the network, even where it names no host.
	Network bool
	// Call is what else names the call: a subagent's type, a skill's name.
	Call string
}

// AccessOf returns what a call reaches for. Broken arguments reach for nothing: the tool refuses them.
func AccessOf(spec Spec, arguments json.RawMessage) Access {
	var named struct {
		Path         string `json:"path"`
		Patch        string `json:"patch"`
		Command      string `json:"command"`
		URL          string `json:"url"`
		Name         string `json:"name"`
		SubagentType string `json:"subagent_type"`
	}
	if json.Unmarshal(arguments, &named) != nil {
		return Access{}
	}
	var a Access
	if strings.HasPrefix(spec.Name, "mcp__") {
		return a // what a server's arguments mean is its own
	}
	if named.Path != "" {
		a.Paths = append(a.Paths, named.Path)
	}
	switch spec.Name {
	case "bash":
		a.Command = named.Command
	case "patch":
		files, _, _ := parsePatch(named.Patch)
		for _, file := range files {
			a.Paths = append(a.Paths, file.path)
			if file.moveTo != "" {
				a.Paths = append(a.Paths, file.moveTo)
			}
		}
	case "webfetch":
		if h := hostOf(named.URL); h != "" {
			a.Hosts = []string{h}
		}
	case "websearch":
		a.Network = true
	case "task":
		a.Call = named.SubagentType
	case "skill":
		a.Call = named.Name
	}
	return a
}

// PatchSections cuts a patch into the parts that are each about one file, or about one that moves, so that one of them
// can be changed alone; joined they are the patch again. Paths are those of the file, as the model wrote them. What stands in front of
// the first section has none, and of a broken patch the whole is one part without paths.
func PatchSections(text string) []PatchSection {
	files, _, faults := parsePatch(text)
	if len(faults) > 0 {
		return []PatchSection{{Text: text}}
	}
	lines := splitLines(text)
	list := []PatchSection{{}}
	from := 0
	for _, file := range files {
		// A line that is no header was miscounted: nothing is taken for a part of a file that it is not of.
		if file.line < 1 || file.line > len(lines) || lines[file.line-1].start < from || !isHeader(text[lines[file.line-1].start:]) {
			return []PatchSection{{Text: text}}
		}
		at := lines[file.line-1].start
		list[len(list)-1].Text = text[from:at]
		from = at
		section := PatchSection{Paths: []string{file.path}}
		if file.moveTo != "" {
			section.Paths = append(section.Paths, file.moveTo)
		}
		list = append(list, section)
	}
	list[len(list)-1].Text = text[from:]
	return list
}

// isHeader reports whether a text begins with the header of a section.
func isHeader(text string) bool {
	text = strings.TrimLeft(text, " \t")
	return strings.HasPrefix(text, "***") || strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "--- ")
}

// PatchSection is a part of a patch.
type PatchSection struct {
	Text  string
	Paths []string
}

// ArgumentsFor puts a subject, such as a command line, a path or an address, where a call of the tool has it.
func ArgumentsFor(spec Spec, subject string) map[string]string {
	switch spec.Name {
	case "bash":
		return map[string]string{"command": subject}
	case "webfetch":
		if !strings.Contains(subject, "://") {
			subject = "https://" + subject
		}
		return map[string]string{"url": subject}
	case "task":
		return map[string]string{"subagent_type": subject}
	case "skill":
		return map[string]string{"name": subject}
	}
	return map[string]string{"path": subject}
}
