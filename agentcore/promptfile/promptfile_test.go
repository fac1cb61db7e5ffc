package promptfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/promptfile"
	"github.com/agentls/agentls/agentcore/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write writes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listed are prompts in a line each.
func listed(set *promptfile.Set) (list []string) {
	for _, p := range set.List() {
		list = append(list, fmt.Sprintf("%s %s %s: %s", p.Name, p.Source, p.Layer, p.Description))
	}
	return list
}

// TestLoad: where prompts lie, what they are called, and which one counts.
func TestLoad(t *testing.T) {
	t.Parallel()
	config, home, project := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, config, map[string]string{"prompts/review.md": "Mine.", "prompts/own.md": "Own."})
	write(t, home, map[string]string{
		".claude/commands/own.md": "Hidden by mine.", ".claude/commands/a/b/deep.md": "Deep.",
		".config/opencode/command/once.md": "Once.", ".config/opencode/commands/twice.md": "Twice.",
	})
	write(t, project, map[string]string{
		".agentls/prompts/review.md": "The project's.", ".agentls/prompts/two words.md": "Two.",
		".agentls/prompts/notes.txt": "none", ".agentls/prompts/.hidden.md": "none", ".agentls/prompts/.md": "none",
		".claude/commands/frontend/component.md": "---\ndescription: Makes one.\n---\nDo.",
		".opencode/command/team/check.md":        "Check.", ".opencode/commands/lint.md": "Lint.",
		".github/prompts/form.prompt.md": "---\nname: new form\n---\n# Form\n", ".github/prompts/readme.md": "none",
		".github/prompts/below/x.prompt.md": "none",
		".claude/commands/se\u202een.md":    "none", ".claude/commands/binary.md": "a\x00b",
		".claude/commands/large.md": strings.Repeat("x", 256<<10+1), ".claude/commands/bad.md": "---\na: [\n---\nBad.",
	})
	style := promptfile.OfSkill(&skill.Skill{Name: "style", Description: "How.", Layer: agent.LayerUser, Text: "S"})
	set, err := promptfile.Load(context.Background(), promptfile.Folders(config, home, project), nil, style)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"a:b:deep claude user: Deep.", "bad claude project: Bad.", "frontend:component claude project: Makes one.",
		"lint opencode project: Lint.", "new-form github project: Form", "once opencode user: Once.",
		"own agentls user: Own.", "review agentls project: The project's.", "style skill user: How.",
		"team:check opencode project: Check.", "twice opencode user: Twice.", "two-words agentls project: Two.",
	}, listed(set)); diff != "" {
		t.Errorf("the prompts (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"review": "", "REVIEW": "", "team/check": "", "reviw": "did you mean /review?",
		"binary": "is not a text file", "large": "has more than 262144 bytes", "zzzzzz": "there are /a:b:deep, /bad",
	} {
		if _, err := set.Find(name); want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuse := func(_, name string, _ []byte) error {
		if filepath.Base(name) == "lint.md" {
			return errors.New("has changed")
		}
		return nil
	}
	set, err = promptfile.Load(context.Background(), promptfile.Folders("", "", project), refuse)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Find("lint"); err == nil || !strings.Contains(err.Error(), "lint.md has changed") {
		t.Errorf("a file that nobody vouches for: %v", err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := promptfile.Load(over, promptfile.Folders("", "", project), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it goes on behind its end: %v", err)
	}
}

// TestParse: the members of all formats.
func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source promptfile.Source
		text   string
		want   promptfile.Prompt
	}{
		"claude": {
			promptfile.Claude,
			"---\nallowed-tools: Bash(git add:*), Bash(git status:*), Read\nargument-hint: [message]\n" +
				"description: Commit\nmodel: haiku\n---\nCommit $ARGUMENTS.\n",
			promptfile.Prompt{
				Description: "Commit", Hint: "[message]", Model: "haiku", Text: "Commit $ARGUMENTS.",
				Tools: []string{"Bash(git add:*)", "Bash(git status:*)", "Read"},
			},
		},
		"claude's names": {
			promptfile.Claude, "---\narguments: [issue, branch]\n---\nFix $issue on $branch.",
			promptfile.Prompt{
				Description: "Fix $issue on $branch.", Hint: "<issue> <branch>", Arguments: []string{"issue", "branch"},
				Text: "Fix $issue on $branch.",
			},
		},
		"opencode": {
			promptfile.OpenCode, "---\nagent: plan\nmodel: anthropic/claude-sonnet-4-5\nsubtask: true\n---\nPlan $1.",
			promptfile.Prompt{
				Description: "Plan $1.", Agent: "plan", Model: "anthropic/claude-sonnet-4-5", Text: "Plan $1.",
			},
		},
		"vscode": {
			promptfile.GitHub,
			"---\nmode: agent\ntools: ['codebase', 'editFiles']\n---\nMake ${input:form:Its name} for ${input:page}.",
			promptfile.Prompt{
				Description: "Make ${input:form:Its name} for ${input:page}.", Hint: "<form> <page>", Agent: "agent",
				Arguments: []string{"form", "page"}, Tools: []string{"codebase", "editFiles"},
				Text: "Make ${input:form:Its name} for ${input:page}.",
			},
		},
		"no tools": {
			promptfile.Native, "---\nallowed-tools: []\n---\nTalk.",
			promptfile.Prompt{Description: "Talk.", Tools: []string{}, Text: "Talk."},
		},
	} {
		file := "x.md"
		if c.source == promptfile.GitHub {
			file = "x.prompt.md"
		}
		got := promptfile.Parse(c.source, file, c.text)
		c.want.Name, c.want.Source = "x", c.source
		if diff := cmp.Diff(c.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestExpand: what becomes of arguments.
func TestExpand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, arguments, want string }{
		{"Do it.", "", "Do it."},
		{"Do it.", "to a.go, please", "Do it.\n\nto a.go, please"},
		{"Fix $ARGUMENTS now", `the "big one"`, `Fix the "big one" now`},
		{"${ARGUMENTS}$ARGUMENTSX", "a", "a$ARGUMENTSX"},
		{"$1 and $2", `one "two three" four`, "one and two three four"},
		{"$1 and $2", "one", "one and "},
		{"$0 and $1", "one two", "one and two"},
		{"$ARGUMENTS[0], $ARGUMENTS[1]", "one two", "one, two"},
		{"${1}st, $1x", "a b", "a bst, a bx"},
		{`costs \$1 of $1`, "all", "costs $1 of all"},
		{"$HOME is $1", "here", "$HOME is here"},
		{"$1", "$ARGUMENTS $1", "$ARGUMENTS $1"},
		{"$1", "don't stop", "don't stop"},
		{"$1|$2", `a\ b 'c\d'`, `a b|c\d`},
		{"$1|$2", `"" b`, `|b`},
		{"$1|$2", `C:\a\b.go \"x`, `C:\a\b.go|"x`},
	} {
		p := promptfile.Parse(promptfile.Native, "x.md", c.text)
		got := ""
		for _, part := range p.Expand(c.arguments) {
			got += part.Text
		}
		if got != c.want {
			t.Errorf("%q with %q: %q, not %q", c.text, c.arguments, got, c.want)
		}
	}
	named := promptfile.Parse(promptfile.GitHub, "x.prompt.md", "Make ${input:form:Its name} on ${input:page} ($form).")
	for arguments, want := range map[string]string{
		"a b c": "Make a on b c (a).", "page=p form=f": "Make f on p (f).",
		"page=p f g": "Make f g on p (f g).", "": "Make  on  ().",
	} {
		if got := named.Expand(arguments)[0].Text; got != want {
			t.Errorf("%q: %q, not %q", arguments, got, want)
		}
	}
}

// TestCommands: which are commands, and that arguments are words in them, whatever they hold.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, arguments, want string }{
		{"Status:\n!`git status`\nLog: !`git log -1`", "", "git status|git log -1"},
		{"wow!`no` \\!`no` ``!`no`` `!`", "", ""},
		{"!`git log $1`", "main", "git log main"},
		{"!`git log $1`", `"; rm -rf ~"`, "git log '; rm -rf ~'"},
		{"!`git log $ARGUMENTS`", "a $(id) `id`", "git log a '$(id)' '`id`'"},
		{"!`echo \"$1\" '$1'`", `"it's \"x\" $(id)"`, `echo "it's \"x\" \$(id)" 'it'\''s "x" $(id)'`},
		{"$ARGUMENTS", "!`id`", ""},
		{"Nothing.", "!`id`", ""},
	} {
		p := promptfile.Parse(promptfile.Native, "x.md", c.text)
		var got []string
		for _, part := range p.Expand(c.arguments) {
			if part.Command != "" {
				got = append(got, part.Command)
			}
		}
		if list := strings.Join(got, "|"); list != c.want {
			t.Errorf("%q with %q: %q, not %q", c.text, c.arguments, list, c.want)
		}
	}
}

