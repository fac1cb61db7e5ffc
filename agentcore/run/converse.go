package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// loop is the engine of a run that has a conversation. Only the run's goroutine uses it.
type loop struct {
	*Run
	lapses lapses
	ending ending // why the coming turn is the last one
	undone bool   // whether calls of the last turn were left undone
	// misfits is how often the model was told that its answer does not fit the output schema.
	misfits int
}

// carry asks the model, carries out its calls, and asks again. It returns nil when the agent has given its last word.
func (l *loop) carry() error {
	facts := factsOf(l.Run)
	system, missing := facts.System()
	l.tellSkills(missing)
	l.tellInstructions()
	l.system = l.redactor.Text(system)
	l.tellUnpriced()
	tellEffort(l.Run)
	l.offering = l.tools.Offered(l.delegation)
	l.memory.begin(provider.Window(l.config, l.model), l.system, l.offering)
	l.takeOver(l.inherited.messages, l.former)
	notePrompt(l.Run)
	text := facts.First() + joined(l.hooks.context)
	if l.schema != nil {
		text += l.schema.Told()
	}
	first := model.UserText(text)
	first.Parts = append(first.Parts, pictures(l.Run)...)
	l.pin(first)
	for _, a := range l.request.Attachments {
		if a.Path != "" {
			// so that the model can edit what it was shown without reading it first
			l.layer.Glimpse(a.Path, a.Stamp)
		}
	}
	l.layer.NextTurn()
	for l.turn = 1; ; l.turn++ {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		l.showProgress()
		ended, err := l.takeTurn()
		if err == nil && ended {
			return l.structure()
		}
		if err != nil {
			return err
		}
	}
}

// notePrompt stores what the run's model or program is told at first: the system prompt, and about how many tokens the
// run takes over.
func notePrompt(r *Run) {
	prompt := store.PromptOf(r.system)
	taken := r.messages
	if r.inherited.text != "" {
		taken = append(slices.Clone(taken), model.UserText(r.inherited.text))
	}
	r.mu.Lock()
	r.prompt, r.takenOver = prompt.ID, guessedTokens(taken...)
	r.mu.Unlock()
	r.record(store.Batch{Prompts: []store.Prompt{prompt}})
}

// takeTurn asks the model once and does what it answers. It reports true when that was its last word.
func (l *loop) takeTurn() (ended bool, err error) {
	if l.ending.reason != "" || l.turn >= l.limits.MaxTurns {
		// Children are waited for before anything of the budget is held for the last answer: they could otherwise wait
		// for that.
		if err := l.tasks.await(); err != nil {
			return false, err
		}
	}
	limit, goAhead, err := l.admit()
	if err != nil {
		return false, err
	}
	if !goAhead {
		l.cutOff(limit)
		return true, nil
	}
	if l.ending.reason == "" {
		l.ending.reason = limit
	}
	l.lastTurn = l.ending.reason != ""
	if l.lastTurn {
		l.tasks.end(errStarterEnded)
		l.tasks.inbox.shut()
	}
	l.read(l.tasks.inbox)
	if l.lastTurn && !l.onlyTurn() { // that one was told at its beginning
		l.append(model.UserText(handOver(l.ending, l.tools.Offers(toolset.Submit), l.schema != nil)))
	}
	if err := l.makeRoom(); err != nil {
		return false, err
	}
	done, err := l.answer()
	if err != nil && !l.lastTurn && l.late() {
		return false, nil // the next turn is the hand-over, for which time is kept
	}
	if err != nil {
		return false, err
	}
	if l.definition.Mode.Toolless() {
		done.Message = withoutCalls(done.Message)
	}
	calls, text := done.Message.Calls(), l.redactor.Text(done.Message.Text())
	switch {
	case done.Stop == model.StopRefused:
		return false, &fault.Error{Kind: fault.Refused, Detail: fmt.Sprintf("%s declined to answer: %s", l.model.Name(),
			text), Hint: "word the task differently, or choose another model"}
	case l.lastTurn:
		return true, l.lastAnswer(done)
	case len(calls) > 0:
		if strings.TrimSpace(text) != "" {
			l.lastText = text
		}
		return l.followCalls(done)
	}
	return l.takeText(done, text)
}

