package permission_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agentcore/permission"
)

const root = "/home/user/project"

func policy(mode permission.Mode, layers ...permission.Layer) *permission.Policy {
	return permission.New(permission.Setup{
		Layers: layers, Mode: mode, Session: "s", Run: "r", Roots: []string{root}, Home: "/home/user",
	})
}

func user(rules ...permission.Rule) permission.Layer {
	return permission.Layer{Name: "user config", Rules: rules}
}

func allow(tool, pattern string) permission.Rule {
	return permission.Rule{Tool: tool, Pattern: pattern, Action: permission.Allow}
}

func ask(tool, pattern string) permission.Rule {
	return permission.Rule{Tool: tool, Pattern: pattern, Action: permission.Ask}
}

func deny(tool, pattern string) permission.Rule {
	return permission.Rule{Tool: tool, Pattern: pattern, Action: permission.Deny}
}

func read(rel string) permission.Request {
	return permission.Request{Tool: "read", Effect: permission.Read, Paths: []permission.Path{{Name: abs(rel)}}}
}

func write(tool, rel string) permission.Request {
	return permission.Request{
		Tool: tool, Effect: permission.Propose, Paths: []permission.Path{{Name: abs(rel), Write: true}},
	}
}

func abs(rel string) string {
	if rel[0] == '/' {
		return rel
	}
	return root + "/" + rel
}

// pointed is a call that reads a file which the user named.
func pointed(name string) permission.Request {
	return permission.Request{
		Tool: "read", Effect: permission.Read, Paths: []permission.Path{{Name: abs(name), Pointed: true}},
	}
}

// linked is a call that reads a link.
func linked(from, to string) permission.Request {
	return permission.Request{
		Tool:   "read",
		Effect: permission.Read,
		Paths:  []permission.Path{{Name: abs(from)}, {Name: abs(to), Through: abs(from)}},
	}
}

func bash(command string) permission.Request {
	return permission.Request{
		Tool: "bash", Effect: permission.Execute, Command: command, Dir: root, Sandbox: permission.None,
	}
}

func sandboxed(command string) permission.Request {
	r := bash(command)
	r.Sandbox = permission.Full
	return r
}

func fetch(host string) permission.Request {
	return permission.Request{Tool: "webfetch", Effect: permission.Network, Hosts: []string{host}}
}

