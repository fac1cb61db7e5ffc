package run

import (
	"cmp"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
)

// unthought is an effort that a run's model is not asked for, and who wanted it; the zero value is none.
type unthought struct {
	effort model.Effort
	whose  string
	hint   string
}

// chooseEffort settles how much the run's model thinks: as the request says, else as its definition or its preset does,
// which sampling has. What a person asks for is sent to a model that may take it, and refused where it certainly takes
// none; what a definition says, which cannot know its model, only goes to one that is known to take it.
func (r *spec) chooseEffort() error {
	use, hint := model.EffortOf(r.model)
	wanted, whose, least := r.sampling.Effort, "its preset", model.EffortUnknown
	asked, ofDefinition := r.request.Effort, model.Effort(r.definition.Effort)
	switch {
	case asked != "" && r.task == nil:
		wanted = asked
		if use == model.EffortRefused {
			return &fault.Error{
				Kind: fault.InvalidRequest, Detail: fmt.Sprintf("%s takes no effort, and %s is asked for",
					r.model.Name(), wanted),
				Hint: cmp.Or(hint, "leave the effort out, or choose a model that thinks"),
			}
		}
	case ofDefinition != "" && wanted == ofDefinition && wanted != r.preset.Effort:
		whose, least = "its definition", model.EffortTaken
	case asked != "" && ofDefinition == "":
		wanted, whose = asked, "the run that started it"
		if r.model.Name() != r.parent.model.Name() {
			least = model.EffortTaken
		}
	}
	r.sampling.Effort = wanted
	if wanted != "" && use < least {
		r.sampling.Effort, r.unthought = "", unthought{wanted, whose, hint}
	}
	return nil
}

// tellEffort says that the effort which a definition or a preset wants is left out, unless the run's parent said so of
// the same model.
func tellEffort(r *Run) {
	u := r.unthought
	if u.effort == "" || r.parent != nil && r.parent.unthought == u && r.parent.model.Name() == r.model.Name() {
		return
	}
	r.notice(event.NoticeInfo,
		fmt.Sprintf("%s works without the effort %s that %s asks for: %s is not known to take one", r.definition.Slug,
			u.effort, u.whose, r.model.Name()),
		cmp.Or(u.hint, "set effort in a preset for that model, if it takes one"))
}