// takeText takes an answer without a call. It is either the run's last word or a bad answer, which the model is told.
// takeText reports true for the last word.
func (l *loop) takeText(done model.Done, text string) (ended bool, err error) {
	wrong := recall(l.tools, done, text)
	// the model was told once, and means what it says
	if wrong.reason == "" || wrong.unsure && l.lapses.counts[wrong.reason] > 0 {
		l.append(done.Message)
		l.lastText = text
		if !l.held(text) {
			return false, nil
		}
		if ended, err := l.mayStop(); err != nil || !ended {
			return false, err
		}
		l.conclude(ending{}, done.Stop)
		return true, nil
	}
	if strings.TrimSpace(text) != "" { // providers refuse an empty message
		l.append(done.Message)
	}
	if l.lapses.bad(wrong.reason, strings.TrimSpace(text)) {
		l.append(model.UserText(wrong.message))
	} else {
		l.ending = ending{wrong.reason, l.lapses.detailOf(wrong.reason, l.model.Name())}
	}
	return false, nil
}

// answer asks for the model's answer to the conversation. Where the conversation is too long for the model, it is
// shortened, once in a turn.
func (l *loop) answer() (model.Done, error) {
	l.attempt = 1
	l.tell(store.Batch{}, event.TurnStarted{Turn: l.turn}, waitingFor(l.Run, "waiting for "+l.model.Name(), 0))
	only := ""
	if l.lastTurn && l.tools.Offers(toolset.Submit) {
		only = toolset.Submit
	}
	return l.query(only)
}

// query asks the model for the turn's answer. In the last turn, only calls of the tool named only are made, or none
// where it is "".
func (l *loop) query(only string) (model.Done, error) {
	for shortened := false; ; shortened = true {
		request := &model.Request{
			System: l.system, Messages: l.messages, Tools: l.offering, MaxTokens: l.sampling.MaxTokens,
			Temperature: l.sampling.Temperature, Effort: l.sampling.Effort, NoCalls: l.lastTurn && only == "",
			Only: only, Run: string(l.id),
		}
		began := time.Now()
		done, err := l.asking.ask(l.workContext(), query{model: l.model, request: request})
		if err == nil {
			took := max(time.Since(began), time.Millisecond)
			l.memory.learn(done.Usage, l.messages)
			l.memory.answered = answered{l.model.Name(), l.addUsage(request, done), took}
			return done, nil
		}
		if !overflows(err) {
			return model.Done{}, err
		}
		if err := l.overflowed(shortened, err); err != nil {
			return model.Done{}, err
		}
		l.again()
	}
}

// followCalls carries out the calls of an answer and puts their results into the conversation. It reports true when the
// run has handed over by one of them.
func (l *loop) followCalls(done model.Done) (ended bool, err error) {
	calls := done.Message.Calls()
	l.append(done.Message)
	as := l.lapses.repeats(calls)
	if as.times >= as.limit {
		l.ending = ending{"repeats", fmt.Sprintf("%s made the same call of %s %d times in a row", l.model.Name(),
			calls[0].Name, as.times)}
		l.append(model.Message{
			Role:  model.RoleTool,
			Parts: uncalled(calls, "this call was not made again, since its result would be the same"),
		})
		return false, nil
	}
	made, cut := calls, done.Stop == model.StopLength && !whole(calls[len(calls)-1])
	if cut {
		made = calls[:len(calls)-1]
	}
	results, err := l.makeCalls(made)
	if err != nil {
		return false, err
	}
	results = append(results,
		uncalled(calls[len(made):],
			"this call was not made: your answer was cut off in the middle of it, at the length that one "+
				"answer may have. Send it again in smaller pieces, each in an answer of its own")...)
	l.append(model.Message{Role: model.RoleTool, Parts: results})
	if l.handedOver() {
		if more, err := l.goOn(""); !more || err != nil {
			return err == nil, err
		}
	}
	l.layer.NextTurn()
	if l.parent == nil {
		l.mergeLayer()
	}
	l.judge(calls, results, as, cut)
	return false, nil
}

