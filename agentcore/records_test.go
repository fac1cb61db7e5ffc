package agentcore_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
)

// unwritten are columns of the store that a session whose runs have ended leaves empty, and why.
var unwritten = map[string]string{
	"run.owner":           "it names the process only while the run is alive",
	"run.copied":          "forks and imports alone set it",
	"run.program_session": "runs of other people's programs alone set it, as TestForeignAgentGoesOn expects",
}

// database opens the database of the world beside the engine.
func (w *world) database() *sql.DB {
	w.t.Helper()
	db, err := sql.Open("sqlite",
		event.FileURI(filepath.Join(w.state, "agentls.db"))+"?mode=ro&_pragma=busy_timeout(10000)")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { db.Close() })
	return db
}

// usesEverything is a session with a parent and its child, an edit, a command that fails, a run that fails and one that
// goes on and is told something that it does not read.
func usesEverything(t *testing.T) (*world, event.RunID) {
	used := model.Usage{Input: 100, Output: 10, Cached: 1000}
	turns := []script.Turn{
		{Match: "Begin.", Usage: used, Answer: []script.Step{
			script.Text("I look."), call("write", `{"path":"b.txt","content":"two\n"}`), bash("exit 1"),
		}},
		{
			Match: "Begin.", Usage: used,
			Answer: []script.Step{task("helper", "Help.", ""), task("helper", "Help aside.", inBackground)},
		},
		{Match: "You are helper", Times: 2, Usage: used, Answer: []script.Step{script.Text("Helped.")}},
		{Match: "Begin.", Usage: used, Answer: []script.Step{call("task_wait", `{}`)}},
		{Match: "Begin.", Usage: used, Answer: []script.Step{script.Text("Done.")}},
		{Match: "Begin.", Expect: []script.Expect{script.Last("More.")}, Answer: []script.Step{
			script.Gate("told"), script.Error{Kind: model.ErrAuth, Detail: "no"},
		}},
	}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test", turns...), func(o *agentcore.Options) {
		o.Config = priced()
		o.Config.Sandbox = config.SandboxOff
		o.Config.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
	}, &agent.Definition{
		Slug:        "helper",
		Instruction: agent.Instruction{Prompt: "You are helper."},
		Categories:  []agent.Category{agent.Subagent},
		Subagents:   []string{}, ContextMode: "full",
	},
		&agent.Definition{
			Slug:        "boss",
			Instruction: agent.Instruction{Prompt: "You are boss."},
			Categories:  []agent.Category{agent.Primary},
		})
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{
		Agent: "boss", Prompt: "Begin.", Context: agentcore.Context{Paths: []string{w.path("a.txt")}},
		Limits: agent.Limits{Tokens: 1 << 20, Cost: 10},
	})
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Done." {
		t.Fatalf("got %+v", result)
	}
	again, err := w.session.Resume(w.ctx, id, "More.")
	if err != nil {
		t.Fatal(err)
	}
	w.reached("told")
	if err := w.engine.Steer(again, "Be quick."); err != nil { // which it does not live to read
		t.Fatal(err)
	}
	w.model.Release("told")
	if result := w.wait(again); result.Status != event.StatusFailed {
		t.Fatalf("got %+v", result)
	}
	return w, id
}

