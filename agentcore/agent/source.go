package agent

import "fmt"

// Layer orders the places of definitions: of definitions with the same slug, the one of the later layer counts.
type Layer int

// The layers, from the weakest to the strongest.
const (
	LayerBuiltin Layer = iota
	LayerPlugin
	LayerUser
	LayerProject
	LayerRuntime
)

var layerNames = [...]string{"builtin", "plugin", "user", "project", "runtime"}

// String returns the layer's name on the wire.
func (l Layer) String() string {
	if l >= 0 && int(l) < len(layerNames) {
		return layerNames[l]
	}
	return fmt.Sprintf("layer %d", int(l))
}

// MarshalText makes a Layer a word in JSON.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (l *Layer) UnmarshalText(text []byte) error {
	for i, name := range layerNames {
		if name == string(text) {
			*l = Layer(i)
			return nil
		}
	}
	return fmt.Errorf("there is no layer %q", text)
}

// Source is where a definition comes from.
type Source struct {
	Layer Layer `json:"layer"`
	// Path is the file, absolute as a Loader found it; empty for a built-in or one registered at run time.
	Path string `json:"path,omitempty"`
}

// String is for people.
func (s Source) String() string {
	switch {
	case s.Path != "":
		return s.Path
	case s.Layer == LayerBuiltin:
		return "built-in"
	case s.Layer == LayerRuntime:
		return "registered at run time"
	}
	return s.Layer.String()
}
