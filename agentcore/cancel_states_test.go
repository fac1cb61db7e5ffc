package agentcore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// cancelState is one way of not being at an end. The run that is in it is of the agent "stuck", which "boss" has
// started beside "sibling".
type cancelState struct {
	name string
	// unbegun says that the run has no turn before it is stuck; others have edited a.txt by then.
	unbegun bool
	turns   []script.Turn
	// change sets the engine up.
	change func(*agentcore.Options)
	limits agent.Limits
	// context is how many tokens the model takes, 0 for any number.
	context int64
	// reached waits until the run is in the state.
	reached func(w *world, stuck event.RunID)
}

const (
	bossMark, stuckMark, grandMark, siblingMark = "You are BOSS.", "You are STUCK.", "You are GRAND.",
		"You are SIBLING."

	// stubborn leaves processes in a session of their own, twice forked, that take no signal but SIGKILL.
	stubborn = `trap '' TERM INT HUP; (setsid sh -c 'trap "" TERM INT HUP; (sleep 1009; sleep 1009) & sleep 1009; sleep 1009' &); sleep 1009; true`
)

func stuckTurn(steps ...script.Step) script.Turn { return script.Turn{Match: stuckMark, Answer: steps} }

func atGate(name string) func(*world, event.RunID) {
	return func(w *world, _ event.RunID) { w.reached(name) }
}

// whileWaiting waits until the run waits for something.
func whileWaiting(reason string) func(*world, event.RunID) {
	return func(w *world, stuck event.RunID) {
		w.until(func(e event.Event) bool {
			change, ok := e.Body.(event.RunStatusChanged)
			return ok && e.Run == stuck && strings.HasPrefix(change.Reason, reason)
		})
	}
}

func configure(change func(*config.Config)) func(*agentcore.Options) {
	return func(o *agentcore.Options) {
		o.Config = config.Default()
		change(o.Config)
	}
}

// runsCommands waits until the run has processes.
func runsCommands(n int) func(*world, event.RunID) {
	return func(w *world, stuck event.RunID) {
		w.waitFor("the command runs", func() bool { return len(processes(w.t, stuck)) >= n })
	}
}

