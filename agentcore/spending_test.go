package agentcore_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// priced is the configuration in which the scripted model costs a dollar for a million tokens of either kind.
func priced() *config.Config {
	cfg := config.Default()
	one, tenth := 1e0, 0.1
	cfg.Prices["script/test"] = config.Price{Input: &one, Output: &one, Cached: &tenth}
	cfg.SessionTitles = config.TitlesRules // the price is known, so that a model would be asked
	return cfg
}

// readsFor is a turn that makes the next call of a run and uses so many tokens.
func readsFor(line string, tokens int64) script.Turn {
	return script.Turn{
		Answer: []script.Step{call("read", `{"path":"a.txt","offset":`+line+`}`)},
		Usage:  model.Usage{Input: tokens - tokens/4, Output: tokens / 4},
	}
}

func spends(text string, tokens int64) script.Turn {
	return script.Turn{
		Answer: []script.Step{script.Text(text)},
		Usage:  model.Usage{Input: tokens - tokens/4, Output: tokens / 4},
	}
}

func notices(events []event.Event) []string {
	var all []string
	for _, e := range events {
		if n, ok := e.Body.(event.Notice); ok {
			all = append(all, n.Message)
		}
	}
	return all
}

func cost(u event.Usage) float64 {
	if u.Cost == nil {
		return math.NaN()
	}
	return *u.Cost
}

func TestBudgetOfARunEndsIt(t *testing.T) {
	for reason, limits := range map[string]agent.Limits{"max_tokens": {Tokens: 100_000}, "max_cost": {Cost: 0.1}} {
		t.Run(reason, func(t *testing.T) {
			last := spends("what I have", 20_000)
			last.Expect = []script.Expect{
				script.Last("The limit of this run is reached (" + reason + ")"),
				script.NoCalls(),
			}
			w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\n"},
				readsFor("1", 30_000), readsFor("2", 30_000), last)
			w.configured(priced())
			request := review(w.path("a.txt"))
			request.Limits = limits
			result := w.wait(w.start(request))
			if result.Status != event.StatusCompleted || result.Reason != reason || result.Output != "what I have" ||
				result.Turns != 3 {
				t.Errorf("unexpected result: %+v", result)
			}
			if got := cost(result.Usage); math.Abs(got-0.08) > 1e-9 ||
				result.Usage.InputTokens+result.Usage.OutputTokens != 80_000 {
				t.Errorf("it used %+v, for %g", result.Usage, got)
			}
		})
	}
}

// TestNothingIsAskedOnceTheLimitIsReached: an answer that uses up everything was the last one, hand-over or not.
func TestNothingIsAskedOnceTheLimitIsReached(t *testing.T) {
	turn := readsFor("1", 500)
	turn.Answer = append([]script.Step{script.Text("I look.")}, turn.Answer...)
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, turn)
	request := review(w.path("a.txt"))
	request.Limits = agent.Limits{Tokens: 400}
	id := w.start(request)
	result := w.wait(id)
	if result.Status != event.StatusCompleted || result.Reason != "max_tokens" || result.Turns != 1 ||
		result.Output != "I look." {
		t.Errorf("unexpected result: %+v", result)
	}
	if told := notices(w.until(ended(id))); !slices.ContainsFunc(told,
		func(n string) bool { return strings.Contains(n, "max_tokens") }) {
		t.Errorf("the user was told %q", told)
	}
}

// TestBudgetOfASession: what one run used, the next lacks, and a larger budget counts at once.
func TestBudgetOfASession(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, spends("one", 600), spends("two", 600), spends("three", 600))
	cfg := priced()
	cfg.BudgetTokens = 1000
	w.configured(cfg)
	for range 2 { // the second still has 400 when it begins
		if result := w.wait(w.start(review(w.path("a.txt")))); result.Status != event.StatusCompleted {
			t.Fatalf("unexpected result: %+v", result)
		}
	}
	_, err := w.session.Start(w.ctx, review(w.path("a.txt")))
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != "not_allowed" || !strings.Contains(refused.Hint, "budget.tokens") {
		t.Fatalf("the third run was answered with %v", err)
	}
	larger := priced()
	larger.BudgetTokens = 2000
	w.engine.SetConfig(larger)
	if result := w.wait(w.start(review(w.path("a.txt")))); result.Output != "three" {
		t.Errorf("unexpected result: %+v", result)
	}
}

