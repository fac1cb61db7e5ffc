package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/beside"
)

// write makes files below a folder; a text of "-> x" makes a link to x.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// native is a definition with further keys.
func native(name, keys string) string {
	return "---\nname: " + name + "\ndescription: d\ncategory: [subagent]\n" + keys + "---\nDo.\n"
}

func load(t testing.TB, l *agent.Loader, folders []agent.Folders) *agent.Registry {
	t.Helper()
	k := known()
	k.Agents = nil
	r, err := l.Load(t.Context(), folders, k)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// own are the agents of a registry that are not built in, with their layers.
func own(r *agent.Registry) []string {
	var list []string
	for _, d := range r.All() {
		if d.Source.Layer != agent.LayerBuiltin {
			list = append(list, d.Slug+" "+d.Source.Layer.String())
		}
	}
	slices.Sort(list)
	return list
}

// wrongs are the problems of a registry without what is before the file's name.
func wrongs(dir string, r *agent.Registry) []string {
	var list []string
	for _, p := range r.Problems() {
		if p.Hint == "" || p.File == "" {
			list = append(list, "has no hint or file: "+p.String())
		}
		name := strings.TrimPrefix(filepath.ToSlash(p.File), filepath.ToSlash(dir)+"/")
		list = append(list, fmt.Sprintf("%s:%d %s %s", name, p.Span.StartLine+1, p.Severity, p.Message))
	}
	slices.Sort(list)
	return list
}

func TestLoaderReadsAllLayers(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"config/agents/a.md":         native("a", ""),
		"config/agents/deep/er/b.md": native("b", ""),
		"config/agents.toml": "[[agents]]\nname='c'\ndescription='d'\n" +
			"category='subagent'\nprompt='p'\n",
		"config/my.agents.json":              `{"name":"d","description":"d","category":"subagent","prompt":"p"}`,
		"config/plugins/one/agents/p.md":     native("p", ""),
		"config/plugins/one/agents/a.md":     native("a", "title: Of the plugin\n"),
		"config/plugins/one/agents.toml":     "",
		"config/plugins/file":                "",
		"config/config.toml":                 "",
		"home/.claude/agents/e.md":           "---\nname: e\ndescription: d\n---\nDo.\n",
		"home/.opencode/agent/f.md":          "---\ndescription: d\n---\nDo.\n",
		"project/.agentls/agents/a.md":       native("a", "title: Of the project\n"),
		"project/.agentls/agents/coder.md":   native("coder", "title: Mine\n"),
		"project/.opencode/agents/g.md":      "---\ndescription: d\n---\nDo.\n",
		"project/.claude/agents/README.md":   "# Agents\n",
		"project/.claude/agents/.hidden.md":  "x",
		"project/.claude/agents/notes.txt":   "x",
		"project/.claude/agents/broken.md":   "",
		"project/.agentls/agents/wrong.md":   native("Wrong", ""),
		"project/.agentls/agents/unknown.md": native("unknown", "tools: [raed]\n"),
	})
	var l agent.Loader
	folders := agent.StandardFolders(filepath.Join(dir, "config"), filepath.Join(dir, "home"),
		filepath.Join(dir, "project"))
	r := load(t, &l, folders)
	if diff := cmp.Diff([]string{
		"a project", "b user", "c user", "coder project", "d user", "e user", "f user",
		"g project", "p plugin",
	}, own(r)); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if d, err := r.Find("a"); err != nil || d.Title != "Of the project" {
		t.Errorf("a is %v, %v", d, err)
	}
	var hidden []string
	for _, s := range append(r.Shadows("a"), r.Shadows("coder")...) {
		hidden = append(hidden, s.Layer.String()+" "+strings.TrimPrefix(s.String(), dir))
	}
	if diff := cmp.Diff([]string{
		"user /config/agents/a.md", "plugin /config/plugins/one/agents/a.md",
		"builtin built-in",
	}, hidden); diff != "" {
		t.Errorf("what is hidden (-want +got):\n%s", diff)
	}
	want := []string{
		"project/.agentls/agents/unknown.md:5 error there is no tool \"raed\"",
		"project/.agentls/agents/wrong.md:2 error name is \"Wrong\"",
		"project/.claude/agents/README.md:1 information this is taken for a document, not for an agent",
		"project/.claude/agents/broken.md:1 error the file is empty",
	}
	if diff := cmp.Diff(want, wrongs(dir, r)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if none := load(t, &l, nil); len(own(none)) > 0 || len(none.All()) == 0 {
		t.Errorf("without folders there are %v", own(none))
	}
}

func TestLoaderReadsWhatChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agents", "a.md")
	write(t, dir, map[string]string{"agents/a.md": native("a", "order: 1\n"), "agents/b.md": native("b", "")})
	// However slow the machine is, the file has been changed just now.
	soon := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, soon, soon); err != nil {
		t.Fatal(err)
	}
	folders := []agent.Folders{{Layer: agent.LayerUser, Dir: dir, Format: agent.Native}}
	var l agent.Loader
	first := load(t, &l, folders)
	if again := load(t, &l, folders); again != first {
		t.Error("nothing has changed, and the registry is another one")
	}
	order := func(r *agent.Registry) int {
		d, err := r.Find("a")
		if err != nil {
			t.Fatal(err)
		}
		return d.Order
	}
	b, _ := first.Find("b")
	// Of the same size and right after the last load, which a coarse clock may not tell apart.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"agents/a.md": native("a", "order: 2\n")})
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	second := load(t, &l, folders)
	if order(second) != 2 || order(first) != 1 {
		t.Errorf("the orders are %d and %d", order(first), order(second))
	}
	if now, _ := second.Find("b"); now != b {
		t.Error("b was read again, though it did not change")
	}
	// Long settled files are told apart by their time, and by what replaces them.
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	load(t, &l, folders)
	settled := load(t, &l, folders)
	write(t, dir, map[string]string{"agents/new": native("a", "order: 3\n")})
	if err := os.Chtimes(filepath.Join(dir, "agents", "new"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "agents", "new"), path); err != nil {
		t.Fatal(err)
	}
	if third := load(t, &l, folders); third == settled || order(third) != 3 {
		t.Errorf("a file put in the place of another is not noticed: %d", order(third))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := own(load(t, &l, folders)); !slices.Equal(got, []string{"b user"}) {
		t.Errorf("after a removal there are %v", got)
	}
	k := known()
	k.Presets = []string{"other"}
	write(t, dir, map[string]string{"agents/b.md": native("b", "model: other\n")})
	if got := own(load(t, &l, folders)); len(got) > 0 {
		t.Errorf("an agent with an unknown preset is among %v", got)
	}
	if r, err := l.Load(t.Context(), folders, k); err != nil || len(own(r)) != 1 {
		t.Errorf("a new preset is not noticed: %v", err)
	}
}