func cancelStates() []cancelState {
	grandWaits := script.Turn{Match: grandMark, Answer: []script.Step{script.Gate("grand")}}
	allowed := func(sandbox config.SandboxMode) func(*agentcore.Options) {
		return configure(func(c *config.Config) {
			c.Sandbox = sandbox
			c.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
		})
	}
	reading := make(chan struct{}, 64)
	return []cancelState{
		{
			name: "in the queue of the session", unbegun: true,
			reached: whileWaiting("waits for a free place, number 1"),
			change:  configure(func(c *config.Config) { c.MaxChildrenPerSession = 1 }),
		},
		{
			name: "in the queue of the machine", unbegun: true,
			reached: whileWaiting("waits for a free place on this machine"),
			change:  configure(func(c *config.Config) { c.MaxChildrenPerMachine = 1 }),
		},
		{
			name: "before the first answer", unbegun: true, turns: []script.Turn{stuckTurn(script.Gate("asked"))},
			reached: atGate("asked"),
		},
		{
			name: "waiting for an answer", turns: []script.Turn{stuckTurn(script.Gate("asked"))},
			reached: atGate("asked"),
		},
		{
			name: "streaming",
			turns: []script.Turn{stuckTurn(script.Text("so far"), call("list", `{}`), script.Text(" and"),
				script.Gate("streams"))},
			reached: atGate("streams"),
		},
		{
			name:  "in a tool that reads",
			turns: []script.Turn{stuckTurn(call("glob", `{"pattern":"*"}`), call("glob", `{"pattern":"*.txt"}`))},
			change: func(o *agentcore.Options) {
				o.Tools = tool.Builtin()
				at := slices.IndexFunc(o.Tools, func(t tool.Tool) bool { return t.Spec().Name == "glob" })
				o.Tools[at] = probe{
					Tool: o.Tools[at], title: func() string { return "find" },
					run: func(ctx context.Context) (tool.Result, error) {
						reading <- struct{}{}
						<-ctx.Done()
						return tool.Result{}, ctx.Err()
					},
				}
			},
			reached: func(w *world, _ event.RunID) {
				for range 2 {
					select {
					case <-reading:
					case <-w.ctx.Done():
						w.t.Fatal("the tool is not called")
					}
				}
			},
		},
		{
			name: "in a command", turns: []script.Turn{stuckTurn(bash(stubborn))}, change: allowed(config.SandboxAuto),
			reached: runsCommands(4),
		},
		{
			name: "in a command without a sandbox", turns: []script.Turn{stuckTurn(bash(stubborn))},
			change: allowed(config.SandboxOff), reached: runsCommands(4),
		},
		{
			name:   "with a command in the background",
			turns:  []script.Turn{stuckTurn(bash(stubborn, "background=true")), stuckTurn(script.Gate("asked"))},
			change: allowed(config.SandboxAuto),
			reached: func(w *world, stuck event.RunID) {
				w.reached("asked")
				runsCommands(4)(w, stuck)
			},
		},
		{
			name: "waiting for the user", turns: []script.Turn{stuckTurn(call("write", writeSettings))},
			change:  configure(func(c *config.Config) { c.SubagentAsk = config.AskBubble }),
			reached: whileWaiting("waits for an answer: "),
		},
		{
			name:    "waiting for the user to give a child tools",
			turns:   []script.Turn{stuckTurn(task("grand", "Look.", `,"allowed_tools":["read","edit"]`))},
			change:  configure(func(c *config.Config) { c.SubagentAsk = config.AskBubble }),
			reached: whileWaiting("waits for an answer: "),
		},
		{
			name: "waiting for its children",
			turns: []script.Turn{
				stuckTurn(task("grand", "Look.", ""), task("grand", "Look there.", "")),
				{Match: grandMark, Times: 2, Answer: []script.Step{script.Gate("grand")}},
			},
			reached: func(w *world, _ event.RunID) {
				if err := w.model.Reached(w.ctx, "grand", 2); err != nil {
					w.t.Fatal(err)
				}
			},
		},
		{
			name: "waiting for a child that has no place",
			turns: []script.Turn{
				stuckTurn(task("grand", "Look.", ""), task("grand", "Look there.", "")),
				grandWaits,
			},
			change: configure(func(c *config.Config) { c.MaxChildrenPerSession = 2 }),
			reached: func(w *world, _ event.RunID) {
				w.until(func(e event.Event) bool {
					change, ok := e.Body.(event.RunStatusChanged)
					return ok && strings.HasPrefix(change.Reason, "waits for a free place, number 1")
				})
				w.reached("grand")
			},
		},
		{
			name: "waiting at its end for a child in the background",
			turns: []script.Turn{
				stuckTurn(task("grand", "Look.", inBackground)),
				stuckTurn(script.Text("done")), grandWaits,
			},
			reached: func(w *world, stuck event.RunID) {
				w.reached("grand")
				whileWaiting("waits for 1 child in the background")(w, stuck)
			},
		},
		{
			name: "in task_wait",
			turns: []script.Turn{
				stuckTurn(task("grand", "Look.", inBackground)),
				stuckTurn(call("task_wait", `{}`)), grandWaits,
			},
			reached: func(w *world, stuck event.RunID) {
				w.reached("grand")
				whileWaiting("waits for grand")(w, stuck)
			},
		},
		{
			name: "in task_output",
			turns: []script.Turn{
				stuckTurn(task("grand", "Look.", inBackground)),
				{
					Match: stuckMark, Capture: started,
					Answer: []script.Step{call("task_output", `{"id":"${id}","wait_ms":300000}`)},
				},
				grandWaits,
			},
			reached: func(w *world, stuck event.RunID) {
				w.reached("grand")
				whileWaiting("waits for grand")(w, stuck)
			},
		},
		{
			name: "waiting to ask again",
			turns: []script.Turn{
				stuckTurn(script.Text("half a"),
					script.Error{Kind: model.ErrOverloaded, RetryAfter: 30 * time.Second}),
			},
			change:  configure(func(c *config.Config) { c.RetryMaxElapsed = time.Hour }),
			reached: whileWaiting("waits "),
		},
		{
			name: "while it is shortened", context: smallContext,
			turns: []script.Turn{
				{Match: "You shorten the conversation", Answer: []script.Step{script.Gate("shortens")}},
				stuckTurn(readOf("a"), readOf("b")), stuckTurn(readOf("c"), readOf("d")),
			},
			reached: atGate("shortens"),
		},
		{
			name: "while it is summed up for a child",
			turns: []script.Turn{
				{Match: "You sum up a conversation", Answer: []script.Step{script.Gate("sums")}},
				stuckTurn(readOf("a"), readOf("b")),
				stuckTurn(task("heir", "Look.", ""), task("heir", "Look there.", "")),
			},
			reached: atGate("sums"),
		},
		{
			name: "waiting for other answers", limits: agent.Limits{Tokens: 60},
			turns: []script.Turn{
				stuckTurn(task("grand", "Look.", inBackground)), grandWaits,
				{Match: stuckMark, Times: script.Any, Answer: []script.Step{script.Gate("asked"), call("list", `{}`)}},
			},
			reached: func(w *world, stuck event.RunID) {
				w.reached("grand") // before or behind the second request of the other
				w.model.Release("asked")
				w.until(func(e event.Event) bool {
					progress, ok := e.Body.(event.RunProgress)
					return ok && e.Run == stuck && strings.HasPrefix(progress.Message, "waits for other answers")
				})
			},
		},
		{
			name: "in a hook", turns: []script.Turn{stuckTurn(call("list", `{}`))},
			change: configure(func(c *config.Config) {
				hook := sh(stubborn)
				hook.Matcher = "list"
				c.Hooks = map[string][]config.Hook{"PreToolUse": {hook}}
			}),
			reached: runsCommands(3),
		},
	}
}

