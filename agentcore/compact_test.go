package agentcore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// smallContext is that of a model whose conversations are shortened at 160 kB: it has room for three of bigFiles beside
// 10 to 30 kB of prompt and tools, and not for four.
const smallContext = 66_700

// bigFiles are files of which read shows 40 kB.
func bigFiles() map[string]string {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		files[name+".txt"] = "this is " + name + "\n" +
			strings.Repeat("the text of "+name+" is as long as this line\n", 998)
	}
	return files
}

// readOf reads lines that show 40 kB.
func readOf(name string) script.Call { return call("read", fmt.Sprintf(`{"path":"%s.txt"}`, name)) }

// summariser is the turn of the hidden agent.
func summariser(text string, expect ...script.Expect) script.Turn {
	return script.Turn{
		Match:  "You shorten the conversation",
		Expect: append(expect, script.NoTools(), script.NoCalls(), script.Messages(1)),
		Answer: []script.Step{script.Text(text)}, Usage: model.Usage{Input: 11, Output: 5},
	}
}

// first expects text in the first message, which is the task.
func first(text string) script.Expect {
	return func(r *model.Request) error {
		if got := r.Messages[0].Text(); got != text {
			return fmt.Errorf("the first message is %q, want %q", got, text)
		}
		return nil
	}
}

// summed expects that the second message is a summary which holds the texts, and n messages follow it.
func summed(n int, texts ...string) script.Expect {
	return func(r *model.Request) error {
		var errs []error
		if len(r.Messages) != n+2 || !r.Messages[1].Summary() {
			return fmt.Errorf("there are %d messages, the second of which is a summary: %v; want one and %d behind it",
				len(r.Messages), r.Messages[1].Summary(), n)
		}
		for _, text := range texts {
			if !strings.Contains(r.Messages[1].Text(), text) {
				errs = append(errs, fmt.Errorf("the summary should hold %q; it is %q", text, r.Messages[1].Text()))
			}
		}
		return errors.Join(errs...)
	}
}

func (w *world) holds(tokens int64) *world { w.model.Context = tokens; return w }

const assignment = "Look at the files."

func TestCompaction(t *testing.T) {
	w := newWorld(t, bigFiles(),
		summariser("## Task\nthe first summary", script.Last(assignment), script.Last("[call of read]"),
			script.Last("the text of a is")),
		summariser("## Task\nthe second summary", script.Last("the first summary"), script.Last(assignment)),
		script.Turn{
			Answer: []script.Step{
				call("todo", `{"items":[{"text":"look at b","state":"pending"},{"text":"look at a","state":"done"}]}`),
				readOf("a"),
			},
		},
		script.Turn{
			Answer: []script.Step{
				call("edit", `{"path":"b.txt","old_string":"this is b","new_string":"this was b"}`),
				readOf("b"),
			},
		},
		script.Turn{Answer: []script.Step{script.Text("I go on."), readOf("c")}},
		script.Turn{Answer: []script.Step{readOf("d")}},
		script.Turn{
			Expect: []script.Expect{
				first(assignment), script.System("You are a software engineer"),
				summed(2, "the first summary", "- [pending] look at b\n", "changed by you: b.txt\n",
					"looked at: a.txt, b.txt, c.txt\n"), script.Result("read", "the text of d"),
				script.Tools("read", "edit"),
			},
			// What the summary stands for may be edited, and not be overwritten from memory.
			Answer: []script.Step{
				call("write", `{"path":"a.txt","content":"gone"}`),
				call("edit", `{"path":"b.txt","old_string":"this is b","new_string":"lost"}`), readOf("e"),
			},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "read it again"), script.Result("edit", "error")},
			Answer: []script.Step{readOf("f"), readOf("a")},
		},
		script.Turn{
			Expect: []script.Expect{
				first(assignment),
				summed(2, "the second summary", "look at b", "a.txt, b.txt, c.txt, d.txt, e.txt"),
			},
			Answer: []script.Step{script.Text("Done.")},
		},
	).holds(smallContext)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment})
	result := w.wait(id)
	if result.Status != event.StatusCompleted || result.Output != "Done." || len(result.Children) != 0 ||
		result.Usage.InputTokens != 22 {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
	seen := w.until(ended(id))
	shortened := bodies[event.Compacted](seen)
	if len(shortened) != 2 {
		t.Fatalf("the conversation was shortened %d times, want twice", len(shortened))
	}
	for _, c := range shortened {
		if c.TokensAfter >= c.TokensBefore || c.TokensBefore > smallContext {
			t.Errorf("it had %d tokens, then %d", c.TokensBefore, c.TokensAfter)
		}
	}
	if slices.ContainsFunc(seen, func(e event.Event) bool { return e.Run != "" && e.Run != id }) {
		t.Error("a hidden run was shown")
	}
	w.storedWhole(id)
	children, err := w.engine.Store().Children(w.ctx, id)
	if err != nil || len(children) != 2 {
		t.Fatalf("%d hidden runs are stored: %v", len(children), err)
	}
	for _, c := range children {
		if c.Role != "hidden" || c.Agent != "compaction" || c.Status != event.StatusCompleted ||
			!strings.Contains(c.Response, "summary") || c.Usage.InputTokens != 11 {
			t.Errorf("unexpected run: %+v", c)
		}
	}
}

