package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

const (
	// patience is how often a model is brought back from the same kind of bad answer before the run ends.
	patience = 2
	// brokenTurns is how many turns in a row may consist of calls that cannot be made at all; each is told what is
	// wrong.
	brokenTurns = 4
	// toldRounds and endRounds are how often the same round of calls with the same results may come before the model is
	// told, and before the run ends. Calls that wait for something are repeated by right, and get waitFactor times as
	// many.
	toldRounds, endRounds = 3, 5
	waitFactor            = 4
	// anyResult is that factor for calls whose results differ: times and counters do, also where nothing happens.
	anyResult = 2
	// longestRound is how many turns a round may have: A B A B is one of two.
	longestRound = 3
)

// waiting are the tools that are called again and again until something has happened elsewhere.
var waiting = []string{"bash_output", "task_status", "task_output", "task_wait"}

// ending is why a run gets no more turns but the one in which it hands over.
type ending struct {
	// reason is one word for RunResult.Reason, empty for none.
	reason string
	// detail says what happened, empty for a limit.
	detail string
}

// lapses is what a run has to know of its former turns to tell a bad answer, and when there are enough of them.
type lapses struct {
	counts map[string]int // of bad answers by reason, since the last good one
	said   string         // the last of them
	broken int            // turns in a row of calls that could not be made
	rounds []round
	told   bool // of the round that it is in
}

// round is what one turn called and was answered, as hashes.
type round struct{ calls, results uint64 }

// good forgets the bad answers.
func (l *lapses) good() { l.counts, l.said = nil, "" }

// bad counts a bad answer and reports whether the model is brought back from it. One that says the very same
// again has not heard.
func (l *lapses) bad(reason, said string) bool {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[reason]++
	same := said != "" && said == l.said
	l.said = said
	return l.counts[reason] <= patience && !same
}

// repetition is how many times a round of calls has come in a row, and how often it may before the run ends.
type repetition struct{ times, limit int }

// nearer reports whether it is nearer to its limit than another.
func (p repetition) nearer(other repetition) bool { return p.times*other.limit > other.times*p.limit }

// known reports whether the round has come often enough for the model to be told.
func (p repetition) known() bool { return p.times*endRounds >= p.limit*toldRounds }

// repeats returns the repetition that the calls would be, in rounds of one turn or of a few.
func (l *lapses) repeats(calls []model.Call) repetition {
	hash, limit := hashCalls(calls), endRounds
	if !slices.ContainsFunc(calls,
		func(c model.Call) bool { name, _ := tool.Resolve(c.Name); return !slices.Contains(waiting, name) }) {
		limit *= waitFactor
	}
	found := repetition{1, limit}
	for length := 1; length <= min(longestRound, len(l.rounds)); length++ {
		if l.rounds[len(l.rounds)-length].calls != hash {
			continue
		}
		// turns counts the last turns that equal the turn one round earlier. The turn under way counts, too.
		turns := func(same func(a, b round) bool) int {
			n := length // rounded up to whole rounds
			for i := len(l.rounds) - 1; i >= length && same(l.rounds[i], l.rounds[i-length]); i-- {
				n++
			}
			return n
		}
		for _, p := range []repetition{
			{turns(func(a, b round) bool { return a == b })/length + 1, limit},
			{turns(func(a, b round) bool { return a.calls == b.calls })/length + 1, limit * anyResult},
		} {
			if p.nearer(found) {
				found = p
			}
		}
	}
	return found
}

// did notes a turn and reports whether the model should be told that it goes round in circles.
func (l *lapses) did(calls []model.Call, results []model.Part, as repetition) (tell bool) {
	h := fnv.New64a()
	for _, part := range results {
		if result, ok := part.(model.Result); ok {
			fmt.Fprintf(h, "%d %s\n", len(result.Text), result.Text)
		}
	}
	l.rounds = append(l.rounds, round{hashCalls(calls), h.Sum64()})
	if surplus := len(l.rounds) - endRounds*waitFactor*anyResult*longestRound; surplus > 0 {
		l.rounds = slices.Delete(l.rounds, 0, surplus)
	}
	tell = as.known() && !l.told
	l.told = as.known()
	return tell
}

func hashCalls(calls []model.Call) uint64 {
	h := fnv.New64a()
	for _, c := range calls {
		fmt.Fprintf(h, "%s %d %s\n", c.Name, len(c.Arguments), c.Arguments)
	}
	return h.Sum64()
}

// lapse is what is wrong with an answer that has no call.
type lapse struct {
	// reason is empty where nothing is wrong.
	reason string
	// message tells the model.
	message string
	// unsure says that the answer may be meant so.
	unsure bool
}

// recall looks whether an answer without calls is a last word.
func recall(tools *toolset.Set, done model.Done, text string) lapse {
	if strings.TrimSpace(text) == "" {
		if done.Stop == model.StopLength {
			return lapse{
				reason: "empty_answer",
				message: "Your answer was cut off at the length limit before it said anything. Think less at once: " +
					"call a tool, or give your final answer in text.",
			}
		}
		if len(tools.Tools()) == 0 {
			return lapse{
				reason:  "empty_answer",
				message: "Your answer was empty, and there are no tools here. Give your answer in text.",
			}
		}
		return lapse{
			reason:  "empty_answer",
			message: "Your answer was empty. Go on with the task: call a tool, or give your final answer in text.",
		}
	}
	leak, leaked := model.LeakedCall(text, func(name string) bool {
		canonical, ok := tool.Resolve(name)
		return ok && tools.Offers(canonical) || tools.Offers(name)
	})
	if !leaked {
		return lapse{}
	}
	return lapse{
		"leaked_call",
		fmt.Sprintf(
			"You wrote a call of %s as text, so nothing was called. Call tools through the function "+
				"calling interface, "+
				"not in your text. If it was meant as text, give that answer again.", leak.Name), !leak.Sure,
	}
}

// detailOf says how often a model gave the same kind of bad answer.
func (l *lapses) detailOf(reason, name string) string {
	what := map[string]string{
		"empty_answer": "answered nothing",
		"leaked_call":  "wrote a call as text instead of making it",
		"length":       "was cut off in the middle of a call",
	}[reason]
	return fmt.Sprintf("%s %s, %d times", name, what, l.counts[reason])
}

// whole reports whether the last call of an answer that was cut off at its length came to its end. Its arguments did
// where they are an object that says something: a cut one lacks its closing brace. An empty object may be what a wire
// puts in the place of arguments that never came.
func whole(call model.Call) bool {
	return json.Valid(call.Arguments) && len(bytes.Trim(call.Arguments, " \t\r\n{}")) > 0
}

// callable reports whether a call names a tool of the run, with arguments that are JSON.
func callable(tools *toolset.Set, call model.Call) bool {
	name := call.Name
	if canonical, ok := tool.Resolve(name); ok {
		name = canonical
	}
	return tools.Offers(name) && (json.Valid(call.Arguments) || len(bytes.TrimSpace(call.Arguments)) == 0)
}

// uncalled answers calls that are not made: a conversation has a result for each.
func uncalled(calls []model.Call, why string) []model.Part {
	results := make([]model.Part, len(calls))
	for i, call := range calls {
		results[i] = model.Result{ID: call.ID, Name: call.Name, Text: "error: " + why, Error: true}
	}
	return results
}

// withoutCalls returns a message without its calls, for a last word: nobody would answer them. It is empty where
// nothing is left.
func withoutCalls(m model.Message) model.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts),
		func(part model.Part) bool { _, ok := part.(model.Call); return ok })
	if strings.TrimSpace(m.Text()) == "" {
		m.Parts = nil
	}
	return m
}