// TestCancelInEveryState ends a run in each state: alone, with all that is above it, and with the engine.
func TestCancelInEveryState(t *testing.T) {
	for _, state := range cancelStates() {
		for _, how := range []string{"alone", "with its root", "with the engine"} {
			t.Run(state.name+", "+how, func(t *testing.T) { cancelIn(t, state, how) })
		}
	}
}

func cancelIn(t *testing.T, state cancelState, how string) {
	before := goleak.IgnoreCurrent()
	alone := how == "alone"
	turns := []script.Turn{
		{Match: bossMark, Answer: []script.Step{task("sibling", "Quick.", inBackground)}},
		{Match: siblingMark, Answer: []script.Step{script.Gate("sibling"), script.Text("Sibling is done.")}},
		{Match: bossMark, Answer: []script.Step{script.Gate("boss"), task("stuck", "Stuck.", "")}},
	}
	if !state.unbegun {
		turns = append(turns, stuckTurn(call("edit", `{"path":"a.txt","old_string":"this is a","new_string":"THIS"}`)))
	}
	turns = append(turns, state.turns...)
	if alone {
		turns = append(
			turns,
			script.Turn{
				Match: bossMark, Expect: []script.Expect{script.Result("task", `status="cancelled"`)},
				Answer: []script.Step{script.Gate("told"), script.Text("I wait.")},
			},
			script.Turn{
				Match: bossMark, Expect: []script.Expect{script.Last("Sibling is done.")},
				Answer: []script.Step{script.Text("Told.")},
			},
		)
	}
	if state.limits.Tokens > 0 {
		for i := range turns {
			turns[i].Usage = model.Usage{Input: 1, Output: 1} // what is not reported is guessed, and passes the limit
		}
	}
	w := newWorld(t, bigFiles())
	define := func(slug, prompt string, category agent.Category, below ...string) *agent.Definition {
		return &agent.Definition{
			Slug: slug, Instruction: agent.Instruction{Prompt: prompt}, Categories: []agent.Category{category},
			Subagents: append([]string{}, below...),
		}
	}
	heir := define("heir", grandMark, agent.Subagent)
	heir.ContextMode = "summary"
	stuckOne := define("stuck", stuckMark, agent.Subagent, "grand", "heir")
	stuckOne.Limits = state.limits
	grand := define("grand", grandMark, agent.Subagent)
	grand.Tools = []string{"read"}
	w.with(script.New("test", turns...), state.change,
		define("boss", bossMark, agent.Primary, "stuck", "sibling", "grand", "heir"),
		stuckOne, define("sibling", siblingMark, agent.Subagent), grand, heir)
	w.model.Context = state.context
	w.session.SetTrusted(true)
	root := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
	w.reached("sibling", "boss")
	w.model.Release("boss")
	var stuck event.RunID
	w.until(func(e event.Event) bool {
		if created, ok := e.Body.(event.RunCreated); ok && created.Agent == "stuck" {
			stuck = e.Run
		}
		return stuck != ""
	})
	state.reached(w, stuck)
	begin := time.Now()
	want := map[string]event.Status{
		"boss": event.StatusCancelled, "sibling": event.StatusCancelled,
		"": event.StatusCancelled,
	}
	switch how {
	case "alone":
		want["boss"], want["sibling"] = event.StatusCompleted, event.StatusCompleted
		w.cancel(stuck)
		w.wait(stuck)
		t.Log("it took", time.Since(begin))
		w.reached("told")
		w.model.Release("told")
		w.model.Release("sibling")
		if result := w.wait(root); result.Output != "Told." {
			t.Errorf("got %+v", result)
		}
	case "with its root":
		w.cancel(root)
		w.wait(root)
		t.Log("it took", time.Since(begin))
	default:
		want = map[string]event.Status{"": event.StatusInterrupted}
	}
	slots, hunks := w.session.Slots(), 1
	if state.unbegun {
		hunks = 0
	}
	w.close()
	if how == "with the engine" {
		t.Log("it took", time.Since(begin))
	}
	w.settled(want, hunks)
	if n := slots.Waiting(); n != 0 {
		t.Errorf("%d wait for a slot", n)
	}
	if err := slots.Acquire(w.ctx, false, func(int) { t.Error("a slot is lost") }); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}

