package agentcore_test

import (
	"os"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
)

// packages is a project of npm with what it depends on, and a newer version of that.
func packages() map[string]string {
	return map[string]string{
		".gitignore":   "node_modules/\n*.tgz\n",
		"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "check sum.test.js"}, "dependencies": {"check": "1.0.0", "sum": "1.0.0"}}` + "\n",
		"sum.test.js":  "const sum = require('sum')\nmodule.exports = () => sum(2, 3) === 5\n",

		"node_modules/check/package.json": `{"name": "check", "version": "1.0.0", "bin": "cli.js"}`,
		"node_modules/check/cli.js": "#!/usr/bin/env node\nconst path = require('path')\nconst ok = " +
			"require(path.resolve(process.argv[2]))()\nrequire('fs').writeFileSync('node_modules/.check', " +
			"'cached')\nconsole.log(ok ? 'passed with sum ' + " +
			"require(path.resolve('node_modules/sum/package.json')).version : 'failed')\nprocess.exit(ok ? 0 : 1)\n",
		"node_modules/sum/package.json": `{"name": "sum", "version": "1.0.0"}`,
		"node_modules/sum/index.js":     "module.exports = (a, b) => a + b\n",
		"newer/package.json":            `{"name": "sum", "version": "2.0.0"}`,
		"newer/index.js":                "module.exports = (...all) => all.reduce((a, b) => a + b)\n",
	}
}

// TestRealPrograms runs what developers run, in a full sandbox and without a question. npm renames the folder of a
// package that it replaces, which the kernel refuses on an overlay where the folder lies below.
func TestRealPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("a machine for a quick check may have neither node nor rg")
	}
	w := newTrusted(t, packages(),
		script.Turn{Answer: []script.Step{bash("npm test")}},
		answered([]string{"passed with sum 1.0.0", "exit code 0"},
			bash(
				"npm pack ./newer && npm install --offline --no-audit --no-fund ./sum-2.0.0.tgz && npm test && cat "+
					"node_modules/.check")),
		answered([]string{"passed with sum 2.0.0\ncached", "exit code 0", "package-lock.json (new)"},
			bash("npm run test -- --silent; ls -la node_modules/sum; rg -l reduce; git status --short")),
		answered([]string{"passed with sum 2.0.0", "index.js", "newer/index.js", "?? newer/", "exit code 0"},
			bash("npm view --fetch-retries=0 sum || echo no network")),
		answered([]string{"no network", "exit code 0"}),
	)
	runGit(t, w.dir, "init", "-q")
	if err := os.MkdirAll(w.path("node_modules/.bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../check/cli.js", w.path("node_modules/.bin/check")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.path("node_modules/check/cli.js"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.finishes(coder())
	for name, text := range packages() {
		w.unchanged(name, text)
	}
}

// TestMovesOfIgnoredFolders moves folders of packages by hand: whole, into each other and over nothing.
func TestMovesOfIgnoredFolders(t *testing.T) {
	files := packages()
	w := newTrusted(t, files,
		script.Turn{
			Answer: []script.Step{
				bash(
					"mv node_modules/sum node_modules/.sum-1 && mv node_modules/check node_modules/.sum-1/ && ls -A " +
						"node_modules node_modules/.sum-1"),
			},
		},
		answered([]string{
			"node_modules:\n.sum-1\n\nnode_modules/.sum-1:\ncheck\nindex.js\npackage.json\n",
			"exit code 0",
		}, bash("mv node_modules modules.old; ls modules.old; mv newer older && cat older/index.js")),
		answered([]string{"reduce", "changed files (proposed, not written)"}),
	)
	w.finishes(coder())
	for name, text := range files {
		w.unchanged(name, text)
	}
}
