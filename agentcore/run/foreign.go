package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/store"
)

// foreign is the engine of a run whose agent is somebody else's program, which speaks the Agent Client Protocol. The
// program has a model and tools of its own. It works in a sandbox on a copy-on-write view of the workspace: what it
// writes there becomes the run's edits while it works (visits), and what it says and does becomes the run's events
// (speech). Only the run's goroutine uses a foreign; what comes from the program on other goroutines goes through work.
type foreign struct {
	*Run
	program *command.Followed
	client  *acp.Client
	agent   acp.Agent
	talk    acp.Session
	unwatch func() bool // ends the watch for the run's cancellation
	// work is what the run's goroutine has to do for the program: updates in the order in which they came.
	work   chan func()
	visits visits
	speech speech
	// resumed says that the program goes on with a session, and knows what was said in it.
	resumed bool
	// interrupted says that the program was told to stop, so that it hears what the user said.
	interrupted bool
}

func newForeign(r *Run) *foreign { return &foreign{Run: r, work: make(chan func())} }

// carry starts the program, gives it the task, and tells it what the user says meanwhile, until it has ended its turn
// and nobody says anything more.
func (f *foreign) carry() error {
	f.turn = 1
	f.memory.begin(0, "", nil)
	f.tell(store.Batch{}, event.TurnStarted{Turn: f.turn}, waitingFor(f.Run, "starting "+f.definition.Slug, 0))
	if err := f.mayStart(); err != nil {
		return err
	}
	if err := f.start(); err != nil {
		return err
	}
	defer f.close()
	f.system = f.redactor.Text(strings.TrimSpace(factsOf(f.Run).Own() + "\n\n" + f.surroundings()))
	f.takeOver(nil, f.former)
	notePrompt(f.Run)
	first := model.UserText(f.firstPrompt())
	first.Parts = append(first.Parts, pictures(f.Run)...)
	f.pin(first)
	for content := f.contentOf(first); content != nil; {
		limit, goAhead, err := f.budget.ask(f.ctx, amount{}, func() {})
		if err == nil && !goAhead {
			f.conclude(limit)
		}
		if err != nil || !goAhead {
			return err
		}
		ended, err := f.give(content)
		if err != nil || ended {
			return err
		}
		content = f.heard()
	}
	return nil
}

// surroundings tells the program how it is kept, which it could not find out by itself.
func (f *foreign) surroundings() string {
	text := "You work in a sandbox on a view of the workspace that shows unsaved and proposed text. What you write " +
		"there reaches no file by itself: it becomes edits that the user reviews. Use your own tools as always. Start " +
		"no sandbox of your own. What git changes stays in the sandbox."
	if hosts := f.definition.Program.Network; len(hosts) > 0 {
		return text + " The network reaches " + strings.Join(hosts, ", ") + " alone."
	}
	return text + " There is no network."
}

// firstPrompt is the task, behind what the program is told of its surroundings.
func (f *foreign) firstPrompt() string {
	text := f.system + "\n\n"
	if f.former != nil && !f.resumed {
		text += "What was said before:\n\n" + transcript(f.former.Messages, summarised) + "\n\nNow:\n\n"
	}
	text += factsOf(f.Run).First()
	if f.reports() {
		text += "\n\n" + askedResult
	}
	return text
}

// askedResult asks a child for its result in the form that [tool.HandedOver] reads.
const askedResult = "When you are done, end your last answer with a JSON object and nothing behind it: {\"status\": " +
	"\"completed\", \"partial\" or \"failed\", \"summary\": one line, \"details\": what whoever gave you this task " +
	"should know}."

// contentOf is a message as the program takes it.
func (f *foreign) contentOf(m model.Message) []acp.Content {
	content := []acp.Content{acp.Text(f.redactor.Text(m.Text()))}
	for _, part := range m.Parts {
		picture, ok := part.(model.Picture)
		if !ok {
			continue
		}
		if !f.agent.Image {
			f.notice(event.NoticeWarning, f.definition.Slug+" takes no images, so that it is not sent any",
				"say in words what they show, or choose another agent")
			break
		}
		content = append(content, acp.Content{
			Kind: acp.ImageContent, Data: picture.Image.Base64(), MIME: picture.Image.MediaType,
		})
	}
	return content
}

// heard is what somebody has told the run since, as its next prompt; nil where nobody has, and nobody can any more.
func (f *foreign) heard() []acp.Content {
	before := len(f.messages)
	f.read(f.tasks.inbox)
	if len(f.messages) == before {
		if closed, _ := f.tasks.inbox.close(); closed {
			return nil
		}
		f.read(f.tasks.inbox)
	}
	var content []acp.Content
	for _, m := range f.messages[before:] {
		content = append(content, f.contentOf(m)...)
	}
	return content
}

