package agentcore_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

const (
	asksTitle   = "You name a session for a list"
	asksSummary = "You sum up a conversation"
)

// named opens the engine again, with a session that has no title yet and a model of whom titles are asked.
func (w *world) named(who config.SessionTitles, turns ...script.Turn) {
	w.t.Helper()
	w.with(script.New("test", turns...), func(o *agentcore.Options) {
		o.Config = config.Default()
		o.Config.SessionTitles = who
	})
	var err error
	if w.session, err = w.engine.OpenSession(w.ctx, w.view, ""); err != nil {
		w.t.Fatal(err)
	}
}

// called waits until the session is told to have a title and a summary with these texts in them.
func (w *world) called(title, summary string) {
	w.t.Helper()
	w.until(func(e event.Event) bool {
		changed, ok := e.Body.(event.SessionChanged)
		return ok && changed.Title == title && strings.Contains(changed.Summary, summary)
	})
}

// TestTitleAndSummary: a model names the session while its first run is at work, and sums it up behind it; each is
// asked once, and counts as used by its agent and in the sums of the session.
func TestTitleAndSummary(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.named(
		config.TitlesModel,
		script.Turn{
			Match: asksTitle, Expect: []script.Expect{
				script.Last("look why the parser fails"),
				script.NoCalls(),
			}, Answer: []script.Step{script.Text("\"Parser fails on tabs.\"\n")},
			Usage: model.Usage{Input: 7, Output: 3},
		},
		script.Turn{
			Match: asksSummary, Expect: []script.Expect{
				script.Last("agents: coder"), script.Last("changed: b.txt"),
				script.Last("The parser takes tabs."),
			},
			Answer: []script.Step{script.Text("The parser was mended.\nIts tests pass.")},
			Usage:  model.Usage{Input: 20, Output: 5},
		},
		script.Turn{
			Match: "Please look", Answer: []script.Step{call("write", `{"path":"b.txt","content":"two\n"}`)},
			Usage: model.Usage{Input: 100, Output: 10},
		},
		script.Turn{
			Match:  "Please look",
			Answer: []script.Step{script.Gate("titled"), script.Text("The parser takes tabs. I am glad.")},
			Usage:  model.Usage{Input: 100, Output: 10},
		},
	)
	id := w.start(agentcore.RunRequest{
		Agent:  "coder",
		Prompt: "Please look why the parser fails since yesterday. It did not before.",
	})
	w.called("Parser fails on tabs", "") // before the run has ended
	w.model.Release("titled")
	w.wait(id)
	w.called("Parser fails on tabs", "The parser takes tabs\nagents: coder; changed: b.txt") // at once
	w.called("Parser fails on tabs", "The parser was mended.\nIts tests pass.")
	info, tree := w.tree(w.session.ID)
	if info.Title != "Parser fails on tabs" || info.Summary != "The parser was mended.\nIts tests pass." {
		t.Errorf("stored are the title %q and the summary %q", info.Title, info.Summary)
	}
	if len(tree) != 1 || info.Runs != 1 || info.Usage.InputTokens != 227 || info.Usage.OutputTokens != 28 {
		t.Errorf("the session has %d runs and used %+v", info.Runs, info.Usage)
	}
	used := map[string]int64{}
	runs, err := w.engine.Store().Runs(w.ctx, w.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		used[r.Agent] += r.Own.InputTokens
	}
	if used["coder"] != 200 || used["title"] != 7 || used["summary"] != 20 {
		t.Errorf("used were %v", used)
	}
	var file, text bytes.Buffer
	if err := w.engine.History().Export(w.ctx, w.session.ID, &file); err != nil {
		t.Fatal(err)
	}
	if err := w.engine.History().Markdown(w.ctx, w.session.ID, &text); err != nil ||
		!strings.Contains(text.String(), "Its tests pass.") {
		t.Errorf("the Markdown lacks the summary: %v\n%s", err, text.String())
	}
	copied, err := w.engine.History().Import(w.ctx, &file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := w.tree(copied); again.Title != info.Title || again.Summary != info.Summary {
		t.Errorf("imported is %+v", again.Session)
	}
}

// TestTitlesByRules: where nobody is asked, or nothing comes of it, the title is made of the prompt and the summary of
// what was done. A title that was given stays.
func TestTitlesByRules(t *testing.T) {
	for _, test := range []struct {
		who                  config.SessionTitles
		prompt, given, title string
		fails                bool
	}{
		{who: config.TitlesRules, prompt: "# Make **it** `fast`.  Then\nrest.", title: "Make it fast"},
		{who: config.TitlesRules, prompt: "\n\nWhat is v1.2 about? Tell me.", title: "What is v1.2 about?"},
		{
			who: config.TitlesRules, prompt: strings.Repeat("many words ", 20),
			title: strings.TrimSpace(strings.Repeat("many words ", 7)) + "…",
		},
		// nobody knows what the scripted model costs
		{who: config.TitlesAuto, prompt: "Look at it.", title: "Look at it"},
		{who: config.TitlesModel, prompt: "Look at it.", given: "my own", title: "my own"},
		{who: config.TitlesModel, prompt: "Look at it.", title: "Look at it", fails: true},
	} {
		turns := []script.Turn{{Answer: []script.Step{script.Text("All is well.")}}}
		if test.fails { // once, though the error says that it may go away
			turns = append(turns,
				script.Turn{
					Match:  asksTitle,
					Answer: []script.Step{script.Error{Kind: model.ErrOverloaded, Detail: "busy"}},
				})
			turns[0].Match = "Look at it."
			slices.Reverse(turns)
		}
		w := newWorld(t, nil)
		w.named(test.who, turns...)
		w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: test.prompt, Title: test.given}))
		w.called(test.title, "All is well\nagents: coder")
		if test.fails {
			if err := w.engine.Idle(w.ctx, w.session); err != nil {
				t.Error(err)
			}
		}
		if info, _ := w.tree(w.session.ID); info.Title != test.title {
			t.Errorf("stored is the title %q, want %q", info.Title, test.title)
		}
		w.close()
	}
}

// TestNobodyWaitsForTitles: a model that never answers delays neither the run nor its end, neither the deletion of the
// session nor the end of the engine.
func TestNobodyWaitsForTitles(t *testing.T) {
	for _, end := range []func(w *world) error{
		func(w *world) error { return w.engine.Retention().Delete(w.ctx, w.session.ID) },
		func(*world) error { return nil }, // the world closes the engine
	} {
		w := newWorld(t, nil)
		w.named(
			config.TitlesModel,
			script.Turn{Match: asksTitle, Answer: []script.Step{script.Gate("never"), script.Text("x")}},
			script.Turn{Match: "Look.", Answer: []script.Step{script.Text("All is well.")}},
		)
		id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Look."})
		if result := w.wait(id); result.Status != event.StatusCompleted {
			t.Errorf("got %+v", result)
		}
		w.reached("never")
		if err := end(w); err != nil {
			t.Error(err)
		}
		w.close()
	}
}
