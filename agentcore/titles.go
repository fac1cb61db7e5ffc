package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/agentcore/store"
)

const (
	// titleLength bounds the title of a session, and summaryLength its summary, in runes.
	titleLength, summaryLength = 80, 1200
	// errandTime is how long a model may take for a title or a summary. Until then, and where the model fails, the text
	// made by rules stands.
	errandTime = 30 * time.Second
	// errandTokens bounds the answer; a model may think before it says a few words.
	errandTokens = 1024
	// namedBy bounds the part of a prompt that a title is made from, and summedUp the part of a conversation that a
	// summary is made from, in bytes.
	namedBy, summedUp = 4 << 10, 12 << 10
	// listedFiles is how many changed files a summary by rules names.
	listedFiles = 5
)

// errands are single requests that hidden agents make for a session in the background. They end with the session, and
// with the engine.
type errands struct {
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

func newErrands(above context.Context) *errands {
	e := &errands{}
	e.ctx, e.cancel = context.WithCancel(above)
	return e
}

// account is how lists describe a session: its title and summary.
type account struct {
	title, summary string
	changed        map[string]bool // files, shown, that its runs proposed to change
}

// named gives the session a title from its first run if it has none. It returns a function that asks a model for a
// better title, to be called once the run is stored; nil where no model is to be asked.
func (s *Session) named(r *run.Run) (improve func()) {
	given := r.Request().Title != clip.FirstLine(r.Request().Prompt)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.account.title != "" {
		return nil
	}
	s.account.title = r.Request().Title
	if given {
		return nil // a title that somebody gave stays
	}
	s.account.title = cmp.Or(firstSentence(r.Request().Prompt), r.Request().Title)
	return s.errand(r, "title", "names the session", clip.Middle(r.Request().Prompt, namedBy), func(answer string) {
		if title := cleanTitle(answer); title != "" {
			s.tells(func(a *account) { a.title = title })
		}
	})
}

// runEnded updates the session at the end of a run of the user.
func (s *Session) runEnded(r *run.Run) {
	s.sumUp(r)
	s.store(store.SessionOpen)
}

// sumUp gives the session a new summary at the end of a run of the user. For a run of several turns, a model may be
// asked for a better one, also after the run.
func (s *Session) sumUp(r *run.Run) {
	s.mu.Lock()
	former := s.account.summary
	if s.account.changed == nil {
		s.account.changed = map[string]bool{}
	}
	for _, path := range r.Touched() {
		s.account.changed[s.shared.View.Shown(path)] = true
	}
	changed := slices.Sorted(maps.Keys(s.account.changed))
	s.mu.Unlock()
	said := r.Snapshot()
	facts := s.facts(changed)
	s.tells(func(a *account) { a.summary = joinLines(firstSentence(said.Output), facts) })
	if said.Status != event.StatusCompleted || said.Turns < 2 {
		return // the run's own words are short enough
	}
	if former != "" {
		former = "<summary_so_far>\n" + former + "\n</summary_so_far>\n"
	}
	seen := fmt.Sprintf("<seen_by_the_engine>\n%s\n</seen_by_the_engine>\n", facts)
	material := former + seen + r.Transcript(summedUp)
	improve := s.errand(r, "summary", "sums up the session", material, func(answer string) {
		s.tells(func(a *account) { a.summary = permission.Legible(shortenedTo(answer, summaryLength)) })
	})
	if improve != nil {
		improve()
	}
}

// facts says what the engine has seen of the session's runs in this process.
func (s *Session) facts(changed []string) string {
	var agents []string
	own := map[event.RunID]bool{}
	for _, r := range s.Runs() {
		own[r.ID] = true
		if !slices.Contains(agents, r.Agent) {
			agents = append(agents, r.Agent)
		}
	}
	found := s.shared.Board.FoundBy(own)
	facts := []string{"agents: " + strings.Join(agents, ", ")}
	if len(changed) > 0 {
		names := strings.Join(changed[:min(len(changed), listedFiles)], ", ")
		if more := len(changed) - listedFiles; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		facts = append(facts, "changed: "+filepath.ToSlash(names))
	}
	if found > 0 {
		facts = append(facts, fmt.Sprintf("findings: %d", found))
	}
	return strings.Join(facts, "; ")
}

// tells changes the session's account, and stores and publishes it if it has changed.
func (s *Session) tells(change func(*account)) {
	s.mu.Lock()
	before := s.account
	change(&s.account)
	now := s.account
	s.mu.Unlock()
	if now.title == before.title && now.summary == before.summary {
		return
	}
	s.store(store.SessionOpen, event.SessionChanged{Title: now.title, Summary: now.summary})
}

// errand prepares a question to a hidden agent without anybody waiting for the answer; nil where no model is to be
// asked.
func (s *Session) errand(r *run.Run, slug, title, asking string, take func(answer string)) func() {
	ask := r.Errand(run.Errand{Agent: slug, Title: title, Asking: asking, Timeout: errandTime, Tokens: errandTokens})
	if ask == nil {
		return nil
	}
	return func() {
		s.goes(func(ctx context.Context) error {
			answer, err := ask(ctx)
			if err == nil {
				take(answer)
			}
			return err
		}, slug)
	}
}

// goes starts an errand unless the session or the engine has ended. A failure is only logged, since the user has asked
// for nothing.
func (s *Session) goes(do func(context.Context) error, what string) {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || s.errands.ctx.Err() != nil {
		return
	}
	e.wait.Add(1)
	s.errands.wait.Add(1)
	go func() {
		defer e.wait.Done()
		defer s.errands.wait.Done()
		var err error
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("it panicked: %v", p)
			}
			if err != nil && s.errands.ctx.Err() == nil {
				e.process.Logger.Warn("a session keeps the words made by rules", "session", s.ID, "agent",
					what, "error", err)
			}
		}()
		err = do(s.errands.ctx)
	}()
}

// end stops the errands, and waits until none is left or ctx ends.
func (e *errands) end(ctx context.Context) error {
	e.cancel()
	ended := make(chan struct{})
	go func() { e.wait.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("wait for what names the session"), context.Cause(ctx))
	}
}

// firstSentence is the first sentence of a text in one line, without the signs of Markdown and a full stop.
func firstSentence(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(strings.TrimLeft(line, "#>*-`~ \t")), " ")
		if line == "" {
			continue
		}
		line = strings.NewReplacer("`", "", "**", "").Replace(line)
		for i, sign := range line {
			rest := line[i+len(string(sign)):]
			if strings.ContainsRune("。！？", sign) || strings.ContainsRune(".!?", sign) && strings.HasPrefix(rest, " ") {
				line = line[:len(line)-len(rest)]
				break
			}
		}
		return permission.LegibleLine(shortenedTo(strings.TrimRight(line, ".。:"), titleLength))
	}
	return ""
}

// cleanTitle makes a title of a model's answer.
func cleanTitle(answer string) string {
	const quotes = "\"'“”„«» \t\r\n"
	answer = strings.Trim(strings.TrimPrefix(strings.TrimSpace(answer), "Title:"), quotes)
	return strings.TrimRight(firstSentence(answer), quotes)
}

// shortenedTo cuts a text to so many runes, between words if possible.
func shortenedTo(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	cut := string(runes[:most-1])
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

func joinLines(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}
