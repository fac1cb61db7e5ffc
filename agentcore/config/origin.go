package config

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Layer is one of the places that values come from, the weakest first.
type Layer int

const (
	// LayerDefault is the built-in default.
	LayerDefault Layer = iota
	// LayerUser is the user's config.toml.
	LayerUser
	// LayerProject is .agentls/config.toml of a trusted workspace folder.
	LayerProject
	// LayerEnvironment is the process's environment.
	LayerEnvironment
	// LayerEditor is what the editor sent: initializationOptions, then workspace/configuration.
	LayerEditor
	// LayerFlag is the command line.
	LayerFlag
)

// Folder is the workspace folder from whose file the value comes, or "" for any other origin.
func (o Origin) Folder() string {
	if o.Layer != LayerProject {
		return ""
	}
	for _, name := range []string{ProjectFile, ProjectServers} {
		if dir, ok := strings.CutSuffix(filepath.ToSlash(o.File), "/"+name); ok {
			return filepath.FromSlash(dir)
		}
	}
	return ""
}

// String returns the layer's name as messages have it: "default", "user file", "project file" …
func (l Layer) String() string {
	switch l {
	case LayerDefault:
		return "default"
	case LayerUser:
		return "user file"
	case LayerProject:
		return "project file"
	case LayerEnvironment:
		return "environment"
	case LayerEditor:
		return "editor settings"
	case LayerFlag:
		return "flag"
	}
	return "layer " + strconv.Itoa(int(l))
}

// Origin is the place that a value comes from. The zero Origin is the built-in default.
type Origin struct {
	Layer Layer
	// File is the path of the file, for LayerUser and LayerProject.
	File string
	// Line is the 1-based line in File.
	Line int
	// Variable is the name of the variable, for LayerEnvironment.
	Variable string
	// Shown is File with the home folder as ~, for people.
	Shown string
}

// String returns the origin for people: "default", "~/.config/agentls/config.toml:12",
// "environment AGENTLS_MAX_DEPTH", "editor settings" or "flag".
func (o Origin) String() string {
	switch {
	case o.File != "" && o.Line > 0:
		return o.Shown + ":" + strconv.Itoa(o.Line)
	case o.File != "":
		return o.Shown
	case o.Variable != "":
		return o.Layer.String() + " " + o.Variable
	}
	return o.Layer.String()
}

// MarshalText makes an Origin a string in JSON.
func (o Origin) MarshalText() ([]byte, error) {
	return []byte(o.String()), nil
}

// Value is one effective value with its key and origin.
type Value struct {
	// Key is the full key as in a file, with [N] (0-based) in lists: "max_depth", "providers.openai.base_url",
	// "permission[0].tool".
	Key string `json:"key"`
	// Text is the value, secrets as "***". It is valid TOML and valid JSON alike.
	Text string `json:"value"`
	// Origin is where the value was set.
	Origin Origin `json:"origin"`
}

// Origin returns where the value of the full key (see Value.Key) was set. A key of a list's entry has
// the origin of the entry. A key that is set nowhere has the zero Origin, the built-in default.
func (c *Config) Origin(key string) Origin {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return c.origins[key[:strings.LastIndexByte(key, ']')+1]]
}

// ProviderNames returns the names of the providers in the order in which they are tried and listed: first the ones that
// were added, as they stand in the files, then the vendors, which always exist.
func (c *Config) ProviderNames() []string {
	names := slices.SortedFunc(maps.Keys(c.Providers), func(a, b string) int {
		first, second := c.Origin("providers."+quoteKey(a)), c.Origin("providers."+quoteKey(b))
		return cmp.Or(
			cmp.Compare(slices.Index(vendorOrder, a), slices.Index(vendorOrder, b)),
			cmp.Compare(first.Layer, second.Layer), cmp.Compare(first.Line, second.Line), strings.Compare(a, b),
		)
	})
	return names
}

// Values yields every effective value in a stable order: that of the documentation, names sorted, lists in order.
// Optional keys of table entries are left out where they are not set.
func (c *Config) Values() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for _, f := range settings() {
			for v := range f.values(c) {
				v.Origin = c.Origin(v.Key)
				if !yield(v) {
					return
				}
			}
		}
	}
}

// values yields the keys and texts of a top-level field, without origins.
func (f *field) values(c *Config) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if f.shape == leaf {
			if m, ok := f.at(c).(*map[string]string); ok {
				for _, name := range slices.Sorted(maps.Keys(*m)) {
					if !yield(Value{Key: f.key + "." + quoteKey(name), Text: f.renderWord((*m)[name])}) {
						return
					}
				}
				return
			}
			yield(Value{Key: f.key, Text: f.render(c)})
			return
		}
		for key, entry := range f.each(c) {
			for i := range f.entries {
				e := &f.entries[i]
				if e.unset(entry) {
					continue
				}
				if !yield(Value{Key: key + "." + e.key, Text: e.render(entry)}) {
					return
				}
			}
		}
	}
}

// eachNamed yields the full keys and the entries of a map of tables.
func eachNamed[T any](key string, m map[string]T) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			entry := m[name]
			if !yield(key+"."+quoteKey(name), &entry) {
				return
			}
		}
	}
}

// eachListed yields the full keys and the entries of a list of tables.
func eachListed[T any](key string, list []T) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := range list {
			entry := list[i]
			if !yield(fmt.Sprintf("%s[%d]", key, i), &entry) {
				return
			}
		}
	}
}

// quoteKey returns a name as TOML has it in a key: bare where that is possible.
func quoteKey(name string) string {
	return toml.Key{name}.String()
}
