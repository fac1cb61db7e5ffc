package anthropic

import (
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/model"
)

// thinking switches thoughts on: the type is adaptive, or enabled with a budget ("Extended thinking" page).
type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
}

// outputConfig says how much the model spends on an answer ("Effort" page).
type outputConfig struct {
	Effort model.Effort `json:"effort"`
}

// effort is how a model is told how much to think.
type effort int

const (
	none     effort = iota
	unknown         // by a budget, if at all
	budget          // before 4.6
	adaptive        // from 4.6 on: by output_config, beside thinking that adapts itself
)

// budgets are the tokens of thoughts that the efforts are worth where a model takes a budget. All such models answer
// with the largest of them and defaultMaxTokens together.
var budgets = map[model.Effort]int{model.EffortLow: 2048, model.EffortMedium: 8192, model.EffortHigh: 16384}

// leastBudget is the smallest budget that the vendor takes.
const leastBudget = 1024

// versionOf finds the version in the ids of the vendor's models, such as claude-3-7-sonnet-20250219,
// claude-sonnet-4-5 and claude-opus-5; the date behind it has more digits.
var versionOf = lazyregexp.New(`-(\d{1,2})(?:[-.](\d{1,2}))?(?:[-@:]|$)`)

// effortOf returns how a model is told how much to think, by its id.
func effortOf(id string) effort {
	at := strings.Index(strings.ToLower(id), "claude-")
	if at < 0 {
		return unknown // another vendor's, behind a compatible server
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

// Effort tells the vendor's models by their version.
func (c *claude) Effort() (use model.EffortUse, hint string) {
	switch c.effort {
	case none:
		return model.EffortRefused, ""
	case unknown:
		return model.EffortUnknown, ""
	}
	return model.EffortTaken, ""
}

// think has the model think as much as the request says. Thoughts count towards the length of an answer: where nobody
// has set that, there is more of it, and where somebody has, at most half of it are thoughts. The vendor takes no
// temperature beside thoughts.
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