func TestLoaderReadsPromptFiles(t *testing.T) {
	dir := t.TempDir()
	toml := func(name, file string) string {
		return fmt.Sprintf("[[agents]]\nname = %q\ndescription = \"d\"\ncategory = \"subagent\"\nprompt_file = %q\n",
			name, file)
	}
	write(t, dir, map[string]string{
		"p/.agentls/agents.toml": toml("a", "prompts/a.md") + toml("up", "../secret") + toml("gone", "gone.md") +
			toml("empty", "empty.md") + toml("link", "link.md") + toml("wrong", "prompts/b.md"),
		"p/.agentls/prompts/a.md":     "Do {{time}}.\r\nNow.\n",
		"p/.agentls/prompts/b.md":     "Do {{naem}}.\n",
		"p/.agentls/empty.md":         "\n",
		"p/.agentls/link.md":          "-> ../../secret",
		"p/secret":                    "s",
		"secret":                      "s",
		"p/.agentls/agents/out.md":    "-> ../../../secret.md",
		"secret.md":                   native("out", ""),
		"p/.agentls/agents/in.md":     "-> ../inside.md",
		"p/.agentls/inside.md":        native("in", ""),
		"p/.agentls/agents/dangle.md": "-> nowhere.md",
	})
	var l agent.Loader
	folders := agent.StandardFolders("", "", filepath.Join(dir, "p"))
	r := load(t, &l, folders)
	if got := own(r); !slices.Equal(got, []string{"a project", "in project"}) {
		t.Errorf("the agents are %v", got)
	}
	if d, err := r.Find("a"); err != nil || d.Prompt != "Do {{time}}.\nNow." {
		t.Errorf("the prompt is %v, %v", d, err)
	}
	got := strings.Join(wrongs(dir, r), "\n")
	for _, want := range []string{
		`agents.toml:10 error the prompt file "../secret" cannot be used: it is not below the folder`,
		`"gone.md" cannot be used: no such file`,
		`"empty.md" cannot be used: it is empty`, `"link.md" cannot be used: path escapes`,
		"agents/out.md:1 error it cannot be read: path escapes",
		"agents/dangle.md:1 error it cannot be read: no such file", "there is no variable naem",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	write(t, dir, map[string]string{"p/.agentls/prompts/a.md": "Do it otherwise.\n"})
	if d, err := load(t, &l, folders).Find("a"); err != nil || d.Prompt != "Do it otherwise." {
		t.Errorf("after a change the prompt is %v, %v", d, err)
	}
	file, _ := agent.ReadFile(filepath.Join(dir, "p", ".agentls", "agents.toml"), folders)
	if len(file.Definitions) != 6 || file.Definitions[0].Prompt != "Do it otherwise." || len(file.Usable()) != 2 {
		t.Errorf("alone the file has %d definitions, %d of them usable", len(file.Definitions), len(file.Usable()))
	}
	if file, _ := agent.ReadFile(filepath.Join(dir, "nothing.md"), nil); !agent.Failed(file.Problems) {
		t.Error("a file that is not there has no problem")
	}
}

func TestLoaderSeesAgentsBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"user/agents/a.md":      native("a", "subagents: [b]\n"),
		"user/agents/b.md":      native("b", "subagents: [c]\n"),
		"project/agents/c.md":   native("c", "subagents: [a, tester]\n"),
		"user/agents/d.md":      native("d", "subagents: [nobody]\n"),
		"user/agents/e.md":      native("e", "subagents: [broken]\n"),
		"user/agents/broken.md": native("broken", "timeout: soon\n"),
		"user/agents/self.md":   native("self", "subagents: [self]\n"),
		"user/agents/root.md":   native("root", "subagents: [root]\nas_child: {subagents: []}\n"),
		"user/agents/x1.md":     native("x", ""),
		"user/agents/x2.md":     native("x", "aliases: [e, tester]\n"),
		"user/agents/notask.md": native("notask", "subagents: [notask]\ndisallowed_tools: [task]\n"),
	})
	folders := []agent.Folders{
		{Layer: agent.LayerUser, Dir: filepath.Join(dir, "user"), Format: agent.Native},
		{Layer: agent.LayerProject, Dir: filepath.Join(dir, "project"), Format: agent.Native},
	}
	var l agent.Loader
	r := load(t, &l, folders)
	if diff := cmp.Diff([]string{"a user", "b user", "e user", "notask user", "root user", "x user"},
		own(r)); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	want := []string{
		"project/agents/c.md:5 error the delegation never ends: c → a → b → c",
		"user/agents/broken.md:5 error timeout is \"soon\"",
		"user/agents/d.md:5 error there is no agent \"nobody\"",
		"user/agents/notask.md:5 warning the agent cannot delegate: task is taken away from its tools",
		"user/agents/self.md:5 error the delegation never ends: self → self",
		"user/agents/x1.md:2 warning x is also defined in " + filepath.Join(dir, "user/agents/x2.md") +
			":2:7, which counts, so this definition is not used",
		"user/agents/x2.md:2 information the alias e of x stands for the agent e (" +
			filepath.Join(dir, "user/agents/e.md") + ":2:7)",
		"user/agents/x2.md:2 information the alias tester of x stands for the agent tester (built-in)",
		"user/agents/x2.md:2 information x is also defined in " + filepath.Join(dir, "user/agents/x1.md") +
			":2:7, which is not used, since this one counts",
	}
	if diff := cmp.Diff(want, wrongs(dir, r)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestLoaderEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"agents/a.md": native("a", "")})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	var l agent.Loader
	if _, err := l.Load(ctx, []agent.Folders{{Layer: agent.LayerUser, Dir: dir, Format: agent.Native}},
		agent.Known{}); !errors.Is(err, why) {
		t.Errorf("the error is %v", err)
	}
	if got := own(load(t, &l,
		[]agent.Folders{{Layer: agent.LayerUser, Dir: dir, Format: agent.Native}})); len(got) != 1 {
		t.Errorf("afterwards there are %v", got)
	}
}

