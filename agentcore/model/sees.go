package model

// Seeing is a Model that knows whether it can be sent images.
type Seeing interface {
	Model
	// Sees reports whether it can. It never waits.
	Sees() bool
}

// Sees reports whether a model can be sent images: only if it says so itself.
func Sees(m Model) bool {
	seeing, ok := m.(Seeing)
	return ok && seeing.Sees()
}
