// Package tooltest has a Host for the tests of tools: a real workspace in a temporary folder, and a record
// of what a tool told the engine. Only tests import it.
package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Run is the id of the run that every Host acts for.
const Run event.RunID = "run-of-a-test"

// Host is one run's, and implements tool.Host. It may be used from any goroutine.
type Host struct {
	t       testing.TB
	root    string
	view    *workspace.View
	session *workspace.Proposal
	layer   *workspace.Layer

	mu          sync.Mutex
	findings    []tool.Finding
	todos       []event.Todo
	diagnostics []tool.Diagnostic
	progress    []string
	untrusted   bool
	version     int32
	skills      map[string]Skill
	commands    map[string]tool.CommandResult
	background  map[string]tool.BackgroundCommand
	ran         []tool.Command
	checker     func(tool.CheckerCommand) (tool.CheckerOutput, error)
	tasks       map[string]tool.TaskState
	submitted   *event.ChildResult
	questions   []tool.Question
	plan        string
	symbols     func(tool.SymbolQuery) (tool.Symbols, error)
	engine      *tool.SearchEngine
	allowed     network.Allowed
	names       map[string]string
}

// Skill is what a Host answers to the skill tool.
type Skill struct {
	Text string
	// Files are texts by absolute path.
	Files map[string]string
}

var _ tool.Host = (*Host)(nil)