// TestCallIn: what calls a prompt, and what is no more than text.
func TestCallIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/review": "review||true", " /review  a.go\nb ": "review|a.go\nb|true", "/a:b x": "a:b|x|true",
		"/usr/bin is full": "usr/bin|is full|false", "/etc/hosts": "etc/hosts||false", "/v1.2": "v1.2||false",
		"/5 of them": "5|of them|false", "/größe": "größe||true",
		"review /x": "", "/": "", "// a": "", "/* a */": "", "": "", "/.env": "",
	} {
		c, plain, ok := promptfile.CallIn(text)
		got := ""
		if ok {
			got = fmt.Sprintf("%s|%s|%t", c.Name, c.Arguments, plain)
		}
		if got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// TestKeeps: what a file keeps of an agent's tools.
func TestKeeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source     promptfile.Source
		tools      string
		kept, rest string
	}{
		{promptfile.Claude, "Read, Bash(git status:*)", "read bash", "read=|bash=git status*"},
		{promptfile.Claude, "Bash(*), MultiEdit", "bash edit", "bash=|edit="},
		{
			promptfile.GitHub, "['editFiles', 'search/codebase', 'nobody']", "edit write patch grep glob",
			"edit=|write=|patch=|grep=|glob=|?nobody",
		},
		{promptfile.Native, "'*'", "", "all"},
		{promptfile.Native, "[]", "", ""},
		{promptfile.Native, "mcp__docs__look", "mcp__docs__look", "mcp__docs__look="},
	} {
		p := promptfile.Parse(c.source, "x.prompt.md", "---\nallowed-tools: "+c.tools+"\n---\nx")
		k := p.Keeps()
		var rest []string
		for _, r := range k.Rules {
			rest = append(rest, r.Tool+"="+r.Pattern)
		}
		for _, u := range k.Unknown {
			rest = append(rest, "?"+u)
		}
		if k.All {
			rest = []string{"all"}
		}
		if got := strings.Join(k.Tools, " "); got != c.kept || strings.Join(rest, "|") != c.rest {
			t.Errorf("%s: %q and %q", c.tools, got, rest)
		}
	}
	for _, p := range []*promptfile.Prompt{
		promptfile.Parse(promptfile.Native, "x.md", "x"),
		promptfile.OfSkill(&skill.Skill{Name: "s", AllowedTools: []string{"Read"}}),
	} {
		if !p.Keeps().All {
			t.Errorf("%s takes tools away", p.Name)
		}
	}
}

// FuzzExpand: nothing of the arguments becomes a command, and nothing goes on for ever.
func FuzzExpand(f *testing.F) {
	f.Add("Do $1 !`git log $1` ${input:x} $ARGUMENTS[2] \\$1", "a 'b c' !`id` \"")
	f.Fuzz(func(t *testing.T, text, arguments string) {
		p := promptfile.Parse(promptfile.GitHub, "x.prompt.md", text)
		commands := 0
		for _, part := range p.Expand(arguments) {
			if part.Command != "" {
				commands++
			}
		}
		if most := len(promptfile.Commands(p.Text)); commands > most {
			t.Fatalf("%d commands, not %d", commands, most)
		}
	})
}