func TestDecide(t *testing.T) {
	narrow := permission.Layer{
		Name:   "project config",
		Narrow: true,
		Rules: []permission.Rule{
			allow("bash", "make*"), ask("read", ".env"), ask("edit", "docs/**"), deny("read", "private/**"),
		},
	}
	set := func(name string) permission.Layer {
		l, ok := permission.Set(name)
		if !ok {
			t.Fatalf("there is no set %s", name)
		}
		return l
	}
	for name, c := range map[string]struct {
		mode    permission.Mode
		layers  []permission.Layer
		request permission.Request
		want    permission.Action
	}{
		"read inside":                      {request: read("a.go"), want: permission.Allow},
		"read outside":                     {request: read("/etc/passwd"), want: permission.Ask},
		"read beside the root":             {request: read("/home/user/project2/a"), want: permission.Ask},
		"read what the user points at":     {request: pointed("/home/user/open.txt"), want: permission.Allow},
		"a secret that the user points at": {request: pointed("/home/user/.env"), want: permission.Deny},
		"a denied file, and pointed at": {
			layers: []permission.Layer{user(deny("read", "**"))}, request: pointed("a.txt"), want: permission.Deny,
		},
		"read what a link leads to": {request: linked("a.txt", "/etc/passwd"), want: permission.Deny},
		"a link out that the user points at": {
			request: permission.Request{Tool: "read", Effect: permission.Read, Paths: []permission.Path{
				{Name: abs("a.txt"), Pointed: true}, {Name: "/etc/passwd", Through: abs("a.txt"), Pointed: true},
			}}, want: permission.Deny,
		},
		"read what a document is a link to": {
			request: linked("/home/user/open.txt", "/etc/passwd"), want: permission.Ask,
		},
		"read a link inside": {request: linked("a.txt", "b.txt"), want: permission.Allow},
		"read a secret":      {request: read(".env"), want: permission.Deny},
		"read a secret, all allowed": {
			layers: []permission.Layer{user(allow("read", "*"))}, request: read("a/.ENV"), want: permission.Deny,
		},
		"read a secret, allowed by name": {
			layers:  []permission.Layer{user(allow("read", "test/*.pem"))},
			request: read("test/a.pem"),
			want:    permission.Allow,
		},
		"read a secret, project asks": {
			layers: []permission.Layer{narrow}, request: read(".env"), want: permission.Deny,
		},
		"propose":                  {request: write("write", "a.go"), want: permission.Allow},
		"propose outside":          {request: write("write", "/etc/passwd"), want: permission.Deny},
		"propose a protected file": {request: write("edit", ".VSCode/tasks.json"), want: permission.Ask},
		"protected, all allowed": {
			layers:  []permission.Layer{user(allow("*", ""))},
			request: write("edit", ".git./hooks/pre-commit"),
			want:    permission.Ask,
		},
		"protected, bypass": {mode: permission.Bypass, request: write("edit", ".envrc"), want: permission.Ask},
		"protected by the disk": {
			request: permission.Request{
				Tool:   "edit",
				Effect: permission.Propose,
				Paths:  []permission.Path{{Name: abs("sub/config"), Write: true, Protected: "it is a repository"}},
			},
			want: permission.Ask,
		},
		"hard links": {
			mode: permission.AcceptEdits,
			request: permission.Request{
				Tool:   "edit",
				Effect: permission.Propose,
				Paths:  []permission.Path{{Name: abs("x"), Write: true, Linked: true}},
			},
			want: permission.Ask,
		},
		"deny wins over a later allow": {
			layers: []permission.Layer{
				user(deny("edit", "src/**")), {Name: "session", Rules: []permission.Rule{allow("edit", "src/a.go")}},
			},
			request: write("edit", "src/a.go"),
			want:    permission.Deny,
		},
		"edit rules bind write": {
			layers:  []permission.Layer{user(deny("edit", "src/**"))},
			request: write("write", "src/a.go"),
			want:    permission.Deny,
		},
		"edit rules bind patch": {
			layers:  []permission.Layer{user(deny("edit", "src/**"))},
			request: write("patch", "src/a.go"),
			want:    permission.Deny,
		},
		"read rules bind grep": {
			layers: []permission.Layer{user(deny("read", "src/**"))},
			request: permission.Request{
				Tool: "grep", Effect: permission.Read, Paths: []permission.Path{{Name: abs("src/x")}},
			},
			want: permission.Deny,
		},
		"a deny in another letter case": {
			layers:  []permission.Layer{user(deny("edit", "src/**"))},
			request: write("write", "SRC/A.go"),
			want:    permission.Deny,
		},
		"a deny with trailing dots": {
			layers:  []permission.Layer{user(deny("edit", "src/**"))},
			request: write("write", "src./a.go"),
			want:    permission.Deny,
		},
		"an allow in another letter case": {
			layers:  []permission.Layer{user(ask("edit", ""), allow("edit", "src/**"))},
			request: write("write", "SRC/a.go"),
			want:    permission.Ask,
		},
		"the last rule": {
			layers:  []permission.Layer{user(ask("edit", "*"), allow("edit", "src/**"))},
			request: write("edit", "src/a"),
			want:    permission.Allow,
		},
		"the last rule asks": {
			layers:  []permission.Layer{user(allow("edit", "src/**"), ask("edit", "*"))},
			request: write("edit", "src/a"),
			want:    permission.Ask,
		},
		"home": {
			layers:  []permission.Layer{user(deny("read", "~/.ssh/**"))},
			request: read("/home/user/.ssh/config"),
			want:    permission.Deny,
		},
		"absolute": {
			layers:  []permission.Layer{user(allow("read", "/usr/share/**"))},
			request: read("/usr/share/x"),
			want:    permission.Allow,
		},
		"a folder": {
			layers: []permission.Layer{user(deny("read", "./src/"))}, request: read("src/a/b"), want: permission.Deny,
		},
		"several paths": {
			layers: []permission.Layer{user(deny("edit", "b"))},
			request: permission.Request{
				Tool:   "patch",
				Effect: permission.Propose,
				Paths:  []permission.Path{{Name: abs("a"), Write: true}, {Name: abs("b"), Write: true}},
			},
			want: permission.Deny,
		},
		"a broken glob denies all": {
			layers:  []permission.Layer{user(deny("edit", "src/[a"))},
			request: write("edit", "x"),
			want:    permission.Deny,
		},
		"a broken glob allows nothing": {
			layers:  []permission.Layer{user(ask("edit", ""), allow("edit", "src/[a"))},
			request: write("edit", "src/[a"),
			want:    permission.Ask,
		},
		"an unknown action denies": {
			layers:  []permission.Layer{user(permission.Rule{Tool: "edit", Action: "alow"})},
			request: write("edit", "x"),
			want:    permission.Deny,
		},
		"network": {request: fetch("example.org"), want: permission.Ask},
		"a host": {
			layers:  []permission.Layer{user(allow("webfetch", "example.org"))},
			request: fetch("EXAMPLE.org."),
			want:    permission.Allow,
		},
		"a host with a port": {
			layers:  []permission.Layer{user(allow("webfetch", "127.0.0.1:8080"))},
			request: fetch("127.0.0.1:8081"),
			want:    permission.Ask,
		},
		"another host": {
			layers:  []permission.Layer{user(allow("webfetch", "example.org"))},
			request: fetch("example.org.evil.net"),
			want:    permission.Ask,
		},
		"below a host": {
			layers:  []permission.Layer{user(allow("webfetch", "*.example.org"))},
			request: fetch("docs.example.org:443"),
			want:    permission.Allow,
		},
		"a host that ends alike": {
			layers:  []permission.Layer{user(allow("webfetch", "*.example.org"))},
			request: fetch("evilexample.org"),
			want:    permission.Ask,
		},
		"IPv6": {
			layers:  []permission.Layer{user(allow("webfetch", "[::1]:80"))},
			request: fetch("[::1]:80"),
			want:    permission.Allow,
		},
		"an MCP tool": {
			request: permission.Request{Tool: "mcp__a__b", Effect: permission.External}, want: permission.Ask,
		},
		"an MCP server": {
			layers:  []permission.Layer{user(allow("mcp__a__*", ""))},
			request: permission.Request{Tool: "mcp__a__b", Effect: permission.External},
			want:    permission.Allow,
		},
		"another MCP server": {
			layers:  []permission.Layer{user(allow("mcp__a__*", ""))},
			request: permission.Request{Tool: "mcp__b__b", Effect: permission.External},
			want:    permission.Ask,
		},
		"a tool that is not known": {request: permission.Request{Tool: "x", Effect: "?"}, want: permission.Ask},
		"internal": {
			request: permission.Request{Tool: "todo", Effect: permission.Internal}, want: permission.Allow,
		},
		"a subagent": {
			layers:  []permission.Layer{user(deny("task", "tester"))},
			request: permission.Request{Tool: "task", Effect: permission.Internal, Call: "tester"},
			want:    permission.Deny,
		},
		"plan edits":        {mode: permission.Plan, request: write("edit", "a"), want: permission.Deny},
		"plan reads":        {mode: permission.Plan, request: read("a"), want: permission.Allow},
		"plan in a sandbox": {mode: permission.Plan, request: sandboxed("gofmt -w ."), want: permission.Ask},
		"plan, allowed command": {
			mode:    permission.Plan,
			layers:  []permission.Layer{user(allow("bash", "ls*"))},
			request: bash("ls -la"),
			want:    permission.Allow,
		},
		"accept_edits": {
			mode:    permission.AcceptEdits,
			layers:  []permission.Layer{user(ask("edit", ""))},
			request: write("edit", "a"),
			want:    permission.Allow,
		},
		"accept_edits runs nothing": {mode: permission.AcceptEdits, request: bash("ls"), want: permission.Ask},
		"bypass":                    {mode: permission.Bypass, request: bash("rm -rf $HOME"), want: permission.Allow},
		"bypass lifts no deny": {
			mode:    permission.Bypass,
			layers:  []permission.Layer{user(deny("bash", "rm*"))},
			request: bash("cd x && rm -rf a"),
			want:    permission.Deny,
		},
		"an unknown mode": {mode: "yolo", request: bash("ls"), want: permission.Ask},
		"a project allows nothing": {
			layers: []permission.Layer{narrow}, request: bash("make all"), want: permission.Ask,
		},
		"a project takes away": {
			layers: []permission.Layer{narrow}, request: write("edit", "docs/a.md"), want: permission.Ask,
		},
		"a project denies": {layers: []permission.Layer{narrow}, request: read("private/x"), want: permission.Deny},
		"planner edits": {
			layers: []permission.Layer{set("planner")}, request: write("patch", "a"), want: permission.Deny,
		},
		"planner runs":   {layers: []permission.Layer{set("planner")}, request: sandboxed("ls"), want: permission.Deny},
		"explorer reads": {layers: []permission.Layer{set("explorer")}, request: read("a"), want: permission.Allow},
		"explorer fetches": {
			layers: []permission.Layer{set("explorer")}, request: fetch("example.org"), want: permission.Deny,
		},
		"researcher fetches": {
			layers: []permission.Layer{set("researcher")}, request: fetch("example.org"), want: permission.Ask,
		},
		"researcher writes": {
			layers: []permission.Layer{set("researcher")}, request: write("write", "a"), want: permission.Deny,
		},
		"primary": {
			layers: []permission.Layer{set("primary")}, request: write("write", "a"), want: permission.Allow,
		},
		"full sandbox": {request: sandboxed("go test ./... | tee out > $X"), want: permission.Allow},
		"full sandbox, asked for": {
			layers:  []permission.Layer{user(ask("bash", "*"))},
			request: sandboxed("go test ./..."),
			want:    permission.Allow,
		},
		"full sandbox, denied": {
			layers:  []permission.Layer{user(deny("bash", "git push*"))},
			request: sandboxed("true; git -C x push"),
			want:    permission.Deny,
		},
		"full sandbox, dynamic": {
			layers:  []permission.Layer{user(deny("bash", "git push*"))},
			request: sandboxed("git $X"),
			want:    permission.Ask,
		},
		"full sandbox, network": {
			request: permission.Request{
				Tool:    "bash",
				Effect:  permission.Execute,
				Command: "curl x",
				Dir:     root,
				Hosts:   []string{"x"},
				Sandbox: permission.Full,
			},
			want: permission.Ask,
		},
		"partial sandbox": {
			request: permission.Request{
				Tool: "bash", Effect: permission.Execute, Command: "ls", Dir: root, Sandbox: permission.Partial,
			},
			want: permission.Ask,
		},
		"every command": {
			layers:  []permission.Layer{user(allow("bash", "*"))},
			request: bash("FOO=1 eval $X > out"),
			want:    permission.Allow,
		},
		"every command, protected": {
			layers:  []permission.Layer{user(allow("bash", "*"))},
			request: bash("echo x > .git/config"),
			want:    permission.Ask,
		},
		"every command but one": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("$X"),
			want:    permission.Ask,
		},
		"a redirection": {
			layers: []permission.Layer{user(allow("bash", "echo*"))}, request: bash("echo x > a"), want: permission.Ask,
		},
		"a redirection, edits allowed": {
			layers:  []permission.Layer{user(allow("bash", "echo*"), allow("edit", "*"))},
			request: bash("echo x > a"),
			want:    permission.Ask,
		},
		"a redirection by name": {
			layers:  []permission.Layer{user(allow("bash", "echo*"), allow("edit", "out/**"))},
			request: bash("echo x > out/a"),
			want:    permission.Allow,
		},
		"a redirection, denied": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("edit", "src/**"))},
			request: bash("echo x >> src/a"),
			want:    permission.Deny,
		},
		"redirected input": {
			layers: []permission.Layer{user(allow("bash", "wc*"))}, request: bash("wc < a"), want: permission.Allow,
		},
		"redirected secret": {
			layers: []permission.Layer{user(allow("bash", "wc*"))}, request: bash("wc < .env"), want: permission.Deny,
		},
		"a word that may not be read": {
			layers:  []permission.Layer{user(allow("bash", "cat*"), deny("read", "private/**"))},
			request: bash("cat private/a"),
			want:    permission.Deny,
		},
		"a word that looks like a secret": {
			layers: []permission.Layer{user(allow("bash", "cat*"))}, request: bash("cat .env"), want: permission.Ask,
		},
		"a deny of a program by its path": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("/bin/rm x"),
			want:    permission.Deny,
		},
		"a deny behind sudo": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("sudo -u x rm x"),
			want:    permission.Deny,
		},
		"a deny behind sh": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("sh -c 'ls; rm x'"),
			want:    permission.Deny,
		},
		"a deny behind find": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("find . -name x -exec rm {} +"),
			want:    permission.Deny,
		},
		"a deny behind find and sh": {
			layers:  []permission.Layer{user(deny("bash", "rm*"))},
			request: sandboxed("find . -print -execdir sh -c 'ls; rm x' ';' -quit"),
			want:    permission.Deny,
		},
		"a deny behind fd": {
			layers:  []permission.Layer{user(deny("bash", "rm*"))},
			request: sandboxed("fd x -x rm"),
			want:    permission.Deny,
		},
		"find runs another": {
			layers:  []permission.Layer{user(deny("bash", "rm*"))},
			request: sandboxed("find . -exec ls {} \\;"),
			want:    permission.Allow,
		},
		"a deny and a shell that reads": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("bash <<< 'rm x'"),
			want:    permission.Ask,
		},
		"a deny and a shell that is told": {
			layers:  []permission.Layer{user(deny("bash", "rm*"))},
			request: sandboxed("echo rm x | sh -s"),
			want:    permission.Ask,
		},
		"a shell that reads": {request: sandboxed("echo rm x | sh"), want: permission.Allow},
		"a shell and its script": {
			layers:  []permission.Layer{user(deny("bash", "rm*"))},
			request: sandboxed("sh ./test.sh"),
			want:    permission.Allow,
		},
		"a deny in a substitution": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "rm*"))},
			request: bash("echo $(rm x)"),
			want:    permission.Deny,
		},
		"a deny of an option anywhere": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "git push --force*"))},
			request: bash("git push origin --force"),
			want:    permission.Deny,
		},
		"a deny with a wildcard in its way": {
			layers:  []permission.Layer{user(allow("bash", "*"), deny("bash", "git push*"))},
			request: bash("git p*"),
			want:    permission.Ask,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(c.mode, c.layers...)
			d := p.Decide(c.request, nil)
			if d.Action != c.want {
				t.Errorf("%s, not %s: %s", d.Action, c.want, d.Reason)
			}
			if d.Reason == "" || d.Action != permission.Allow && d.Advice == "" {
				t.Errorf("it says no reason or advice: %+v", d)
			}
		})
	}
}

