package permission

import (
	"math/rand/v2"
	"testing"
)

// Well-known documentation is fetched without a question, over https alone, until a rule says otherwise.
func TestDocumentationIsAllowed(t *testing.T) {
	for _, tt := range []struct {
		host string
		rule Rule
		want Action
	}{
		{"docs.python.org:443", Rule{}, Allow},
		{"pkg.go.dev:443", Rule{}, Allow},
		{"docs.python.org:80", Rule{}, Ask},
		{"docs.python.org:8443", Rule{}, Ask},
		{"docs.python.org.example.org:443", Rule{}, Ask},
		{"example.org:443", Rule{}, Ask},
		{"docs.python.org:443", Rule{Tool: "webfetch", Action: Ask}, Ask},
		{"docs.python.org:443", Rule{Tool: "webfetch", Pattern: "*.python.org", Action: Deny}, Deny},
	} {
		var layers []Layer
		if tt.rule.Tool != "" {
			layers = []Layer{{Name: "user", Rules: []Rule{tt.rule}}}
		}
		p := New(Setup{Layers: layers, Roots: []string{"/w"}})
		got := p.Decide(Request{Tool: "webfetch", Effect: Network, Hosts: []string{tt.host}}, nil)
		if got.Action != tt.want {
			t.Errorf("%s under %s: %s", tt.host, tt.rule.Text(), got.Reason)
		}
	}
}

// No call comes to more than the reach of its tool says.
func TestReachBoundsEveryCall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	requests := []Request{
		{Tool: "read", Effect: Read, Paths: []Path{{Name: "/w/a.go"}}},
		{Tool: "edit", Effect: Propose, Paths: []Path{{Name: "/w/a.go", Write: true}}},
		{Tool: "write", Effect: Propose, Paths: []Path{{Name: "/w/docs/a.md", Write: true}}},
		{Tool: "bash", Effect: Execute, Command: "go test ./...", Dir: "/w"},
		{Tool: "bash", Effect: Execute, Command: "go test ./...", Dir: "/w", Sandbox: Full},
		{Tool: "webfetch", Effect: Network, Hosts: []string{"go.dev:443"}},
		{Tool: "webfetch", Effect: Network, Hosts: []string{"example.org:443"}},
		{Tool: "websearch", Effect: Network},
		{Tool: "mcp__notes__add", Effect: External, Call: "version 1"},
		{Tool: "todo", Effect: Internal},
	}
	layers := func() []Layer {
		l := Layer{Name: "rules", Narrow: random.IntN(4) == 0}
		for range random.IntN(4) {
			l.Rules = append(l.Rules, Rule{
				Tool:    pick("read", "edit", "write", "bash", "webfetch", "web*", "mcp__notes__*", "*", "todo"),
				Pattern: pick("", "*", "go *", "a.go", "docs/**", "example.org", "version 1"),
				Action:  Action(pick("allow", "allow", "ask", "deny")),
			})
		}
		return []Layer{l}
	}
	modes := []Mode{Default, Default, Plan, AcceptEdits, Bypass}
	exact := 0
	for range 4000 {
		p := New(Setup{
			Layers: layers(), Mode: modes[random.IntN(len(modes))], Run: "r1", Session: "s",
			Roots: []string{"/w"},
		})
		p = p.Child("r2", modes[random.IntN(len(modes))], layers())
		var grants []Grant
		if random.IntN(3) == 0 {
			grants = []Grant{{
				Scope: Session, Session: "s", Tool: pick("bash", "webfetch", "mcp__notes__add"),
				Pattern: pick("", "example.org"), Decision: Allow,
			}}
		}
		for _, r := range requests {
			reach, d := p.Reach(r.Tool, r.Effect, r.Sandbox, grants), p.Decide(r, grants)
			if d.Action.rank() > reach.rank() {
				t.Fatalf("%s reaches %s, and %+v is %s: %+v", r.Tool, reach, r, d.Reason, p.chain)
			}
			if d.Action == reach {
				exact++
			}
		}
	}
	if exact < 4000*len(requests)/2 {
		t.Errorf("only %d calls come to what their tool reaches", exact)
	}
}
