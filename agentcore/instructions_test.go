package agentcore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

// blocks are the files that a text gives instructions of, in order, each with what marks it.
var blocks = regexp.MustCompile(`(?m)^<instructions file="([^"]*)"([^>]*)>$`)

func given(text string) string {
	var list []string
	for _, m := range blocks.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1]+m[2])
	}
	return strings.Join(list, "\n")
}

// instructs expects the prompt to give instructions of just these files, in this order.
func instructs(want ...string) script.Expect {
	return func(request *model.Request) error {
		if got := given(request.System); got != strings.Join(want, "\n") {
			return fmt.Errorf("the prompt gives instructions of\n%s\nwant\n%s\n%s",
				got, strings.Join(want, "\n"), request.System)
		}
		return nil
	}
}

// tells expects the prompt to have texts, in this order.
func tells(parts ...string) script.Expect {
	return func(request *model.Request) error {
		rest := request.System
		for _, part := range parts {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				return fmt.Errorf("the prompt does not say %q here:\n%s", part, rest)
			}
			rest = after
		}
		return nil
	}
}

// brings expects the last result of a call to give instructions of just these files.
func brings(want ...string) script.Expect {
	return func(request *model.Request) error {
		last := request.Messages[len(request.Messages)-1]
		text := ""
		for _, part := range last.Parts {
			if result, ok := part.(model.Result); ok {
				text += result.Text
			}
		}
		if got := given(text); got != strings.Join(want, "\n") {
			return fmt.Errorf("the result gives instructions of %q, want %q:\n%s", got, want, text)
		}
		return nil
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ends is the turn that ends a run.
func ends(expect ...script.Expect) script.Turn { return endsOf("", expect...) }

// endsOf is the turn that ends the run whose first message matches.
func endsOf(match string, expect ...script.Expect) script.Turn {
	return script.Turn{Match: match, Expect: expect, Answer: []script.Step{script.Text("done")}}
}

// instructed runs an agent once on files of a workspace of which the user trusts the folder.
func (w *world) instructed(files ...string) event.RunResult {
	w.t.Helper()
	w.session.SetTrusted(true)
	request := agentcore.RunRequest{Agent: "coder", Prompt: "Go."}
	for _, name := range files {
		request.Context.Paths = append(request.Context.Paths, w.path(name))
	}
	return w.wait(w.start(request))
}

func TestInstructionsInOrder(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, "config", "AGENTS.md"), "of the user\n")
	put(t, filepath.Join(home, ".claude", "CLAUDE.md"), "of the user for Claude\n@more.md\n")
	put(t, filepath.Join(home, ".claude", "more.md"), "more of the user\n")
	w := newWorld(t, map[string]string{
		"AGENTS.md":                       "of the root\n",
		"CLAUDE.md":                       "for Claude, see @docs/style.md and `@docs/code.md`\n",
		"docs/style.md":                   "style\n",
		"docs/code.md":                    "not imported\n",
		"GEMINI.md":                       "for Gemini\n",
		".github/copilot-instructions.md": "for Copilot\n",
		".github/instructions/go.instructions.md":    "---\napplyTo: **/*.go\n---\nfor Go\n",
		".github/instructions/ts.instructions.md":    "---\napplyTo: '**/*.{ts,tsx},*.js'\n---\nfor TypeScript\n",
		".github/instructions/all.instructions.md":   "---\napplyTo: '**'\n---\nfor all\n",
		".github/instructions/never.instructions.md": "for none\n",
		"pkg/AGENTS.md":      "of pkg\n",
		"pkg/deep/AGENTS.md": "of pkg/deep\n",
		"other/AGENTS.md":    "of other\n",
		"pkg/deep/a.go":      "package deep\n",
	})
	w.with(script.New("test", ends(instructs(
		filepath.Join(home, "config", "AGENTS.md")+` of="user"`,
		filepath.Join(home, ".claude", "CLAUDE.md")+` of="user"`,
		filepath.Join(home, ".claude", "more.md")+` of="user" imported_by="`+
			filepath.Join(home, ".claude", "CLAUDE.md")+`"`,
		"AGENTS.md", "CLAUDE.md", `docs/style.md imported_by="CLAUDE.md"`, "GEMINI.md",
		".github/copilot-instructions.md", ".github/instructions/all.instructions.md",
		".github/instructions/go.instructions.md", "pkg/AGENTS.md", "pkg/deep/AGENTS.md",
	), tells("for Go\n</instructions>", "of pkg\n", "of pkg/deep\n"))), func(o *agentcore.Options) {
		o.Home, o.UserConfig = home, filepath.Join(home, "config", "config.toml")
	})
	if r := w.instructed("pkg/deep/a.go"); r.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", r)
	}
}