// TestUsageOfChildren counts each child once in its parent, while it works and at its end, and stores what each run
// used itself.
func TestUsageOfChildren(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"},
		script.Turn{
			Match: "file: a.txt", Answer: []script.Step{script.Text("done")},
			Usage: model.Usage{Input: 100, Output: 10, Cached: 1000},
		},
		script.Turn{
			Match: "file: b.txt", Answer: []script.Step{script.Text("done")},
			Usage: model.Usage{Input: 200, Output: 20, Cached: 2000},
		},
	)
	w.configured(priced())
	id := w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review this file.",
		Each: []string{w.path("a.txt"), w.path("b.txt")},
	})
	result := w.wait(id)
	if u := result.Usage; u.InputTokens != 300 || u.OutputTokens != 30 || u.CachedTokens != 3000 ||
		math.Abs(cost(u)-0.00063) > 1e-12 {
		t.Errorf("the parent used %+v, for %g", u, cost(u))
	}
	runs, err := w.engine.Store().Runs(w.ctx, w.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	own, children := event.NoUsage(), event.NoUsage()
	for _, r := range runs {
		own = own.Add(r.Own)
		if r.ID == id {
			if r.Own.InputTokens != 0 || cost(r.Own) != 0 || cost(r.Usage) != cost(result.Usage) {
				t.Errorf("the parent is stored with %+v, of which its own is %+v", r.Usage, r.Own)
			}
			continue
		}
		children = children.Add(r.Usage)
	}
	for _, sum := range []event.Usage{own, children} {
		if sum.InputTokens != 300 || sum.OutputTokens != 30 || sum.CachedTokens != 3000 ||
			math.Abs(cost(sum)-0.00063) > 1e-12 {
			t.Errorf("the parts make %+v, for %g", sum, cost(sum))
		}
	}
}

// TestChildrenShareTheBudget: of four children with room for two answers, two are let through, then the limit is
// reached.
func TestChildrenShareTheBudget(t *testing.T) {
	answer := spends("done", 500)
	answer.Times = 2
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n"}, answer)
	cfg := priced()
	cfg.MaxChildrenPerSession = 1
	w.configured(cfg)
	request := agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review this file.",
		Each: []string{w.path("a.txt"), w.path("b.txt"), w.path("c.txt"), w.path("d.txt")},
	}
	request.Limits = agent.Limits{Tokens: 1000}
	result := w.wait(w.start(request))
	if used := result.Usage.InputTokens + result.Usage.OutputTokens; used != 1000 {
		t.Errorf("the children used %d tokens together", used)
	}
	ends := map[string]int{}
	for _, child := range result.Children {
		ends[w.wait(child).Reason]++
	}
	if ends[""] != 2 || ends["max_tokens"] != 2 {
		t.Errorf("the children ended with %v", ends)
	}
}

// TestChildHasTheTimeOfItsParent: a child's limit of time is what its parent has left, less what that needs to hand
// over.
func TestChildHasTheTimeOfItsParent(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"}, spends("done", 10))
	request := agentcore.RunRequest{Agent: "reviewer", Prompt: "Review this file.", Each: []string{w.path("a.txt")}}
	request.Limits = agent.Limits{Timeout: time.Hour}
	w.wait(w.start(request))
	runs, err := w.engine.Store().Runs(w.ctx, w.session.ID)
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		if child := r.Parent != ""; child && r.MaxDuration > time.Hour-30*time.Second ||
			!child && r.MaxDuration != time.Hour {
			t.Errorf("the run of depth %d has %s", r.Depth, r.MaxDuration)
		}
	}
}

