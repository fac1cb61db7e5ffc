package authority

import (
	"encoding/json"
	"slices"

	"github.com/agentls/agentls/agentcore/permission"
)

// Powers are what a run was allowed in addition to its definition's rules, in the form in which they are stored with
// it.
type Powers struct {
	Mode  permission.Mode `json:"mode,omitempty"`
	Tools []string        `json:"tools"`
	// Planning says that the run is in plan mode, which plan_exit ends.
	Planning bool `json:"planning,omitempty"`
	// Rules are the rules of the run itself, from its definition and the configuration of that time. A run that goes on
	// with a child is bound by them in addition to today's, so that the removal of a rule never gives it more power
	// than the child had.
	Rules []permission.Layer `json:"rules"`
	// Bound are the boundaries of the runs that it goes on with, where these were children, and of the runs above
	// these.
	Bound []Boundary `json:"bound,omitempty"`
}

// Boundary is what one run was allowed, where that binds another run.
type Boundary struct {
	Mode  permission.Mode    `json:"mode,omitempty"`
	Rules []permission.Layer `json:"rules"`
}

// Bounds are the boundaries of a run that goes on with a run of these powers.
func (p Powers) Bounds() []Boundary {
	list := slices.Clone(p.Bound)
	if p.Rules != nil {
		list = append(list, Boundary{p.Mode, p.Rules})
	}
	return list
}

// Narrowed takes from stored powers what a file that anybody may have written must not decide: of the modes, only plan
// is narrower than what the user's own runs of the agent have.
func Narrowed(permissions json.RawMessage) json.RawMessage {
	p := ReadPowers(permissions)
	if p.Mode != permission.Plan {
		p.Mode = ""
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil // which reads as the least
	}
	return raw
}

// ReadPowers reads what a stored run was allowed. A run that was stored before powers were has the least.
func ReadPowers(permissions json.RawMessage) Powers {
	var p Powers // the default mode is stored as an empty one
	if err := json.Unmarshal(permissions, &p); err != nil {
		return Powers{Mode: permission.Plan}
	}
	return p
}
