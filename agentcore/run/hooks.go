package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// hookTimeout is the time limit of a hook that sets none.
	hookTimeout = time.Minute
	// maxGoOn is how often hooks may keep one run from ending.
	maxGoOn = 3
	// maxHookContext bounds what all hooks of one event together say to a model, in bytes.
	maxHookContext = 2 * hook.MaxText
	// maxHookNotices is how many notices about one hook the user gets in one run.
	maxHookNotices = 5
)

// A hook never allows anything: it runs before the rules decide, and can only reject a call or have the user asked.

// lifecycleHook is a hook as a run knows it. It is immutable.
type lifecycleHook struct {
	event   hook.Event
	matcher hook.Matcher
	command []string
	timeout time.Duration
	// project is true for a hook that came with a workspace folder: it runs only in a trusted folder and in a sandbox.
	project bool
	// dir is the folder whose configuration has the hook, and in which it runs; empty for the first workspace folder.
	dir string
	// own is true for a hook of the run's definition, false for one of the configuration.
	own bool
	// name is the name that people are shown.
	name string
}

// hooks are the hooks of one run, in the order in which they run: first those of the configuration, then those of the
// definitions of the agents above the run, which also guard the calls of their children, then those of the run's
// definition. Its methods belong to the run's goroutine and its calls.
type hooks struct {
	list []*lifecycleHook
	// turn is held while a hook runs, so that one runs at a time.
	turn chan struct{}
	// context is what the hooks said at the start, for the first prompt. Only the run's goroutine uses it.
	context string
	// kept is how often hooks kept the run from ending. Only the run's goroutine uses it.
	kept int

	outlet
	in hookSurroundings

	mu   sync.Mutex
	told map[*lifecycleHook][]string // the notices that were given about each hook
}

// hookSurroundings are what hooks work with. They are set once the run has its rights, its tools and its context.
type hookSurroundings struct {
	ctx      context.Context // the run's
	agent    string          // its slug
	view     *workspace.View
	trusted  func() bool
	rights   authority.Rights
	commands *command.Set
	layer    func() *workspace.Layer
	// editable returns why the run may not change a file, offers reports whether the run has a tool, and save stores
	// the run's layer.
	editable func(judge *workspace.Judge, path string, fix bool) error
	offers   func(tool string) bool
	save     func()
	progress func(message string, percent int)
	// common is the part of the input that is the same for all events.
	common hook.Input
}

// guards reports whether hooks look at calls before they are made.
func (h *hooks) guards() bool {
	return slices.ContainsFunc(h.list, func(one *lifecycleHook) bool { return one.event == hook.PreToolUse })
}

// pick returns the hooks of an event whose matcher takes one of these spellings.
func (h *hooks) pick(e hook.Event, spellings ...string) []*lifecycleHook {
	var list []*lifecycleHook
	for _, one := range h.list {
		if one.event == e && one.matcher.Match(spellings...) {
			list = append(list, one)
		}
	}
	return list
}

// ofCall returns the hooks of an event for a call of a tool, whichever of the tool's spellings a matcher uses.
func (h *hooks) ofCall(e hook.Event, c *call) []*lifecycleHook {
	if len(h.list) == 0 {
		return nil
	}
	return h.pick(e, tool.Spellings(c.spec.Name)...)
}

// input is an event's input with the part that is the same for all events.
func (h *hooks) input(e hook.Event) hook.Input {
	in := h.in.common
	in.Event = e
	return in
}

