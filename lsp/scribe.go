package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/short"
)

// writeEvery is how long what a run says is gathered before the document gets it: each edit is a step in the editor's
// list of undos.
const writeEvery = 100 * time.Millisecond

// scribe writes what one run says into the document of its conversation. One goroutine listens to the run, and never
// waits for the editor; another one writes.
type scribe struct {
	*conversations
	path    string
	run     event.RunID
	session event.SessionID
	agent   string
	done    chan struct{} // closed when nothing more is written
	news    chan struct{}

	mu sync.Mutex
	// prompts are what the user sent to the run: each gets a heading for what is answered to it.
	prompts []string
	// answers are what is below the headings, at most as many as these.
	answers []*conversation.Answer
	ended   bool

	// What follows belongs to the listening goroutine: the titles of calls, and whether text of a message was taken
	// that is not stored yet.
	titles  map[event.CallID]string
	partial bool
}

func newScribe(c *conversations, path string, started *methods.RunStarted, prompt string) *scribe {
	s := &scribe{
		conversations: c, path: path, run: started.Run, session: started.Session, agent: "agent",
		done: make(chan struct{}), news: make(chan struct{}, 1), prompts: []string{prompt},
		answers: []*conversation.Answer{{}}, titles: map[event.CallID]string{},
	}
	if info, known := c.runInfo(started.Run); known {
		s.agent = info.Agent
	}
	return s
}

// has reports whether a prompt is the last that was sent, whose heading is not in the document yet. headings is how
// many are there.
func (s *scribe) has(prompt string, headings int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return headings < len(s.prompts) && s.prompts[len(s.prompts)-1] == prompt
}

// steered says that the user has sent a prompt to the run while it works.
func (s *scribe) steered(prompt string) {
	s.mu.Lock()
	s.prompts = append(s.prompts, prompt)
	s.mu.Unlock()
	wake(s.news)
}

// over reports whether the run has ended.
func (s *scribe) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// listen takes in what happens in the run, until it ends.
func (s *scribe) listen(ctx context.Context, events *feed.Subscription) {
	defer func() {
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
		wake(s.news)
	}()
	for {
		e, err := events.Next(ctx)
		if err != nil {
			s.warn(ctx, "a conversation gets no more of its answer", err, "run", s.run)
			return
		}
		if e.Run != s.run {
			continue
		}
		finished, over := e.Body.(event.RunFinished)
		s.mu.Lock()
		s.take(e)
		s.mu.Unlock()
		if over {
			s.finish(finished)
			return
		}
		wake(s.news)
	}
}

// take takes in one event. The lock is held.
func (s *scribe) take(e event.Event) {
	a := s.answers[len(s.answers)-1]
	switch body := e.Body.(type) {
	case event.TurnStarted:
		s.void(a)
		if len(s.answers) < len(s.prompts) { // the model is told now what the user has said meanwhile
			a.End()
			s.answers = append(s.answers, &conversation.Answer{})
		}
	case event.RetryScheduled:
		s.void(a)
	case event.TextDelta:
		a.Text(body.Text)
		s.partial = true
	case event.MessageCommitted:
		if body.Role == "assistant" {
			if !s.partial {
				a.Text(body.Text)
			}
			a.Break()
			s.partial = false
		}
	case event.ToolCallStarted:
		s.titles[body.Call] = body.Title
	case event.ToolCallFinished:
		title, known := s.titles[body.Call]
		if !known {
			title = body.Tool
		}
		delete(s.titles, body.Call)
		a.Line(calledLine(title, body.Status, body.Summary))
	case event.FindingReported:
		a.Line(s.found(body.Finding))
	}
}

// void says that what was written of a message is not what the run goes on with.
func (s *scribe) void(a *conversation.Answer) {
	if s.partial {
		a.Line("*the answer broke off here, and begins anew*")
	}
	s.partial = false
}

// found is a finding, with a link to its place.
func (s *scribe) found(f event.Finding) string {
	return fmt.Sprintf("**%s** %s: %s", f.Severity, s.link(event.FilePath(f.URI), f.Span.StartLine), f.Message)
}

// link is a link to a line, 0-based, of a file.
func (s *scribe) link(path string, line int) string {
	return conversation.Linked(fmt.Sprintf("%s:%d", s.view.Shown(path), line+1),
		fmt.Sprintf("%s#L%d", s.documents.URI(path), line+1))
}

