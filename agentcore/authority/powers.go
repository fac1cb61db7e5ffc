package authority

import (
	"encoding/json"
	"slices"

	"github.com/agentls/agentls/agentcore/permission"
)

// Powers are what a run was allowed, beside its definition's rules, as they are stored with it.
type Powers struct {
	Mode  permission.Mode `json:"mode,omitempty"`
	Tools []string        `json:"tools"`
	// Planning says that the run is in plan mode, which plan_exit ends.
	Planning bool `json:"planning,omitempty"`
	// Rules are those of the run itself, from its definition and the configuration of that time. What goes on with a
	// child is bound by them beside those of today, so that nothing which was taken away since gives it more power than
	// it had.
	Rules []permission.Layer `json:"rules"`
	// Bound are those of the runs that it goes on with, where they were children, and of the runs above these.
	Bound []Boundary `json:"bound,omitempty"`
}

// Boundary is what a run was allowed that binds another.
type Boundary struct {
	Mode  permission.Mode    `json:"mode,omitempty"`
	Rules []permission.Layer `json:"rules"`
}

// Bounds are what binds whoever goes on with a run of these powers.
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

// ReadPowers reads what a stored run was allowed. One from before that was stored has the least.
func ReadPowers(permissions json.RawMessage) Powers {
	var p Powers // the default mode is stored as none
	if err := json.Unmarshal(permissions, &p); err != nil {
		return Powers{Mode: permission.Plan}
	}
	return p
}
