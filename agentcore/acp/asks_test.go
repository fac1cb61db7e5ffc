package acp_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
)

// asked is a Permission that chooses an option, and keeps what it was asked.
type asked struct {
	choose string
	err    error

	mu   sync.Mutex
	list []acp.PermissionRequest
}

func (a *asked) permission(_ context.Context, r acp.PermissionRequest) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, r)
	return a.choose, a.err
}

// branches are steps that say which option was chosen.
func branches(options ...string) map[string][]acptest.Step {
	then := map[string][]acptest.Step{}
	for _, o := range append(options, "cancelled") {
		then[o] = []acptest.Step{acptest.Say(o + " ")}
	}
	return then
}

// TestPermissions has agents ask for leave.
func TestPermissions(t *testing.T) {
	ask := func(options ...acptest.Option) acptest.Step {
		return acptest.Ask(nil, branches("allow", "reject", "x"), options...)
	}
	choosing := func(choose, want string, steps ...acptest.Step) func(*testing.T) {
		return func(t *testing.T) {
			a := &asked{choose: choose}
			w := ready(t, once(steps...), acp.Options{Permission: a.permission})
			w.prompt(acp.EndTurn)
			w.says(want)
			if len(a.list) != len(steps) || a.list[0].Session != first || a.list[0].Call.ID != "call-1" {
				t.Errorf("it was asked %+v", a.list)
			}
		}
	}
	plays(t, map[string]func(*testing.T){
		"an option":                 choosing("allow", "allow ", ask(acptest.Allow, acptest.Reject)),
		"the other option":          choosing("reject", "reject ", ask(acptest.Allow, acptest.Reject)),
		"options in another order":  choosing("allow", "allow ", ask(acptest.Reject, acptest.Allow)),
		"no option is chosen":       choosing("", "cancelled ", ask(acptest.Allow, acptest.Reject)),
		"there are no options":      choosing("", "cancelled ", ask()),
		"the same question again":   choosing("allow", "allow allow ", ask(acptest.Allow), ask(acptest.Allow)),
		"nobody who could be asked": func(t *testing.T) { play(t, acp.Options{}, "cancelled ", ask(acptest.Allow)) },
		"an option that was not offered": func(t *testing.T) {
			a := &asked{choose: "always"}
			w := play(t, acp.Options{Permission: a.permission}, "", ask(acptest.Allow))
			if w.answer("session/request_permission")["error"] == nil {
				t.Error("the agent got no error")
			}
		},
		"an error": func(t *testing.T) {
			a := &asked{err: errors.New("no user is there")}
			w := play(t, acp.Options{Permission: a.permission}, "", ask(acptest.Allow))
			failure, _ := w.answer("session/request_permission")["error"].(acptest.Object)
			if failure["message"] != "no user is there" {
				t.Errorf("the agent got %v", failure)
			}
		},
		"options with the same id": func(t *testing.T) {
			a := &asked{choose: "allow"}
			no := acptest.Option{ID: "x", Name: "No", Kind: "reject_once"}
			yes := acptest.Option{ID: "x", Name: "Yes", Kind: "allow_always"}
			unnamed := acptest.Option{Name: "Empty", Kind: "allow_once"}
			w := play(t, acp.Options{Permission: a.permission}, "allow ", ask(no, acptest.Allow, yes, unnamed))
			want := []acp.PermissionOption{{ID: "allow", Name: "Allow", Kind: acp.AllowOnce}}
			if diff := cmp.Diff(want, a.list[0].Options); diff != "" {
				t.Error(diff)
			}
			w.strange("the same id")
		},
		"a question that is no question": func(t *testing.T) {
			w := play(t, acp.Options{Permission: (&asked{}).permission}, "",
				acptest.Request("session/request_permission", acptest.Object{"toolCall": "x", "options": 1}))
			failure, _ := w.answer("session/request_permission")["error"].(acptest.Object)
			if failure["code"] != -32602.0 {
				t.Errorf("the agent got %v", failure)
			}
		},
		"a question of no turn": func(t *testing.T) {
			w := ready(t, acptest.Play{Before: []acptest.Step{ask(acptest.Allow)}}, acp.Options{
				Permission: (&asked{choose: "allow"}).permission,
			})
			w.says("cancelled ")
			w.strange("outside of a turn")
		},
		"a cancel while nobody answers": func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			released := make(chan struct{})
			play := once(ask(acptest.Allow)) // whose end waits for the answer
			play.IgnoreCancel = true
			w := ready(t, play, acp.Options{Permission: func(context.Context, acp.PermissionRequest) (string, error) {
				cancel()
				<-released // whoever is asked does not look at the context
				return "allow", nil
			}})
			reason, _, err := w.client.Prompt(ctx, first, nil)
			close(released)
			if reason != acp.EndTurn || err != nil {
				t.Errorf("the turn ended with %q, %v", reason, err)
			}
			w.says("cancelled ")
			log := acptest.Log(t, w.argv)
			told, answered := place(log, "session/cancel"), place(log, `"cancelled"}}`)
			if told < 0 || answered < told {
				t.Errorf("the cancel is line %d of the log, the answer to the question line %d", told, answered)
			}
		},
		"an answer behind the cancel": func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			play := once(ask(acptest.Allow))
			play.IgnoreCancel = true
			late := func(ctx context.Context, _ acp.PermissionRequest) (string, error) {
				cancel()
				<-ctx.Done()
				return "allow", nil
			}
			w := ready(t, play, acp.Options{Permission: late})
			if _, _, err := w.client.Prompt(ctx, first, nil); err != nil {
				t.Error(err)
			}
			w.says("cancelled ")
		},
		"a question that is taken back": func(t *testing.T) {
			var w *world
			w = ready(t, once(acptest.AskAndWithdraw("go", "back", acptest.Allow), ask(acptest.Allow)), acp.Options{
				Permission: func(ctx context.Context, _ acp.PermissionRequest) (string, error) {
					if acptest.Answers(t, w.argv, "session/request_permission") != nil {
						return "allow", nil // the second question
					}
					w.write("go", "back")
					<-ctx.Done()
					return "", ctx.Err()
				},
			})
			w.prompt(acp.EndTurn)
			w.says("allow ")
		},
		"the end of the agent while nobody answers": func(t *testing.T) {
			var w *world
			w = ready(t, once(ask(acptest.Allow)), acp.Options{
				Permission: func(ctx context.Context, _ acp.PermissionRequest) (string, error) {
					go w.client.Close()
					<-ctx.Done()
					return "", ctx.Err()
				},
			})
			w.fails(acp.Ended)
		},
		"the same id of a request, and too many": func(t *testing.T) {
			question := func(id int) acptest.Step {
				return acptest.Line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":`+
					`{"sessionId":%q,"toolCall":{"toolCallId":"c"},"options":[]}}`, id, first))
			}
			steps := []acptest.Step{question(1), question(1)}
			for id := range 70 {
				steps = append(steps, question(id+2))
			}
			w := ready(t, once(append(steps, acptest.Say("asked"), acptest.Hold())...), acp.Options{
				Permission: func(ctx context.Context, _ acp.PermissionRequest) (string, error) {
					<-ctx.Done()
					return "", nil
				},
			})
			go func() {
				w.until("all questions", func() bool { return len(w.updates) > 0 })
				w.client.Cancel(first)
			}()
			w.prompt(acp.Cancelled)
			w.strange("asked twice with the same id")
			w.strange("too many questions")
		},
	})
}