// finish says how the run ended, and what waits for the user.
func (s *scribe) finish(f event.RunFinished) {
	why := ""
	if f.Status != event.StatusCompleted {
		why = f.Result.Reason
		if failure := f.Result.Error; failure != nil {
			why = strings.TrimSuffix(failure.Detail+"; "+failure.Hint, "; ")
		}
		if why == string(f.Status) {
			why = ""
		}
		why = strings.TrimSuffix(fmt.Sprintf("**%s**: %s", f.Status, why), ": ")
	}
	waiting := s.waiting()
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answers[len(s.answers)-1]
	for _, line := range []string{why, waiting} {
		if line != "" {
			a.Line(line)
		}
	}
	a.End()
}

// waiting names the edits of the run that wait for the user, with a link to the first of each file; empty for none.
func (s *scribe) waiting() string {
	session := s.opened()
	if session == nil {
		return ""
	}
	var links []string
	edits, named := 0, map[string]bool{}
	for _, h := range session.Board().Hunks() {
		if h.Author.Run != s.run || h.State != event.StateOpen {
			continue
		}
		if edits++; !named[h.Path] {
			named[h.Path] = true
			links = append(links, s.link(h.Path, h.StartLine))
		}
	}
	if edits == 0 {
		return ""
	}
	return fmt.Sprintf("%s to review: %s", short.Count(edits, "edit"), strings.Join(links, ", "))
}

// errGone says that the user took the heading of the answer out of the document.
var errGone = errors.New("the answer's heading is not in the document")

// page is how far the document is. It belongs to the writing goroutine.
type page struct {
	headings int                  // how many were written: what the user takes out is not put back
	copies   []*conversation.Copy // of the answers below them
	opened   uint64               // the opening of the document that the copies know
}

// turn says which document is written into. In one that was opened anew, the copies look for what is there.
func (p *page) turn(doc *document.Document) {
	if p.opened != 0 && p.opened != doc.Opened {
		for _, c := range p.copies {
			c.Lost()
		}
	}
	p.opened = doc.Opened
}

// write writes what there is, again and again, until the run has ended and all is written. A document that the user has
// closed gets the rest when it is open again.
func (s *scribe) write(ctx context.Context) {
	var p page
	for {
		s.mu.Lock()
		ended, prompts := s.ended, s.prompts
		var answers []string
		for _, a := range s.answers {
			answers = append(answers, a.String())
		}
		s.mu.Unlock()
		err := s.bring(ctx, &p, prompts, answers)
		switch {
		case ctx.Err() != nil, errors.Is(err, errGone):
			return // it is the user's document, and the store has the answer
		case errors.Is(err, delivery.ErrClosed):
			if s.documents.Wait(ctx, func() bool { return s.documents.Get(s.path) != nil }) != nil {
				return
			}
			continue // whether or not the run has ended meanwhile
		case err != nil:
			s.tell(ctx, protocol.MessageTypeWarning, fmt.Sprintf(
				"agentls cannot write the answer into %s: %v. The transcript of the run %s has it",
				s.view.Shown(s.path), err, s.run))
			return
		}
		if ended {
			return
		}
		if !s.sleep(ctx) {
			return
		}
	}
}

// sleep waits until there is more to write, and then a little, since more comes soon. It reports whether to go on.
func (s *scribe) sleep(ctx context.Context) bool {
	select {
	case <-s.news:
	case <-ctx.Done():
		return false
	}
	if s.over() {
		return true
	}
	select {
	case <-time.After(writeEvery):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// bring brings headings and answers into the document, as far as they are not there.
func (s *scribe) bring(ctx context.Context, p *page, prompts, answers []string) error {
	for ; p.headings < len(prompts); p.headings++ {
		err := s.edit(ctx, p, func(text string) (conversation.Edit, bool, bool) {
			t := conversation.Parse(text)
			return t.Opened(s.agent, s.run, prompts[p.headings]), len(t.Answers(s.run)) <= p.headings, false
		})
		if err != nil {
			return err
		}
	}
	for i, answer := range answers {
		if i == len(p.copies) {
			p.copies = append(p.copies, &conversation.Copy{})
		}
		err := s.edit(ctx, p, func(text string) (conversation.Edit, bool, bool) {
			return p.copies[i].Next(text, s.run, i, answer)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// edit has the editor make the edits that next names, one after the other.
func (s *scribe) edit(ctx context.Context, p *page,
	next func(text string) (edit conversation.Edit, ok, gone bool),
) error {
	missing := false
	err := delivery.Write(ctx, s.desk, s.path, "answer", func(doc *document.Document) (delivery.Change, bool) {
		p.turn(doc)
		edit, ok, gone := next(doc.Index().Text())
		missing = gone
		return delivery.Change{Start: edit.Start, End: edit.End, New: edit.New}, ok
	})
	if missing {
		return errGone
	}
	return err
}