func TestInstructionsOfAnUntrustedFolder(t *testing.T) {
	w := newWorld(t, map[string]string{
		"AGENTS.md": "root\n", "a.go": "package a\n", "sub/AGENTS.md": "sub\n", "sub/b.go": "package b\n",
	},
		script.Turn{Expect: []script.Expect{instructs()}, Answer: []script.Step{call("read", `{"path":"sub/b.go"}`)}},
		ends(instructs(), brings()))
	w.wait(w.start(agentcore.RunRequest{
		Agent: "coder", Prompt: "Go.", Context: agentcore.Context{Paths: []string{w.path("a.go")}},
	}))
}

// TestInstructionsStay has files change while a run works: its prompt stays to the byte, and the next run has the new
// ones. What the editor shows counts, and not what an agent proposes.
func TestInstructionsStay(t *testing.T) {
	w := newWorld(t, map[string]string{"AGENTS.md": "on the disk\n", "a.txt": "a\n"})
	w.session.SetTrusted(true)
	var first string
	same := func(request *model.Request) error {
		if first == "" {
			first = request.System
		}
		if request.System != first {
			return fmt.Errorf("the prompt has changed:\n%s", request.System)
		}
		return nil
	}
	var turns []script.Turn
	turns = append(turns, script.Turn{
		Expect: []script.Expect{instructs("AGENTS.md"), tells("not saved"), same},
		Answer: []script.Step{script.Gate("held"), call("write", `{"path":"AGENTS.md","content":"proposed\n"}`)},
	})
	for n := range 20 {
		turns = append(turns, script.Turn{
			Expect: []script.Expect{same},
			Answer: []script.Step{call("read", fmt.Sprintf(`{"path":"a.txt","offset":%d}`, n+1))},
		})
	}
	turns = append(turns, ends(same), ends(instructs("AGENTS.md"), tells("saved later")))
	w.with(script.New("test", turns...), nil)
	w.session.SetTrusted(true)
	w.view.SetDocument(w.path("AGENTS.md"), "not saved\n", 1)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if err := w.model.Reached(w.ctx, "held", 1); err != nil {
		t.Fatal(err)
	}
	w.view.SetDocument(w.path("AGENTS.md"), "saved later\n", 2)
	w.model.Release("held")
	if r := w.wait(id); r.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", r)
	}
	w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Again."}))
}

