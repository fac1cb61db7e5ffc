// Package script is a model that follows a script: for tests of everything that talks to a model.
// It answers what its turns say, checks what it is sent, and tells afterwards what did not fit.
package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/model"
)

// Any as Turn.Times lets a turn answer any number of requests, also none.
const Any = -1

// Turn answers one request, or Times of them.
type Turn struct {
	// Match picks the runs that the turn is for: a substring of the system prompt or of the first user
	// message. Empty fits every run.
	Match string
	// Times is how many requests the turn answers, one after the other: 0 means 1, Any no fixed number.
	Times int
	// Fresh lets the request begin anew: the script does not compare its prefix with the former request of the run. A
	// conversation that a summary has shortened needs Fresh only where the script gets the conversation over a wire,
	// since a wire does not mark summaries.
	Fresh bool
	// Expect is checked on the request. Check reports what does not hold; the turn answers all the same.
	Expect []Expect
	// Capture looks for each expression in the last message and keeps its first group (or the whole match)
	// under the name, for this run. Steps of this and later turns of the run write ${name} for it.
	Capture map[string]*regexp.Regexp
	// Answer is what is streamed, in order. Done follows by itself unless a step was an Error.
	Answer []Step
	// Then computes further steps from the request, for answers that cannot be written down before.
	Then func(*model.Request) []Step
	// Chunk is the number of characters in a TextDelta; with 0, each text is one TextDelta.
	Chunk int
	// Usage is reported in Done as it is.
	Usage model.Usage
	// Stop is reported in Done; empty means StopCalls behind a call and StopEnd elsewhere.
	Stop model.Stop
}

// Step is one of Text, Reasoning, Call, Error, Gate and Pause.
type Step interface{ isStep() }

// Text is streamed as the next text part of the message.
type Text string

// Reasoning is streamed as reasoning, and kept in the message with a signature.
type Reasoning string

// Call is a tool call.
type Call struct {
	// ID is made up, unique in the run and in the conversation, where it is empty.
	ID   string
	Name string
	// Arguments is sent as it is, valid JSON or not.
	Arguments string
}

// Error ends the stream with a failure of the provider. Its Provider is filled in where it is empty.
type Error model.Error

// Gate holds the stream until Release is called with the same name, or the request is cancelled.
type Gate string

// Pause holds the stream for a while, for benchmarks. Tests use a Gate.
type Pause time.Duration

func (Text) isStep()      {}
func (Reasoning) isStep() {}
func (Call) isStep()      {}
func (Error) isStep()     {}
func (Gate) isStep()      {}
func (Pause) isStep()     {}

// gate is the state of a named gate.
type gate struct {
	reached  int
	news     chan struct{} // closed and replaced when reached grows
	released chan struct{}
	open     bool
}

// Script is a model.Model that answers from its turns. Each request takes the first turn with answers
// left whose Match fits. It is safe for concurrent use; its own lock guards all of its state.
//
// It also checks, for every request and without being asked, that the conversation is well formed (it
// begins with a user message and does not end with an assistant one, no two assistant messages follow each
// other, each tool call has exactly one result directly behind it, no call id comes twice), and that it
// continues the former request of the same Run: the same system prompt, the same tools (with NoCalls too) or none
// at all, the same messages, then the message that the script answered. Where a new summary stands for messages
// (model.Text.Summary), the rest is as it was. Lax switches both off.
type Script struct {
	// Lax switches the checks of the conversation off. Set it before the first request.
	Lax bool
	// Context is how many tokens the model takes, 0 for any number. Set it before the first request. The script itself
	// refuses no request for its size; a turn that should do so answers an Error of the kind ErrContext.
	Context int64
	// Use is what the model does with the effort of requests; the zero value refuses it. Set it before the first
	// request.
	Use model.EffortUse

	// Blind reports whether the model takes no images. Set it before the first request.
	Blind bool

	name  string
	turns []Turn

	mu       sync.Mutex
	used     []int
	requests int
	runs     map[string]*conversation
	gates    map[string]*gate
	failures []error
}