func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		p := policy(permission.Default, user(deny("bash", "rm*")))
		child := p.Child("c", permission.Default, nil)
		grant := func(g permission.Grant) permission.Grant {
			if g.Decision == "" {
				g.Decision = permission.Allow
			}
			g.Created = now
			return g
		}
		pushes := permission.Grant{Scope: permission.Session, Session: "s", Tool: "bash", Pattern: "git push*"}
		for name, c := range map[string]struct {
			policy  *permission.Policy
			request permission.Request
			grants  []permission.Grant
			want    permission.Action
		}{
			"none":           {p, bash("git push"), nil, permission.Ask},
			"session":        {p, bash("git push"), []permission.Grant{grant(pushes)}, permission.Allow},
			"session, child": {child, bash("git push"), []permission.Grant{grant(pushes)}, permission.Allow},
			"another session": {
				p, bash("git push"),
				[]permission.Grant{grant(permission.Grant{Scope: permission.Session, Session: "t", Tool: "bash"})},
				permission.Ask,
			},
			"run": {
				p, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Run, Session: "s", Run: "r", Tool: "bash"}),
				},
				permission.Allow,
			},
			"run of the parent": {
				child, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Run, Session: "s", Run: "r", Tool: "bash"}),
				},
				permission.Allow,
			},
			"run of the child": {
				p, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Run, Session: "s", Run: "c", Tool: "bash"}),
				},
				permission.Ask,
			},
			"once": {
				p, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Once, Session: "s", Run: "r", Tool: "bash"}),
				},
				permission.Ask,
			},
			"project": {
				p, bash("git push"),
				[]permission.Grant{grant(permission.Grant{Scope: permission.Project, Root: root, Tool: "bash"})},
				permission.Allow,
			},
			"another project": {
				p, bash("git push"),
				[]permission.Grant{grant(permission.Grant{Scope: permission.Project, Root: "/x", Tool: "bash"})},
				permission.Ask,
			},
			"revoked": {
				p, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Session, Session: "s", Tool: "bash", Revoked: now}),
				},
				permission.Ask,
			},
			"expired": {
				p, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Session, Session: "s", Tool: "bash", Expires: now}),
				},
				permission.Ask,
			},
			"not expired": {
				p, bash("git push"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Session, Session: "s", Tool: "bash", Expires: now.Add(1)}),
				},
				permission.Allow,
			},
			"a deny wins": {
				p, bash("rm x"),
				[]permission.Grant{grant(permission.Grant{Scope: permission.Session, Session: "s", Tool: "bash"})},
				permission.Deny,
			},
			"a grant denies": {
				p, bash("git push"),
				[]permission.Grant{
					grant(pushes),
					grant(permission.Grant{
						Scope:    permission.Session,
						Session:  "s",
						Tool:     "bash",
						Pattern:  "git*",
						Decision: permission.Deny,
					}),
				},
				permission.Deny,
			},
			"one of two parts": {p, bash("git push; ls"), []permission.Grant{grant(pushes)}, permission.Ask},
			"all edits": {
				p, write("edit", ".envrc"),
				[]permission.Grant{grant(permission.Grant{Scope: permission.Session, Session: "s", Tool: "edit"})},
				permission.Ask,
			},
			"by name": {
				p, write("edit", ".envrc"),
				[]permission.Grant{
					grant(permission.Grant{Scope: permission.Session, Session: "s", Tool: "edit", Pattern: ".envrc"}),
				},
				permission.Allow,
			},
			"dynamic": {p, bash("git push $X"), []permission.Grant{grant(pushes)}, permission.Ask},
		} {
			if d := c.policy.Decide(c.request, c.grants); d.Action != c.want {
				t.Errorf("%s: %s, not %s: %s", name, d.Action, c.want, d.Reason)
			}
		}
	})
}

