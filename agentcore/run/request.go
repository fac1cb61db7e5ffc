package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/tool"
)

// Request asks for a run.
type Request struct {
	// Agent is a slug or alias; empty means the configuration's default agent.
	Agent  string
	Prompt string
	// Lead stands in front of the prompt, which then is what a person adds to it and may be empty.
	Lead string
	// Expanded is what a prompt of a file made of Prompt, which calls it by its name; empty for none.
	Expanded string
	// Commands are run before the first answer, as calls of the run that nobody is asked about; it gets their output
	// with the attachments.
	Commands []string
	// Only are the tools, by canonical name, and their calls that the run keeps of those that it would have; nil means
	// all.
	Only *Kept
	// Title is for people; empty means the prompt's first line.
	Title string
	// Context is what the prompt is about.
	Context Context
	// Comment is the comment in a file that the prompt was written as, nil for none. The file is in Context.
	Comment *Comment
	// Attachments are what the prompt mentions with @.
	Attachments []prompt.Attachment
	// Changes are added to the context when the run starts; the zero value adds none. Where they are large, each file
	// gets a child.
	Changes git.Scope
	// Each starts one child for each of these files, instead of a conversation. The paths are absolute.
	Each []string
	// Iterations is how often the task is done at most, each time by a new child, until Until succeeds; 0 and 1 mean
	// once. A prompt that begins with "/iter N " sets it, too.
	Iterations int
	// Until is a command line that succeeds when the task of an iterated run is done. Where it is empty, the passes
	// themselves say so.
	Until string
	// Goal is a command line that the task is repeated for until it succeeds: Until by a name that people are shown,
	// with Iterations where they are not set.
	Goal string
	// Model overrides every other choice of a model.
	Model string
	// Effort is how much the model thinks; empty means as the definition or the preset says. A run of the user is
	// refused where its model takes none, and children have the effort of the run that the user started.
	Effort model.Effort
	// Remember is the folder, absolute, in whose instructions the prompt is to be remembered: the run proposes that,
	// and asks no model. Empty for every other run.
	Remember string
	// OutputSchema is a JSON Schema of an object that the final answer is held to; empty for none. The model is told
	// what does not fit, twice at most, and then the run has failed.
	OutputSchema json.RawMessage
	// Limits override the definition's where they are set.
	Limits agent.Limits
	// PermissionMode, if set, replaces the definition's. A child is never allowed more than its parent.
	PermissionMode permission.Mode
	origin
}

// origin is what the engine adds to the request of a run that another run starts or leaves behind. It is the zero value
// for a new run of the user.
type origin struct {
	// task is what the starting run asks for; nil for a run of the user, or for one of several files.
	task *tool.Task
	// former is the run that this one goes on with.
	former *Former
	// inherited is what a child gets of its parent's conversation.
	inherited inheritance
	// bounded names the limit that the call asked for and does not get; empty for none.
	bounded string
	// granted are tools that the user granted, and that the agent's definition does not have.
	granted []string
	// call is the call that started the run, and message the message that made the call; empty for none.
	call    event.CallID
	message event.MessageID
	// at is the run's reserved place in the queue; nil for none.
	at *slot.Reservation
	// pass is the number of a pass of an iterated run, from 1; 0 for other runs.
	pass int
}

// Kept are tools that a run keeps of those that its agent has.
type Kept struct {
	Tools []string
	// Calls allow those calls that are kept of the tools. They allow nothing that the agent's own rules do not.
	Calls []permission.Rule
}

// of is a definition that has no other tools.
func (k *Kept) of(d *agent.Definition) *agent.Definition {
	if k == nil {
		return d
	}
	kept := *d
	kept.Tools = slices.DeleteFunc(slices.Clone(k.Tools), func(name string) bool {
		return d.Tools != nil && !slices.Contains(d.Tools, "*") && !slices.Contains(d.Tools, name)
	})
	return &kept
}

// Context is what a prompt is about.
type Context struct {
	// Paths are absolute.
	Paths []string
	// StartLine and EndLine narrow the only path: 1-based, inclusive, 0 for the whole file.
	StartLine, EndLine int
	// Finding is the finding that the prompt is about, if any.
	Finding *event.Finding
	// Changes are those that it is about; nil for none.
	Changes *prompt.Changes
}

// Join puts the lead in front of the prompt, and of what was made of it.
func (q *Request) Join() {
	if q.Expanded != "" {
		q.Expanded = strings.TrimSpace(q.Lead + "\n\n" + q.Expanded)
	}
	q.Prompt, q.Lead = strings.TrimSpace(q.Lead+"\n\n"+q.Prompt), ""
}

// words are what the run is asked for, as its model gets it.
func (q *Request) words() string { return cmp.Or(q.Expanded, q.Prompt) }