// TestUnknownPrice: the cost is unknown, not 0, and a limit of it that cannot hold is told at the start.
func TestUnknownPrice(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, spends("one", 1000), spends("two", 1000))
	request := review(w.path("a.txt"))
	request.Limits = agent.Limits{Cost: 0.0001}
	id := w.start(request)
	if result := w.wait(id); result.Output != "one" || result.Reason != "" || result.Usage.Cost != nil {
		t.Errorf("unexpected result: %+v", result)
	}
	told := notices(w.until(ended(id)))
	if len(told) != 1 || !strings.Contains(told[0], "the price of script/test is not known") {
		t.Errorf("the user was told %q", told)
	}
	id = w.start(review(w.path("a.txt")))
	w.wait(id)
	if told := notices(w.until(ended(id))); len(told) != 0 {
		t.Errorf("without a limit the user was told %q", told)
	}
}

// TestUnreportedTokens: a provider that says nothing of tokens has not answered for nothing.
func TestUnreportedTokens(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, spends("one", 0), spends("two", 0))
	w.configured(priced())
	if result := w.wait(w.start(review(w.path("a.txt")))); result.Usage.Cost != nil {
		t.Errorf("it cost %g", *result.Usage.Cost)
	}
	free := config.Default()
	zero := 0.0
	free.Prices["script/*"] = config.Price{Input: &zero, Output: &zero}
	w.engine.SetConfig(free)
	if result := w.wait(w.start(review(w.path("a.txt")))); cost(result.Usage) != 0 {
		t.Errorf("a free model cost %g", cost(result.Usage))
	}
}

// TestOfflineIsFree: the rules cost nothing, and that is known.
func TestOfflineIsFree(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.closeEngine()
	w.openWith(agentcore.Options{StateDir: w.state, Getenv: func(string) string { return "" }})
	if result := w.wait(w.start(review(w.path("a.txt")))); result.Usage != (event.Usage{Cost: result.Usage.Cost}) ||
		cost(result.Usage) != 0 {
		t.Errorf("it used %+v", result.Usage)
	}
}

// TestUncountedAnswersEndABudget: a provider that says nothing of tokens, or what cannot be, passes no limit that an
// honest one would not.
func TestUncountedAnswersEndABudget(t *testing.T) {
	for name, said := range map[string]model.Usage{
		"nothing": {}, "negative": {Input: -1, Output: -1}, "output negative": {Input: 10, Output: math.MinInt64},
		"absurd":       {Input: math.MaxInt64, Output: math.MaxInt64, Cached: math.MaxInt64},
		"cached alone": {Cached: 10, Output: -5},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": strings.Repeat("one\n", 40)}, script.Turn{
				Times: script.Any, Usage: said, Then: func(request *model.Request) []script.Step {
					said := script.Text(strings.Repeat("words ", 2000))
					if request.NoCalls || len(request.Messages) > 60 {
						return []script.Step{said}
					}
					return []script.Step{
						said,
						call("read", fmt.Sprintf(`{"path":"a.txt","offset":%d}`, len(request.Messages)/2+1)),
					}
				},
			})
			w.configured(priced())
			request := review(w.path("a.txt"))
			request.Limits = agent.Limits{Tokens: 30_000}
			result := w.wait(w.start(request))
			if result.Reason != "max_tokens" || result.Turns >= 30 {
				t.Errorf("it ended by %q after %d turns", result.Reason, result.Turns)
			}
			u := result.Usage
			if u.InputTokens < 0 || u.OutputTokens < 0 || u.CachedTokens < 0 ||
				u.InputTokens+u.OutputTokens > 1e6 || cost(u) < 0 {
				t.Errorf("the usage is %+v, the cost %g", u, cost(u))
			}
		})
	}
}
