package agentcore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
)

// elsewhere opens another engine on the world's state, as another process would.
func (w *world) elsewhere() *agentcore.Engine {
	w.t.Helper()
	other, err := agentcore.Open(w.ctx, agentcore.Options{StateDir: w.state, Getenv: func(string) string { return "" }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := other.Close(context.WithoutCancel(w.ctx)); err != nil {
			w.t.Errorf("close the other engine: %v", err)
		}
	})
	return other
}

func writes(name string) script.Step { return call("write", `{"path":"`+name+`","content":"{}\n"}`) }

// TestGrantsExpire: a grant of the past decides nothing and is not listed; one that ends later is kept with its end.
func TestGrantsExpire(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{writes(".vscode/settings.json")}},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "settings.json")},
			Answer: []script.Step{writes(".vscode/settings.json")},
		},
		ends(script.Result("write", "settings.json")),
	)
	past := time.Now().Add(-time.Hour).UTC()
	if err := w.engine.Store().Submit(store.Batch{Grants: []store.Grant{{
		ID: "old", Scope: "project", Root: w.dir, Tool: "write", Pattern: ".vscode/settings.json", Decision: "allow",
		Created: past.Add(-time.Hour), Expires: past,
	}}}).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	id := w.start(coder())
	ask := w.asked()
	var failure *fault.Error
	for _, wrong := range []authority.Answer{
		{Allow: true, Expires: time.Now().Add(time.Hour)}, {Allow: true, Scope: permission.Project, Expires: past},
	} {
		if err := w.engine.Answer(ask.ID, wrong); !errors.As(err, &failure) || failure.Kind != "invalid_request" {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	until := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	w.answer(ask, authority.Answer{Allow: true, Scope: permission.Project, Expires: until})
	w.wait(id) // the second call is not asked for
	for range 2 {
		list := w.engine.Grants("")
		if len(list) != 1 || !list[0].Expires.Equal(until) {
			t.Errorf("the grants are %+v", list)
		}
		explained, err := w.session.Explain("coder", "write", ".vscode/settings.json")
		if err != nil || explained.Action != permission.Allow ||
			!strings.Contains(explained.Reason, "until "+until.UTC().Format(time.DateTime)) {
			t.Errorf("explained: %+v, %v", explained.Decision, err)
		}
		w.closeEngine()
		w.open()
	}
}

// TestDecisionsOfOtherProcesses: a run loses at its next call what was taken back in another process while it ran.
func TestDecisionsOfOtherProcesses(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{writes(".vscode/one.json")}},
		// granted by now
		script.Turn{
			Expect: []script.Expect{script.Result("write", "one.json")},
			Answer: []script.Step{writes(".vscode/one.json")},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "one.json")},
			Answer: []script.Step{bash("echo hello")},
		},
		// meanwhile both are taken back
		script.Turn{
			Expect: []script.Expect{script.Result("bash", "hello")},
			Answer: []script.Step{writes(".vscode/two.json")},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "two.json")},
			Answer: []script.Step{call("write", `{"path":".vscode/one.json","content":"[]\n"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "denied: the user said no")},
			Answer: []script.Step{bash("echo hello")},
		},
		ends(script.Result("bash", "denied: no command runs in this workspace")),
	)
	cfg := config.Default()
	cfg.Sandbox = config.SandboxOff
	cfg.Permissions = []config.Permission{{Tool: "bash", Pattern: "echo*", Action: "allow"}}
	w.configured(cfg)
	other := w.elsewhere()
	if err := other.Decisions().TrustFolder(w.ctx, w.dir, nil); err != nil {
		t.Fatal(err)
	}
	w.session.SetTrusted(true, w.dir)
	id := w.start(coder())
	w.answer(w.asked(), authority.Answer{Allow: true, Scope: permission.Project})
	ask := w.asked()
	// The other process has read its grants before this one was given: a new one is what `agentls permissions revoke`
	// is.
	given := w.engine.Grants("")
	if len(given) != 1 {
		t.Fatalf("granted: %+v", given)
	}
	if err := w.elsewhere().Decisions().Revoke(w.ctx, given[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := other.Decisions().RevokeTrust(w.ctx, w.dir); err != nil {
		t.Fatal(err)
	}
	w.answer(ask, authority.Answer{Allow: true})
	w.answer(w.asked(), authority.Answer{})
	if result := w.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
	if left := w.engine.Grants(""); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// TestTrustLostWhileAsked: a command that the user allows does not run where the workspace lost its trust while the
// question was open.
func TestTrustLostWhileAsked(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{bash("touch made.txt")}},
		ends(script.Result("bash", "denied: no command runs in this workspace")),
	)
	cfg := config.Default()
	cfg.Sandbox = config.SandboxOff
	w.configured(cfg)
	other := w.elsewhere()
	if err := other.Decisions().TrustFolder(w.ctx, w.dir, nil); err != nil {
		t.Fatal(err)
	}
	w.session.SetTrusted(true, w.dir)
	id := w.start(coder())
	ask := w.asked()
	if err := other.Decisions().NeverTrust(w.ctx, w.dir); err != nil {
		t.Fatal(err)
	}
	w.answer(ask, authority.Answer{Allow: true})
	w.wait(id)
}

// TestTrustChangedElsewhere: the engine tells when another process changes whom the user trusts, and not of its own
// changes.
func TestTrustChangedElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	w.closeEngine()
	told := make(chan struct{}, 10)
	w.openWith(agentcore.Options{
		StateDir: w.state, Getenv: func(string) string { return "" },
		OpenModel:    func(provider.Choice) (model.Model, error) { return w.model, nil },
		TrustChanged: func() { told <- struct{}{} },
	})
	hears := func() {
		t.Helper()
		select {
		case <-told:
		case <-w.ctx.Done():
			t.Fatal("nothing was told")
		}
	}
	other := w.elsewhere()
	if err := w.engine.Decisions().TrustFolder(w.ctx, w.dir, nil); err != nil {
		t.Fatal(err)
	}
	if err := other.Decisions().RevokeTrust(w.ctx, w.dir); err != nil {
		t.Fatal(err)
	}
	hears()
	if err := other.Decisions().TrustFolder(w.ctx, w.dir, nil); err != nil {
		t.Fatal(err)
	}
	hears()
	// To trust it again, as it is by now, is a change, too.
	if err := other.Decisions().TrustFolder(w.ctx, w.dir,
		[]permission.Actor{{Path: ".agentls/x.md", Hash: "1"}}); err != nil {
		t.Fatal(err)
	}
	hears()
	if len(told) > 0 {
		t.Error("a change of its own was told")
	}
}

// TestExplainNeedsNoModel: a decision is explained where no model can be opened.
func TestExplainNeedsNoModel(t *testing.T) {
	w := newWorld(t, nil)
	w.closeEngine()
	w.openWith(agentcore.Options{
		StateDir: w.state, Getenv: func(string) string { return "" },
		OpenModel: func(provider.Choice) (model.Model, error) {
			t.Error("a model was opened")
			return nil, errors.New("there is none")
		},
	})
	explained, err := w.session.Explain("coder", "write", ".vscode/x.json")
	if err != nil || len(explained.Always) == 0 {
		t.Errorf("%+v, %v", explained, err)
	}
	if _, err := w.session.Explain("nobody", "bash", "git push"); err == nil {
		t.Error("an agent that is not there was explained")
	}
}
