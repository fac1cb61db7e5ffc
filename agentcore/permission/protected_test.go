package permission_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/permission"
)

func TestProtected(t *testing.T) {
	for path, want := range map[string]bool{
		".git/config": true, "a/.git/x": true, ".GIT": true, ".git./x": true, ".git /x": true,
		".git::$INDEX_ALLOCATION/x": true, "git~1/x": true,
		".g\u200cit/x": true, ".vscode/tasks.json": true, ".VSCODE . ": true, ".ıdea/x": true, ".huſky/x": true,
		".mcp.json": true, ".cursor/rules": true, ".agentls": true, "x/.envrc": true, "my.code-workspace": true,
		"venv/bin/python": true, "node_modules/.bin/x": true,
		".GitHub/prompts/x.prompt.md": true, ".github/prompts": true,
		".gitignore": false, ".github/workflows/x.yml": false,
		"prompts/x.prompt.md": false, "a.git": false, "venv/lib/x": false,
		"node_modules/x": false, "git": false,
	} {
		if why, got := permission.Protected(path); got != want || got && why == "" {
			t.Errorf("Protected(%q) = %q, %v", path, why, got)
		}
	}
}

func TestProtectedBelow(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".git": "gitdir: " + dir + "/elsewhere\n", "sub/.git": "gitdir: ./inner", "store/wt/HEAD": "",
		"store/wt/commondir": "..\n", "out/.git": "gitdir: ../../x\n", "bare/HEAD": "ref: x", "bare/refs/x": "",
		"bare/objects/x": "",
		"half/HEAD":      "", "half/objects/x": "",
		"work/.git/config": "[core]\n\thooksPath = \"tools/h\" ; x\n\tfsmonitor = true\n[core] " +
			"FSMonitor=./run/watch -v # x\n" +
			"[include]\n\tpath = ../shared.ini\n[includeIf \"gitdir:x/\"]\npath = ../some.ini\n",
		"work/shared.ini": "[core]\nhooks\\\nPath = deep\n",
		"linked/.git":     "gitdir: ../store/wt", "store/config": "[core]\nhooksPath = named\n",
		"a/b.go": "", "big/.git": "gitdir: a" + string(make([]byte, 5000)),
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	fsys := folder{r}
	for path, want := range map[string]bool{
		"a/b.go": false, "x": false, "sub/a.go": false, "sub/inner/hooks/x": true, ".git/x": true, "bare/config": true,
		"bare/hooks/pre-commit": true, "bare/deep/er/x": true,
		"half/x": false, "half/refs/heads/x": true, "half/REFS/x": true, "out/x": false, "big/a": false,
		"work/tools/h/pre-commit": true, "work/Tools/H/pre-commit": true, "work/tools/x": false, "work/run/watch": true,
		"work/run/x":      false,
		"work/shared.ini": true, "work/some.ini": true, "work/deep/x": true, "linked/named/x": true, "linked/x": false,
		"work/true": false,
	} {
		if why, got := permission.ProtectedBelow(fsys, dir, path); got != want || got && why == "" {
			t.Errorf("%s: %q, %v", path, why, got)
		}
	}
	for path, want := range map[string]bool{"store/wt/config": true, "store/x": false, "elsewhere/hooks/x": true} {
		if why, got := permission.ProtectedBelow(fsys, dir, path); got != want {
			t.Errorf("%s: %q, %v", path, why, got)
		}
	}
}

// folder is a folder of the disk as it is.
type folder struct{ *os.Root }

func (f folder) Has(rel string) bool {
	_, err := f.Stat(rel)
	return err == nil
}

func (f folder) Texts(rel string) []string {
	text, err := f.ReadFile(rel)
	if err != nil {
		return nil
	}
	return []string{string(text)}
}