// play has an agent do steps, and expects what it says.
func play(t *testing.T, o acp.Options, says string, steps ...acptest.Step) *world {
	t.Helper()
	w := ready(t, once(steps...), o)
	w.prompt(acp.EndTurn)
	w.says(says)
	return w
}

// TestForms has agents ask for forms.
func TestForms(t *testing.T) {
	schema := acptest.Object{"type": "object", "properties": acptest.Object{"name": acptest.Object{"type": "string"}}}
	elicit := acptest.Elicit("Which name?", schema, map[string][]acptest.Step{
		"accept": {acptest.Say("accept")}, "decline": {acptest.Say("decline")}, "cancel": {acptest.Say("cancel")},
	})
	filling := func(filled acp.Filled, want string) func(*testing.T) {
		return func(t *testing.T) {
			w := play(t, acp.Options{Elicit: func(_ context.Context, f acp.Form) (acp.Filled, error) {
				if f.Session != first || f.Message != "Which name?" || len(f.Schema) == 0 {
					t.Errorf("the form is %+v", f)
				}
				return filled, nil
			}}, want, elicit)
			sent := w.got("initialize")[0]["clientCapabilities"].(acptest.Object)
			if !cmp.Equal(sent["elicitation"], any(acptest.Object{"form": acptest.Object{}})) {
				t.Errorf("it was announced %v", sent)
			}
		}
	}
	plays(t, map[string]func(*testing.T){
		"filled in": filling(acp.Filled{Action: "accept", Content: map[string]any{"name": "a"}}, "accept"),
		"declined":  filling(acp.Filled{Action: "decline"}, "decline"),
		"nothing":   filling(acp.Filled{}, "cancel"),
		"an address": func(t *testing.T) {
			w := play(t, acp.Options{Elicit: func(context.Context, acp.Form) (acp.Filled, error) {
				t.Error("an address was asked for")
				return acp.Filled{}, nil
			}}, "", acptest.Request("elicitation/create", acptest.Object{
				"mode": "url", "message": "Look.", "elicitationId": "1", "url": "https://example.com",
			}))
			if w.answer("elicitation/create")["error"] == nil {
				t.Error("the agent got no error")
			}
		},
	})
}