func TestInstructionsOfDeeperFolders(t *testing.T) {
	read := func(name string) []script.Step { return []script.Step{call("read", `{"path":"`+name+`"}`)} }
	w := newWorld(t, map[string]string{
		"AGENTS.md": "root\n", "a.go": "package a\n", "pkg/AGENTS.md": "pkg\n", "pkg/CLAUDE.md": "@AGENTS.md\n",
		"pkg/b.go": "package b\n", "pkg/c.go": "package c\n", "pkg/in/AGENTS.md": "in\n", "pkg/in/d.go": "package d\n",
		".github/instructions/go.instructions.md": "---\napplyTo: 'pkg/in/*.go'\n---\nfor Go\n",
	},
		script.Turn{Expect: []script.Expect{instructs("AGENTS.md")}, Answer: read("a.go")},
		script.Turn{Expect: []script.Expect{brings()}, Answer: []script.Step{
			call("read", `{"path":"pkg/b.go"}`), call("read", `{"path":"pkg/c.go"}`),
		}},
		script.Turn{Expect: []script.Expect{instructs("AGENTS.md"), brings("pkg/AGENTS.md")}, Answer: read("pkg/b.go")},
		script.Turn{Expect: []script.Expect{brings()}, Answer: read("pkg/in/d.go")},
		script.Turn{
			Expect: []script.Expect{brings(".github/instructions/go.instructions.md", "pkg/in/AGENTS.md")},
			Answer: read("pkg/in/d.go"),
		},
		ends(instructs("AGENTS.md"), brings()),
	)
	if r := w.instructed("a.go"); r.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", r)
	}
}

// TestInstructionsLeaveRoom has a model that takes little.
func TestInstructionsLeaveRoom(t *testing.T) {
	w := newWorld(t, map[string]string{"AGENTS.md": strings.Repeat("root line\n", 1000)}, ends(
		instructs("AGENTS.md"), tells("[cut here: 6999 of 9999 bytes are left out; read the file for the rest]"),
	)).holds(4000)
	w.instructed()
}

// TestInstructionsNeedTrustToTheEnd has the user take trust back while a run works: no more instructions come.
func TestInstructionsNeedTrustToTheEnd(t *testing.T) {
	w := newWorld(t, map[string]string{"AGENTS.md": "root\n", "pkg/AGENTS.md": "pkg\n", "pkg/b.go": "package b\n"},
		script.Turn{
			Expect: []script.Expect{instructs("AGENTS.md")},
			Answer: []script.Step{script.Gate("held"), call("read", `{"path":"pkg/b.go"}`)},
		},
		ends(instructs("AGENTS.md"), brings()))
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	must(t, w.model.Reached(w.ctx, "held", 1))
	w.session.SetTrusted(false)
	w.model.Release("held")
	w.wait(id)
}

func TestInstructionsAreCutFromAfar(t *testing.T) {
	w := newWorld(t, map[string]string{
		"AGENTS.md":       strings.Repeat("root line\n", 100), // 1000
		"pkg/AGENTS.md":   strings.Repeat("pkg line.\n", 50),  // 500
		"pkg/b/AGENTS.md": strings.Repeat("near line\n", 40),  // 400
		"pkg/b/x.go":      "package b\n",
	})
	cfg := config.Default()
	cfg.InstructionsMaxBytes = 700
	w.with(script.New("test", ends(
		tells("Left out, since all would be more than 700 bytes; read them where they matter: AGENTS.md\n"),
		instructs("pkg/AGENTS.md", "pkg/b/AGENTS.md"),
		tells("[cut here: ", " of 499 bytes are left out; read the file for the rest]\n</instructions>",
			"near line\n</instructions>"),
	)), func(o *agentcore.Options) { o.Config = cfg })
	w.instructed("pkg/b/x.go")
}

func TestInstructionsAreGivenOnce(t *testing.T) {
	for name, claude := range map[string]func(w *world){
		"the same":    func(w *world) { put(t, w.path("CLAUDE.md"), "rules\n\n") },
		"a link":      func(w *world) { must(t, os.Symlink("AGENTS.md", w.path("CLAUDE.md"))) },
		"one import":  func(w *world) { put(t, w.path("CLAUDE.md"), "\n@AGENTS.md\n") },
		"one import.": func(w *world) { put(t, w.path("CLAUDE.md"), "@./AGENTS.md") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"AGENTS.md": "rules\n"}, ends(instructs("AGENTS.md")))
			claude(w)
			w.instructed()
		})
	}
}

