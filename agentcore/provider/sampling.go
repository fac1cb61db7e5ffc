package provider

import (
	"cmp"

	"github.com/agentls/agentls/agentcore/model"
)

// Sampling is how a model answers, where it is not left to the provider.
type Sampling struct {
	// Temperature is nil where it is not set.
	Temperature *float64
	// MaxTokens bounds one answer; 0 where it is not set.
	MaxTokens int
	// Effort is empty where it is not set.
	Effort model.Effort
}

// over returns the settings, with those of below where they are not set.
func (s Sampling) over(below Sampling) Sampling {
	return Sampling{
		cmp.Or(s.Temperature, below.Temperature), cmp.Or(s.MaxTokens, below.MaxTokens),
		cmp.Or(s.Effort, below.Effort),
	}
}

// Sampling returns the settings of the preset that the choice comes to, and those that a run has whose definition says
// own. A preset that the call names counts before what the definition says, which counts before any other preset.
// inherited are the parent's, which has its model from a preset, perhaps.
func (c Choice) Sampling(inherited, own Sampling) (preset, all Sampling) {
	for _, name := range []string{c.Override, c.Definition, c.Parent, c.Former, c.Config.DefaultModel} {
		p, ok := c.Config.Presets[name]
		switch {
		case name == "", ok && p.Model == "": // as if none were named
			continue
		case name == c.Parent && name != c.Override && name != c.Definition:
			return inherited, own.over(inherited)
		case !ok:
			return Sampling{}, own
		}
		preset = Sampling{p.Temperature, p.MaxTokens, model.Effort(p.Effort)}
		if name == c.Override {
			return preset, preset.over(own)
		}
		return preset, own.over(preset)
	}
	return Sampling{}, own
}
