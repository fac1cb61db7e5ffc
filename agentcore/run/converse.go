package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// converse is the loop of a run: ask the model, carry out its calls, ask again. It returns nil when the
// agent has given its last word.
func (r *Run) converse() error {
	facts := r.facts()
	system, missing := facts.System()
	r.tellSkills(missing)
	r.system = r.redactor.Text(system)
	r.tellUnpriced()
	r.offering = r.tools.Offered(r.delegation)
	r.memory.begin(provider.Window(r.config, r.model), r.system, r.offering)
	r.takeOver(r.inherited.messages, r.former)
	r.notePrompt()
	r.pin(model.UserText(facts.First() + joined(r.hooks.context)))
	for r.turn = 1; ; r.turn++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.showProgress()
		ended, err := r.takeTurn()
		if err != nil || ended {
			return err
		}
	}
}

// notePrompt stores what the model is told at first: the system prompt, and about how much the run takes over.
func (r *Run) notePrompt() {
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
func (r *Run) takeTurn() (ended bool, err error) {
	if r.ending.reason != "" || r.turn >= r.limits.MaxTurns {
		// Before anything of the budget is held for the last answer, or they could wait for that.
		if err := r.tasks.await(); err != nil {
			return false, err
		}
	}
	limit, goAhead, err := r.admit()
	if err != nil {
		return false, err
	}
	if !goAhead {
		r.cutOff(limit)
		return true, nil
	}
	if r.ending.reason == "" {
		r.ending.reason = limit
	}
	r.lastTurn = r.ending.reason != ""
	if r.lastTurn {
		r.tasks.end(errStarterEnded)
		r.tasks.inbox.shut()
	}
	r.read(r.tasks.inbox)
	if r.lastTurn && !r.onlyTurn() { // that one was told at its beginning
		r.append(model.UserText(handOver(r.ending, r.tools.Offers(toolset.Submit))))
	}
	if err := r.makeRoom(); err != nil {
		return false, err
	}
	done, err := r.answer()
	if err != nil && !r.lastTurn && r.late() {
		return false, nil // the next turn is the hand-over, for which there is time
	}
	if err != nil {
		return false, err
	}
	if r.definition.Mode.Toolless() {
		done.Message = withoutCalls(done.Message)
	}
	calls, text := done.Message.Calls(), r.redactor.Text(done.Message.Text())
	switch {
	case done.Stop == model.StopRefused:
		return false, &fault.Error{Kind: fault.Refused, Detail: fmt.Sprintf("%s declined to answer: %s", r.model.Name(),
			text), Hint: "word the task differently, or choose another model"}
	case r.lastTurn:
		return true, r.lastAnswer(done)
	case len(calls) > 0:
		if strings.TrimSpace(text) != "" {
			r.lastText = text
		}
		return r.followCalls(done)
	}
	return r.takeText(done, text)
}

// takeText takes an answer without a call: the run's last word, or one that is none, which the model is told. It
// reports true when it was the last word.
func (r *Run) takeText(done model.Done, text string) (ended bool, err error) {
	wrong := recall(r.tools, done, text)
	if wrong.reason == "" || wrong.unsure && r.lapses.counts[wrong.reason] > 0 { // it was told once, and means it
		r.append(done.Message)
		r.lastText = text
		if ended, err := r.mayStop(); err != nil || !ended {
			return false, err
		}
		r.conclude(ending{}, done.Stop)
		return true, nil
	}
	if strings.TrimSpace(text) != "" { // providers refuse an empty message
		r.append(done.Message)
	}
	if r.lapses.bad(wrong.reason, strings.TrimSpace(text)) {
		r.append(model.UserText(wrong.message))
	} else {
		r.ending = ending{wrong.reason, r.lapses.detailOf(wrong.reason, r.model.Name())}
	}
	return false, nil
}

// answer gets the model's answer to the conversation. Where that is too long for the model, it is shortened, once in a
// turn.
func (r *Run) answer() (model.Done, error) {
	r.attempt = 1
	r.tell(store.Batch{}, event.TurnStarted{Turn: r.turn})
	r.idle("waiting for "+r.model.Name(), 0)
	only := ""
	if r.lastTurn && r.tools.Offers(toolset.Submit) {
		only = toolset.Submit
	}
	return r.query(only)
}

// query asks the model for the turn's answer. Of the last turn's calls only those of the named tool are made, "" for
// none.
func (r *Run) query(only string) (model.Done, error) {
	for shortened := false; ; shortened = true {
		request := &model.Request{
			System: r.system, Messages: r.messages, Tools: r.offering, MaxTokens: r.sampling.MaxTokens,
			Temperature: r.sampling.Temperature, NoCalls: r.lastTurn && only == "", Only: only, Run: string(r.id),
		}
		began := time.Now()
		done, err := r.asking.ask(r.workContext(), query{model: r.model, request: request})
		if err == nil {
			took := max(time.Since(began), time.Millisecond)
			r.memory.learn(done.Usage, r.messages)
			r.memory.answered = answered{r.model.Name(), r.addUsage(request, done), took}
			return done, nil
		}
		if !overflows(err) {
			return model.Done{}, err
		}
		if err := r.overflowed(shortened, err); err != nil {
			return model.Done{}, err
		}
		r.again()
	}
}

// followCalls carries out the calls of an answer and puts their results into the conversation. It reports true when the
// run has handed over by one of them.
func (r *Run) followCalls(done model.Done) (ended bool, err error) {
	calls := done.Message.Calls()
	r.append(done.Message)
	as := r.lapses.repeats(calls)
	if as.times >= as.limit {
		r.ending = ending{"repeats", fmt.Sprintf("%s made the same call of %s %d times in a row", r.model.Name(),
			calls[0].Name, as.times)}
		r.append(model.Message{
			Role:  model.RoleTool,
			Parts: uncalled(calls, "this call was not made again, since nothing new can come of it"),
		})
		return false, nil
	}
	made, cut := calls, done.Stop == model.StopLength && !whole(calls[len(calls)-1])
	if cut {
		made = calls[:len(calls)-1]
	}
	results, err := r.makeCalls(made)
	if err != nil {
		return false, err
	}
	results = append(results,
		uncalled(calls[len(made):],
			"this call was not made: your answer was cut off in the middle of it, at the length that one "+
				"answer may have. Send it again in smaller pieces, each in an answer of its own")...)
	r.append(model.Message{Role: model.RoleTool, Parts: results})
	if r.handedOver() {
		if more, err := r.goOn(""); !more || err != nil {
			return err == nil, err
		}
	}
	r.layer.NextTurn()
	if r.parent == nil {
		r.mergeLayer()
	}
	r.judge(calls, results, as, cut)
	return false, nil
}

// judge looks at a turn of calls for what a model does not get out of by itself.
func (r *Run) judge(calls []model.Call, results []model.Part, as repetition, cut bool) {
	if r.lapses.did(calls, results, as) {
		r.append(
			model.UserText(
				fmt.Sprintf(
					"You have made the same call %d times, and nothing new came of it. Take another way, or give your "+
						"final answer.", as.times)))
	}
	if cut {
		if !r.lapses.bad("length", "") {
			r.ending = ending{"length", r.lapses.detailOf("length", r.model.Name())}
		}
		return
	}
	r.lapses.good()
	if r.lapses.broken++; slices.ContainsFunc(calls, func(c model.Call) bool { return callable(r.tools, c) }) {
		r.lapses.broken = 0
	}
	if r.lapses.broken >= brokenTurns {
		r.ending = ending{
			"broken_calls",
			fmt.Sprintf(
				"in %d turns in a row, %s called only tools that there are not, or with arguments that are not JSON",
				brokenTurns, r.model.Name()),
		}
	}
}

// lastAnswer takes the answer of the last turn: its call that hands over, else its text. Where it has neither, since it
// says nothing, makes other calls, or one that cannot be made, the model is asked once more for a text, as far as the
// budget goes: it has heard then that no other call is made. A run whose model was told often enough before is not.
func (r *Run) lastAnswer(done model.Done) error {
	calls := done.Message.Calls()
	submits := r.tools.Offers(toolset.Submit) && slices.ContainsFunc(calls, handsOver)
	spoke := strings.TrimSpace(done.Message.Text()) != ""
	switch {
	case len(calls) == 0 && !spoke && r.ending.detail == "" && r.definition.Mode != agent.SingleShot:
		// which has one answer
		return r.askForText(done, "Your answer was empty.")
	case len(calls) == 0, !submits && spoke:
		return r.lastWord(done)
	}
	r.append(done.Message)
	results := uncalled(calls, "this call was not made, since this is the last turn of the run")
	if submits {
		if err := r.submit(done, results); err != nil {
			return err
		}
	}
	r.append(model.Message{Role: model.RoleTool, Parts: results})
	if r.handedOver() {
		r.lastText = r.Snapshot().Output
		if _, err := r.goOn(r.ending.reason); err != nil {
			return err
		}
		end := r.ending
		if r.onlyTurn() {
			end = ending{}
		}
		r.conclude(end, done.Stop)
		return nil
	}
	if text := r.redactor.Text(done.Message.Text()); strings.TrimSpace(text) != "" {
		r.lastText = text
	}
	r.undone = true
	return r.askForText(done, "Nothing else can be called now.")
}

// askForText asks for the last word once more, in the same turn: the turn's second request, and its last one. Where the
// budget has nothing left for it, what was said before is the last word.
func (r *Run) askForText(done model.Done, why string) error {
	if _, goAhead, err := r.budget.ask(r.ctx, amount{}, func() {}); err != nil || !goAhead {
		if err == nil {
			r.conclude(r.ending, done.Stop)
		}
		return err
	}
	r.append(model.UserText(why + " Answer in text: results so far, what is done, what is left."))
	r.again()
	again, err := r.query("")
	if err != nil {
		return err
	}
	return r.lastWord(again)
}

// submit carries out the first call of an answer that hands over, if it is whole, and puts its result into its place.
func (r *Run) submit(done model.Done, results []model.Part) error {
	calls := done.Message.Calls()
	at := slices.IndexFunc(calls, handsOver)
	if done.Stop == model.StopLength && at == len(calls)-1 && !whole(calls[at]) {
		return nil
	}
	made, err := r.makeCalls(calls[at : at+1])
	if err != nil {
		return err
	}
	results[at] = made[0]
	return nil
}

// handsOver reports whether a call is that which ends a child's task.
func handsOver(call model.Call) bool {
	name, _ := tool.Resolve(call.Name)
	return name == toolset.Submit
}

// lastWord takes an answer for the last, whatever it is. A run that ends since its model gave bad answers, and
// this is another, has failed where nothing was said before either.
func (r *Run) lastWord(done model.Done) error {
	text := r.redactor.Text(done.Message.Text())
	if m := withoutCalls(done.Message); len(m.Parts) > 0 {
		r.append(m)
	}
	end, calls, wrong := r.ending, len(done.Message.Calls()), lapse{}
	if calls == 0 || strings.TrimSpace(text) == "" {
		wrong = recall(r.tools, done, text)
	}
	own := end.detail == "" && r.onlyTurn() && calls == 0 // nobody told it to hand over
	switch {
	case wrong.reason == "" || wrong.unsure:
		r.lastText = text
		if own && !r.undone {
			end = ending{} // it had nothing more to do
		}
	case r.lastText != "":
	case end.detail != "" || own:
		r.lastText = strings.TrimSpace(cmp.Or(text, r.lapses.said))
		failed := &fault.Error{
			Kind: fault.Kind(wrong.reason), Detail: r.model.Name() + " gave no answer",
			Hint: "try another model, or word the task differently",
		}
		if end.detail != "" {
			failed.Kind, failed.Detail = fault.Kind(end.reason), end.detail
		}
		return failed
	default:
		r.lastText = strings.TrimSpace(text)
	}
	if _, err := r.goOn(r.ending.reason); err != nil {
		return err
	}
	r.conclude(end, done.Stop)
	return nil
}

// doneAtItsLimit reports whether a run whose last turn a limit brought hands over that its whole task is done: then its
// last turn came with its last word, and nothing was cut short. What a limit of time ends may be in the middle of it.
func (r *Run) doneAtItsLimit(end ending) bool {
	if end.detail != "" || end.reason == "" || end.reason == reasonTime || !r.reports() {
		return false
	}
	r.mu.Lock()
	submitted := r.submitted
	r.mu.Unlock()
	if submitted == nil {
		written, ok := tool.HandedOver(r.lastText)
		return ok && written.Status == event.ChildStatusCompleted
	}
	return submitted.Status == event.ChildStatusCompleted
}

// conclude notes the agent's last word, and what cut it short: its model, a limit of the run, or that of one answer.
func (r *Run) conclude(end ending, stop model.Stop) {
	if r.doneAtItsLimit(end) {
		end = ending{}
	}
	switch {
	case end.detail != "":
		r.notice(event.NoticeWarning, fmt.Sprintf("%s was ended, since %s; it handed over what it had",
			r.definition.Slug, end.detail), "word the task differently, or choose another model")
	case end.reason != "":
		what := "handed over what it had"
		if r.lastText == "" {
			what = "gave no answer"
		}
		r.notice(event.NoticeWarning, fmt.Sprintf("%s was ended by its limit (%s) and %s", r.definition.Slug,
			end.reason, what),
			"start it again with a larger limit, or a smaller task")
	case stop == model.StopLength:
		end.reason = "length"
		r.notice(event.NoticeWarning,
			fmt.Sprintf("the last answer of %s was cut off, since it reached the length that %s may answer",
				r.definition.Slug, r.model.Name()), "start it again with a smaller task")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Reason, r.result.Output = end.reason, r.lastText
}

// handOver tells a run that its next answer is the last, which may submit a result where it has the tool for that.
func handOver(end ending, submits bool) string {
	why := fmt.Sprintf("The limit of this run is reached (%s).", end.reason)
	if end.detail != "" {
		why = fmt.Sprintf("This run ends now (%s).", end.detail)
	}
	if submits {
		return why + " Make no more calls but submit_result. Hand over now what you have, by it or in text: " +
			"results so far, what is done, what is left."
	}
	return why + " Make no more calls. Answer now with what you have: results so far, what is done, what is left."
}