// What the run is told in its course stays as it is, as its task does, also for a run that goes on with it.
func TestSteeringOutlivesCompaction(t *testing.T) {
	const message = "<message from=\"the user\">\nLeave the tests alone.\n</message>"
	told := func(at int) script.Expect {
		return func(r *model.Request) error {
			if len(r.Messages) <= at || r.Messages[at].Text() != message {
				return fmt.Errorf("message %d is not what the user said: %+v", at, r.Messages)
			}
			return nil
		}
	}
	w := newWorld(t, bigFiles(),
		summariser("the summary"),
		script.Turn{Answer: []script.Step{script.Gate("first"), readOf("a")}},
		script.Turn{Answer: []script.Step{readOf("b")}},
		script.Turn{Answer: []script.Step{readOf("c")}},
		script.Turn{Answer: []script.Step{readOf("d")}},
		script.Turn{Expect: []script.Expect{first(assignment), told(1)}, Answer: []script.Step{script.Text("Done.")}},
		script.Turn{
			Expect: []script.Expect{first(assignment), told(1), script.Last("Go on.")},
			Answer: []script.Step{script.Text("Still done.")},
		},
	).holds(smallContext)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment})
	w.reached("first")
	if err := w.engine.Steer(id, "Leave the tests alone."); err != nil {
		t.Fatal(err)
	}
	w.model.Release("first")
	if result := w.wait(id); result.Output != "Done." {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
	if n := len(bodies[event.Compacted](w.until(ended(id)))); n != 1 {
		t.Errorf("the conversation was shortened %d times, want once", n)
	}
	again, err := w.session.Resume(w.ctx, id, "Go on.")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(again); result.Output != "Still done." {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
}

// storedWhole checks that all messages of a run are stored: each follows the one before it, but for summaries, which
// follow what they stand for.
func (w *world) storedWhole(id event.RunID) {
	w.t.Helper()
	messages, err := w.engine.Store().Messages(w.ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	at := map[event.MessageID]int{}
	var former event.MessageID
	summaries, behind := 0, 0
	for i, m := range messages {
		parts, err := model.DecodeParts(m.Parts)
		if err != nil {
			w.t.Fatal(err)
		}
		if m.Seq != i+1 {
			w.t.Errorf("message %d has the number %d", i+1, m.Seq)
		}
		switch whole := (model.Message{Parts: parts}); {
		case !whole.Summary():
			if m.Parent != former {
				w.t.Errorf("message %d does not follow the one before it", i+1)
			}
			former = m.ID
		default:
			summaries++
			place, ok := at[m.Parent]
			if !ok || place <= behind {
				w.t.Errorf("summary %d stands for messages up to %d of %d", summaries, place, i)
			}
			behind, former = place, m.ID
		}
		at[m.ID] = i
	}
	if summaries == 0 {
		w.t.Error("no summary is stored")
	}
}

// What the provider refuses as too long is shortened, and the turn begins anew.
func TestContextOverflow(t *testing.T) {
	tooLong := script.Turn{
		Answer: []script.Step{script.Error{Kind: model.ErrContext, Status: 400, Detail: "prompt is too long"}},
	}
	t.Run("goes on", func(t *testing.T) {
		w := newWorld(t, bigFiles(),
			summariser("the summary"),
			script.Turn{Answer: []script.Step{readOf("a")}}, script.Turn{Answer: []script.Step{readOf("b")}},
			script.Turn{Answer: []script.Step{readOf("c")}},
			tooLong,
			script.Turn{
				Expect: []script.Expect{first(assignment), summed(2, "the summary")},
				Answer: []script.Step{script.Text("Done.")},
			},
		)
		id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment})
		if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Done." ||
			result.Turns != 4 {
			t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
		}
		seen := w.until(ended(id))
		turns := bodies[event.TurnStarted](seen)
		if want := (event.TurnStarted{Turn: 4, Attempt: 2}); len(bodies[event.Compacted](seen)) != 1 ||
			turns[len(turns)-1] != want {
			t.Errorf("the turns are %+v", turns)
		}
	})
	t.Run("does not help", func(t *testing.T) {
		w := newWorld(t, bigFiles(), summariser("the summary"),
			script.Turn{Answer: []script.Step{readOf("a")}}, script.Turn{
				Answer: []script.Step{readOf("b")},
			}, tooLong, tooLong)
		result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment}))
		if result.Status != event.StatusFailed || result.Error == nil || result.Error.Kind != "context_overflow" ||
			!strings.Contains(result.Error.Detail, "cannot be shortened") || result.Error.Hint == "" {
			t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
		}
	})
	t.Run("nothing to shorten", func(t *testing.T) {
		w := newWorld(t, nil, tooLong)
		result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment}))
		if result.Status != event.StatusFailed || result.Error == nil || result.Error.Kind != "context_overflow" {
			t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
		}
	})
}

