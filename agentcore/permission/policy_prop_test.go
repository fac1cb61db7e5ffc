package permission_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/permission"
)

func anyRule() *rapid.Generator[permission.Rule] {
	return rapid.Custom(func(t *rapid.T) permission.Rule {
		return permission.Rule{
			Tool: rapid.SampledFrom([]string{
				"*", "bash", "edit", "read", "write", "webfetch", "mcp__*",
			}).Draw(t, "tool"),
			Pattern: rapid.SampledFrom([]string{
				"", "*", "git*", "git push*", "src/**", "src/a.go", "**/.env", "example.org", "*.org", "[", "echo a",
				"'",
			}).Draw(t, "pattern"),
			Action: rapid.SampledFrom([]permission.Action{
				permission.Allow, permission.Ask, permission.Deny, "?",
			}).Draw(t, "action"),
		}
	})
}

func anyLayers(t *rapid.T) []permission.Layer {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) permission.Layer {
		return permission.Layer{
			Name: "l", Narrow: rapid.Bool().Draw(t, "narrow"), Rules: rapid.SliceOfN(anyRule(), 0, 6).Draw(t, "rules"),
		}
	}), 0, 3).Draw(t, "layers")
}

func anyRequest(t *rapid.T) permission.Request {
	r := rapid.SampledFrom([]permission.Request{
		read("src/a.go"), read(".env"), read("/etc/x"), write("write", "src/a.go"), write("edit", ".git/config"),
		fetch("example.org"), bash("git push origin"), bash("echo a; git $X"), bash("echo a > src/a.go"),
		bash("FOO=1 ls"), bash("rg x | git log"), bash("sudo git push"),
		{Tool: "mcp__a__b", Effect: permission.External},
		{Tool: "todo", Effect: permission.Internal},
	}).Draw(t, "request")
	r.Sandbox = rapid.SampledFrom([]permission.Level{permission.None, permission.Full}).Draw(t, "sandbox")
	return r
}

func anyMode(t *rapid.T) permission.Mode {
	return rapid.SampledFrom([]permission.Mode{
		permission.Default, permission.Plan, permission.AcceptEdits, permission.Bypass,
	}).Draw(t, "mode")
}

func rank(a permission.Action) int {
	return slices.Index([]permission.Action{permission.Deny, permission.Ask, permission.Allow}, a)
}

// TestChildIsNeverWider compares random chains of policies with their parents, and what each decides with what it
// explains.
func TestChildIsNeverWider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := policy(anyMode(t), anyLayers(t)...)
		grants := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) permission.Grant {
			r := anyRule().Draw(t, "grant")
			return permission.Grant{
				Scope: permission.Run, Session: "s", Run: "r", Tool: r.Tool, Pattern: r.Pattern, Decision: r.Action,
			}
		}), 0, 2).Draw(t, "grants")
		for range rapid.IntRange(1, 3).Draw(t, "depth") {
			child := parent.Child("c", anyMode(t), anyLayers(t))
			request := anyRequest(t)
			p, c := parent.Decide(request, grants), child.Decide(request, grants)
			if rank(c.Action) > rank(p.Action) || rank(c.Action) < 0 {
				t.Fatalf("the child: %s %s; its parent: %s %s", c.Action, c.Reason, p.Action, p.Reason)
			}
			e := child.Explain(request, grants)
			if e.Action != c.Action || e.Reason != c.Reason || len(e.Trail) == 0 || !slices.Equal(e.Always, c.Always) {
				t.Fatalf("explained %+v, decided %+v", e.Decision, c)
			}
			parent = child
		}
	})
}

// TestDenyAlwaysWins adds a deny for the very call to random rules and grants.
func TestDenyAlwaysWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := anyLayers(t)
		denying := rapid.SampledFrom([]permission.Rule{deny("bash", "git push*"), deny("*", "")}).Draw(t, "deny")
		at := rapid.IntRange(0, len(layers)).Draw(t, "at")
		layers = slices.Insert(layers, at, permission.Layer{
			Name: "deny", Narrow: rapid.Bool().Draw(t, "narrow"), Rules: []permission.Rule{denying},
		})
		grants := []permission.Grant{{Scope: permission.Session, Session: "s", Tool: "*", Decision: permission.Allow}}
		r := bash(rapid.SampledFrom([]string{
			"git push", "a | git push x", "nice git push", "(git -c a=b push)", "if true; then git push; fi",
			"echo $(git push)",
		}).Draw(t, "command"))
		r.Sandbox = rapid.SampledFrom([]permission.Level{permission.None, permission.Full}).Draw(t, "sandbox")
		if d := policy(anyMode(t), layers...).Decide(r, grants); d.Action != permission.Deny {
			t.Fatalf("%s: %s", d.Action, d.Reason)
		}
	})
}

// TestRulesOfAFolder: what a folder's configuration says of paths is meant below it, whatever other folders there are.