// judge looks for patterns in a turn of calls out of which a model does not find by itself.
func (l *loop) judge(calls []model.Call, results []model.Part, as repetition, cut bool) {
	if l.lapses.did(calls, results, as) {
		l.append(
			model.UserText(
				fmt.Sprintf(
					"You have made the same call %d times, and nothing new came of it. Take another way, or give your "+
						"final answer.", as.times)))
	}
	if cut {
		if !l.lapses.bad("length", "") {
			l.ending = ending{"length", l.lapses.detailOf("length", l.model.Name())}
		}
		return
	}
	l.lapses.good()
	if l.lapses.broken++; slices.ContainsFunc(calls, func(c model.Call) bool { return callable(l.tools, c) }) {
		l.lapses.broken = 0
	}
	if l.lapses.broken >= brokenTurns {
		l.ending = ending{
			"broken_calls",
			fmt.Sprintf(
				"in %d turns in a row, %s called only tools that there are not, or with arguments that are not JSON",
				brokenTurns, l.model.Name()),
		}
	}
}

// lastAnswer takes the answer of the last turn: the call that hands over, else the text. An answer may have neither: it
// says nothing, makes other calls, or makes a call that cannot be made. Then the model is asked once more for a text,
// if the budget allows, having been told that no other call is made. A run whose model was told often enough before is
// not asked again.
func (l *loop) lastAnswer(done model.Done) error {
	calls := done.Message.Calls()
	submits := l.tools.Offers(toolset.Submit) && slices.ContainsFunc(calls, handsOver)
	spoke := strings.TrimSpace(done.Message.Text()) != ""
	switch {
	case len(calls) == 0 && !spoke && l.ending.detail == "" && l.definition.Mode != agent.SingleShot:
		// a single-shot run has one answer
		return l.askForText(done, "Your answer was empty.")
	case len(calls) == 0, !submits && spoke:
		return l.lastWord(done)
	}
	l.append(done.Message)
	results := uncalled(calls, "this call was not made, since this is the last turn of the run")
	if submits {
		if err := l.submit(done, results); err != nil {
			return err
		}
	}
	l.append(model.Message{Role: model.RoleTool, Parts: results})
	if l.handedOver() {
		l.lastText = l.Snapshot().Output
		if _, err := l.goOn(l.ending.reason); err != nil {
			return err
		}
		end := l.ending
		if l.onlyTurn() {
			end = ending{}
		}
		l.conclude(end, done.Stop)
		return nil
	}
	if text := l.redactor.Text(done.Message.Text()); strings.TrimSpace(text) != "" {
		l.lastText = text
	}
	l.undone = true
	return l.askForText(done, "Nothing else can be called now.")
}

// askForText asks for the last word once more, by a second and last request in the same turn. Where the budget has
// nothing left for it, what was said before is the last word.
func (l *loop) askForText(done model.Done, why string) error {
	if _, goAhead, err := l.budget.ask(l.ctx, amount{}, func() {}); err != nil || !goAhead {
		if err == nil {
			l.conclude(l.ending, done.Stop)
		}
		return err
	}
	ask := " Answer in text: results so far, what is done, what is left."
	if l.schema != nil {
		ask = " Answer now, by the output schema."
	}
	l.append(model.UserText(why + ask))
	l.again()
	again, err := l.query("")
	if err != nil {
		return err
	}
	return l.lastWord(again)
}