func TestLoaderRefusesOddFiles(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("d/", 9)
	write(t, dir, map[string]string{
		"agents/large.md":              strings.Repeat("x", 1<<20+1),
		"agents/" + deep + "x.md":      native("x", ""),
		"agents/ok.md":                 native("ok", ""),
		"agents/folder.md/a.md":        native("below", ""),
		"outside/.agentls/agents/o.md": native("o", ""),
	})
	var l agent.Loader
	r := load(t, &l, []agent.Folders{
		{Layer: agent.LayerUser, Dir: dir, Format: agent.Native},
		{
			Layer: agent.LayerProject, Dir: filepath.Join(dir, "outside", ".agentls"), Format: agent.Native,
			Within: filepath.Join(dir, "agents"),
		},
	})
	if got := own(r); !slices.Equal(got, []string{"below user", "ok user"}) {
		t.Errorf("the agents are %v", got)
	}
	got := strings.Join(wrongs(dir, r), "\n")
	for _, want := range []string{
		"agents/large.md:1 error it cannot be read: it has 1048577 bytes",
		"this folder lies too deep", "outside/.agentls:1 error it cannot be read: it is not in",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestRegistry(t *testing.T) {
	in := func(layer agent.Layer, slug string, aliases ...string) *agent.Definition {
		return &agent.Definition{
			ID: "id-" + slug, Slug: slug, Categories: []agent.Category{agent.Primary},
			Aliases: aliases, Source: agent.Source{Layer: layer, Path: layer.String() + "/" + slug},
		}
	}
	user, project := in(agent.LayerUser, "a", "z"), in(agent.LayerProject, "a", "z")
	hidden := in(agent.LayerUser, "h")
	hidden.Categories = []agent.Category{agent.Hidden}
	unlisted := in(agent.LayerUser, "u")
	unlisted.Unlisted = true
	r := agent.NewRegistry(project, hidden, unlisted, user, in(agent.LayerUser, "b", "z"))
	for _, name := range []string{"a", "z", "id-a"} {
		if d, err := r.Find(name); err != nil || d != project {
			t.Errorf("%s is %v, %v", name, d, err)
		}
	}
	if _, err := r.Find("bb"); err == nil || !strings.Contains(err.Error(), "did you mean b?") {
		t.Errorf("the error is %v", err)
	}
	if len(r.List("")) != 2 || len(r.All()) != 4 || len(r.List(agent.Hidden)) != 1 || len(r.List(agent.Subagent)) != 0 {
		t.Errorf("the lists are wrong: %v", r.All())
	}
	runtime := in(agent.LayerRuntime, "a")
	with := r.With(runtime)
	if d, _ := with.Find("a"); d != runtime {
		t.Error("what is registered at run time does not count")
	}
	if got := with.Shadows("a"); len(got) != 2 || got[0] != project.Source || got[1] != user.Source {
		t.Errorf("it hides %v", got)
	}
	if d, _ := r.Find("a"); d != project {
		t.Error("a registry has changed")
	}
	for layer := agent.LayerBuiltin; layer <= agent.LayerRuntime; layer++ {
		text, err := layer.MarshalText()
		var again agent.Layer
		if err != nil || again.UnmarshalText(text) != nil || again != layer {
			t.Errorf("%v is read back as %v", layer, again)
		}
	}
	var l agent.Layer
	if err := l.UnmarshalText([]byte("cellar")); err == nil || agent.Layer(9).String() != "layer 9" {
		t.Error("an unknown layer is known")
	}
}

// thousand makes 1,000 files of definitions as they are found in collections.
func thousand(b *testing.B) []agent.Folders {
	b.Helper()
	dir := b.TempDir()
	files := map[string]string{}
	old := time.Now().Add(-time.Hour)
	for i := range 1000 {
		description := "Use this agent for task"
		if i%5 == 0 {
			description = "Use this agent when: needed. <example>\nContext: a\nuser: \"b: c\"\n</example>" // no YAML
		}
		files[fmt.Sprintf(".claude/agents/a%d.md",
			i)] = fmt.Sprintf(
			"---\nname: a%d\ndescription: %s\ntools: Read, Grep, Bash\nmodel: sonnet\ncolor: blue\n---\n\n%s", i,
			description, strings.Repeat("You are an expert in many things, and do them well.\n", 60))
	}
	write(b, dir, files)
	for name := range files {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			b.Fatal(err)
		}
	}
	return agent.StandardFolders("", dir)
}

// BenchmarkLoadCold reads 1,000 files; the budget is 150 ms.
func BenchmarkLoadCold(b *testing.B) {
	folders := thousand(b)
	for b.Loop() {
		var l agent.Loader
		if r := load(b, &l, folders); len(own(r)) != 1000 {
			b.Fatalf("%d agents were read", len(own(r)))
		}
	}
}

// BenchmarkLoadUnchanged looks at 1,000 files of which none has changed; the budget is 10 ms.
func BenchmarkLoadUnchanged(b *testing.B) {
	folders := thousand(b)
	var l agent.Loader
	first := load(b, &l, folders)
	for b.Loop() {
		if load(b, &l, folders) != first {
			b.Fatal("something has changed")
		}
	}
}

// BenchmarkLoadOneChanged has one of 1,000 files change each time.
func BenchmarkLoadOneChanged(b *testing.B) {
	folders := thousand(b)
	var l agent.Loader
	load(b, &l, folders)
	path := filepath.Join(folders[0].Dir, "agents", "a7.md")
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(path, fmt.Appendf(nil, "---\nname: a7\ndescription: d%d\n---\nDo.\n", i),
			0o644); err != nil {
			b.Fatal(err)
		}
		if d, err := load(b, &l, folders).Find("a7"); err != nil || d.Description != fmt.Sprintf("d%d", i) {
			b.Fatal(d, err)
		}
	}
}

