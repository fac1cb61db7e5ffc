package gemini

import (
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// budgets are the tokens that the efforts are worth where a model takes a budget ("OpenAI compatibility" page).
var budgets = map[model.Effort]int{model.EffortLow: 1024, model.EffortMedium: 8192, model.EffortHigh: 24576}

// Effort tells models by their version: 2.5 takes a budget, later ones a level ("Thinking" page). Versions without a
// number are the user's own, of which only the server knows.
func (g *gemini) Effort() (use model.EffortUse, hint string) {
	switch {
	case g.effort == none:
		return model.EffortRefused, ""
	case g.effort == unknown:
		return model.EffortUnknown, ""
	}
	return model.EffortTaken, ""
}

// effort is how a model is told how much to think.
type effort int

const (
	none    effort = iota
	unknown        // as a level, if at all
	budget
	level
	coarse // a level, but no medium one
)

// effortOf returns how a model is told how much to think.
func effortOf(id string, major, minor int) effort {
	switch {
	case silent(id), major == 1, major == 2 && minor < 5:
		return none
	case major == 0:
		return unknown
	case major == 2:
		return budget
	case major == 3 && minor == 0 && strings.Contains(id, "pro"):
		return coarse
	}
	return level
}

// thinking asks for thoughts, and for as many as the effort says; nil where the model has none.
func (g *gemini) thinking(e model.Effort) *thinkingConfig {
	if !g.thinks && e == "" {
		return nil
	}
	c := &thinkingConfig{IncludeThoughts: g.thinks || g.effort == budget}
	switch {
	case g.effort == budget:
		c.ThinkingBudget = budgets[e]
	case g.effort == coarse && e == model.EffortMedium:
		c.ThinkingLevel = model.EffortHigh
	default:
		c.ThinkingLevel = e
	}
	return c
}