// fire runs hooks one after the other, up to the first that rejects. The outcome holds what all of them said to the
// model, each text marked as a hook's. The error is that of ctx, which is the run's: no hook runs once the run is
// cancelled.
func (h *hooks) fire(ctx context.Context, list []*lifecycleHook, input hook.Input) (hook.Outcome, error) {
	var all hook.Outcome
	if len(list) == 0 {
		return all, ctx.Err()
	}
	text, err := input.Encode()
	if err != nil {
		h.notice(event.NoticeWarning, err.Error(), "the hooks were left out; please report it")
		return all, nil
	}
	text = []byte(h.redactor.Text(string(text)))
	var said []string
	size := 0
	for _, one := range list {
		outcome, err := h.runHook(one, text)
		if err != nil {
			return all, err
		}
		outcome.Context = h.redactor.Text(outcome.Context)
		if outcome.Problem != "" {
			h.tell(one, event.NoticeWarning, "the "+one.name+" "+outcome.Problem,
				"mend it, or take it out of "+one.home())
		}
		if outcome.Message != "" {
			h.tell(one, event.NoticeInfo, "the "+one.name+" says: "+outcome.Message, "")
		}
		if size += len(outcome.Context); size > maxHookContext {
			h.tell(one, event.NoticeWarning,
				"what the "+one.name+" says to the agent was left out, since hooks before it said much",
				"have them say less")
		} else if outcome.Context != "" {
			said = append(said, marked(one.event, outcome.Context))
		}
		if outcome.Ask && !all.Ask {
			all.Ask, all.AskReason = true, outcome.AskReason
		}
		if outcome.Block {
			all.Block, all.Reason = true, h.redactor.Text(outcome.Reason)
			break
		}
	}
	all.Context = strings.Join(said, "\n")
	return all, nil
}

// tell gives the user a notice about a hook: the same one once in a run, and not more than maxHookNotices.
func (h *hooks) tell(of *lifecycleHook, level event.NoticeLevel, message, hint string) {
	message = permission.Visible(clip.Text(message, 1000))
	h.mu.Lock()
	told := h.told[of]
	silent := len(told) >= maxHookNotices || slices.Contains(told, message)
	if !silent {
		h.told[of] = append(told, message)
	}
	h.mu.Unlock()
	if !silent {
		h.notice(level, message, hint)
	}
}

// home says where the user finds the hook.
func (h *lifecycleHook) home() string {
	switch {
	case h.own:
		return "the agent's definition"
	case h.project:
		return config.ProjectFile
	}
	return "your config.toml (`agentls config` shows where)"
}

// marked encloses a text of a hook in marks, so that the model does not take it for anything else.
func marked(e hook.Event, text string) string {
	return fmt.Sprintf("<hook event=%q>\n%s\n</hook>", string(e),
		strings.NewReplacer("</hook", `<\/hook`, "<hook", `<\hook`).Replace(strings.TrimSpace(text)))
}

// sessionStarts are the SessionStart hooks that have run in a session: those of the configuration under the key "",
// those of definitions under the agent's slug.
type sessionStarts struct {
	mu  sync.Mutex
	all map[string]*sessionStart
}

type sessionStart struct {
	done chan struct{}
	// well and context are set before done is closed: whether all hooks have run, and what they said.
	well    bool
	context string
}

// run runs those of the hooks that have not run in this session yet. It returns what all of them have said in the
// session, since each run of the session is a conversation of its own.
func (s *sessionStarts) run(ctx context.Context, slug string, list []*lifecycleHook,
	fire func([]*lifecycleHook) (hook.Outcome, error),
) (all hook.Outcome, err error) {
	for _, key := range []string{"", slug} {
		part := slices.DeleteFunc(slices.Clone(list), func(h *lifecycleHook) bool { return h.own != (key != "") })
		if len(part) == 0 {
			continue
		}
		outcome, err := s.once(ctx, key, func() (hook.Outcome, error) { return fire(part) })
		if err != nil || outcome.Block {
			return outcome, err
		}
		all.Context = strings.TrimLeft(all.Context+"\n"+outcome.Context, "\n")
	}
	return all, nil
}

// once runs the hooks of a key unless a run of the session has done so. Where another run is doing so, it waits.
func (s *sessionStarts) once(ctx context.Context, key string, fire func() (hook.Outcome, error)) (hook.Outcome, error) {
	for {
		s.mu.Lock()
		if s.all == nil {
			s.all = map[string]*sessionStart{}
		}
		start := s.all[key]
		mine := start == nil
		if mine {
			start = &sessionStart{done: make(chan struct{})}
			s.all[key] = start
		}
		s.mu.Unlock()
		if !mine {
			select {
			case <-start.done:
			case <-ctx.Done():
				return hook.Outcome{}, ctx.Err()
			}
			if start.well {
				return hook.Outcome{Context: start.context}, nil
			}
			continue // the run that was doing so was cancelled or rejected, so that this one tries
		}
		return s.first(key, start, fire)
	}
}

