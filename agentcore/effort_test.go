package agentcore_test

import (
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// thinker is an agent of the user's own with an effort.
func thinker(slug, effort string) *agent.Definition {
	d := own(slug, "task", "submit_result")
	d.Categories, d.Effort = []agent.Category{agent.Primary, agent.Subagent}, effort
	return d
}

// TestEffortOfARun: the request's effort comes before the definition's, that before the preset's, and every request of
// the run has it.
func TestEffortOfARun(t *testing.T) {
	for _, tt := range []struct {
		name, agent   string
		asked         model.Effort
		preset        string
		use           model.EffortUse
		want          model.Effort
		told, refused bool
	}{
		{name: "nobody says anything", agent: "plain", use: model.EffortTaken},
		{name: "the request", agent: "deep", asked: "low", use: model.EffortTaken, want: "low"},
		{
			name: "the request of a model that may take it", agent: "plain", asked: "low",
			use: model.EffortUnknown, want: "low",
		},
		{name: "the request of a model that takes none", agent: "plain", asked: "low", refused: true},
		{name: "no such effort", agent: "plain", asked: "huge", use: model.EffortTaken, refused: true},
		{name: "the definition", agent: "deep", preset: "low", use: model.EffortTaken, want: "high"},
		{name: "the definition, for a model that may take it", agent: "deep", use: model.EffortUnknown, told: true},
		{name: "the definition, for a model that takes none", agent: "deep", told: true},
		{name: "the preset", agent: "plain", preset: "medium", use: model.EffortUnknown, want: "medium"},
		{name: "the preset of a model that takes none", agent: "plain", preset: "medium", told: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, nil)
			s := script.New("test",
				script.Turn{
					Expect: []script.Expect{script.Effort(tt.want)},
					Answer: []script.Step{call("read", `{"path":"x"}`)},
				},
				script.Turn{
					Expect: []script.Expect{script.Effort(tt.want)},
					Answer: []script.Step{script.Text("Done.")},
				},
			)
			if tt.refused {
				s = script.New("test")
			}
			s.Use = tt.use
			w.with(s, func(o *agentcore.Options) {
				if tt.preset != "" {
					o.Config = configtest.User(t,
						"default_model = \"p\"\n[presets.p]\nmodel = \"openai/gpt-5\"\neffort = \""+tt.preset+"\"\n")
				}
			}, thinker("deep", "high"), thinker("plain", ""))
			id, err := w.session.Start(w.ctx, agentcore.RunRequest{Agent: tt.agent, Prompt: "Go.", Effort: tt.asked})
			if tt.refused {
				if fault.Explain(err).Kind != string(fault.InvalidRequest) {
					t.Errorf("got the run %s, %v", id, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			told := false
			for _, e := range w.until(ended(id)) {
				if n, ok := e.Body.(event.Notice); ok && n.Level == event.NoticeInfo {
					told = true
				}
			}
			if told != tt.told {
				t.Errorf("that its effort is left out is told: %v", told)
			}
		})
	}
}

// TestEffortOfChildren: a child thinks as much as the user has said, unless its own definition says something else, and
// so do the runs that one is made of.
func TestEffortOfChildren(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "", "b.txt": ""})
	s := script.New("test",
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Effort("low")},
			Answer: []script.Step{task("plain", "One.", ""), task("deep", "Two.", "")},
		},
		endsOf("One.", script.Effort("low")), endsOf("Two.", script.Effort("high")),
		endsOf("Go.", script.Effort("low")),
		endsOf("Each.", script.Effort("low")), endsOf("Each.", script.Effort("low")),
		endsOf("Again.", script.Effort("low")),
	)
	s.Use = model.EffortTaken
	w.with(s, nil, thinker("deep", "high"), thinker("plain", ""))
	for _, request := range []agentcore.RunRequest{
		{Agent: "deep", Prompt: "Go."},
		{Agent: "deep", Prompt: "Each.", Each: []string{w.path("a.txt"), w.path("b.txt")}},
		{Agent: "deep", Prompt: "Again.", Iterations: 2},
	} {
		request.Effort = "low"
		if result := w.wait(w.start(request)); result.Status != event.StatusCompleted {
			t.Errorf("%s: %+v", request.Prompt, result)
		}
	}
}