// submit carries out the first call of an answer that hands over, if the call is whole, and puts its result into the
// call's place in results.
func (l *loop) submit(done model.Done, results []model.Part) error {
	calls := done.Message.Calls()
	at := slices.IndexFunc(calls, handsOver)
	if done.Stop == model.StopLength && at == len(calls)-1 && !whole(calls[at]) {
		return nil
	}
	made, err := l.makeCalls(calls[at : at+1])
	if err != nil {
		return err
	}
	results[at] = made[0]
	return nil
}

// handsOver reports whether a call is the one that ends a child's task.
func handsOver(call model.Call) bool {
	name, _ := tool.Resolve(call.Name)
	return name == toolset.Submit
}

// lastWord takes an answer as the last one, whatever it says. Where the run ends because its model gave bad answers,
// this is another, and nothing was said before, the run has failed.
func (l *loop) lastWord(done model.Done) error {
	text := l.redactor.Text(done.Message.Text())
	if m := withoutCalls(done.Message); len(m.Parts) > 0 {
		l.append(m)
	}
	end, calls, wrong := l.ending, len(done.Message.Calls()), lapse{}
	if calls == 0 || strings.TrimSpace(text) == "" {
		wrong = recall(l.tools, done, text)
	}
	own := end.detail == "" && l.onlyTurn() && calls == 0 // the run ended by itself: nobody told it to hand over
	switch {
	case wrong.reason == "" || wrong.unsure:
		l.lastText = text
		if own && !l.undone {
			end = ending{} // nothing is cut short, since the run had nothing more to do
		}
	case l.lastText != "":
	case end.detail != "" || own:
		l.lastText = strings.TrimSpace(cmp.Or(text, l.lapses.said))
		failed := &fault.Error{
			Kind: fault.Kind(wrong.reason), Detail: l.model.Name() + " gave no answer",
			Hint: "try another model, or word the task differently",
		}
		if end.detail != "" {
			failed.Kind, failed.Detail = fault.Kind(end.reason), end.detail
		}
		return failed
	default:
		l.lastText = strings.TrimSpace(text)
	}
	if _, err := l.goOn(l.ending.reason); err != nil {
		return err
	}
	l.conclude(end, done.Stop)
	return nil
}

// doneAtItsLimit reports whether a run that a limit brought to its last turn hands over that its whole task is done.
// Then the limit cut nothing short. A run that a limit of time ends may be in the middle of its task, whatever it says.
func (l *loop) doneAtItsLimit(end ending) bool {
	if end.detail != "" || end.reason == "" || end.reason == reasonTime || !l.reports() {
		return false
	}
	l.mu.Lock()
	submitted := l.submitted
	l.mu.Unlock()
	if submitted == nil {
		written, ok := tool.HandedOver(l.lastText)
		return ok && written.Status == event.ChildStatusCompleted
	}
	return submitted.Status == event.ChildStatusCompleted
}

