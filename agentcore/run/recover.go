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
	// patience is how often the model is told of the same kind of bad answer before the run ends.
	patience = 2
	// brokenTurns is how many turns in a row may consist only of calls that cannot be made. The model is told each time
	// what is wrong.
	brokenTurns = 4
	// toldRounds is how often the same round of calls with the same results may come before the model is told, and
	// endRounds how often before the run ends. Calls that wait for something are rightly repeated, and may come
	// waitFactor times as often.
	toldRounds, endRounds = 3, 5
	waitFactor            = 4
	// anyResult is the factor for calls whose results differ, since times and counters differ also where nothing
	// happens.
	anyResult = 2
	// longestRound is how many turns a round may have at most: A B A B is a round of two.
	longestRound = 3
)

// waiting are the tools that a model rightly calls again and again until something has happened elsewhere.
var waiting = []string{"bash_output", "task_status", "task_output", "task_wait"}

// ending is why a run gets no further turn but the one in which it hands over.
type ending struct {
	// reason is a word for RunResult.Reason, empty for none.
	reason string
	// detail says what happened. It is empty for a limit.
	detail string
}

// lapses is what a run keeps of its former turns to notice a bad answer, and to decide when there were too many.
type lapses struct {
	counts map[string]int // how many bad answers there were of each reason since the last good one
	said   string         // the text of the last bad answer
	broken int            // how many turns in a row had only calls that could not be made
	rounds []round
	told   bool // whether the model was told of the circle that it is in
}

// round is what one turn called and what it was answered, as hashes.
type round struct{ calls, results uint64 }

// good forgets the bad answers, since a good one came.
func (l *lapses) good() { l.counts, l.said = nil, "" }

// bad counts a bad answer, and reports whether the model is told and goes on. A model that repeats the very same text
// has not listened.
func (l *lapses) bad(reason, said string) bool {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[reason]++
	same := said != "" && said == l.said
	l.said = said
	return l.counts[reason] <= patience && !same
}

// repetition is how many times a round of calls came in a row, and how often it may come before the run ends.
type repetition struct{ times, limit int }

// nearer reports whether p is nearer to its limit than other.
func (p repetition) nearer(other repetition) bool { return p.times*other.limit > other.times*p.limit }

// known reports whether the round has come so often that the model is told.
func (p repetition) known() bool { return p.times*endRounds >= p.limit*toldRounds }

// repeats returns the repetition that these calls would make, in rounds of one turn or of several.
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
		// turns counts the last turns that equal the turn one round earlier, the one under way included.
		turns := func(same func(a, b round) bool) int {
			n := length // length, rounded up to whole rounds
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

// did notes a turn, and reports whether the model is to be told that it goes round in circles.
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

// lapse is a fault of an answer that has no call.
type lapse struct {
	// reason is empty where nothing is wrong.
	reason string
	// message is what the model is told.
	message string
	// unsure is true where the model may have meant the answer so.
	unsure bool
}

// recall looks for a fault in an answer without calls. An answer without a fault is a last word.
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

// whole reports whether the last call of an answer that was cut off is complete. It is where its arguments are an
// object that is not empty: a cut object lacks its closing brace, and some wires put an empty object in the place of
// arguments that never came.
func whole(call model.Call) bool {
	return json.Valid(call.Arguments) && len(bytes.Trim(call.Arguments, " \t\r\n{}")) > 0
}

// callable reports whether a call names a tool of the run and has valid JSON as arguments.
func callable(tools *toolset.Set, call model.Call) bool {
	name := call.Name
	if canonical, ok := tool.Resolve(name); ok {
		name = canonical
	}
	return tools.Offers(name) && (json.Valid(call.Arguments) || len(bytes.TrimSpace(call.Arguments)) == 0)
}

// uncalled makes results for calls that are not made, since a conversation needs a result for each call.
func uncalled(calls []model.Call, why string) []model.Part {
	results := make([]model.Part, len(calls))
	for i, call := range calls {
		results[i] = model.Result{ID: call.ID, Name: call.Name, Text: "error: " + why, Error: true}
	}
	return results
}

// withoutCalls returns a last word's message without its calls, which would never be answered. The message is empty
// where nothing is left.
func withoutCalls(m model.Message) model.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts),
		func(part model.Part) bool { _, ok := part.(model.Call); return ok })
	if strings.TrimSpace(m.Text()) == "" {
		m.Parts = nil
	}
	return m
}
