package agentcore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/permission"
)

// folderTrust is what there is in the workspace folder to trust, and whether the user trusts it.
func (w *world) folderTrust() authority.FolderTrust {
	w.t.Helper()
	f, err := w.engine.Decisions().FolderTrust(w.ctx, w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func TestTrustOfAFolder(t *testing.T) {
	w := newWorld(t, map[string]string{
		".agentls/agents/x.md": "---\nname: x\n---\n",
		".agentls/config.toml": "max_depth = 2\n[[hooks.PreToolUse]]\ncommand = \"sh ./tools/hook.sh; true\"\n",
		"tools/hook.sh":        "true\n",
	})
	standing := func(root string) permission.Standing {
		t.Helper()
		f, err := w.engine.Decisions().FolderTrust(w.ctx, root)
		if err != nil {
			t.Fatal(err)
		}
		return f.Standing
	}
	shown := w.folderTrust()
	if shown.Standing != permission.Unknown ||
		!slices.ContainsFunc(shown.Actors, func(a permission.Actor) bool { return a.Path == "tools/hook.sh" }) {
		t.Errorf("unexpected: %+v", shown)
	}
	if err := w.engine.Decisions().TrustFolder(w.ctx, w.dir, shown.Actors); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	if a, b := standing(w.dir), standing(link); a != permission.Trusted || b != permission.Trusted {
		t.Errorf("by its name %s, by a link %s", a, b)
	}
	now := w.folderTrust()
	depth := func() int {
		c, _ := config.Load(now.Sources(config.Sources{}, w.dir))
		return c.MaxDepth
	}
	if got := depth(); got != 2 {
		t.Errorf("the trusted configuration gives %d", got)
	}
	// What is put there between the look and the reading does not count.
	if err := os.WriteFile(w.path(".agentls/config.toml"), []byte("max_depth = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := depth(); got != config.Default().MaxDepth {
		t.Errorf("a configuration that nobody trusted gives %d", got)
	}
	if now.Unchanged(w.ctx) == nil {
		t.Error("the change was not noticed")
	}
	if got := standing(w.dir); got != permission.Changed {
		t.Errorf("after a change it is %s", got)
	}
	// It lasts, and can be taken back.
	w.closeEngine()
	w.open()
	if got := standing(w.dir); got != permission.Changed {
		t.Errorf("in another process it is %s", got)
	}
	if err := w.engine.Decisions().NeverTrust(w.ctx, w.dir); err != nil {
		t.Fatal(err)
	}
	if f, err := w.engine.Decisions().FolderTrust(w.ctx, w.dir); err != nil || !f.Never ||
		f.Standing != permission.Unknown {
		t.Errorf("never: %+v, %v", f, err)
	}
	if err := w.engine.Decisions().RevokeTrust(w.ctx, w.dir); err != nil {
		t.Fatal(err)
	}
	if list, err := w.engine.Decisions().TrustedFolders(w.ctx); err != nil || len(list) > 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}

// TestTrustCoversHooksOfDefinitions has a definition whose hook names a file of the folder.
func TestTrustCoversHooksOfDefinitions(t *testing.T) {
	w := newWorld(t, map[string]string{
		".agentls/agents/x.md": "---\nname: x\ndescription: d\nhooks:\n  PreToolUse:\n    - command: sh " +
			"tools/guard.sh\n---\nDo.\n",
		".claude/agents/y.md": "---\nname: y\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n        - type: " +
			"command\n          command: '\"$CLAUDE_PROJECT_DIR\"/tools/stop.sh && true'\n---\nDo.\n",
		".agentls/agents/z.md": "---\nname: z\ndescription: tools/none.sh\n---\nhooks\n",
		"tools/guard.sh":       "true\n",
		"tools/stop.sh":        "true\n",
		"tools/none.sh":        "true\n",
		".agentls/agents.toml": "hooks = [",
	})
	shown := w.folderTrust()
	var files, items []string
	for _, a := range shown.Actors {
		if filepath.Dir(a.Path) == "tools" {
			files = append(files, a.Path)
		}
	}
	for _, i := range authority.DescribeActing(shown.Root, shown.Actors) {
		if i.Kind == "hook" {
			items = append(items, i.Path+": "+i.Description)
		}
	}
	if want := []string{"tools/guard.sh", "tools/stop.sh"}; !slices.Equal(files, want) {
		t.Errorf("the files are %q, want %q", files, want)
	}
	want := []string{
		".agentls/agents/x.md: PreToolUse runs sh tools/guard.sh",
		".claude/agents/y.md: Stop runs \"$CLAUDE_PROJECT_DIR\"/tools/stop.sh && true",
		"tools/guard.sh: A file that a command names.", "tools/stop.sh: A file that a command names.",
	}
	if !slices.Equal(items, want) {
		t.Errorf("described as %q, want %q", items, want)
	}
	if err := w.engine.Decisions().TrustFolder(w.ctx, w.dir, shown.Actors); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("tools/guard.sh"), []byte("false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.folderTrust().Standing; got != permission.Changed {
		t.Errorf("after a change of the hook's file it is %s", got)
	}
}

// TestTrustCoversServers has MCP servers of a definition and of the configuration that name files of the folder, also
// behind an option and in a variable.
func TestTrustCoversServers(t *testing.T) {
	w := newWorld(t, map[string]string{
		".agentls/agents/x.md": "---\nname: x\ndescription: d\nmcp_servers:\n  - own: {command: [node, " +
			"--require=./tools/a.js], env: {NODE_OPTIONS: '--import ./tools/b.js'}}\n---\nDo.\n",
		".claude/agents/y.md": "---\nname: y\ndescription: d\nmcpServers:\n  - far: {url: " +
			"'https://far.example'}\n---\nDo.\n",
		".agentls/config.toml": "[mcp.z]\ncommand = 'node'\nargs = ['--require=tools/c.js']\nenv = { X = " +
			"'tools/d.js' }\n",
		"tools/a.js": "1\n", "tools/b.js": "1\n", "tools/c.js": "1\n", "tools/d.js": "1\n",
		"tools/e.js": "1\n",
	})
	shown := w.folderTrust()
	var servers []string
	for _, i := range authority.DescribeActing(shown.Root, shown.Actors) {
		if i.Kind == "mcp" {
			servers = append(servers, i.Path+": "+i.Description)
		}
	}
	if want := []string{
		".agentls/agents/x.md: own runs node --require=./tools/a.js",
		".agentls/config.toml: z runs node --require=tools/c.js", ".claude/agents/y.md: far at https://far.example",
	}; !slices.Equal(servers, want) {
		t.Errorf("described as %q, want %q", servers, want)
	}
	for name, covered := range map[string]bool{
		"tools/a.js": true, "tools/b.js": true, "tools/c.js": true,
		"tools/d.js": true, "tools/e.js": false,
	} {
		if err := w.engine.Decisions().TrustFolder(w.ctx, w.dir, w.folderTrust().Actors); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.path(name), []byte("2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := w.folderTrust().Standing; (got == permission.Changed) != covered {
			t.Errorf("with another %s the folder is %s", name, got)
		}
	}
}

// TestUntrustedConfigurationIsNotOpened: of folders beside each other only those that are trusted have their files
// read.
func TestUntrustedConfigurationIsNotOpened(t *testing.T) {
	trusted, other := filepath.FromSlash("/w/trusted"), filepath.FromSlash("/w/other")
	for _, standing := range []permission.Standing{permission.Unknown, permission.Changed} {
		var opened []string
		sources := config.Sources{ReadFile: func(name string) ([]byte, error) {
			opened = append(opened, name)
			return nil, fs.ErrNotExist
		}}
		for _, dir := range []string{other, trusted} {
			folder := authority.FolderTrust{Root: dir}
			if folder.Standing = standing; dir == trusted {
				folder.Standing = permission.Trusted
			}
			sources = folder.Sources(sources, dir)
		}
		c, problems := config.Load(sources)
		if len(problems) > 0 || c.MaxDepth != config.Default().MaxDepth {
			t.Errorf("%s: a depth of %d, problems %v", standing, c.MaxDepth, problems)
		}
		want := []string{
			filepath.Join(trusted, filepath.FromSlash(config.ProjectFile)),
			filepath.Join(trusted, config.ProjectServers),
		}
		if slices.Sort(opened); !slices.Equal(opened, want) {
			t.Errorf("%s: opened are %q, want %q", standing, opened, want)
		}
	}
}

// TestDescribedAgents: the files of a folder are told with the agents that are in them, wherever they lie.
func TestDescribedAgents(t *testing.T) {
	root := t.TempDir()
	var actors []permission.Actor
	files := []struct{ name, text, want string }{
		{
			".agentls/agents.toml", "[[agents]]\nname = 'b'\n[[agents]]\nname = 'c'\n[[agents]]\nname = 'c'\n",
			"agent: The agents b and c.",
		},
		{
			".agentls/agents/file.md",
			"---\nname: other\ncategory: [primary]\nhooks: {Stop: [{command: run}]}\n---\nDo.\n",
			"agent: The agent other.; hook: Stop runs run",
		},
		{".agentls/agents/x.json", `{"name": "x", "prompt_file": "prompts/x.md"}`, "agent: The agent x."},
		{".agentls/agents/prompts/x.md", "Do it.\n", "agent: A prompt of an agent."},
		{".agentls/appsettings.json", `{"Agents": {"Custom": [{"Slug": "zed"}]}}`, "agent: The agent zed."},
		{".agentls/agents/notes.txt", "no agent", "agent: A file beside agents, without one that can be read."},
		{".agentls/notes.md", "no agent", "config: A file of agentls."},
		{".claude/agents/poet.md", "Writes poems.", "agent: The agent poet."},
	}
	for _, file := range files {
		full := filepath.Join(root, filepath.FromSlash(file.name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(file.text), 0o600); err != nil {
			t.Fatal(err)
		}
		actors = append(actors, permission.Actor{Path: file.name})
	}
	items := authority.DescribeActing(root, actors)
	for _, file := range files {
		var got []string
		for _, item := range items {
			if item.Path == file.name {
				got = append(got, item.Kind+": "+item.Description)
			}
		}
		if strings.Join(got, "; ") != file.want {
			t.Errorf("%s is %q, not %s", file.name, got, file.want)
		}
	}
}
