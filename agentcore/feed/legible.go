package feed

import (
	"slices"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
)

// legible is an event as it may be shown. Text from models, projects and servers may contain characters that are
// invisible, or that control a terminal. Titles, activities and reasons become one line; notices, findings and reports
// may have several. Unchanged are texts that are shown for themselves and are not messages about something: deltas,
// messages, prompts, the output of a run and the details of a report. Unchanged are also names that programs compare,
// such as tools, models and URIs.
func legible(body event.Body) event.Body {
	line, text := permission.LegibleLine, permission.Legible
	switch b := body.(type) {
	case event.RunCreated:
		b.Title = line(b.Title)
		return b
	case event.RunStatusChanged:
		b.Reason = line(b.Reason)
		return b
	case event.RunProgress:
		b.Message, b.Activities = line(b.Message), mapped(b.Activities, line)
		return b
	case event.ToolCallStarted:
		b.Title = line(b.Title)
		return b
	case event.ToolCallProgress:
		b.Message = line(b.Message)
		return b
	case event.ToolCallFinished:
		b.Summary = line(b.Summary)
		return b
	case event.AskOpened:
		b.Title = line(b.Title)
		return b
	case event.AskResolved:
		b.Reason = text(b.Reason)
		return b
	case event.FindingReported:
		b.Finding.Message = text(b.Finding.Message)
		b.Finding.Rule, b.Finding.Source = line(b.Finding.Rule), line(b.Finding.Source)
		return b
	case event.FindingCleared:
		b.Reason = text(b.Reason)
		return b
	}
	return legibleEnd(body)
}

// legibleEnd is [legible] for the rest of the events.
func legibleEnd(body event.Body) event.Body {
	line, text := permission.LegibleLine, permission.Legible
	switch b := body.(type) {
	case event.TodoChanged:
		b.Items = slices.Clone(b.Items)
		for i := range b.Items {
			b.Items[i].Text = line(b.Items[i].Text)
		}
		return b
	case event.RetryScheduled:
		b.Reason = text(b.Reason)
		return b
	case event.SessionChanged:
		b.Title, b.Summary = line(b.Title), text(b.Summary)
		return b
	case event.Notice:
		b.Message, b.Hint = text(b.Message), text(b.Hint)
		return b
	case event.RunFinished:
		b.Reason, b.Result.Reason = line(b.Reason), line(b.Result.Reason)
		if f := b.Result.Error; f != nil {
			b.Result.Error = &event.Failure{Kind: f.Kind, Detail: text(f.Detail), Hint: text(f.Hint)}
		}
		if r := b.Result.Result; r != nil {
			report := *r
			report.Summary = text(r.Summary)
			report.Warnings, report.Suggestions = mapped(r.Warnings, text), mapped(r.Suggestions, text)
			b.Result.Result = &report
		}
		return b
	}
	return body
}

func mapped(list []string, change func(string) string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = change(list[i])
	}
	return list
}
