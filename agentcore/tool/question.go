package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxQuestions bounds what one call may ask, and maxOptions the answers to choose from.
const (
	maxQuestions = 8
	maxOptions   = 12
)

type (
	optionArguments struct {
		Label       string `json:"label" alias:"title,text,value"`
		Description string `json:"description,omitempty"`
	}
	questionItem struct {
		Question string            `json:"question" alias:"text,prompt"`
		Header   string            `json:"header,omitempty" hidden:"true"`
		Options  []optionArguments `json:"options,omitempty" alias:"choices"`
		Multiple bool              `json:"multiple,omitempty" alias:"multi_select,multiselect,multiSelect"`
	}
	questionArguments struct {
		Questions []questionItem `json:"questions"`
	}
)

func questionTool() Tool {
	return New(Definition[questionArguments, User]{
		Name:        "question",
		Description: "Ask the user what only they can decide. Best option first.",
		Effect:      Notes,
		Access:      Internal[questionArguments],
		User:        true,
		Private:     true,
		Example: questionArguments{Questions: []questionItem{{
			Question: "Shall the old name stay as an alias?",
			Options:  []optionArguments{{Label: "Yes"}, {Label: "No", Description: "callers break"}},
		}}},
		Title: func(a questionArguments) string {
			if len(a.Questions) == 0 {
				return "ask the user"
			}
			return "ask: " + a.Questions[0].Question
		},
		Run: question,
	})
}

func question(ctx context.Context, host User, a questionArguments) (Result, error) {
	if len(a.Questions) == 0 || len(a.Questions) > maxQuestions {
		return Result{}, fmt.Errorf("there are %d questions; ask 1 to %d", len(a.Questions), maxQuestions)
	}
	var list []Question
	for _, item := range a.Questions {
		q, err := item.check()
		if err != nil {
			return Result{}, err
		}
		list = append(list, q)
	}
	replies, err := host.Ask(ctx, list)
	if err != nil {
		return Result{}, err
	}
	answered := 0
	var b strings.Builder
	for i, reply := range replies {
		fmt.Fprintf(&b, "%s\n", list[i].Text)
		if len(reply.Answers) == 0 {
			fmt.Fprintf(&b, "→ no answer: %s. Take the likeliest reading, and say so.\n", reply.Why)
			continue
		}
		answered++
		fmt.Fprintf(&b, "→ %s\n", strings.Join(reply.Answers, "; "))
	}
	return Result{Text: b.String(), Summary: fmt.Sprintf("%d of %d answered", answered, len(list))}, nil
}

// check makes a question of what the model sent. The error is for the model.
func (item questionItem) check() (Question, error) {
	q := Question{
		Text: strings.TrimSpace(item.Question), Header: strings.TrimSpace(item.Header),
		Multiple: item.Multiple,
	}
	if q.Text == "" {
		return q, errors.New("a question is empty; say what you want to know")
	}
	if len(item.Options) > maxOptions {
		return q, fmt.Errorf("the question %q has %d options; %d are the most that a person reads", q.Text,
			len(item.Options), maxOptions)
	}
	labels := map[string]bool{}
	for _, o := range item.Options {
		label := strings.Join(strings.Fields(o.Label), " ")
		if label == "" || labels[label] {
			return q, fmt.Errorf("the options of %q need labels that differ; %q is empty or there twice", q.Text, label)
		}
		labels[label] = true
		q.Options = append(q.Options, Option{Label: label, Description: strings.TrimSpace(o.Description)})
	}
	return q, nil
}
