package model

import "slices"

// Effort is how much a model is to think before it answers; empty leaves it to the model.
type Effort string

// The efforts. Vendors have more efforts, but all vendors understand these.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Efforts are the permitted names, the smallest effort first.
var Efforts = []string{string(EffortLow), string(EffortMedium), string(EffortHigh)}

// Valid reports whether the effort is one of Efforts, or empty.
func (e Effort) Valid() bool { return e == "" || slices.Contains(Efforts, string(e)) }

// EffortUse is what is known of a model's effort.
type EffortUse int

// The uses of an effort.
const (
	// EffortRefused: the model accepts no effort.
	EffortRefused EffortUse = iota
	// EffortUnknown: only its server knows.
	EffortUnknown
	// EffortTaken: the model accepts the effort of a request.
	EffortTaken
)

// Thinker is a model that knows whether it accepts Request.Effort. A model that is no Thinker does not.
type Thinker interface {
	Model
	// Effort says what the model does with a request's effort. hint says what a person can do if it is refused, "" if
	// only another model helps.
	Effort() (use EffortUse, hint string)
}

// EffortOf says what a model does with a request's effort; see Thinker.
func EffortOf(m Model) (use EffortUse, hint string) {
	if t, ok := m.(Thinker); ok {
		return t.Effort()
	}
	return EffortRefused, ""
}
