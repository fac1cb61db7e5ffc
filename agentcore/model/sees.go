package model

// Seeing is a Model that knows whether images are sent to it.
type Seeing interface {
	Model
	// Sees reports whether they are. It never waits.
	Sees() bool
}

// Sees reports whether images are sent to a model: not unless it says so.
func Sees(m Model) bool {
	seeing, ok := m.(Seeing)
	return ok && seeing.Sees()
}
