package lsptest

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
)

//go:embed profiles
var profiles embed.FS

// Profile is what one kind of editor announces, and its habits.
type Profile struct {
	Name       string `json:"-"`
	ClientInfo struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	} `json:"clientInfo"`
	// Capabilities are LSP's ClientCapabilities.
	Capabilities json.RawMessage `json:"capabilities"`
	// ChangeAfterAnswer is the habit of answering workspace/applyEdit before the didChange that it
	// causes. Neovim collects changes for a while.
	ChangeAfterAnswer bool `json:"changeAfterAnswer,omitempty"`
	// SkipsStaleEdits is Neovim's habit of leaving out an edit for an old version, and saying that all was applied.
	SkipsStaleEdits bool `json:"skipsStaleEdits,omitempty"`
	// PrintsEdits is Neovim's habit of printing the label of an edit and, in several lines, its change annotations. The
	// user then has to press a key to see the edit, so the server must not send such an editor either of them.
	PrintsEdits bool `json:"printsEdits,omitempty"`
	// EmptyIsALine is Neovim's habit of showing an empty file as one empty line, with its end, and no line behind the
	// last line end of any file: it fails to put the cursor there.
	EmptyIsALine bool `json:"emptyIsALine,omitempty"`
	// CommandOfUnresolvedOnly is Helix's habit of running the command of an action only if the action came with it, and
	// not if codeAction/resolve brings it.
	CommandOfUnresolvedOnly bool `json:"commandOfUnresolvedOnly,omitempty"`
}

// LoadProfile returns one of the profiles in the folder profiles, by its name without the ending.
func LoadProfile(name string) (*Profile, error) {
	data, err := profiles.ReadFile(path.Join("profiles", name+".json"))
	if err != nil {
		return nil, fmt.Errorf("there is no client profile %q: %w", name, err)
	}
	p := &Profile{Name: name}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("decode the client profile %q: %w", name, err)
	}
	return p, nil
}

// Announces reports whether the capability at the path, such as "workspace.applyEdit", is there and not false. An empty
// object is a yes.
func (p *Profile) Announces(path string) bool {
	return truthy(lookup(p.Capabilities, path))
}

func truthy(raw json.RawMessage) bool {
	return raw != nil && string(raw) != "false" && string(raw) != "null"
}

// strings returns the list of strings at a path.
func (p *Profile) strings(path string) []string {
	var list []string
	if err := json.Unmarshal(lookup(p.Capabilities, path), &list); err != nil {
		return nil
	}
	return list
}

// lookup returns the value at a dotted path of member names and 0-based array indexes, nil where there is none. A
// negative index counts from the end.
func lookup(raw json.RawMessage, path string) json.RawMessage {
	if path == "" {
		return raw
	}
	for name := range strings.SplitSeq(path, ".") {
		if index, err := strconv.Atoi(name); err == nil {
			var list []json.RawMessage
			if json.Unmarshal(raw, &list) != nil {
				return nil
			}
			if index < 0 {
				index += len(list)
			}
			if index < 0 || index >= len(list) {
				return nil
			}
			raw = list[index]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		raw = object[name]
	}
	return raw
}