// Where no summary can be had, the oldest results go, and then the oldest turns.
func TestCompactionFails(t *testing.T) {
	for name, answer := range map[string][]script.Step{
		"error": {script.Error{Kind: model.ErrAuth, Status: 401, Detail: "no"}}, "nothing": {},
		"too long": {script.Error{Kind: model.ErrContext, Status: 400, Detail: "long"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, bigFiles(),
				script.Turn{Match: "You shorten the conversation", Times: script.Any, Answer: answer},
				script.Turn{Answer: []script.Step{readOf("a")}}, script.Turn{Answer: []script.Step{readOf("b")}},
				script.Turn{Answer: []script.Step{readOf("c")}}, script.Turn{Answer: []script.Step{readOf("d")}},
				script.Turn{
					Fresh: true,
					Expect: []script.Expect{
						first(assignment), script.Messages(9),
						script.Result("read", "the text of d"), func(r *model.Request) error {
							if result := r.Messages[2].Parts[0].(model.Result); !strings.Contains(result.Text,
								"bytes left out") {
								return fmt.Errorf("the oldest result is %.80q", result.Text)
							}
							return nil
						},
					}, Answer: []script.Step{script.Text("Done.")},
				},
			).holds(smallContext)
			w.session.SetTrusted(true)
			id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment})
			if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Done." {
				t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
			}
			if notices := bodies[event.Notice](w.until(ended(id))); len(notices) != 1 ||
				!strings.Contains(notices[0].Message, "could not be summarised") {
				t.Errorf("the notices are %+v", notices)
			}
		})
	}
	t.Run("long calls", func(t *testing.T) { // no result to drop: the calls themselves are what is long
		long, err := json.Marshal(strings.Repeat("much to write\n", 2700))
		if err != nil {
			t.Fatal(err)
		}
		turns := []script.Turn{{Match: "You shorten the conversation", Times: script.Any}}
		for i := range 4 {
			turns = append(turns,
				script.Turn{
					Answer: []script.Step{call("write", fmt.Sprintf(`{"path":"n%d.txt","content":%s}`, i, long))},
				})
		}
		turns = append(turns,
			script.Turn{
				Expect: []script.Expect{
					first(assignment),
					summed(2, "A summary could not be made", "changed by you: n0.txt, n1.txt, n2.txt, n3.txt"),
				},
				Answer: []script.Step{script.Text("Done.")},
			})
		w := newWorld(t, nil, turns...).holds(smallContext)
		if result := w.wait(w.start(agentcore.RunRequest{
			Agent:  "coder",
			Prompt: assignment,
		})); result.Status != event.StatusCompleted || result.Output != "Done." {
			t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
		}
	})
}