var (
	_ model.Sized   = (*Script)(nil)
	_ model.Thinker = (*Script)(nil)
)

// New makes a model named "script/"+name.
func New(name string, turns ...Turn) *Script {
	return &Script{
		name:  "script/" + name,
		turns: slices.Clone(turns),
		used:  make([]int, len(turns)),
		runs:  map[string]*conversation{},
		gates: map[string]*gate{},
	}
}

// Name is "script/" and the name given to New.
func (s *Script) Name() string { return s.name }

// Sees is the contrary of Blind.
func (s *Script) Sees() bool { return !s.Blind }

// ContextTokens is Context.
func (s *Script) ContextTokens() int64 { return s.Context }

// Effort is Use.
func (s *Script) Effort() (use model.EffortUse, hint string) { return s.Use, "" }

// Stream answers with the next turn that fits. A request that no turn is left for gets an ErrInvalid and
// is reported by Check.
func (s *Script) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		turn, run, err := s.take(request)
		if err != nil {
			yield(nil, err)
			return
		}
		s.play(ctx, request, turn, run, yield)
	}
}

// take picks the turn for a request and checks the request. The turn it returns is a copy with the
// captured texts filled in.
func (s *Script) take(request *model.Request) (*Turn, *conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	index := -1
	for i, turn := range s.turns {
		if (turn.Times == Any || s.used[i] < max(1, turn.Times)) && fits(turn.Match, request) {
			index = i
			break
		}
	}
	label := fmt.Sprintf("request %d (run %q)", s.requests, request.Run)
	run := s.runs[request.Run]
	if run == nil {
		run = newConversation()
		s.runs[request.Run] = run
	}
	fresh := index >= 0 && s.turns[index].Fresh
	if !s.Lax {
		s.fail(label, wellFormed(request.Messages))
		if !fresh {
			s.fail(label, run.continues(request))
		}
		run.remember(request)
	}
	if index < 0 {
		detail := fmt.Sprintf("no turn is left for this request; it begins %q and ends %q", start(firstUser(request)),
			start(last(request)))
		s.fail(label, errors.New(detail))
		return nil, nil, &model.Error{
			Kind: model.ErrInvalid, Provider: s.name, Detail: "the script has " + detail,
			Hint: "Add a turn to the script.",
		}
	}
	s.used[index]++
	turn := s.turns[index]
	for _, expect := range turn.Expect {
		if err := expect(request); err != nil {
			s.fail(fmt.Sprintf("%s, turn %d", label, index+1), err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(turn.Capture)) {
		match := turn.Capture[name].FindStringSubmatch(last(request))
		if match == nil {
			s.fail(fmt.Sprintf("%s, turn %d", label, index+1),
				fmt.Errorf("capture %s: the last message has nothing like %s; it is %q", name, turn.Capture[name],
					start(last(request))))
			continue
		}
		run.captured[name] = match[min(1, len(match)-1)]
	}
	turn.Answer = run.fill(turn.Answer)
	if turn.Then != nil {
		turn.Answer = append(turn.Answer, turn.Then(request)...)
	}
	for i, step := range turn.Answer {
		if call, ok := step.(Call); ok && call.ID == "" {
			call.ID = run.newID(request)
			turn.Answer[i] = call
		}
	}
	return &turn, run, nil
}

// play streams a turn.
func (s *Script) play(ctx context.Context, request *model.Request, turn *Turn, run *conversation,
	yield func(model.Event, error) bool,
) {
	message := model.Message{Role: model.RoleAssistant}
	for _, step := range turn.Answer {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		switch step := step.(type) {
		case Text:
			for _, piece := range pieces(string(step), turn.Chunk) {
				if !yield(model.TextDelta{Text: piece}, nil) {
					return
				}
			}
			message.Parts = append(message.Parts, model.Text{Text: string(step)})
		case Reasoning:
			for _, piece := range pieces(string(step), turn.Chunk) {
				if !yield(model.ReasoningDelta{Text: piece}, nil) {
					return
				}
			}
			message.Parts = append(message.Parts, model.Reasoning{Text: string(step), Signature: "script"})
		case Call:
			if !yield(model.CallDelta{Name: step.Name}, nil) {
				return
			}
			message.Parts = append(message.Parts,
				model.Call{ID: step.ID, Name: step.Name, Arguments: json.RawMessage(step.Arguments)})
		case Error:
			failure := model.Error(step)
			if failure.Provider == "" {
				failure.Provider = s.name
			}
			yield(nil, &failure)
			return
		case Gate:
			if err := s.pass(ctx, string(step)); err != nil {
				yield(nil, err)
				return
			}
		case Pause:
			timer := time.NewTimer(time.Duration(step))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				yield(nil, ctx.Err())
				return
			}
		}
	}
	stop := turn.Stop
	if stop == "" {
		stop = model.StopEnd
		if len(message.Calls()) > 0 {
			stop = model.StopCalls
		}
	}
	s.mu.Lock()
	run.answered = &answer{after: len(request.Messages), calls: message.Calls(), text: message.Text()}
	s.mu.Unlock()
	yield(model.Done{Message: message, Usage: turn.Usage, Stop: stop}, nil)
}

// gate returns the gate of that name. The caller holds s.mu.
func (s *Script) gate(name string) *gate {
	g := s.gates[name]
	if g == nil {
		g = &gate{news: make(chan struct{}), released: make(chan struct{})}
		s.gates[name] = g
	}
	return g
}

// pass waits at a gate.
func (s *Script) pass(ctx context.Context, name string) error {
	s.mu.Lock()
	g := s.gate(name)
	g.reached++
	close(g.news)
	g.news = make(chan struct{})
	s.mu.Unlock()
	select {
	case <-g.released:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release opens a gate for all who wait there and for all who come later.
func (s *Script) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.gate(name); !g.open {
		g.open = true
		close(g.released)
	}
}

// Reached waits until n requests have come to a gate, and returns the error of ctx if that is done before.
func (s *Script) Reached(ctx context.Context, name string, n int) error {
	for {
		s.mu.Lock()
		g := s.gate(name)
		reached, news := g.reached, g.news
		s.mu.Unlock()
		if reached >= n {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d requests at gate %q, have %d: %w", n, name, reached, ctx.Err())
		}
	}
}

// Requests returns how many requests have come so far.
func (s *Script) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Check returns everything that did not fit: requests that were not as expected, requests without a turn,
// turns without a request. It is nil when the script was followed to its end. Call it when the runs are over.
func (s *Script) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.failures)
	for i, turn := range s.turns {
		if want := max(1, turn.Times); turn.Times != Any && s.used[i] < want {
			all = append(all, fmt.Errorf("%s: turn %d (match %q) was used %d of %d times", s.name, i+1, turn.Match,
				s.used[i], want))
		}
	}
	return errors.Join(all...)
}

// fail notes a failure, if there is one. The caller holds s.mu.
func (s *Script) fail(label string, err error) {
	if err != nil {
		s.failures = append(s.failures, fmt.Errorf("%s: %s: %w", s.name, label, err))
	}
}

// fits reports whether a turn's match picks the run of the request.
func fits(match string, request *model.Request) bool {
	return match == "" || strings.Contains(request.System, match) || strings.Contains(firstUser(request), match)
}

// pieces cuts text into pieces of n characters.
func pieces(text string, n int) []string {
	if n <= 0 || text == "" {
		return []string{text}
	}
	var out []string
	for chunk := range slices.Chunk([]rune(text), n) {
		out = append(out, string(chunk))
	}
	return out
}
