package permission_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/permission"
)

func list(rules []permission.Rule) string {
	var all []string
	for _, r := range rules {
		all = append(all, r.Text())
	}
	return strings.Join(all, ", ")
}

func TestFromClaude(t *testing.T) {
	for _, c := range []struct {
		entry  string
		action permission.Action
		want   string
		warns  bool
	}{
		{"Bash", permission.Ask, "ask bash", false},
		{"Bash(*)", permission.Allow, "allow bash", false},
		{"Bash(git status:*)", permission.Allow, "allow bash(git status*)", false},
		{"Bash(git status:*)", permission.Deny, "deny bash(git status*)", false},
		{"Bash(git status)", permission.Allow, "allow bash(git status)", false},
		{"Bash(git log *)", permission.Allow, "allow bash(git log*)", false},
		{"Bash(rm*)", permission.Deny, "deny bash(rm**)", false},
		{"Bash(rm*)", permission.Allow, "allow bash(rm*)", false},
		{"Bash(git * main)", permission.Allow, "allow bash(git * main)", true},
		{"Bash(git * main)", permission.Deny, "deny bash(git*)", true},
		{"Bash(* --version)", permission.Deny, "deny bash", true},
		{"Bash(echo 'a)", permission.Allow, "", true},
		{"Bash(echo 'a)", permission.Deny, "deny bash", true},
		{"Bash(git status", permission.Allow, "", true},
		{"Bash(git status", permission.Deny, "deny bash", true},
		{"Read(./src/**)", permission.Allow, "allow read(src/**)", false},
		{"Read(.env)", permission.Deny, "deny read(**/.env), deny read(**/.env/**)", false},
		{"Read(//etc/**)", permission.Deny, "deny read(/etc/**)", false},
		{"Edit(/docs/*.md)", permission.Allow, "allow edit(docs/*.md)", false},
		{"Read(~/.ssh/**)", permission.Deny, "deny read(~/.ssh/**)", false},
		{"Read(secrets/)", permission.Deny, "deny read(**/secrets/**)", false},
		{"Read(../x)", permission.Allow, "", true},
		{"Read(a/[b)", permission.Deny, "deny read", true},
		{"Edit", permission.Deny, "deny edit", false},
		{"Write", permission.Deny, "deny write", false},
		{"WebFetch(domain:example.org)", permission.Allow, "allow webfetch(example.org)", false},
		{
			"WebFetch(domain:example.org)", permission.Deny, "deny webfetch(example.org), deny webfetch(*.example.org)",
			false,
		},
		{"WebFetch(https://x/)", permission.Allow, "", true},
		{"mcp__github", permission.Allow, "allow mcp__github__*", false},
		{"mcp__github__*", permission.Allow, "allow mcp__github__*", false},
		{"mcp__github__get", permission.Deny, "deny mcp__github__get", false},
		{"Task(explore)", permission.Deny, "deny task(explore)", false},
		{"Unheard(x)", permission.Allow, "", true},
		{"Unheard(x)", permission.Deny, "deny Unheard", true},
		{"*", permission.Allow, "", true},
		{"", permission.Deny, "deny *", true},
	} {
		rules, warnings := permission.FromClaude(c.entry, c.action)
		if got := list(rules); got != c.want || len(warnings) > 0 != c.warns {
			t.Errorf("%s %s: %q, warnings %q; not %q", c.action, c.entry, got, warnings, c.want)
		}
	}
}

func TestFromOpenCode(t *testing.T) {
	for _, c := range []struct {
		tool, pattern string
		action        permission.Action
		want          string
		warns         bool
	}{
		{"bash", "git push", permission.Ask, "ask bash(git push)", false},
		{"bash", "*", permission.Allow, "allow bash(*)", false},
		{"bash", "git push *", permission.Deny, "deny bash(git push*)", false},
		{"bash", "rm*", permission.Deny, "deny bash(rm**)", false},
		{"bash", "*", permission.Deny, "deny bash(*)", false},
		{"edit", "*", permission.Ask, "ask edit(*)", false},
		{"edit", "src/a.go", permission.Deny, "deny edit(src/a.go)", false},
		{"edit", "src/*.go", permission.Allow, "allow edit(src/*.go)", true},
		{"webfetch", "*", permission.Ask, "ask webfetch(*)", false},
		{"external_directory", "*", permission.Ask, "", true},
		{"unheard", "x", permission.Deny, "deny unheard", true},
		{"unheard", "x", permission.Allow, "", true},
		{"mcp_tool", "*", permission.Allow, "allow mcp_tool(*)", false},
		{"*", "*", permission.Ask, "ask *(*)", false},
	} {
		rules, warnings := permission.FromOpenCode(c.tool, c.pattern, c.action)
		if got := list(rules); got != c.want || len(warnings) > 0 != c.warns {
			t.Errorf("%s %s(%s): %q, warnings %q; not %q", c.action, c.tool, c.pattern, got, warnings, c.want)
		}
	}
	// There, * crosses folders: what denies must do so, too.
	rules, _ := permission.FromOpenCode("edit", "src/*.go", permission.Deny)
	p := policy(permission.Default, user(rules...))
	for path, want := range map[string]permission.Action{
		"src/a.go": permission.Deny, "src/b/c/a.go": permission.Deny,
		"a.go": permission.Allow, "src/a.md": permission.Allow,
	} {
		if d := p.Decide(write("edit", path), nil); d.Action != want {
			t.Errorf("%s: %s", path, d.Action)
		}
	}
	rules, _ = permission.FromOpenCode("read", "*.env", permission.Deny)
	p = policy(permission.Default, user(rules...))
	for path, want := range map[string]permission.Action{
		"a.env": permission.Deny, "x/y/a.env": permission.Deny,
		"a.go": permission.Allow,
	} {
		if d := p.Decide(read(path), nil); d.Action != want {
			t.Errorf("%s: %s", path, d.Action)
		}
	}
}