// TestEveryColumnHasAWriter reads the schema of what is kept of runs: a column that nothing fills is no record.
func TestEveryColumnHasAWriter(t *testing.T) {
	w, id := usesEverything(t)
	if err := agentcore.SetRewound(w.ctx, w.engine, true, id); err != nil {
		t.Fatal(err)
	}
	db := w.database()
	text := func(query string, args ...any) (list []string) {
		t.Helper()
		rows, err := db.QueryContext(w.ctx, query, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				t.Fatal(err)
			}
			list = append(list, one)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, table := range []string{"run", "message", "tool_call"} {
		columns := text("SELECT name FROM pragma_table_info(?)", table)
		if len(columns) == 0 {
			t.Errorf("there is no table %s", table)
		}
		for _, column := range columns {
			filled := text(fmt.Sprintf(`SELECT count(*) FROM %s WHERE ifnull("%s", '') NOT IN ('', 0, '{}', '[]')`,
				table, column))[0] != "0"
			if !filled && unwritten[table+"."+column] == "" {
				t.Errorf("nothing writes the column %s of %s", column, table)
			}
		}
	}
}

// TestPromptIsKept: the text that the model was told can be had again, though the definition has changed since, once
// for all runs that have it, as long as a session has a run with it.
func TestPromptIsKept(t *testing.T) {
	w, id := usesEverything(t)
	prompts := func() string {
		t.Helper()
		var n string
		if err := w.database().QueryRowContext(w.ctx, "SELECT count(*) FROM prompt").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	kept := func(w *world, run event.RunID) store.Prompt {
		t.Helper()
		row, err := w.engine.Store().Run(w.ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		prompt, err := w.engine.Store().Prompt(w.ctx, row.Prompt)
		if err != nil {
			t.Fatal(err)
		}
		if prompt != store.PromptOf(prompt.Text) {
			t.Errorf("the prompt %s has another hash", prompt.ID)
		}
		return prompt
	}
	prompt := kept(w, id)
	if !strings.HasPrefix(prompt.Text, "You are boss.\n\n<environment>") {
		t.Errorf("the prompt is %q", prompt.Text)
	}
	if n := prompts(); n != "2" { // one of helper's, and one of boss's, which two runs have
		t.Errorf("%s prompts are kept", n)
	}
	var file bytes.Buffer
	if err := w.engine.History().Export(w.ctx, w.session.ID, &file); err != nil {
		t.Fatal(err)
	}
	fork, err := w.engine.History().Fork(w.ctx, w.session.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.engine.Retention().Delete(w.ctx, w.session.ID); err != nil {
		t.Fatal(err)
	}
	if n := prompts(); n != "2" {
		t.Errorf("%s prompts are kept with the copy", n)
	}
	if err := w.engine.Retention().Delete(w.ctx, fork); err != nil {
		t.Fatal(err)
	}
	if n := prompts(); n != "0" {
		t.Errorf("%s prompts are kept of deleted sessions", n)
	}
	next := newWorld(t, nil)
	session, err := next.engine.History().Import(next.ctx, &file, func([]string) []string { return []string{next.dir} })
	if err != nil {
		t.Fatal(err)
	}
	_, tree := next.tree(session)
	if got := kept(next, tree[0].ID); got != prompt {
		t.Errorf("imported is %q", got.Text)
	}
	for _, m := range messagesOf(next, tree[0].ID) {
		if m.Tokens == 0 || (m.Duration > 0) != (m.Role == "assistant") {
			t.Errorf("the message %s of %s has %d tokens and took %s", m.ID, m.Role, m.Tokens, m.Duration)
		}
	}
}

// TestRecordOfModelCalls: each answer is kept with the model that gave it and what it used alone, also in transcripts
// and in copies, and a run with how much of its budget it used.
func TestRecordOfModelCalls(t *testing.T) {
	w, id := usesEverything(t)
	transcript, _, err := w.engine.History().Transcript(w.ctx, id, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	answers := 0
	check := func(role, name string, used event.Usage) {
		t.Helper()
		if role != string(model.RoleAssistant) {
			if name != "" || used != (event.Usage{}) {
				t.Errorf("a message of %s is of %q and used %+v", role, name, used)
			}
			return
		}
		answers++
		if name != "script/test" || used.InputTokens != 100 || used.OutputTokens != 10 || used.CachedTokens != 1000 ||
			used.Cost == nil || *used.Cost <= 0 {
			t.Errorf("an answer is of %q and used %+v", name, used)
		}
	}
	for _, m := range transcript {
		check(string(m.Role), m.Model, m.Usage)
	}
	var shown strings.Builder
	if err := w.engine.History().TranscriptMarkdown(w.ctx, id, &shown); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(shown.String(),
		"### Assistant\n\n`script/test`, 1100 tokens in (1000 cached), 10 out, $"); n != 4 {
		t.Errorf("%d answers are shown with what they used:\n%s", n, shown.String())
	}
	var file bytes.Buffer
	if err := w.engine.History().Export(w.ctx, w.session.ID, &file); err != nil {
		t.Fatal(err)
	}
	next := newWorld(t, nil)
	session, err := next.engine.History().Import(next.ctx, &file, func([]string) []string { return []string{next.dir} })
	if err != nil {
		t.Fatal(err)
	}
	_, tree := next.tree(session)
	for _, m := range messagesOf(next, tree[0].ID) {
		check(m.Role, m.Model, m.Usage)
	}
	if answers != 8 {
		t.Errorf("there are %d answers", answers)
	}
	modes := map[string]string{}
	rows, err := w.engine.Store().Runs(w.ctx, w.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		modes[r.Agent] = r.ContextMode
	}
	if modes["boss"] != "none" || modes["helper"] != "full" {
		t.Errorf("the context modes are %v", modes)
	}
}

// TestBudgetUsedAtTheEnd: a run that has ended is told with all that it used of its limits, in this process and the
// next.
func TestBudgetUsedAtTheEnd(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		script.Turn{Answer: []script.Step{script.Text("done")}},
	)
	request := coder()
	request.Limits = agent.Limits{MaxTurns: 4, Timeout: watchdog}
	id := w.start(request)
	w.wait(id)
	info, err := w.engine.RunInfo(id)
	if err != nil || info.BudgetUsed != 50 {
		t.Errorf("live it is %d %%, %v", info.BudgetUsed, err)
	}
	w.closeEngine()
	w.open()
	_, tree, err := w.engine.History().Tree(w.ctx, info.Session)
	if err != nil || len(tree) != 1 || tree[0].BudgetUsed != 50 {
		t.Errorf("stored is %+v, %v", tree, err)
	}
}

// TestCutRequestHasNoKnownCost: nobody tells what a request used that was cut off, so that without a price it is
// unknown what the run cost, and not nothing.
func TestCutRequestHasNoKnownCost(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Text("so far"), script.Gate("held")}})
	id := w.start(coder())
	w.reached("held")
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Usage.Cost != nil {
		t.Errorf("it cost %v", *result.Usage.Cost)
	}
}

// TestFullContextHasWhatIsSettled: a child with the whole conversation knows what its parent says in the message that
// starts it, and what the calls in front of it came to.
func TestFullContextHasWhatIsSettled(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test",
		script.Turn{Match: "Begin.", Answer: []script.Step{
			script.Text("The word is swordfish."), call("read", `{"path":"a.txt"}`),
			call("write", `{"path":"b.txt","content":"two\n"}`), task("helper", "Help.", ""),
		}},
		script.Turn{
			Match: "You are helper",
			Expect: []script.Expect{script.Messages(4), func(r *model.Request) error {
				said, results := r.Messages[1], r.Messages[2]
				if said.Text() != "The word is swordfish." || len(said.Calls()) != 2 || len(results.Parts) != 2 {
					return fmt.Errorf("it knows %+v and %+v", said, results)
				}
				return nil
			}},
			Answer: []script.Step{script.Text("Helped.")},
		},
		script.Turn{
			Match: "Begin.", Expect: []script.Expect{script.Result("task", "Helped.")},
			Answer: []script.Step{script.Text("Done.")},
		},
	), nil,
		&agent.Definition{
			Slug:        "helper",
			Instruction: agent.Instruction{Prompt: "You are helper."},
			Categories:  []agent.Category{agent.Subagent},
			Subagents:   []string{}, ContextMode: "full",
		},
		&agent.Definition{
			Slug:        "boss",
			Instruction: agent.Instruction{Prompt: "You are boss."},
			Categories:  []agent.Category{agent.Primary},
		})
	w.finishes(agentcore.RunRequest{Agent: "boss", Prompt: "Begin."})
}