func TestInstructionsOfChildren(t *testing.T) {
	bare := &agent.Definition{
		Slug:        "bare",
		Categories:  []agent.Category{agent.Subagent},
		Mode:        agent.Agentic,
		Description: "Bare.",
		Instruction: agent.Instruction{Prompt: "Bare.", Instructions: "none"},
	}
	w := newWorld(t, map[string]string{
		"AGENTS.md": "root\n", "pkg/AGENTS.md": "pkg\n", "pkg/a.go": "package a\n", "other/AGENTS.md": "other\n",
		"other/b.go": "package b\n",
	})
	w.with(script.New("test",
		script.Turn{
			Expect: []script.Expect{instructs("AGENTS.md")}, Answer: []script.Step{call("read", `{"path":"pkg/a.go"}`)},
		},
		script.Turn{
			Expect: []script.Expect{brings("pkg/AGENTS.md")},
			Answer: []script.Step{task("explore", "Look at it.", `,"context_files":["other/b.go"]`)},
		},
		ends(instructs("AGENTS.md", "other/AGENTS.md", "pkg/AGENTS.md")),
		script.Turn{Answer: []script.Step{task("bare", "Look at it.", `,"context_files":["other/b.go"]`)}},
		ends(instructs()),
		ends(instructs("AGENTS.md")),
	), nil, bare)
	w.instructed()
}

// TestInstructionsAreTrustedByContent has the store say which files the user trusted: what has changed since, and what
// came anew, is given to nobody.
func TestInstructionsAreTrustedByContent(t *testing.T) {
	w := newWorld(t, map[string]string{
		"AGENTS.md":       "root @style.md\n",
		"style.md":        "style\n",
		"pkg/AGENTS.md":   "pkg\n",
		"pkg/a.go":        "package a\n",
		"other/b.go":      "package b\n",
		".gitignore":      "built/\n",
		"built/AGENTS.md": "built\n",
		"built/c.go":      "package c\n",
	})
	folder := func(whole bool) authority.FolderTrust {
		t.Helper()
		look := func() (authority.FolderTrust, error) { return w.engine.Decisions().FolderTrust(w.ctx, w.dir) }
		if whole {
			look = func() (authority.FolderTrust, error) { return w.engine.Decisions().WholeTrust(w.ctx, w.dir) }
		}
		f, err := look()
		must(t, err)
		return f
	}
	inform := func() {
		t.Helper()
		f := folder(false)
		w.session.SetFolders(map[string]authority.FolderTrust{w.dir: f})
		w.session.SetTrusted(f.Standing == permission.Trusted, w.dir)
	}
	given := func(want string, files ...string) {
		t.Helper()
		var paths, got []string
		for _, name := range files {
			paths = append(paths, w.path(name))
		}
		set, err := w.session.Instructions("", paths)
		must(t, err)
		for _, text := range set.Texts {
			got = append(got, w.view.Shown(text.Path))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("given: %q, want %q; left out: %+v", got, want, set.Omitted)
		}
	}
	inform()
	given("", "pkg/a.go")
	whole := folder(true)
	var kinds []string
	for _, item := range authority.DescribeActing(whole.Root, whole.Actors) {
		kinds = append(kinds, item.Path+" "+item.Kind)
	}
	got := strings.Join(kinds, ", ")
	if got != "AGENTS.md instructions, pkg/AGENTS.md instructions, style.md instructions" {
		t.Errorf("the user is shown %s", got)
	}
	must(t, w.engine.Decisions().TrustFolder(w.ctx, w.dir, whole.Actors))
	inform()
	given("AGENTS.md style.md pkg/AGENTS.md", "pkg/a.go")
	given("AGENTS.md style.md", "built/c.go")

	// A process of others puts a file there, and changes another, before anybody looks.
	put(t, w.path("other/AGENTS.md"), "planted\n")
	put(t, w.path("style.md"), "changed\n")
	given("AGENTS.md", "other/b.go")
	w.view.SetDocument(w.path("style.md"), "typed\n", 1)
	given("AGENTS.md style.md", "other/b.go")
	w.view.CloseDocument(w.path("style.md"))
	for _, name := range []string{"style.md", "pkg/AGENTS.md", "AGENTS.md"} {
		old, err := os.ReadFile(w.path(name))
		must(t, err)
		if name == "style.md" {
			old = []byte("style\n")
		}
		put(t, w.path(name), "changed\n")
		if f := folder(false); f.Standing != permission.Changed {
			t.Errorf("after a change of %s the folder is %s", name, f.Standing)
		}
		inform()
		given("", "pkg/a.go")
		put(t, w.path(name), string(old))
		inform()
		given("AGENTS.md style.md pkg/AGENTS.md", "pkg/a.go")
	}
	if f := folder(true); f.Standing != permission.Changed || strings.Join(f.Added, " ") != "other/AGENTS.md" {
		t.Errorf("who is about to trust the folder sees %s", f.Trust)
	}
}

