package model

import "slices"

// Effort is how much a model is to think before it answers; empty leaves it to the model.
type Effort string

// The efforts. Vendors have more, of which these are what all of them understand.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Efforts are the names that may be written, the smallest first.
var Efforts = []string{string(EffortLow), string(EffortMedium), string(EffortHigh)}

// Valid reports whether the effort is one of Efforts, or empty.
func (e Effort) Valid() bool { return e == "" || slices.Contains(Efforts, string(e)) }

// EffortUse is what is known of a model's effort.
type EffortUse int

// The uses of an effort.
const (
	// EffortRefused: the model takes none.
	EffortRefused EffortUse = iota
	// EffortUnknown: only its server knows.
	EffortUnknown
	// EffortTaken: the model takes the effort of a request.
	EffortTaken
)

// Thinker is a model that knows whether it takes Request.Effort. What is no Thinker takes none.
type Thinker interface {
	Model
	// Effort says what becomes of a request's effort. hint is what a person can do where it is refused, "" where there
	// is nothing but another model.
	Effort() (use EffortUse, hint string)
}

// EffortOf is what becomes of the effort of a request to the model; see Thinker.
func EffortOf(m Model) (use EffortUse, hint string) {
	if t, ok := m.(Thinker); ok {
		return t.Effort()
	}
	return EffortRefused, ""
}
