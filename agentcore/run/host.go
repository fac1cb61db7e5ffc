package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// host is what one call of one run may use. It implements tool.Host, with one part for each face of that interface.
type host struct {
	own ofCall // for the engine's own tools
	hostWorkspace
	hostCommands
	hostChecks
	hostDelegation
	hostWeb
	hostUser
	hostRecords
}

var _ tool.Host = host{}

// The parts of a host. The methods of each part stand in the file of what they are about.
type (
	ofCall struct {
		run  *Run
		call *call
	}
	hostWorkspace struct {
		run  *Run
		call *call
		// layer holds the files that the call reads and changes: it is the run's layer, or a fork for trying the call.
		layer *workspace.Layer
	}
	hostCommands   ofCall
	hostChecks     ofCall
	hostDelegation ofCall
	hostWeb        ofCall
	hostUser       ofCall
	hostRecords    struct{ run *Run }
)

// newHost makes what a call may use, with its files in a layer.
func newHost(r *Run, c *call, layer *workspace.Layer) host {
	own := ofCall{r, c}
	return host{
		own: own, hostWorkspace: hostWorkspace{r, c, layer}, hostCommands: hostCommands(own),
		hostChecks:     hostChecks(own),
		hostDelegation: hostDelegation(own), hostWeb: hostWeb(own), hostUser: hostUser(own),
		hostRecords: hostRecords{r},
	}
}

func (h hostWorkspace) Files() *workspace.Layer { return h.layer }

func (h hostWorkspace) Author(reason string) workspace.Author { return h.run.author(reason) }

func (h hostWorkspace) MayRead(path string) bool {
	return h.run.gate.rights.MayRead(path, h.call.spec.Name)
}

func (h hostWorkspace) MayReadPlain(path string) bool {
	return h.run.gate.rights.MayReadPlain(path, h.call.spec.Name)
}

func (h hostWorkspace) Attached(path string) (string, bool, error) {
	if text, ok, err := readOutput(h.run, path); ok {
		return text, true, err
	}
	text, err := h.run.skills.Read(path)
	if errors.Is(err, skill.ErrNotOfSkill) {
		return "", false, nil
	}
	return text, true, err
}

// Report proposes the fix, where there is one, and publishes the finding.
func (h hostRecords) Report(_ context.Context, finding tool.Finding) (event.FindingID, error) {
	var fixes event.FindingID
	var err error
	if finding.Span, err = h.shown(finding.Path, finding.Span); err != nil {
		return "", err
	}
	if finding.Fix != nil {
		fixes = event.NewFindingID()
		if err := h.run.gate.editable(nil, finding.Path, true); err != nil {
			return "", fmt.Errorf("the fix is denied: %w; report without fix", err)
		}
		if err := h.propose(finding, fixes); err != nil {
			return "", err
		}
	}
	return h.run.session.Board.Report(h.run.finder(), finding, fixes)
}

// shown carries a span of the run's own text over to the text that the editor shows.
func (h hostRecords) shown(path string, span event.Span) (event.Span, error) {
	// a fork, since reading here does not mean that the run's model has seen the file
	own, err := h.run.layer.Fork().Read(path)
	if err != nil {
		return span, err
	}
	shown, err := h.run.session.View.Read(path)
	if err != nil {
		return span, err
	}
	if own.Stamp == shown.Stamp {
		return span, nil
	}
	lines := workspace.MapLines(own.Text, shown.Text)
	start, same := lines.To(span.StartLine)
	end, alsoSame := lines.To(span.EndLine)
	moved := event.Span{
		StartLine: start, StartColumn: span.StartColumn, EndLine: max(start, end),
		EndColumn: span.EndColumn,
	}
	if !same || !alsoSame {
		// The finding is on lines that are only proposed: it is shown on the lines that they would replace.
		moved.StartColumn, moved.EndColumn = 0, math.MaxInt32
	}
	return moved, nil
}

// propose replaces a text that occurs exactly once, as the fix of a finding.
func (h hostRecords) propose(finding tool.Finding, id event.FindingID) error {
	path, fix := finding.Path, finding.Fix
	file, err := h.run.layer.Read(path)
	if err != nil {
		return err
	}
	fixed, err := tool.Replace(file.Text, fix.OldString, fix.NewString, false)
	if err != nil {
		return fmt.Errorf("the fix does not fit: %w; or report without fix", err)
	}
	author := h.run.author(finding.Message)
	author.Finding = id
	if _, err := h.run.layer.Write(path, fixed.Text, file.Stamp, author); err != nil {
		return fmt.Errorf("propose the fix: %w", err)
	}
	return nil
}

// SetTodos replaces the run's list of todos, and publishes it.
func (h hostRecords) SetTodos(_ context.Context, items []event.Todo) error {
	items = slices.Clone(items)
	h.run.mu.Lock()
	h.run.todos = items
	h.run.mu.Unlock()
	h.run.tell(store.Batch{Todos: []store.TodoList{{Run: h.run.id, Items: items}}}, event.TodoChanged{Items: items})
	return nil
}

func (h hostRecords) Skill(name string) (string, []string, error) {
	s, err := h.run.skills.Find(name)
	if err != nil {
		return "", nil, err
	}
	files, err := s.Files()
	if err != nil {
		return "", nil, err
	}
	return prompt.Skill(s), files, nil
}

func (h hostCommands) RunCommand(ctx context.Context, command tool.Command) (tool.CommandResult, error) {
	result, err := h.run.commands.Run(ctx, h.run.layer, command, h.run.author(command.Why))
	if err == nil {
		h.run.sawTests(countTests(result.Output, result.Exit != 0))
		h.call.leftOut = h.noteForbidden(result.Files)
	}
	return result, err
}

func (h hostCommands) StartCommand(ctx context.Context, command tool.Command) (string, error) {
	return h.run.commands.Start(ctx, h.run.ctx, h.run.layer, command)
}

func (h hostCommands) CommandOutput(ctx context.Context, id string,
	wait time.Duration,
) (tool.BackgroundCommand, error) {
	command, err := h.run.commands.Output(ctx, id, wait)
	if err == nil {
		h.run.sawTests(countTests(command.Output, command.Ended && command.Result.Exit != 0))
	}
	return command, err
}

func (h hostCommands) KillCommand(ctx context.Context, id string) (tool.BackgroundCommand, error) {
	return h.run.commands.Kill(ctx, id)
}

// progress tells people how a long call goes.
func (o ofCall) progress(message string) {
	o.run.tell(store.Batch{}, event.ToolCallProgress{Call: o.call.id, Message: message})
}

// Ask puts questions to the user, all at once, so that the run waits for all of them together.
func (h hostUser) Ask(_ context.Context, questions []tool.Question) ([]tool.Reply, error) {
	return h.run.questions.askQuestions(h.call, "", questions...)
}

// noteForbidden keeps which changes of a command were left out because a rule or the mode forbids them, so that the
// model reads it in the call's result. It also returns them in one line, empty for none.
func (h hostCommands) noteForbidden(files []workspace.Taken) string {
	why, names, more := "", "", 0
	for _, file := range files {
		forbidden, ok := errors.AsType[*forbiddenError](file.Problem)
		switch {
		case !ok:
		case why == "":
			why, names = forbidden.reason, h.run.session.View.Shown(file.Path)
		default:
			more++
		}
	}
	if why == "" {
		return ""
	}
	if more > 0 {
		names += " and " + clip.Counted(more, "more file", "more files")
	}
	h.run.addDenial("it was not allowed to change " + names + " by a command: " + why)
	return names + ": " + why
}