// New makes a workspace of one folder with the given files, by slash path, and a layer on it. All of it is
// closed and removed when the test ends.
func New(t testing.TB, files map[string]string) *Host {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{t: t, root: root}
	for name, text := range files {
		h.write(h.Path(name), text)
	}
	if h.view, err = workspace.Open([]workspace.Root{{Path: root, Name: "project"}}, workspace.Options{}); err != nil {
		t.Fatal(err)
	}
	h.session = h.view.NewProposal(workspace.ProposalOptions{ID: event.NewProposalID()})
	h.layer = h.session.Fork()
	t.Cleanup(func() {
		h.session.Close()
		if err := h.view.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// AddRoot opens one more workspace folder and returns its path.
func (h *Host) AddRoot(name string, files map[string]string) string {
	h.t.Helper()
	path, err := filepath.EvalSymlinks(h.t.TempDir())
	if err != nil {
		h.t.Fatal(err)
	}
	for file, text := range files {
		h.write(filepath.Join(path, filepath.FromSlash(file)), text)
	}
	if err := h.view.SetRoots(append(h.view.Roots(), workspace.Root{Path: path, Name: name})); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// Path is the absolute path of a file in the first folder.
func (h *Host) Path(name string) string { return filepath.Join(h.root, filepath.FromSlash(name)) }

// Type is what the editor does when its user opens a document or types: it now shows this text.
func (h *Host) Type(name, text string) {
	h.mu.Lock()
	h.version++
	version := h.version
	h.mu.Unlock()
	h.view.SetDocument(h.Path(name), text, version)
}

// Save writes a file to disk, as a program outside does, and tells the view.
func (h *Host) Save(name, text string) {
	h.t.Helper()
	h.write(h.Path(name), text)
	h.view.DiskChanged([]string{h.Path(name)})
}

func (h *Host) write(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// Text is what the run sees at a path. It does not count as read by the run.
func (h *Host) Text(name string) string {
	h.t.Helper()
	file, err := h.layer.Fork().Read(h.Path(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return file.Text
}

// Call does what the engine does for a model's call that is alone in its turn: it resolves the name, checks the
// arguments and runs the tool.
func (h *Host) Call(ctx context.Context, name, arguments string) (tool.Result, error) {
	canonical, ok := tool.Resolve(name)
	if !ok {
		return tool.Result{}, fmt.Errorf("no tool is called %q", name)
	}
	for _, t := range tool.Builtin() {
		if t.Spec().Name != canonical {
			continue
		}
		call, err := tool.Parse(t, json.RawMessage(arguments), nil)
		if err != nil {
			return tool.Result{}, err
		}
		defer h.layer.NextTurn()
		return call.Run(ctx, h)
	}
	return tool.Result{}, fmt.Errorf("the tool %q is not built in", canonical)
}

// View is the workspace.
func (h *Host) View() *workspace.View { return h.view }

// Session is the session whose layer the run's lies on.
func (h *Host) Session() *workspace.Proposal { return h.session }

// Files implements tool.Host.
func (h *Host) Files() *workspace.Layer { return h.layer }

// Author implements tool.Host.
func (h *Host) Author(reason string) workspace.Author {
	return workspace.Author{Run: Run, Agent: "tester", Reason: reason}
}

// Report implements tool.Host. The fix, if any, is written into the layer.
func (h *Host) Report(_ context.Context, finding tool.Finding) (event.FindingID, error) {
	if fix := finding.Fix; fix != nil {
		file, err := h.layer.Read(finding.Path)
		if err != nil {
			return "", err
		}
		if n := strings.Count(file.Text, fix.OldString); n != 1 || fix.OldString == "" {
			return "", fmt.Errorf("the fix does not fit: old_string occurs %d times", n)
		}
		text := strings.Replace(file.Text, fix.OldString, fix.NewString, 1)
		if _, err := h.layer.Write(finding.Path, text, file.Stamp, h.Author(finding.Message)); err != nil {
			return "", err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.findings = append(h.findings, finding)
	return event.FindingID(fmt.Sprintf("finding-%d", len(h.findings))), nil
}

// Findings are those reported so far, in order.
func (h *Host) Findings() []tool.Finding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.findings)
}

// Todos implements tool.Host.
func (h *Host) Todos() []event.Todo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.todos)
}

// SetTodos implements tool.Host.
func (h *Host) SetTodos(_ context.Context, items []event.Todo) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.todos = slices.Clone(items)
	return nil
}

// EditorDiagnostics implements tool.Host.
func (h *Host) EditorDiagnostics(_ context.Context, path string) []tool.Diagnostic {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []tool.Diagnostic
	for _, d := range h.diagnostics {
		if d.Path == path {
			list = append(list, d)
		}
	}
	return list
}

// SetEditorDiagnostics replaces what the editor says.
func (h *Host) SetEditorDiagnostics(list ...tool.Diagnostic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.diagnostics = slices.Clone(list)
}

// SetSymbols says what a language server answers; without it there is none.
func (h *Host) SetSymbols(answer func(tool.SymbolQuery) (tool.Symbols, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.symbols = answer
}

// Symbols implements tool.Host.
func (h *Host) Symbols(_ context.Context, query tool.SymbolQuery) (tool.Symbols, error) {
	h.mu.Lock()
	answer := h.symbols
	h.mu.Unlock()
	if answer == nil {
		return tool.Symbols{}, &tool.WithheldError{Reason: "there is no language server here"}
	}
	return answer(query)
}

// Trusted implements tool.Host.
func (h *Host) Trusted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.untrusted
}

// MayRead implements tool.Host: everything may be read.
func (h *Host) MayRead(string) bool { return true }

// SetNetwork says what `network.allow` names, and which search engine there is; a new Host has neither.
func (h *Host) SetNetwork(engine *tool.SearchEngine, allow ...string) {
	h.t.Helper()
	allowed, err := network.Parse(allow)
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.engine, h.allowed = engine, allowed
}

// SetNames says what names lead to, instead of what the system has.
func (h *Host) SetNames(names map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = names
}

// MayFetch implements tool.Host: what SetNetwork names may be fetched.
func (h *Host) MayFetch(address string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.allowed.Has(address)
}

// Connect implements tool.Host.
func (h *Host) Connect(ctx context.Context, address string) (net.Conn, error) {
	h.mu.Lock()
	allowed, names := h.allowed, h.names
	h.mu.Unlock()
	return allowed.Dial(ctx, address, func(_ context.Context, name string) ([]netip.Addr, error) {
		to, err := netip.ParseAddr(names[name])
		if err != nil {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return []netip.Addr{to}, nil
	})
}

// Secret is what HoldsSecret takes for a secret.
const Secret = "the-secret-of-a-test"

// HoldsSecret implements tool.Host.
func (h *Host) HoldsSecret(text string) bool {
	return strings.Contains(text, Secret) || strings.Contains(text, "[secret ")
}

// SearchEngine implements tool.Host.
func (h *Host) SearchEngine() (tool.SearchEngine, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine == nil {
		return tool.SearchEngine{}, false
	}
	return *h.engine, true
}

// SetTrusted says whether the workspace is trusted; a new Host's is.
func (h *Host) SetTrusted(trusted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.untrusted = !trusted
}

// SetSkill adds a skill.
func (h *Host) SetSkill(name string, skill Skill) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.skills == nil {
		h.skills = map[string]Skill{}
	}
	h.skills[name] = skill
}

// Skill implements tool.Host.
func (h *Host) Skill(name string) (string, []string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	skill, ok := h.skills[name]
	if !ok {
		return "", nil, fmt.Errorf("there is no skill %q", name)
	}
	return skill.Text, slices.Sorted(maps.Keys(skill.Files)), nil
}

// Attached implements tool.Host.
func (h *Host) Attached(path string) (string, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, skill := range h.skills {
		if text, ok := skill.Files[path]; ok {
			return text, true, nil
		}
	}
	return "", false, nil
}

// SetCommands says what commands lead to: by their script, and in the background by their id.
func (h *Host) SetCommands(run map[string]tool.CommandResult, background map[string]tool.BackgroundCommand) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commands, h.background = run, background
}

// Commands are those that were run or started so far, in order.
func (h *Host) Commands() []tool.Command {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ran)
}

// RunCommand implements tool.Host.
func (h *Host) RunCommand(_ context.Context, command tool.Command) (tool.CommandResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ran = append(h.ran, command)
	result, ok := h.commands[command.Script]
	if !ok {
		return result, fmt.Errorf("the test has no command %q", command.Script)
	}
	return result, nil
}

// SetChecker says what checkers that load the project's configuration lead to; a new Host withholds them.
func (h *Host) SetChecker(run func(tool.CheckerCommand) (tool.CheckerOutput, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checker = run
}

// RunChecker implements tool.Host.
func (h *Host) RunChecker(_ context.Context, command tool.CheckerCommand) (tool.CheckerOutput, error) {
	h.mu.Lock()
	run := h.checker
	h.mu.Unlock()
	if run == nil {
		return tool.CheckerOutput{}, &tool.WithheldError{Reason: "this test has no sandbox"}
	}
	return run(command)
}

// StartCommand implements tool.Host. The id is the script.
func (h *Host) StartCommand(_ context.Context, command tool.Command) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ran = append(h.ran, command)
	return command.Script, nil
}

// CommandOutput implements tool.Host.
func (h *Host) CommandOutput(_ context.Context, id string, _ time.Duration) (tool.BackgroundCommand, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	state, ok := h.background[id]
	if !ok {
		return state, fmt.Errorf("there is no command %q", id)
	}
	return state, nil
}

// KillCommand implements tool.Host.
func (h *Host) KillCommand(ctx context.Context, id string) (tool.BackgroundCommand, error) {
	state, err := h.CommandOutput(ctx, id, 0)
	state.Ended = true
	return state, err
}

// Progress implements tool.Host.
func (h *Host) Progress(message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, message)
}

// Progressed are the messages of Progress so far.
func (h *Host) Progressed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.progress)
}

