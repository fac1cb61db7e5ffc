package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/methods"
)

// recovery tells the user of runs that were cut off with a former server on these folders, and offers to resume them. Nothing resumes by
// itself. It has its own lock; its methods may be called from any goroutine.
type recovery struct {
	server *Server

	mu   sync.Mutex
	left []agentcore.Interrupted // those that were not resumed yet, the oldest first
}

// The answers to the question what to do with interrupted runs.
const (
	answerResume = "Resume"
	answerShow   = "Show"
)

// maxRecovered is how many interrupted runs are named, shown and offered one by one.
const maxRecovered = 3

// begin looks for runs that were cut off, of which the user was not told yet by any server, and tells. It waits for no answer.
func (r *recovery) begin(ctx context.Context, roots []string) {
	runs, err := r.server.engine.TakeInterrupted(ctx, roots)
	if err != nil {
		if ctx.Err() == nil {
			r.server.tell(ctx, protocol.MessageTypeWarning, "agentls could not look for interrupted runs: "+err.Error())
		}
		return
	}
	if len(runs) == 0 {
		return
	}
	resumable := slices.DeleteFunc(slices.Clone(runs), func(i agentcore.Interrupted) bool { return len(i.Parts) == 0 })
	r.mu.Lock()
	r.left = slices.Clone(resumable) // which shrinks, while the other is told of and gone through
	r.mu.Unlock()
	r.server.goes(func(ctx context.Context) { r.tell(ctx, runs, resumable) })
}

// tell tells of interrupted runs, and does what the user answers. Where the editor cannot ask, code actions and a command are named instead; the
// former are there in any case, until the run is resumed.
func (r *recovery) tell(ctx context.Context, runs, resumable []agentcore.Interrupted) {
	s := r.server
	text := "agentls: " + interruptedText(runs)
	if len(resumable) == 0 {
		s.tell(ctx, protocol.MessageTypeWarning, text+" It had not begun, so that there is nothing to resume: start it anew.")
		return
	}
	if !s.client.messageRequest() {
		text += fmt.Sprintf(" Resume it by a code action, or by the command %s {\"run\": %q}.", methods.CommandResume, resumable[len(resumable)-1].Parts[0])
		s.tell(ctx, protocol.MessageTypeWarning, text)
		return
	}
	answer, err := s.client.choose(ctx, protocol.MessageTypeWarning, text, answerResume, answerShow)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.logger.Warn("the user could not be asked about interrupted runs", "error", err)
	case answer == answerResume:
		r.resume(ctx, resumable)
	case answer == answerShow:
		r.show(ctx, resumable)
	}
}

// interruptedText says which runs were cut off.
func interruptedText(runs []agentcore.Interrupted) string {
	var names []string
	for _, i := range slices.Backward(runs) { // the newest first
		if len(names) == maxRecovered {
			names = append(names, fmt.Sprintf("%d more", len(runs)-maxRecovered))
			break
		}
		names = append(names, interruptedName(i))
	}
	if len(runs) == 1 {
		return "the run " + names[0] + " was interrupted, since its server ended. Nothing goes on by itself."
	}
	return fmt.Sprintf("%d runs were interrupted, since their server ended: %s. Nothing goes on by itself.", len(runs), strings.Join(names, ", "))
}

// interruptedName names a run as its progress did.
func interruptedName(i agentcore.Interrupted) string {
	return "“" + i.Agent + ": " + shortened(permission.Visible(i.Title)) + "”"
}

// resume goes on with runs, as the user has chosen.
func (r *recovery) resume(ctx context.Context, runs []agentcore.Interrupted) {
	s := r.server
	for _, i := range runs {
		for _, part := range i.Parts {
			started, err := s.Resume(ctx, &methods.ResumeParams{Run: part})
			if err != nil {
				s.tell(ctx, protocol.MessageTypeError, "agentls could not resume "+interruptedName(i)+": "+err.Error())
				continue
			}
			if !s.client.knowsProtocol() {
				s.present(ctx, started)
			}
		}
	}
}

// show shows what the newest of the runs had done.
func (r *recovery) show(ctx context.Context, runs []agentcore.Interrupted) {
	s := r.server
	for _, i := range runs[max(0, len(runs)-maxRecovered):] {
		var text strings.Builder
		fmt.Fprintf(&text, "# %s\n\n", interruptedName(i))
		var err error
		for _, part := range i.Parts {
			if err = s.engine.TranscriptMarkdown(ctx, part, &text); err != nil {
				break
			}
			text.WriteString("\n")
		}
		if err == nil {
			err = s.showText(ctx, "transcripts/"+string(i.ID)+".md", text.String(), false)
		}
		if err != nil && ctx.Err() == nil {
			s.tell(ctx, protocol.MessageTypeWarning, "agentls could not show "+interruptedName(i)+": "+err.Error())
		}
	}
}

// resumed notes that a run goes on, by whatever way: it is offered no more.
func (r *recovery) resumed(run event.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := range r.left {
		r.left[at].Parts = slices.DeleteFunc(slices.Clone(r.left[at].Parts), func(part event.RunID) bool { return part == run })
	}
	r.left = slices.DeleteFunc(r.left, func(i agentcore.Interrupted) bool { return len(i.Parts) == 0 })
}

// actions offer to resume the newest interrupted runs, in every document.
func (r *recovery) actions() []action {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []action
	for _, i := range slices.Backward(r.left) {
		if len(list) == maxRecovered {
			break
		}
		list = append(list, action{
			title: "agentls: Resume " + strings.Trim(interruptedName(i), "“”"), kind: kindRun,
			command: methods.CommandResume, argument: methods.ResumeParams{Run: i.Parts[0]},
		})
	}
	return list
}
