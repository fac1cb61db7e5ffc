package tooltest

import (
	"context"

	"github.com/agentls/agentls/agentcore/tool"
)

// User implements tool.User: a person who agrees to all.
type User struct {
	tool.User // no test needs the rest of it: a call of those methods panics

	// Questions are those asked so far, in order.
	Questions []tool.Question
	// Plan is what was handed over as a plan last, empty for nothing.
	Plan string
}

var _ tool.User = (*User)(nil)

// Ask implements tool.User: the user takes the first option, and leaves a question without any to the agent.
func (u *User) Ask(_ context.Context, questions []tool.Question) ([]tool.Reply, error) {
	u.Questions = append(u.Questions, questions...)
	var replies []tool.Reply
	for _, q := range questions {
		if len(q.Options) == 0 {
			replies = append(replies, tool.Reply{Why: "the user leaves it to you"})
			continue
		}
		replies = append(replies, tool.Reply{Answers: []string{q.Options[0].Label}})
	}
	return replies, nil
}

// EnterPlan implements tool.User.
func (u *User) EnterPlan(_ context.Context, reason string) (string, error) {
	return "You are planning now. The reason was: " + reason, nil
}

// ExitPlan implements tool.User.
func (u *User) ExitPlan(_ context.Context, plan string) (string, error) {
	u.Plan = plan
	return "The user accepted the plan. Carry it out.", nil
}