func messagesOf(w *world, run event.RunID) []store.Message {
	w.t.Helper()
	list, err := w.engine.Store().Messages(w.ctx, run)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// TestExitCodes: what a command ended with is known of its call, in the foreground and in the background, live and
// later.
func TestExitCodes(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{bash("exit 3"), bash("true"), bash("exit 4", "background=true")}},
		script.Turn{Answer: []script.Step{
			call("bash_output", `{"id":"bash-1","wait_ms":60000}`),
			call("bash_output", `{"id":"bash-9"}`),
		}},
		script.Turn{Answer: []script.Step{script.Text("done")}},
	)
	cfg := config.Default()
	cfg.Sandbox = config.SandboxOff
	cfg.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
	w.configured(cfg)
	w.session.SetTrusted(true)
	id := w.start(coder())
	var live []string
	for _, e := range w.until(ended(id)) {
		if f, ok := e.Body.(event.ToolCallFinished); ok {
			live = append(live, outcome(f.Tool, f.Status, f.ExitCode))
		}
	}
	want := []string{"bash ok 3", "bash ok 0", "bash ok -", "bash_output ok 4", "bash_output error -"}
	if !slices.Equal(live, want) {
		t.Errorf("the events say %q", live)
	}
	messages, _, err := w.engine.History().Transcript(w.ctx, id, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var later []string
	for _, m := range messages {
		for _, c := range m.Calls {
			later = append(later, outcome(c.Tool, c.Status, c.ExitCode))
		}
	}
	if !slices.Equal(later, want) {
		t.Errorf("the transcript says %q", later)
	}
	var text strings.Builder
	if err := w.engine.History().TranscriptMarkdown(w.ctx, id, &text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\"exit 3\",\"description\":\"try it\"}`, exit code 3\n",
		"\"true\",\"description\":\"try it\"}`, ok\n", "60000}`, exit code 4\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

func outcome(tool string, status event.CallStatus, exit *int) string {
	code := "-"
	if exit != nil {
		code = fmt.Sprint(*exit)
	}
	return fmt.Sprintf("%s %s %s", tool, status, code)
}
