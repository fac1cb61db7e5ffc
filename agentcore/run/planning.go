package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
)

func options(labels ...string) []tool.Option {
	var list []tool.Option
	for _, label := range labels {
		list = append(list, tool.Option{Label: label})
	}
	return list
}

// EnterPlan asks the user whether there shall be a plan first. Where nobody answers, there is none, since nobody would
// accept it either.
func (h hostUser) EnterPlan(_ context.Context, reason string) (string, error) {
	r := h.run
	if r.definition.Mode == agent.Planning || r.plan.readsOnly() {
		return "You are planning already. Hand over the plan with plan_exit.", nil
	}
	text := "Shall I make a plan first, and change nothing until you accept it?"
	if reason != "" {
		text += " " + reason
	}
	replies, err := r.questions.askQuestions(h.call, "", tool.Question{
		Text: text, Header: "plan", Options: options(planFirst, planNot), Closed: true,
	})
	if err != nil {
		return "", err
	}
	switch words := strings.Join(replies[0].Answers, "; "); words {
	case planFirst:
		r.plan.readOnly(true)
		return "You are planning now. Only tools that read are carried out. Find out what has to be done, then hand " +
			"over the plan with plan_exit.", nil
	case "":
		return fmt.Sprintf("There is no plan mode now, since %s: go on without it.", replies[0].Why), nil
	case planNot:
		return "The user wants no plan. Go on without one.", nil
	default:
		return "The user answers to the offer of a plan: " + words, nil
	}
}

// ExitPlan writes the plan into its file. A child hands the plan over as its result; otherwise the user decides on it.
func (h hostUser) ExitPlan(ctx context.Context, text string) (string, error) {
	r := h.run
	text = strings.TrimSpace(r.redactor.Text(text)) + "\n"
	path, err := r.writePlan(text)
	if err != nil {
		return "", err
	}
	if r.parent != nil {
		result := event.ChildResult{Summary: "the plan is in " + path, Details: text}
		return "The plan is handed over.", hostDelegation(h).SubmitResult(ctx, result)
	}
	title, _, _ := strings.Cut(strings.TrimLeft(text, "# "), "\n")
	replies, err := r.questions.askQuestions(h.call, path, tool.Question{
		Text: fmt.Sprintf("What about the plan “%s”? It is in %s", title, path), Header: "plan",
		Options: options(planAccept, planContinue, planReject), Closed: true,
	})
	if err != nil {
		return "", err
	}
	return h.planDecided(path, text, replies[0])
}

// planDecided carries out what the user decided about a plan, and returns what the model is told of that.
func (h hostUser) planDecided(path, text string, reply tool.Reply) (string, error) {
	r := h.run
	does := r.definition.Mode != agent.Planning
	switch words := strings.Join(reply.Answers, "; "); words {
	case planAccept:
		r.plan.readOnly(false)
		told := fmt.Sprintf("The user accepted the plan. It is in %s.", path)
		if does {
			told += " Carry it out; all your tools work again."
		} else {
			told += " End now: say in a few sentences what it says, and where it is."
		}
		now, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read the accepted plan: %w", err)
		}
		if string(now) != text {
			told += "\nThe user changed it to:\n" + r.redactor.Text(string(now))
		}
		return told, nil
	case planContinue:
		return "The user wants you to keep planning. Make the plan better or smaller, ask if you do not " +
			"know how, and call plan_exit again.", nil
	case planReject:
		return "The user rejected the plan. Change nothing, and end now: say what you would need to know for a " +
			"better one.", nil
	case "":
		return fmt.Sprintf(
			"The plan is kept in %s, but not accepted: %s. Change nothing, and end now: say in a few sentences what "+
				"the plan says, and where it is.", path, cmp.Or(reply.Why, "nobody answered")), nil
	default:
		return fmt.Sprintf("The user says to the plan: %s\nMake the plan fit, and call plan_exit again.", words), nil
	}
}

// writePlan writes the run's plan in place of its former one, and returns its path. It never overwrites the plan of
// another run.
func (r *Run) writePlan(text string) (string, error) {
	dir := Plans(r.process.StateDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "",
			fmt.Errorf("make the folder for plans: %w; free space in the state folder, or give the plan as your answer",
				err)
	}
	root := r
	for root.parent != nil {
		root = root.parent
	}
	slug, err := root.plan.reserve(dir)
	if err != nil {
		return "",
			fmt.Errorf("find a name for the plan: %w; free space in the state folder, or give the plan as your answer",
				err)
	}
	name := slug + ".md"
	if r != root {
		name = fmt.Sprintf("%s-agent-%s.md", slug, r.id)
	}
	path := filepath.Join(dir, name)
	if err := replaceFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("write the plan: %w; free space in the state folder, or give the plan as your answer",
			err)
	}
	for reader := r; reader != nil; reader = reader.parent {
		reader.commands.Attach(path)
	}
	r.plan.mu.Lock()
	defer r.plan.mu.Unlock()
	r.plan.path = path
	return path, nil
}

// keepPlan writes the last word of a planning agent as its plan where it has handed over none, since a plan is what it
// was started for. Runs of the offline rules get no plan. A text that cannot be written is still the run's answer.
func (r *Run) keepPlan() {
	if r.definition.Mode != agent.Planning || r.plan.written() || provider.IsOffline(r.model.Name()) {
		return
	}
	r.mu.Lock()
	text := cmp.Or(r.result.Output, r.lastText)
	if r.submitted != nil {
		text = cmp.Or(r.submitted.Details, r.submitted.Summary)
	}
	r.mu.Unlock()
	if text = strings.TrimSpace(r.redactor.Text(text)); text == "" {
		return
	}
	path, err := r.writePlan(text + "\n")
	if err != nil {
		r.notice(event.NoticeWarning, "the plan is its answer alone: "+err.Error(), "")
		return
	}
	r.plan.mu.Lock()
	r.plan.said = true
	r.plan.mu.Unlock()
	r.notice(event.NoticeInfo, "the plan is in "+path, "")
	if !r.reports() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.submitted == nil {
		r.submitted = &event.ChildResult{Summary: "the plan is in " + path, Details: text}
	} else {
		r.submitted.Details = strings.TrimSpace(r.submitted.Details + "\n\nThe plan is in " + path)
	}
	r.result.Output = strings.TrimSpace(r.submitted.Summary + "\n\n" + r.submitted.Details)
}
