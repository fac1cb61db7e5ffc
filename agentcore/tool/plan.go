package tool

import (
	"context"
	"errors"
	"strings"
)

// PlanExit is the tool that hands over a plan; its outcome names the file.
const PlanExit = "plan_exit"

type (
	planEnterArguments struct {
		Reason string `json:"reason,omitempty"`
	}
	planExitArguments struct {
		Plan string `json:"plan"`
	}
)

// planTools switch between planning and doing.
func planTools() []Tool {
	return []Tool{
		New(Definition[planEnterArguments, User]{
			Name:        "plan_enter",
			Description: "Offer the user a plan before a large or unclear change; you only read until it is accepted.",
			Effect:      Notes,
			Access:      Internal[planEnterArguments],
			User:        true,
			Private:     true,
			Example:     planEnterArguments{Reason: "it touches the storage format"},
			Title:       func(planEnterArguments) string { return "plan first" },
			Run: func(ctx context.Context, host User, a planEnterArguments) (Result, error) {
				text, err := host.EnterPlan(ctx, strings.TrimSpace(a.Reason))
				return Result{Text: text, Summary: summaryOf(text)}, err
			},
		}),
		New(Definition[planExitArguments, User]{
			Name:        PlanExit,
			Description: "Hand over the finished plan, to be accepted or not.",
			Effect:      Notes,
			Access:      Internal[planExitArguments],
			User:        true,
			Plan:        true,
			Private:     true,
			Example:     planExitArguments{Plan: "# Rename the key\n\n1. config/fields.go: …"},
			Title:       func(planExitArguments) string { return "hands over its plan" },
			Run: func(ctx context.Context, host User, a planExitArguments) (Result, error) {
				if strings.TrimSpace(a.Plan) == "" {
					return Result{}, errors.New("the plan is empty; write it down in Markdown")
				}
				text, err := host.ExitPlan(ctx, a.Plan)
				return Result{Text: text, Summary: summaryOf(text)}, err
			},
		}),
	}
}

// summaryOf is the first sentence of what a call answers.
func summaryOf(text string) string {
	sentence, _, _ := strings.Cut(text, ". ")
	return clip(strings.TrimSuffix(sentence, "."), titleLimit)
}
