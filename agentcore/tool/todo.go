package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

type todoItem struct {
	Text  string `json:"text" alias:"content,task,description"`
	State string `json:"state" enum:"pending,in_progress,done,cancelled" alias:"status" synonym:"completed=done,complete=done,finished=done,todo=pending,open=pending,canceled=cancelled,active=in_progress,doing=in_progress"`
}

type todoArguments struct {
	Items []todoItem `json:"items" alias:"todos,plan"`
}

func todoTool() Tool {
	return New(Definition[todoArguments, Records]{
		Name:        "todo",
		Description: "Replace the list of work that the user sees; for three steps or more.",
		Effect:      Notes,
		Access:      Internal[todoArguments],
		Private:     true,
		Example: todoArguments{Items: []todoItem{
			{Text: "read the parser", State: "in_progress"},
			{Text: "add the test", State: "pending"},
		}},
		Title: func(a todoArguments) string { return "todo " + todoSummary(a.Items) },
		Run: func(ctx context.Context, host Records, a todoArguments) (Result, error) {
			items := make([]event.Todo, len(a.Items))
			for i, item := range a.Items {
				text := strings.TrimSpace(item.Text)
				if text == "" {
					return Result{}, fmt.Errorf("items[%d].text is empty; say what is to be done", i)
				}
				items[i] = event.Todo{Text: text, State: item.State}
			}
			if err := host.SetTodos(ctx, items); err != nil {
				return Result{}, fmt.Errorf("keep the list: %w", err)
			}
			summary := todoSummary(a.Items)
			return Result{Text: "The list is kept: " + summary + ".", Summary: summary}, nil
		},
	})
}

func todoSummary(items []todoItem) string {
	closed := 0
	for _, item := range items {
		if item.State == "done" || item.State == "cancelled" {
			closed++
		}
	}
	return fmt.Sprintf("%d of %d done", closed, len(items))
}