// fits checks what a request asks of an agent. root says that the user starts it.
func (q *Request) fits(definition *agent.Definition, root bool) error {
	l := q.Limits
	switch {
	case root && definition.Is(agent.Hidden) && !definition.Is(agent.Primary) && !definition.Is(agent.Subagent):
		return &fault.Error{
			Kind:   fault.NotAllowed,
			Detail: fmt.Sprintf("the agent %s is hidden: agentls alone uses it", definition.Slug),
			Hint:   "choose one of `agentls agents list`",
		}
	case strings.TrimSpace(q.Prompt) == "":
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "the prompt is empty",
			Hint: "say what the agent should do",
		}
	case l.MaxTurns < 0 || l.Timeout < 0 || l.Tokens < 0 || l.Cost < 0:
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "a limit of the run is negative",
			Hint: "leave it out for the agent's own limit",
		}
	case !q.Effort.Valid():
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: fmt.Sprintf("there is no effort %q", q.Effort),
			Hint: "write " + strings.Join(model.Efforts, ", ") + ", or leave it out",
		}
	}
	return nil
}

// limitsOf are the limits of the run that is asked for, at this depth below the root.
func (q *Request) limitsOf(definition *agent.Definition, depth int, cfg *config.Config) agent.Limits {
	own := definition.LimitsAt(depth)
	limits := agent.Limits{
		MaxTurns: cmp.Or(q.Limits.MaxTurns, own.MaxTurns, cfg.DefaultMaxTurns), Timeout: q.Limits.Timeout,
		Tokens: cmp.Or(q.Limits.Tokens, own.Tokens), Cost: cmp.Or(q.Limits.Cost, own.Cost),
	}
	if len(q.Each) == 0 && !q.iterates() { // a run that only waits for its children has no limit of time of its own
		limits.Timeout = cmp.Or(limits.Timeout, own.Timeout, cfg.DefaultTimeout)
	}
	if definition.Mode == agent.SingleShot { // such an agent answers once, whatever the request says
		limits.MaxTurns = own.MaxTurns
	}
	return limits
}

// covers reports whether a place is part of what the prompt is about.
func (c *Context) covers(path string, span event.Span) bool {
	if !slices.Contains(c.Paths, path) {
		return false
	}
	if c.Changes != nil {
		return c.Changes.Touches(path, span.StartLine+1, span.EndLine+1)
	}
	return c.StartLine == 0 || c.StartLine <= span.StartLine+1 && span.EndLine+1 <= max(c.StartLine, c.EndLine)
}

// Comment is the comment in a file that a run's prompt was written as. When the run is completed, the comment is
// removed from the file, as one of the run's edits.
type Comment struct {
	// Path is the file's, absolute.
	Path string
	// Text is what is to be removed: the comment, and what would be left over without it, such as line ends and spaces.
	Text string
	// StartLine and EndLine are the comment's lines, 1-based and inclusive.
	StartLine, EndLine int
}

// iterPrompt is a prompt that asks for passes: "/iter 5 Make the tests pass."
var iterPrompt = lazyregexp.New(`^/iter(?:\s+|$)(\S*)\s*((?s:.*))$`)

// ReadIterations takes "/iter N" out of the prompt, makes passes and their check of a goal, and checks their number.
func (q *Request) ReadIterations() error {
	invalid := func(detail, hint string) error {
		return &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
	}
	if parts := iterPrompt().FindStringSubmatch(strings.TrimSpace(q.Prompt)); parts != nil {
		n, err := strconv.Atoi(parts[1])
		if err != nil || n < 1 || parts[2] == "" {
			return invalid("/iter is not followed by a number of passes and a task",
				"write it as in: /iter 5 Make the tests pass.")
		}
		q.Iterations, q.Prompt = n, parts[2]
	}
	if q.Goal != "" {
		if q.Until != "" && q.Until != q.Goal || q.Iterations == 1 {
			return invalid("a goal is a check that passes are made for, and another check or a single pass is asked for",
				"leave out the check, and allow 2 passes or more")
		}
		q.Until, q.Iterations = q.Goal, cmp.Or(q.Iterations, goalIterations)
	}
	switch {
	case q.Iterations < 0 || q.Iterations > maxIterations:
		return invalid(fmt.Sprintf("%d iterations are asked for", q.Iterations),
			fmt.Sprintf("ask for 1 to %d", maxIterations))
	case q.Until != "" && !q.iterates():
		return invalid("there is a check, but only one pass",
			"say how often the task may be repeated until the check succeeds")
	}
	return nil
}

func (q *Request) iterates() bool { return q.Iterations > 1 }

// GoingOn returns the request for a run that goes on with a former one.
func (q Request) GoingOn(with *Former) Request {
	q.former = with
	return q
}

// inheritance is what a child gets of the conversation of the run that starts it.
type inheritance struct {
	// messages stand in front of the child's own, and end without calls that have no results.
	messages []model.Message
	// text is a part of the child's task.
	text string
}

// contextNone is the mode in which a child gets nothing of the conversation. It is the default of definitions.
const contextNone = "none"