// first runs the hooks of a key for the run that comes first. When it returns, the runs that wait go on, whatever has
// happened.
func (s *sessionStarts) first(key string, start *sessionStart, fire func() (hook.Outcome, error)) (
	outcome hook.Outcome, err error,
) {
	defer close(start.done)
	defer func() {
		if !start.well {
			s.mu.Lock()
			delete(s.all, key)
			s.mu.Unlock()
		}
	}()
	outcome, err = fire()
	start.well, start.context = err == nil && !outcome.Block, outcome.Context
	return outcome, err
}

// beforeCall runs the PreToolUse hooks of a call. It returns what the model is told where a hook rejects the call;
// empty where none does. The error is that of the run's context.
func (h *hooks) beforeCall(c *call) (refusal string, err error) {
	list := h.ofCall(hook.PreToolUse, c)
	if len(list) == 0 {
		return "", nil
	}
	c.line.leave()
	outcome, err := h.fire(h.in.ctx, list, h.callInput(hook.PreToolUse, c))
	if err != nil {
		return "", err
	}
	c.hooked = outcome
	if outcome.Block {
		return "denied: a hook of the user rejects the call: " + outcome.Reason + joined(outcome.Context), nil
	}
	return "", nil
}

// passed is beforeCall for execute: it sets the outcome of a call that is rejected, and reports false for it.
func (h *hooks) passed(c *call, status *event.CallStatus, text, summary *string) bool {
	refusal, err := h.beforeCall(c)
	return unrefused(refusal, err, status, text, summary)
}

// afterCall returns a call's answer as the model gets it, with what the hooks said of the call. The PostToolUse hooks
// run now if the call succeeded.
func (h *hooks) afterCall(c *call, status event.CallStatus, text, summary string) string {
	if status == event.CallDenied && c.hooked.Block {
		return text // the answer of such a call has everything already
	}
	text += joined(c.hooked.Context)
	if status != event.CallOK {
		return text
	}
	list := h.ofCall(hook.PostToolUse, c)
	if len(list) == 0 {
		return text
	}
	input := h.callInput(hook.PostToolUse, c)
	input.ToolResponse = &hook.Response{Status: string(status), Text: text, Summary: summary}
	outcome, err := h.fire(h.in.ctx, list, input)
	if err != nil {
		return text // the run ends, and what the call did is stored
	}
	text += joined(outcome.Context)
	if outcome.Block {
		text += joined(marked(hook.PostToolUse, "A hook of the user objects to what was done: "+outcome.Reason))
	}
	return text
}

func joined(context string) string {
	if context == "" {
		return ""
	}
	return "\n\n" + context
}

// callInput is the input of the hooks of a call.
func (h *hooks) callInput(e hook.Event, c *call) hook.Input {
	in := h.input(e)
	in.Tool, in.ToolCall = c.spec.Name, string(c.id)
	name := ""
	if paths := c.paths(); len(paths) == 1 {
		if resolved, err := h.in.view.Resolve(paths[0]); err == nil && filepath.IsAbs(resolved) {
			name = resolved
		}
	}
	in.ToolInput = hook.WithFilePath(c.spec.Name, c.validArguments(), name)
	return in
}

// preCompact runs the hooks before the conversation is summed up. It returns what they say to the model that sums up,
// empty for nothing. They cannot prevent it. The error is that of the run's context.
func (h *hooks) preCompact() (instructions string, err error) {
	list := h.pick(hook.PreCompact, "auto")
	if len(list) == 0 {
		return "", nil
	}
	input := h.input(hook.PreCompact)
	input.Trigger = "auto"
	outcome, err := h.fire(h.in.ctx, list, input)
	return outcome.Context, err
}
