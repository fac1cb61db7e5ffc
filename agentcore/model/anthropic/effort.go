package anthropic

import (
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/model"
)

// thinking turns thinking on: the type is adaptive, or enabled with a budget ("Extended thinking" page).
type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
}

// outputConfig says how much effort the model puts into an answer ("Effort" page).
type outputConfig struct {
	Effort model.Effort `json:"effort"`
}

// effort is the way in which a model is told how much to think.
type effort int

const (
	none     effort = iota
	unknown         // only its server knows; told by a budget
	budget          // told by a budget of tokens: models before 4.6
	adaptive        // told by output_config, with adaptive thinking: models from 4.6 on
)

// budgets are the tokens for thinking that the efforts mean for a model with a budget. The largest budget and
// defaultMaxTokens together are within the limits of all such models.
var budgets = map[model.Effort]int{model.EffortLow: 2048, model.EffortMedium: 8192, model.EffortHigh: 16384}

// leastBudget is the smallest budget that the vendor accepts.
const leastBudget = 1024

// versionOf finds the version in the ids of the vendor's models, such as claude-3-7-sonnet-20250219,
// claude-sonnet-4-5 and claude-opus-5; the date behind it has more digits.
var versionOf = lazyregexp.New(`-(\d{1,2})(?:[-.](\d{1,2}))?(?:[-@:]|$)`)

// effortOf returns, by a model's id, the way in which the model is told how much to think.
func effortOf(id string) effort {
	at := strings.Index(strings.ToLower(id), "claude-")
	if at < 0 {
		return unknown // a model of another vendor, behind a compatible server
	}
	parts := versionOf().FindStringSubmatch(strings.ToLower(id[at:]))
	if parts == nil {
		return unknown
	}
	major, _ := strconv.Atoi(parts[1]) // digits, or nothing
	minor, _ := strconv.Atoi(parts[2])
	switch {
	case major > 4 || major == 4 && minor >= 6:
		return adaptive
	case major == 4 || major == 3 && minor >= 7:
		return budget
	}
	return none
}

// Effort knows the vendor's models by their versions.
func (c *claude) Effort() (use model.EffortUse, hint string) {
	switch c.effort {
	case none:
		return model.EffortRefused, ""
	case unknown:
		return model.EffortUnknown, ""
	}
	return model.EffortTaken, ""
}

// think makes the model think as much as the request says. Thoughts count towards the length of an answer: if nobody
// has set the length, it is increased, and otherwise thoughts get at most half of it. The vendor accepts no temperature
// with thinking.
func (c *claude) think(params *body, request *model.Request) {
	if request.Effort == "" {
		return
	}
	params.Temperature = nil
	tokens := budgets[request.Effort]
	if request.MaxTokens == 0 && c.maxTokens == defaultMaxTokens {
		params.MaxTokens += tokens
	} else {
		tokens = max(leastBudget, min(tokens, params.MaxTokens/2))
		params.MaxTokens = max(params.MaxTokens, 2*leastBudget)
	}
	if c.effort == adaptive {
		params.Thinking, params.OutputConfig = thinking{Type: "adaptive"}, outputConfig{request.Effort}
		return
	}
	params.Thinking = thinking{Type: "enabled", BudgetTokens: tokens}
}
