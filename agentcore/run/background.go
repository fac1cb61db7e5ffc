package run

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
)

// showProgress puts into the file of a run in the background how far it is. The run's goroutine calls it.
func (r *Run) showProgress() {
	if r.output == "" {
		return
	}
	made := len(r.Snapshot().ToolCalls)
	text := fmt.Sprintf("%s: turn %d, %s so far)\n", stillRuns, r.turn, clip.Counted(made, "tool call", "tool calls"))
	if said := strings.TrimSpace(r.lastText); said != "" {
		text += "\n" + said + "\n"
	}
	if err := r.process.Outputs.Write(r.output, text); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.process.Logger.Warn("how far a run is could not be written to its file", "run", r.id, "error", err)
	}
}

// tellStarter tells the run that started this one in the background of its end, which is durable.
func (r *Run) tellStarter() {
	if !r.background() {
		return
	}
	ended := r.taskState()
	if err := r.process.Outputs.Write(r.output, ended.Report()+"\n"); err != nil && !errors.Is(err, os.ErrNotExist) {
		r.notice(event.NoticeWarning, "the result could not be written to its file: "+err.Error(),
			"free space in the state folder")
	}
	r.parent.tasks.inbox.settle(message{child: r.id, text: r.process.Outputs.Report(ended)})
}