// TestAlwaysHolds grants what an "always" would, after which the same call is not asked for again.
func TestAlwaysHolds(t *testing.T) {
	p := policy(permission.Default)
	for _, c := range []struct {
		request permission.Request
		want    []string
	}{
		{bash("git push origin main"), []string{"git push*"}},
		{bash("git push origin main && go test ./... | head -3"), []string{"git push*", "go test*", "head*"}},
		{bash("npm run test:unit -- x"), []string{"npm run test:unit*"}},
		{bash(`python3 -c 'print("it'"'"'s")'`), []string{`python3 -c 'print("it'\''s")'`}},
		{bash("rm -rf 'my build'"), []string{"rm -rf 'my build'"}},
		{bash("find . -name '*.go' -delete"), []string{"find . -name '*.go' -delete"}},
		{bash("find . -name '*.go'"), []string{"find*"}},
		{bash("timeout 5 go vet ./..."), []string{"go vet*"}},
		{bash("sudo ls"), []string{"ls*", "sudo ls"}},
		{bash("go run ./x"), []string{"go run ./x"}},
		{bash("env A=b ls"), []string{"ls*", "env A=b ls"}},
		{bash("sh -c 'git status'"), []string{"git status*"}},
		{bash("npm install left-pad"), []string{"npm install left-pad"}},
		{bash("cat *.go"), []string{"cat*"}},
		{bash("rm *.o"), nil},
		{bash("echo $X"), nil},
		{fetch("example.org:80"), []string{"example.org"}},
		{fetch("example.org:8080"), []string{"example.org:8080"}},
		{write("edit", ".envrc"), []string{".envrc"}},
		{permission.Request{Tool: "mcp__a__b", Effect: permission.External}, []string{""}},
	} {
		d := p.Decide(c.request, nil)
		if d.Action != permission.Ask {
			t.Errorf("%+v: %s", c.request, d.Action)
		}
		var got []string
		var grants []permission.Grant
		for _, r := range d.Always {
			got = append(got, r.Pattern)
			grants = append(grants, permission.Grant{
				Scope: permission.Session, Session: "s", Tool: r.Tool, Pattern: r.Pattern, Decision: permission.Allow,
			})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: always is %q, not %q", c.request.Command, got, c.want)
		}
		if d := p.Decide(c.request, grants); len(grants) > 0 && d.Action != permission.Allow {
			t.Errorf("%s with %q: %s: %s", c.request.Command, got, d.Action, d.Reason)
		}
	}
}