// give gives the program one prompt and follows it until its turn is over. It reports true where the run is over,
// too.
func (f *foreign) give(content []acp.Content) (ended bool, err error) {
	f.interrupted = false
	f.speech.begin(f)
	stop, used, err := f.ask(f.workContext(), content)
	f.speech.end()
	f.visits.visit(f.ctx, f)
	f.spend(used)
	switch {
	case f.late() && !f.lastTurn:
		return f.handOver()
	case f.ctx.Err() != nil: // the program may have answered that it was cancelled
		return true, f.ctx.Err()
	case err != nil:
		return true, f.explained(err)
	case f.lastTurn:
		f.conclude(f.limit())
		return true, nil
	}
	switch stop {
	case acp.EndTurn:
		f.conclude("")
	case acp.MaxTokens:
		f.conclude("length")
	case acp.MaxTurnRequests:
		f.conclude(reasonTurns)
	case acp.Refusal:
		return true, &fault.Error{
			Kind: fault.Refused, Detail: f.definition.Slug + " declined to answer: " + f.lastText,
			Hint: "word the task differently, or choose another agent",
		}
	case acp.Cancelled:
		if f.interrupted {
			break
		}
		return true, &fault.Error{
			Kind: fault.Internal, Detail: f.definition.Slug + " ended its turn as cancelled, which nobody asked for",
			Hint: "start it again; its own login or limits may say more",
		}
	default:
		f.conclude("")
		f.notice(event.NoticeWarning, fmt.Sprintf("%s ended its turn for a reason that is not known: %q",
			f.definition.Slug, string(stop)), "read its last words, and start it again if they are not what you wanted")
	}
	return false, nil
}

// errTurns is the cause with which the work of a foreign agent ends that has used up its turns.
var errTurns = errors.New("the run used up its turns")

// limit is the limit by which the work before the hand-over has ended.
func (f *foreign) limit() string {
	if errors.Is(context.Cause(f.working), errTurns) {
		return reasonTurns
	}
	return reasonTime
}

// handOver asks for what there is in the time that was kept for it.
func (f *foreign) handOver() (ended bool, err error) {
	f.lastTurn = true
	f.tasks.inbox.shut()
	ask := model.UserText("The limit of this run is nearly reached (" + f.limit() + "). Change nothing more. Answer " +
		"now: results so far, what is done, what is left.")
	f.append(ask)
	return f.give(f.contentOf(ask))
}

// conclude notes the last word of a turn, and what cut it short.
func (f *foreign) conclude(reason string) {
	if reason != "" {
		f.notice(event.NoticeWarning, fmt.Sprintf("%s was ended by a limit (%s)", f.definition.Slug, reason),
			"start it again with a larger limit, or a smaller task")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.result.Reason, f.result.Output = reason, f.lastText
}

// ask gives the program a prompt, and does what the program's updates ask for until it has answered.
func (f *foreign) ask(ctx context.Context, content []acp.Content) (stop acp.StopReason, used acp.Usage, err error) {
	f.idle("waiting for "+f.definition.Slug, 0)
	err = f.during(func() (err error) {
		stop, used, err = f.client.Prompt(ctx, f.talk.ID, content)
		return err
	})
	return stop, used, err
}

// during does what comes from the program until wait returns, which it calls on another goroutine. wait ends with the
// context that it was given, or with the program.
func (f *foreign) during(wait func() error) error {
	over := make(chan error, 1)
	go func() { over <- f.guarded("the talk with "+f.definition.Slug, wait) }()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case do := <-f.work:
			do()
		case <-tick.C:
			f.visits.refresh(f)
		case <-f.tasks.inbox.news:
			f.interrupt()
		case err := <-over:
			return err
		}
	}
}

// interrupt has the program stop where somebody has told the run something, which is its next prompt. The protocol has
// no way to tell it while it works. Before the first prompt, and in the last one, it does nothing.
func (f *foreign) interrupt() {
	if !f.tasks.inbox.idle() && f.speech.run != nil && !f.lastTurn {
		f.interrupted = true
		f.client.Cancel(f.talk.ID)
	}
}

// lookInterval is how often the run looks whether the user has typed, so that the program sees it.
const lookInterval = 200 * time.Millisecond

// do has the run's goroutine do something, in order, and waits until it begins. It reports false where the run has
// ended.
func (f *foreign) do(what func()) bool {
	select {
	case f.work <- what:
		return true
	case <-f.ctx.Done():
		return false
	}
}

// explained says what to do about an error of the program.
func (f *foreign) explained(err error) error {
	if f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	failed := &fault.Error{
		Kind: fault.Internal, Detail: "the program of this agent failed: " + err.Error(), Cause: err,
		Hint: "run the program by itself to see whether it works, then start the agent again",
	}
	var told *acp.Error
	if errors.As(err, &told) && told.Failure == acp.LoginNeeded {
		failed.Kind, failed.Hint = fault.NotAllowed, fmt.Sprintf(
			"log in with %s on a terminal (%s), and give the agent's definition its login under home.write",
			f.definition.Program.Command[0], cmp.Or(strings.Join(told.Logins, ", "), "its own login"))
	}
	failed.Detail = f.redactor.Text(failed.Detail)
	return failed
}

// spend counts what the program says that a turn has used. What it does not tell is unknown, and not 0.
func (f *foreign) spend(used acp.Usage) {
	counted := event.Usage{Cost: f.speech.cost()}
	for _, n := range []struct{ told, to *int64 }{
		{used.Input, &counted.InputTokens},
		{used.Output, &counted.OutputTokens},
		{used.CacheRead, &counted.CachedTokens},
	} {
		if n.told != nil {
			*n.to = *n.told
		}
	}
	budgeted := amount{tokens: counted.InputTokens + counted.OutputTokens}
	if counted.Cost != nil {
		budgeted.cost = *counted.Cost
	}
	f.budget.add(budgeted)
	f.count(counted)
}
