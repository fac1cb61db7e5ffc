package agentcore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestCompletePrompt: what can stand at a place of a prompt.
func TestCompletePrompt(t *testing.T) {
	w := newWorld(t, map[string]string{
		"src/main.go": "package main\n\nfunc Start() {}\n", "src/a b.go": "package main\n", ".env": "KEY=x\n",
		"notes.md": "", ".agentls/prompts/look.md": "---\ndescription: Looks.\n---\nLook at $1.\n",
		".agentls/prompts/overlook.md": "No.",
	})
	w.session.SetTrusted(true)
	w.view.SetDocument(w.path("src/main.go"), "package main\n\nfunc Start() {}\n\nfunc Stop() {}\n", 1)
	for text, want := range map[string]string{
		"":           "",
		"See ":       "",
		"/":          "prompt /look = /look [0,1] Looks.|prompt /overlook = /overlook [0,1] No.",
		" /loo":      "prompt /look = /look [1,5] Looks.|prompt /overlook = /overlook [1,5] No.",
		"/look a":    "",
		"see /loo":   "",
		"@di":        "diff diff = @diff [0,3] the uncommitted changes|diagnostics diagnostics = @diagnostics [0,3] what is known to be wrong",
		"See @":      "diff diff = @diff [4,5] the uncommitted changes|diagnostics diagnostics = @diagnostics [4,5] what is known to be wrong|file notes.md = @notes.md [4,5] |folder src/ = @src/ [4,5] folder|file src/main.go = @src/main.go [4,5] open",
		"See @src/":  `file src/a b.go = @"src/a b.go" [4,9] |file src/main.go = @src/main.go [4,9] `,
		"See @St":    "symbol Start = @Start [4,7] function in src/main.go|symbol Stop = @Stop [4,7] function in src/main.go",
		"(@mai":      "file src/main.go = @src/main.go [1,5] open",
		"@\"src/a b": `file src/a b.go = @"src/a b.go" [0,9] `,
		"@.e":        "",
		"me@no":      "",
		"`@no":       "",
		"`x` `@no`":  "",
		"@../":       "",
		"@/etc/":     "",
	} {
		list, err := agentcore.CompletePrompt(w.ctx, w.session, "", text, len(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range list {
			got = append(got, fmt.Sprintf("%s %s = %s [%d,%d] %s", c.Kind, c.Label, c.Text, c.Start, c.End, c.Detail))
		}
		if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	list, err := agentcore.CompletePrompt(w.ctx, w.session, "", "See @di and go on", 7)
	if err != nil || len(list) != 2 {
		t.Errorf("in the middle: %+v, %v", list, err)
	}
}

// TestCompletePromptOffersWhatMayBeSent: no name is offered for which the prompt would be refused.
func TestCompletePromptOffersWhatMayBeSent(t *testing.T) {
	w := newWorld(t, map[string]string{
		"keys/.env": "KEY=x\n", "keys/plain.md": "", "keys/private.md": "func Hidden() {}\n",
		".agentls/prompts/lost.md": "---\nagent: nobody\n---\nx\n", ".agentls/prompts/look.md": "x\n",
	})
	for name, target := range map[string]string{"link.md": ".env", "other.md": "private.md"} {
		if err := os.Symlink(target, w.path("keys/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	w.ruled(config.Permission{Tool: "read", Pattern: "keys/private.md", Action: "deny"})
	w.view.SetDocument(w.path("keys/private.md"), "func Hidden() {}\n", 1)
	for text, want := range map[string]string{
		"@keys/": "keys/plain.md", "@keys": "keys/ keys/plain.md", "@private": "", "@link": "", "@Hid": "",
		"/l": "/look",
	} {
		list, err := agentcore.CompletePrompt(w.ctx, w.session, "", text, len(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range list {
			got = append(got, c.Label)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	// Nothing can be sent to an agent that there is not.
	for agent, want := range map[string]int{"": 1, "nobody": 0} {
		if list, err := agentcore.CompletePrompt(w.ctx, w.session, agent, "@pla", 4); err != nil || len(list) != want {
			t.Errorf("for the agent %q: %+v, %v", agent, list, err)
		}
	}
}

// TestNamedAt: what stands around a place of a prompt.
func TestNamedAt(t *testing.T) {
	for text, want := range map[string]string{
		"See @a.go:1-2|, and": "@a.go:1-2", "See |@a.go.": "@a.go", "See| @a.go": "",
		"`@a|.go`": "", "\n /lo|ok @a.go": "/look", "\n /look| @a.go": "/look", "/look @a|.go": "@a.go",
		"/look |a": "", "see /lo|ok": "",
		"/usr/bin|/x y": "/usr/bin/x", "|": "", "me@a|": "", "/": "",
	} {
		at := strings.Index(text, "|")
		start, end := agentcore.NamedAt(strings.Replace(text, "|", "", 1), max(at, 0))
		if got := strings.Replace(text, "|", "", 1)[start:end]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestRefusals: what keeps a prompt from being sent is found where it stands, and is what sending refuses.
func TestRefusals(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.go": "package a\n", ".env": "KEY=x\n", "b.bin": "\x00\x01", "c.png": "no image",
		".agentls/prompts/look.md": "Look at @$1.\n", ".agentls/prompts/run.md": "!`rm -rf x`\n",
	})
	w.ruled(config.Permission{Tool: "bash", Pattern: "rm*", Action: "deny"})
	for text, want := range map[string]string{
		"Look at @a.go, @nothing, @diff, @c.png and @src/.": "", "ü @.env and @.env:2": "@.env @.env:2",
		"See @b.bin.": "@b.bin", "`@.env`": "", "\n/lok now": "/lok", "/look a.go": "", "/look .env": "/look",
		"/run": "/run", "/usr/bin/env": "", "See @../x": "@../x",
	} {
		refused, err := agentcore.Refusals(w.ctx, w.session, "", text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range refused {
			got = append(got, text[r.Start:r.End])
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if len(refused) > 0 {
			x, err := agentcore.Expand(w.ctx, w.session, agentcore.RunRequest{Prompt: text})
			if err != nil || len(x.Refused) != len(refused) ||
				!strings.HasSuffix(refused[0].Err.Error(), x.Refused[0].Err.Error()) {
				t.Errorf("%q: sending refuses %+v, and before that it is %v; %v", text, x.Refused, refused[0].Err, err)
			}
		}
	}
	if _, err := agentcore.Refusals(w.ctx, w.session, "nobody", "x"); err == nil {
		t.Error("there is an agent nobody")
	}
}

// TestMentionsOfSymbols: a name that is no file brings what defines it, where that is at hand, and is text elsewhere.
func TestMentionsOfSymbols(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.go": "package a\n\nfunc Near() {\n\tdo()\n}\n\nfunc Next() {}\n", "b.go": "package b\n\nfunc Far() {}\n",
		"c.go": "package c\n\nfunc Near() {}\n",
	},
		script.Turn{
			Expect: []script.Expect{
				script.Last("Explain @Server.Near and @Far, @override.\n\n<attachments>"),
				script.Last("<attached name=\"a.go\" about=\"function Near, lines 3-5 of 7; 1 more are called so\">\n" +
					"3\tfunc Near() {\n4\t\tdo()\n5\t}\n</attached>\n</attachments>"),
			},
			Answer: []script.Step{script.Text("done")},
		})
	w.view.SetDocument(w.path("c.go"), "package c\n\nfunc Near() {}\n", 1)
	w.wait(w.start(agentcore.RunRequest{
		Agent: "coder", Prompt: "Explain @Server.Near and @Far, @override.",
		Context: agentcore.Context{Paths: []string{w.path("a.go")}},
	}))
}