func TestRulesOfAFolder(t *testing.T) {
	p := permission.New(permission.Setup{
		Roots: []string{"/one", "/two", "/two/inner"},
		Layers: []permission.Layer{
			{
				Name:   "project file",
				Root:   "/one",
				Narrow: true,
				Rules:  []permission.Rule{{Tool: "edit", Pattern: "src/**", Action: permission.Deny}},
			},
			{Name: "project file", Root: "/two", Narrow: true, Rules: []permission.Rule{
				{Tool: "edit", Pattern: "inner/lib/**", Action: permission.Deny},
				{Tool: "read", Pattern: "keys/**", Action: permission.Deny},
				{Tool: "webfetch", Action: permission.Deny},
				{Tool: "edit", Pattern: "/one/absolute", Action: permission.Deny},
			}},
		},
	})
	for name, want := range map[string]permission.Action{
		"/one/src/a":       permission.Deny,
		"/two/src/a":       permission.Allow,
		"/two/inner/lib/a": permission.Deny,
		"/two/INNER/lib/a": permission.Deny,
		"/one/inner/lib/a": permission.Allow,
		"/one/absolute":    permission.Deny,
		"/two/absolute":    permission.Allow,
	} {
		r := permission.Request{
			Tool: "edit", Effect: permission.Propose, Paths: []permission.Path{{Name: name, Write: true}},
		}
		if d := p.Decide(r, nil); d.Action != want {
			t.Errorf("%s: %s, %s", name, d.Action, d.Reason)
		}
	}
	if d := p.Decide(permission.Request{
		Tool: "webfetch", Effect: permission.Network, Hosts: []string{"example.org:443"},
	}, nil); d.Action != permission.Deny {
		t.Errorf("a rule without a path does not bind: %s", d.Reason)
	}
}
