package run

import (
	"errors"
	"os"

	"github.com/agentls/agentls/agentcore/event"
)

// tellStarter tells the run that started this one in the background that this one has ended. The end is durable.
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