// SetTasks says how delegated tasks end, by their prompt.
func (h *Host) SetTasks(states map[string]tool.TaskState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks = states
}

// DescribeAgent implements tool.Host.
func (h *Host) DescribeAgent(name string) (string, error) { return name + ": An agent of a test.", nil }

// Delegate implements tool.Host.
func (h *Host) Delegate(_ context.Context, task tool.Task) (tool.TaskState, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	state, ok := h.tasks[task.Prompt]
	if !ok {
		return state, fmt.Errorf("the test has no task %q", task.Prompt)
	}
	return state, nil
}

// Tasks implements tool.Host: the states whose ids are asked for.
func (h *Host) Tasks(_ context.Context, ids []event.RunID) ([]tool.TaskState, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []tool.TaskState
	for _, prompt := range slices.Sorted(maps.Keys(h.tasks)) {
		if state := h.tasks[prompt]; len(ids) == 0 || slices.Contains(ids, state.ID) {
			list = append(list, state)
		}
	}
	if len(list) < len(ids) {
		return nil, fmt.Errorf("the test has not all of the tasks %v", ids)
	}
	return list, nil
}

// WaitTasks implements tool.Host. It waits for nothing.
func (h *Host) WaitTasks(ctx context.Context, ids []event.RunID, _ bool, _ time.Duration) ([]tool.TaskState, error) {
	return h.Tasks(ctx, ids)
}

// SendTask implements tool.Host.
func (h *Host) SendTask(ctx context.Context, id event.RunID, _ string) error {
	_, err := h.Tasks(ctx, []event.RunID{id})
	return err
}

// CancelTask implements tool.Host.
func (h *Host) CancelTask(ctx context.Context, id event.RunID) (tool.TaskState, error) {
	states, err := h.Tasks(ctx, []event.RunID{id})
	if err != nil {
		return tool.TaskState{}, err
	}
	states[0].Result.Status = event.StatusCancelled
	return states[0], nil
}

// SubmitResult implements tool.Host.
func (h *Host) SubmitResult(_ context.Context, result event.ChildResult) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.submitted = &result
	return nil
}

// Ask implements tool.Host: the user takes the first option, and leaves a question without any to the agent.
func (h *Host) Ask(_ context.Context, questions []tool.Question) ([]tool.Reply, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.questions = append(h.questions, questions...)
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

// Questions are those asked so far, in order.
func (h *Host) Questions() []tool.Question {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.questions)
}

// Statusline implements tool.Host.
func (h *Host) Statusline() (string, error) { return "The status line is the built-in one.", nil }

// SetStatusline implements tool.Host: the user agrees.
func (h *Host) SetStatusline(_ context.Context, line string) (string, error) {
	return "The status line is set to " + line, nil
}

// EnterPlan implements tool.Host: the user agrees.
func (h *Host) EnterPlan(_ context.Context, reason string) (string, error) {
	return "You are planning now. The reason was: " + reason, nil
}

// ExitPlan implements tool.Host: the user accepts the plan.
func (h *Host) ExitPlan(_ context.Context, plan string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plan = plan
	return "The user accepted the plan. Carry it out.", nil
}

// Plan is what was handed over as a plan last, empty for nothing.
func (h *Host) Plan() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plan
}

// Submitted is what was handed over, nil for nothing.
func (h *Host) Submitted() *event.ChildResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.submitted
}
