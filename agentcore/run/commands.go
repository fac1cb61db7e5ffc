package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// writeCommands says in the prompt what commands see and reach.
func writeCommands(b *strings.Builder, r *Run) {
	otherwise := "the user is asked"
	if !r.tools.Asks(tool.Spec{Name: "bash", Effect: tool.Executes}) {
		otherwise = "only what a rule allows is run"
	}
	switch level := r.gate.rights.Level(); {
	case level == permission.Full && r.config.SandboxNetwork:
		b.WriteString(
			"commands: in a sandbox with network; they see unsaved and proposed text; changes become proposals\n")
	case level == permission.Full && len(r.config.NetworkAllow) > 0:
		fmt.Fprintf(b,
			"commands: in a sandbox that reaches no hosts but %s, by the proxy in HTTP_PROXY; they see unsaved and "+
				"proposed text; changes become proposals\n",
			strings.Join(r.config.NetworkAllow, ", "))
	case level == permission.Full:
		b.WriteString(
			"commands: in a sandbox without network; they see unsaved and proposed text; changes become proposals\n")
	case level == permission.Partial:
		fmt.Fprintf(b, "commands: on a copy of the workspace with unsaved and proposed text, whose changes become "+
			"proposals; nothing else holds them back, so %s\n", otherwise)
	default:
		fmt.Fprintf(b, "commands: without a sandbox, on the disk as it is saved, which they change at once; %s\n",
			otherwise)
	}
}

// newCommands makes the commands of a run, which has none yet.
func newCommands(r *Run) *command.Set {
	p := r.process
	hidden := []string{p.StateDir}
	if p.User.Keys != "" {
		hidden = append(hidden, p.User.Keys)
	}
	return command.New(command.Sandbox{
		ID: r.id, Off: r.config.Sandbox == config.SandboxOff, Report: p.Sandboxes.Report,
		StateDir: SandboxDir(p.StateDir), OutputDir: p.Outputs.Dir, Hidden: hidden, Home: authority.UserHome(),
		Tools: r.hooks.programs, Network: r.config.SandboxNetwork, Allowed: r.config.NetworkAllow, View: r.session.View,
		Redactor: p.Redactor, Trees: p.Sandboxes.Trees,
	}, func(judge *workspace.Judge, path string) error { return r.gate.editable(judge, path, false) })
}

// getReady prepares for a call while the model still writes its arguments: for a command, it looks up what a large
// workspace holds.
func getReady(r *Run, name string) {
	if t := r.process.Tools[name]; t != nil && t.Spec().Effect == tool.Executes && r.tools.Offers(name) {
		r.commands.Ahead()
	}
}

// readOutput reads the output of a command. The command was run by this run, by one above it, by a former run that this
// one goes on with, or by a run that one of these has started.
func readOutput(r *Run, path string) (text string, ok bool, err error) {
	for above := r; above != nil && !ok; above = above.parent {
		ok = above.commands.Attached(path)
	}
	if !ok && !leftToRun(r, path) {
		return "", false, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", true, fmt.Errorf("read the output of a command: %w", err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), true, nil
}

// leftTo finds the run's id in the name of a file with an output.
var leftTo = lazyregexp.New(`^(?:output-|task-)?(r[0-9a-z]+)[-.]`)

// leftToRun reports whether a file holds the output of an ended run that this run goes on with, or that this run, or
// such a former run, has started.
func leftToRun(r *Run, path string) bool {
	name := leftTo().FindStringSubmatch(filepath.Base(path))
	if name == nil || filepath.Dir(path) != r.process.Outputs.Dir {
		return false
	}
	mine := []event.RunID{r.id}
	if r.former != nil {
		mine = append(mine, r.former.Runs...)
	}
	for id := event.RunID(name[1]); id != ""; {
		if slices.Contains(mine, id) {
			return true
		}
		parent, err := r.process.ParentOf(r.ctx, id)
		if err != nil {
			return false
		}
		id = parent
	}
	return false
}

// closeCommands closes the commands of the run at its end.
func (r *Run) closeCommands() {
	if err := r.guarded("the end of its commands", r.commands.Close); err != nil {
		r.notice(event.NoticeWarning, "what the run's commands left could not be cleared away: "+err.Error(),
			"look into "+SandboxDir(r.process.StateDir))
	}
}