// A panic over one file is raised in the one who loads, who can answer for it, and the next load works.
func TestLoaderPanics(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"agents/a.md": native("a", ""), "agents/b.md": native("b", "tools: [wrong]\n")})
	folders := []agent.Folders{{Layer: agent.LayerUser, Dir: dir, Format: agent.Native}}
	var l agent.Loader
	func() {
		defer func() {
			if p, ok := recover().(*beside.Panic); !ok || p.Value != "injected" {
				t.Errorf("raised is %v", p)
			}
		}()
		faulty := known()
		faulty.ResolveTool = func(string) (string, bool) { panic("injected") }
		_, err := l.Load(t.Context(), folders, faulty)
		t.Errorf("the load ended as if nothing had happened: %v", err)
	}()
	if got := own(load(t, &l, folders)); !slices.Equal(got, []string{"a user"}) { // b is not understood
		t.Errorf("afterwards there are %v", got)
	}
}

// TestReadFileFollowsLinksAsFoldersDo: what one file is said to be is what the folders that it lies in make of it.
func TestReadFileFollowsLinksAsFoldersDo(t *testing.T) {
	definition := func(name string) string {
		return fmt.Sprintf(`{"RoleId": %q, "DisplayName": "X", "SystemPromptFile": "%s.txt"}`, name, name)
	}
	dir := t.TempDir()
	files := map[string]string{"secret": "s", "p/shared": "s", "secret.json": `{"RoleId": "link", "SystemPrompt": "p"}`}
	for _, folder := range []string{"p/.agentls/agents", "config/agents", "p/loose"} {
		up := strings.Repeat("../", strings.Count(folder, "/")+1)
		shared := strings.Replace(up+"p/shared", "../p/", "", strings.Count(folder[:1], "p")) // without a way out of p
		for name, text := range map[string]string{
			"beside.json": definition("beside"), "beside.txt": "-> here.txt", "here.txt": "Do.",
			"project.json": definition("project"), "project.txt": "-> " + shared,
			"out.json": definition("out"), "out.txt": "-> " + up + "secret",
			"link.json": "-> " + up + "secret.json",
		} {
			files[folder+"/"+name] = text
		}
	}
	write(t, dir, files)
	folders := agent.StandardFolders(filepath.Join(dir, "config"), "", filepath.Join(dir, "p"))
	listed := load(t, new(agent.Loader), folders).Problems()
	for folder, refused := range map[string]string{
		"p/.agentls/agents": "out link", "config/agents": "",
		"p/loose": "out project",
	} {
		for _, name := range []string{"beside", "project", "out", "link"} {
			full := filepath.Join(dir, filepath.FromSlash(folder), name+".json")
			file, _ := agent.ReadFile(full, folders)
			want := slices.Contains(strings.Fields(refused), name)
			if agent.Failed(file.Problems) != want ||
				want && !strings.Contains(file.Problems[0].Message, "path escapes") {
				t.Errorf("%s in %s alone has %v", name, folder, file.Problems)
			}
			inFolders := slices.ContainsFunc(listed,
				func(p agent.Problem) bool { return p.File == full && p.Severity == "error" })
			if folder != "p/loose" && inFolders != want {
				t.Errorf("of %s in %s the folders say %v", name, folder, listed)
			}
		}
	}
}