// TestCancelWhileMergesAreHeld ends a run that cannot merge, since the editor takes hunks: it does not wait, and leaves
// nothing behind.
func TestCancelWhileMergesAreHeld(t *testing.T) {
	for _, how := range []string{"with its root", "with the engine"} {
		t.Run(how, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			w := newWorld(t, map[string]string{"a.txt": "one\n"})
			w.with(script.New("test",
				script.Turn{Match: bossMark, Answer: []script.Step{task("stuck", "Stuck.", "")}},
				stuckTurn(call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`)),
				stuckTurn(script.Text("done")),
			), nil, &agent.Definition{
				Slug:        "boss",
				Instruction: agent.Instruction{Prompt: bossMark},
				Categories:  []agent.Category{agent.Primary},
			},
				&agent.Definition{
					Slug:        "stuck",
					Instruction: agent.Instruction{Prompt: stuckMark},
					Categories:  []agent.Category{agent.Subagent},
					Subagents:   []string{},
				})
			release := w.session.HoldMerges()
			defer release()
			root := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
			// The child has merged into its parent, whose turn cannot end.
			w.until(func(e event.Event) bool {
				finished, ok := e.Body.(event.ToolCallFinished)
				return ok && e.Run == root && finished.Tool == "task"
			})
			want := map[string]event.Status{"stuck": event.StatusCompleted, "boss": event.StatusInterrupted}
			if how == "with its root" {
				want["boss"] = event.StatusCancelled
				w.cancel(root)
				w.wait(root)
			}
			w.close()
			if how == "with its root" {
				w.settled(want, 0)
			} else {
				w.model = script.New("none")
				w.open() // the next process takes over what was written
				w.resume()
				if hunks := w.session.Board().Hunks(); len(hunks) != 1 || hunks[0].After != "two\n" {
					t.Errorf("the next process has %+v", hunks)
				}
				w.close()
				w.settled(want, 1)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

func (w *world) cancel(id event.RunID) {
	w.t.Helper()
	if err := w.engine.Cancel(id); err != nil {
		w.t.Fatal(err)
	}
}

// settled looks at what the closed store says: every run has ended as wanted, by its agent ("" for the others), nothing
// is open, what was written is in so many hunks and in no layer, and no process is left.
func (w *world) settled(want map[string]event.Status, hunks int) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.state, "agentls.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(w.ctx, "SELECT id, agent, status FROM run")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, slug, status string
		if err := rows.Scan(&id, &slug, &status); err != nil {
			w.t.Fatal(err)
		}
		wanted, named := want[slug]
		if !named {
			wanted = want[""]
		}
		if status != string(wanted) {
			w.t.Errorf("the run of %s is %s, want %s", slug, status, wanted)
		}
		w.emptied(event.RunID(id))
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	w.nothingOpen()
	if got := w.counted("FROM hunk"); got != hunks {
		w.t.Errorf("there are %d hunks, want %d", got, hunks)
	}
}

// counted counts rows of the closed store.
func (w *world) counted(from string) int {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.state, "agentls.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	n := 0
	if err := db.QueryRowContext(w.ctx, "SELECT count(*) "+from).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// nothingOpen fails where the closed store has something that has not come to its end.
func (w *world) nothingOpen() {
	w.t.Helper()
	for _, from := range []string{
		"FROM run WHERE status IN ('pending', 'running', 'waiting')", "FROM ask WHERE state = 'open'",
		"FROM layer_file", "FROM tool_call WHERE status = ''",
	} {
		if n := w.counted(from); n != 0 {
			w.t.Errorf("%d rows %s", n, from)
		}
	}
}