// TestInstructionsOutliveCompaction has a conversation shortened in which a call had brought instructions: the next
// call there brings them again.
func TestInstructionsOutliveCompaction(t *testing.T) {
	files := bigFiles()
	files["pkg/AGENTS.md"], files["pkg/n.txt"], files["AGENTS.md"] = "pkg\n", "n\n", "root\n"
	near := call("read", `{"path":"pkg/n.txt"}`)
	w := newWorld(t, files,
		summariser("## Task\nthe summary"),
		script.Turn{Expect: []script.Expect{instructs("AGENTS.md")}, Answer: []script.Step{near}},
		script.Turn{Expect: []script.Expect{brings("pkg/AGENTS.md")}, Answer: []script.Step{readOf("a")}},
		script.Turn{Expect: []script.Expect{brings()}, Answer: []script.Step{readOf("b")}},
		script.Turn{Answer: []script.Step{readOf("c")}},
		script.Turn{Answer: []script.Step{readOf("d")}},
		script.Turn{Expect: []script.Expect{summed(2, "the summary"), brings()}, Answer: []script.Step{near}},
		script.Turn{
			Expect: []script.Expect{brings("pkg/AGENTS.md"), instructs("AGENTS.md")}, Answer: []script.Step{near},
		},
		ends(brings()),
	).holds(smallContext)
	if r := w.instructed(); r.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", r)
	}
}

// TestInstructionsOfSeveralFolders has two workspace folders, of which the user trusts one.
func TestInstructionsOfSeveralFolders(t *testing.T) {
	w := newWorld(t, map[string]string{"AGENTS.md": "first\n", "a.go": "package a\n"})
	other := t.TempDir()
	put(t, filepath.Join(other, "AGENTS.md"), "second\n")
	put(t, filepath.Join(other, "b.go"), "package b\n")
	must(t, w.view.SetRoots([]workspace.Root{{Path: w.dir, Name: "w"}, {Path: other, Name: "o"}}))
	given := func(want string) {
		t.Helper()
		set, err := w.session.Instructions("", []string{filepath.Join(other, "b.go")})
		must(t, err)
		got := ""
		for _, text := range set.Texts {
			got += text.Body + " "
		}
		if got != want {
			t.Errorf("given: %q, want %q", got, want)
		}
	}
	inform := func() {
		folders := map[string]authority.FolderTrust{}
		for _, root := range []string{w.dir, other} {
			f, err := w.engine.Decisions().FolderTrust(w.ctx, root)
			must(t, err)
			folders[root] = f
		}
		w.session.SetFolders(folders)
	}
	inform()
	given("")
	for _, root := range []string{w.dir, other} {
		f, err := w.engine.Decisions().WholeTrust(w.ctx, root)
		must(t, err)
		must(t, w.engine.Decisions().TrustFolder(w.ctx, root, f.Actors))
		inform()
		if root == w.dir {
			given("first ")
		}
	}
	given("first second ")
	must(t, w.engine.Decisions().RevokeTrust(w.ctx, other)) // which counts at once
	given("first ")
}