// The results that the model has not seen yet are cut, but never left out.
func TestLastResultsAreCut(t *testing.T) {
	w := newWorld(t, bigFiles(),
		script.Turn{Answer: []script.Step{readOf("a"), readOf("b"), readOf("c"), readOf("d")}},
		script.Turn{Fresh: true, Expect: []script.Expect{
			script.Messages(3), script.Result("read", "the text of a"),
			script.Result("read", "bytes left out"), fits(smallContext),
		}, Answer: []script.Step{script.Text("Done.")}},
	).holds(smallContext)
	if result := w.wait(w.start(agentcore.RunRequest{
		Agent:  "coder",
		Prompt: assignment,
	})); result.Status != event.StatusCompleted || result.Output != "Done." {
		t.Errorf("unexpected result: %+v, error %+v", result, result.Error)
	}
}

// fits expects a request that the model takes, by a count of its own: three bytes make a token.
func fits(tokens int) script.Expect {
	return func(r *model.Request) error {
		size := len(r.System)
		for _, tool := range r.Tools {
			size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
		}
		for _, m := range r.Messages {
			raw, err := model.EncodeParts(m.Parts)
			if err != nil {
				return err
			}
			size += len(raw)
		}
		if size/3 > tokens {
			return fmt.Errorf("the request has %d bytes, too many for %d tokens", size, tokens)
		}
		return nil
	}
}

// patient gives a world of long work more time than others.
func (w *world) patient() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*watchdog)
	w.t.Cleanup(func() {
		w.close()
		cancel()
	})
	w.ctx = ctx
}

// A run that is cancelled while its conversation is shortened ends at once, and so does the hidden run.
func TestCancelWhileShortening(t *testing.T) {
	w := newWorld(t, bigFiles(),
		script.Turn{Match: "You shorten the conversation", Answer: []script.Step{script.Gate("shortens")}},
		script.Turn{Answer: []script.Step{readOf("a"), readOf("b")}},
		script.Turn{Answer: []script.Step{readOf("c"), readOf("d")}},
	).holds(smallContext)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment})
	if err := w.model.Reached(w.ctx, "shortens", 1); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Status != event.StatusCancelled || len(result.Children) != 0 {
		t.Errorf("unexpected result: %+v", result)
	}
	children, err := w.engine.Store().Children(w.ctx, id)
	if err != nil || len(children) != 1 || children[0].Status != event.StatusCancelled {
		t.Errorf("the hidden runs are %+v: %v", children, err)
	}
}

// A run of any length stays within the model's context.
func TestLongRunStaysSmall(t *testing.T) {
	const room = 20_000
	turns := 300
	if os.Getenv("AGENTLS_SOAK") != "" {
		turns = 2000
	}
	n := 0
	w := newWorld(t, bigFiles(),
		script.Turn{
			Match: "You shorten the conversation", Times: script.Any, Expect: []script.Expect{fits(room)},
			Answer: []script.Step{script.Text("the summary")},
		},
		script.Turn{
			Times: turns, Expect: []script.Expect{fits(room), first(assignment)},
			Then: func(*model.Request) []script.Step {
				n++
				return []script.Step{
					script.Text("step"),
					call("read", fmt.Sprintf(`{"path":"a.txt","offset":%d,"limit":20}`, n%200+1)),
				}
			},
		},
		script.Turn{Answer: []script.Step{script.Text("Done.")}},
	).holds(room)
	w.patient()
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: assignment, Limits: agent.Limits{MaxTurns: turns + 10}})
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Done." ||
		result.Turns != turns+1 {
		t.Errorf("unexpected result: %s, %d turns, error %+v", result.Status, result.Turns, result.Error)
	}
	w.storedWhole(id)
}