// TestReadFileKnowsWhereNothingIsRead: a file that its folder's tool does not read is not sound alone, either.
func TestReadFileKnowsWhereNothingIsRead(t *testing.T) {
	dir := t.TempDir()
	toml := "agent_type = \"t\"\nwhen_to_use = \"d\"\nsystem_prompt = \"Do.\"\n"
	write(t, dir, map[string]string{
		".claude/agents/t.toml": toml, ".opencode/agent/k.yaml": "name: k\n",
		".agentls/agents/n.yml": "name: n\n", ".agentls/agents/t.toml": toml, "t.toml": toml,
	})
	var l agent.Loader
	listed := load(t, &l, agent.StandardFolders("", "", dir)).Problems()
	for name, want := range map[string]bool{
		".claude/agents/t.toml": true, ".opencode/agent/k.yaml": true,
		".agentls/agents/n.yml": true, ".agentls/agents/t.toml": false, "t.toml": false,
	} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		file, _ := agent.ReadFile(full, nil)
		if got := slices.ContainsFunc(file.Problems, agent.Problem.Unread); got != want ||
			want != (len(file.Usable()) == 0) {
			t.Errorf("%s alone has %v", name, file.Problems)
		}
		if got := slices.ContainsFunc(listed,
			func(p agent.Problem) bool { return p.File == full && p.Unread() }); got != want {
			t.Errorf("of %s the folders say %v", name, listed)
		}
	}
}
