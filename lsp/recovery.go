package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/elsewhere"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/short"
)

// recovery tells the user of runs that were cut off with a former server on these folders, and offers to resume them.
// Nothing resumes by itself. A notice tells the user, and a code action asks: an editor that has just started must not
// ask, since in some editors a question takes keys that were meant for something else. recovery has its own lock; its
// methods may be called from any goroutine.
type recovery struct {
	*window
	pages *pages
	// resumeRun goes on with a run.
	resumeRun func(context.Context, *methods.ResumeParams) (*methods.RunStarted, error)

	looked chan struct{} // closed when begin has ended or will never be called

	mu   sync.Mutex
	left []elsewhere.Interrupted // those that are not resumed yet, the oldest first
}

// The answers to the question what to do with interrupted runs.
const (
	answerResume = "Resume"
	answerShow   = "Show"
)

// maxRecovered is how many interrupted runs are named and shown one by one.
const maxRecovered = 3

// begin looks for runs that were cut off and of which no server has told the user, and tells the user.
func (r *recovery) begin(ctx context.Context, roots []string) {
	runs, err := r.engine.Others().TakeInterrupted(ctx, roots)
	if err != nil {
		if ctx.Err() == nil {
			r.tell(ctx, protocol.MessageTypeWarning, "agentls could not look for interrupted runs: "+err.Error())
		}
		return
	}
	if len(runs) == 0 {
		return
	}
	resumable := slices.DeleteFunc(slices.Clone(runs), func(i elsewhere.Interrupted) bool { return len(i.Parts) == 0 })
	r.offer(resumable)
	told, logged := notice(resumable), "agentls: "+interruptedText(runs)
	if len(resumable) == 0 {
		told = logged + " It had not begun, so that there is nothing to resume: start it anew."
	} else {
		logged += fmt.Sprintf(" Resume it by a code action, or by the command %s {\"run\": %q}.",
			methods.CommandResume, resumable[len(resumable)-1].Parts[0])
		r.log(ctx, protocol.MessageTypeWarning, logged)
	}
	if len(resumable) > 0 && r.client.Announced().Endings {
		return // the client asks for them itself
	}
	r.tell(ctx, protocol.MessageTypeWarning, told)
}

// offer makes actions offer to resume these runs. It copies the list, so that the caller may read it while runs are
// resumed.
func (r *recovery) offer(runs []elsewhere.Interrupted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = slices.Clone(runs)
}

// notice is what the user is told at the start, in one line of less than 80 columns, since Neovim waits for a key after
// a longer one.
func notice(runs []elsewhere.Interrupted) string {
	return "agentls: " + short.Count(len(runs), "interrupted run") + ", see the code actions"
}

// Interrupted carries out `agentls.interrupted`: it says which runs were cut off, and does what the user decides.
func (r *recovery) Interrupted(ctx context.Context, _ *methods.NoParams) (*methods.InterruptedResult, error) {
	if _, err := r.kept(ctx); err != nil {
		return nil, err
	}
	if err := r.awaits(ctx, r.looked); err != nil {
		return nil, err
	}
	runs := r.runs()
	if len(runs) == 0 {
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: "no run of a former server waits to be resumed",
			Hint: "list the runs with agent/sessions and agent/session; agent/resume resumes any that has ended",
		}
	}
	answer, err := r.choice(ctx, protocol.MessageTypeWarning, interruptedText(runs), answerResume, answerShow)
	result := &methods.InterruptedResult{}
	switch answer {
	case answerResume:
		result.Started = r.resume(ctx, runs)
	case answerShow:
		r.show(ctx, runs)
	}
	return result, err
}

// runs are the runs that can be resumed and are not yet, the oldest first.
func (r *recovery) runs() []elsewhere.Interrupted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.left)
}

// interruptedText says which runs were cut off.
func interruptedText(runs []elsewhere.Interrupted) string {
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
	return fmt.Sprintf("%d runs were interrupted, since their server ended: %s. Nothing goes on by itself.", len(runs),
		strings.Join(names, ", "))
}

// interruptedName names a run as its progress did.
func interruptedName(i elsewhere.Interrupted) string {
	return "“" + i.Agent + ": " + short.Line(permission.Visible(i.Title)) + "”"
}

// resume goes on with runs, as the user has chosen, and returns those that begin.
func (r *recovery) resume(ctx context.Context, runs []elsewhere.Interrupted) []methods.RunStarted {
	var list []methods.RunStarted
	for _, i := range runs {
		for _, part := range i.Parts {
			started, err := r.resumeRun(ctx, &methods.ResumeParams{Run: part})
			if err != nil {
				r.tell(ctx, protocol.MessageTypeError, "agentls could not resume "+interruptedName(i)+": "+err.Error())
				continue
			}
			list = append(list, *started)
			if !r.client.KnowsProtocol() {
				r.pages.present(ctx, started)
			}
		}
	}
	return list
}

// show shows what the newest of the runs has done.
func (r *recovery) show(ctx context.Context, runs []elsewhere.Interrupted) {
	for _, i := range runs[max(0, len(runs)-maxRecovered):] {
		var text strings.Builder
		fmt.Fprintf(&text, "# %s\n\n", interruptedName(i))
		var err error
		for _, part := range i.Parts {
			if err = r.engine.History().TranscriptMarkdown(ctx, part, &text); err != nil {
				break
			}
			text.WriteString("\n")
		}
		if err == nil {
			err = r.pages.showText(ctx, "transcripts/"+string(i.ID)+".md", text.String(), false)
		}
		if err != nil && ctx.Err() == nil {
			r.tell(ctx, protocol.MessageTypeWarning, "agentls could not show "+interruptedName(i)+": "+err.Error())
		}
	}
}

// resumed notes that a run goes on, so that actions no longer offers it.
func (r *recovery) resumed(run event.RunID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := range r.left {
		r.left[at].Parts = slices.DeleteFunc(slices.Clone(r.left[at].Parts),
			func(part event.RunID) bool { return part == run })
	}
	r.left = slices.DeleteFunc(r.left, func(i elsewhere.Interrupted) bool { return len(i.Parts) == 0 })
}

// actions are one action, in every document, that resumes interrupted runs: it asks the user which or, for a client
// that shows no questions, resumes the newest.
func (r *recovery) actions() []menu.Action {
	runs := r.runs()
	if len(runs) == 0 {
		return nil
	}
	newest := runs[len(runs)-1]
	a := menu.Action{
		Title: "agentls: Resume " + strings.Trim(interruptedName(newest), "“”"), Kind: menu.KindRun,
		Command: methods.CommandResume, Argument: methods.ResumeParams{Run: newest.Parts[0]},
	}
	if r.client.ShowsQuestions() {
		a.Title += "…"
		if len(runs) > 1 {
			a.Title = fmt.Sprintf("agentls: Resume %d interrupted runs…", len(runs))
		}
		a.Command, a.Argument = methods.CommandInterrupted, methods.NoParams{}
	}
	return []menu.Action{a}
}