// conclude notes the agent's last word, and what cut it short, if anything: the model, a limit of the run, or the limit
// of one answer.
func (l *loop) conclude(end ending, stop model.Stop) {
	if l.doneAtItsLimit(end) {
		end = ending{}
	}
	switch {
	case end.detail != "":
		l.notice(event.NoticeWarning, fmt.Sprintf("%s was ended, since %s; it handed over what it had",
			l.definition.Slug, end.detail), "word the task differently, or choose another model")
	case end.reason != "":
		what := "handed over what it had"
		if l.lastText == "" {
			what = "gave no answer"
		}
		l.notice(event.NoticeWarning, fmt.Sprintf("%s was ended by its limit (%s) and %s", l.definition.Slug,
			end.reason, what),
			"start it again with a larger limit, or a smaller task")
	case stop == model.StopLength:
		end.reason = "length"
		l.notice(event.NoticeWarning,
			fmt.Sprintf("the last answer of %s was cut off, since it reached the length that %s may answer",
				l.definition.Slug, l.model.Name()), "start it again with a smaller task")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Reason, l.result.Output = end.reason, l.lastText
}

// handOver tells a run that its next answer is the last, which may submit a result where it has the tool for that, and
// whether an output schema holds it.
func handOver(end ending, submits, held bool) string {
	why := fmt.Sprintf("The limit of this run is reached (%s).", end.reason)
	if end.detail != "" {
		why = fmt.Sprintf("This run ends now (%s).", end.detail)
	}
	if submits {
		return why + " Make no more calls but submit_result. Hand over now what you have, by it or in text: " +
			"results so far, what is done, what is left."
	}
	if held {
		return why + " Make no more calls. Answer now with what you have, by the output schema."
	}
	return why + " Make no more calls. Answer now with what you have: results so far, what is done, what is left."
}

// admit waits until the run's budgets have room for its next request. If limit is not empty, it names why that request
// must be the last. If goAhead is false, the limit is reached and nothing may be sent any more.
func (l *loop) admit() (limit string, goAhead bool, err error) {
	limit, goAhead, err = l.budget.ask(l.ctx, l.estimate(), func() {
		l.idle("waits for other answers, since little of the budget is left", 0)
	})
	if err != nil || !goAhead {
		return limit, false, err
	}
	switch {
	case l.turn >= l.limits.MaxTurns:
		return reasonTurns, true, nil
	case l.late(), l.clock.handOverDue():
		return reasonTime, true, nil
	}
	return limit, true, nil
}

// estimate guesses what the run's first request uses as input, at four bytes for a token. Later the last answer tells,
// so that the conversation is not measured again.
func (l *loop) estimate() amount {
	if l.turn > 1 {
		return amount{}
	}
	size := len(l.system)
	for _, m := range l.messages {
		size += len(m.Text())
	}
	estimate := amount{tokens: int64(size / 4)}
	if l.price != nil {
		estimate.cost = l.price.Cost(model.Usage{Input: estimate.tokens})
	}
	return estimate
}

// cutOff ends the run by a limit that leaves no request for a hand-over.
func (l *loop) cutOff(limit string) {
	l.tasks.end(errStarterEnded)
	left := l.tasks.left()
	l.turn-- // the turn did not take place
	l.notice(event.NoticeWarning, fmt.Sprintf("%s was ended by its limit (%s) before it could hand over",
		l.definition.Slug, limit), "start it again with a larger limit, or a smaller task")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Reason = limit
	nothing := fmt.Sprintf("The limit of this run was reached (%s) before there was an answer.", limit)
	l.result.Output = cmp.Or(l.lastText, nothing) + left
}

// mayStop is mayEnd, followed by the hooks of the run's end. The hooks do not run while there is something to read or
// to wait for.
func (l *loop) mayStop() (bool, error) {
	if l.tasks.inbox.idle() {
		if more, err := l.goOn(""); more || err != nil {
			return false, err
		}
	}
	return l.tasks.mayEnd()
}

// showProgress writes how far a run in the background is into its file. The run's goroutine calls it.
func (l *loop) showProgress() {
	if l.output == "" {
		return
	}
	made := len(l.Snapshot().ToolCalls)
	text := fmt.Sprintf("%s: turn %d, %s so far)\n", stillRuns, l.turn, clip.Counted(made, "tool call", "tool calls"))
	if said := strings.TrimSpace(l.lastText); said != "" {
		text += "\n" + said + "\n"
	}
	if err := l.process.Outputs.Write(l.output, text); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.process.Logger.Warn("how far a run is could not be written to its file", "run", l.id, "error", err)
	}
}

// tellUnpriced warns that a limit of the cost has no effect on the run, since its price is unknown. It says nothing
// where the run's parent has said so already.
func (l *loop) tellUnpriced() {
	if l.price != nil || !l.budget.costLimited() || l.parent != nil && l.parent.model.Name() == l.model.Name() {
		return
	}
	l.notice(event.NoticeWarning,
		fmt.Sprintf("the price of %s is not known, so what it costs does not count towards the limit of the cost",
			l.model.Name()),
		fmt.Sprintf("set [prices.%q] in your config.toml, or limit the tokens", l.model.Name()))
}
