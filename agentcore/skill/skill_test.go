package skill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func md(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n# Title\n\nDo it.\n"
}

func load(t testing.TB, folders ...skill.Folder) *skill.Set {
	t.Helper()
	set, err := skill.Load(context.Background(), folders)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestParse(t *testing.T) {
	type got struct {
		Name, Description, Text string
		Tools                   []string
		Problems                []string
	}
	for _, c := range []struct {
		name, text string
		want       got
	}{
		{
			"as it should be",
			"---\nname: pdf\ndescription: Fills forms. Use it for PDF files.\nlicense: MIT\nallowed-tools: Read " +
				"Bash(git add *)\n---\n\n# PDF\n\nDo.\n",
			got{"pdf", "Fills forms. Use it for PDF files.", "# PDF\n\nDo.", []string{"Read", "Bash(git add *)"}, nil},
		},
		{
			"line ends and a mark of others",
			"\ufeff---\r\nname: pdf\r\ndescription: >\r\n  Two\r\n  lines.\r\nallowed-tools: [read, " +
				"edit]\r\n---\r\nDo.\r\n",
			got{"pdf", "Two lines.", "Do.", []string{"read", "edit"}, nil},
		},
		{
			"broken YAML",
			"---\nname: pdf\ndescription: Use it when: the user says \"fill\": so\n  and more\nallowed-tools:\n  " +
				"- read\n  - edit\n---\nDo.\n",
			got{
				"pdf", "Use it when: the user says \"fill\": so and more", "Do.",
				[]string{"read", "edit"},
				[]string{"0 : the frontmatter is no valid YAML"},
			},
		},
		{
			"no description", "---\nname: pdf\n---\n# PDF\n\nFills\nforms.\n\nMore.\n",
			got{
				"pdf", "Fills forms.", "# PDF\n\nFills\nforms.\n\nMore.", nil,
				[]string{"0 description: the skill has no description"},
			},
		},
		{
			"no name", "---\ndescription: Fills.\n---\nDo.\n",
			got{"pdf", "Fills.", "Do.", nil, []string{"0 name: the skill has no name"}},
		},
		{
			"name unlike the folder", "---\ndescription: Fills.\nname: forms\n---\nDo.\n",
			got{"forms", "Fills.", "Do.", nil, []string{"2 name: the skill is called forms, but its folder pdf"}},
		},
		{
			"no valid name", "---\nname: PDF Forms!\ndescription: Fills.\n---\nDo.\n",
			got{"pdf-forms", "Fills.", "Do.", nil, []string{`1 name: "PDF Forms!" is no name of a skill`}},
		},
		{
			"no frontmatter", "# PDF\n\nFills forms.\n",
			got{
				"pdf", "Fills forms.", "# PDF\n\nFills forms.", nil,
				[]string{
					"0 : the file has no frontmatter", "0 name: the skill has no name",
					"0 description: the skill has no description",
				},
			},
		},
		{
			"no end of the frontmatter", "---\nname: pdf\ndescription: Fills.\n\nDo.\n",
			got{"pdf", "Fills.", "Do.", nil, []string{"0 : the frontmatter has no end"}},
		},
		{
			"nothing", "",
			got{"pdf", "", "", nil, []string{
				"0 : the file has no frontmatter", "0 name: the skill has no name",
				"0 description: the skill has no description", "0 : there are no instructions",
			}},
		},
		{
			"a list", "---\n- a\n- b\n---\nDo.\n",
			got{"pdf", "Do.", "Do.", nil, []string{
				"0 : the frontmatter holds no keys", "0 name: the skill has no name",
				"0 description: the skill has no description",
			}},
		},
		{
			"long description", "---\nname: pdf\ndescription: " + strings.Repeat("é", 1025) + "\n---\nDo.\n",
			got{
				"pdf", strings.Repeat("é", 1023) + "…", "Do.", nil,
				[]string{"2 description: the description is longer than 1024 characters"},
			},
		},
	} {
		s := skill.Parse("/x/skills/pdf/SKILL.md", c.text)
		have := got{s.Name, s.Description, s.Text, s.AllowedTools, nil}
		for _, p := range s.Problems {
			message, _, _ := strings.Cut(p.Message, " YAML: ")
			if message != p.Message {
				message += " YAML"
			}
			have.Problems = append(have.Problems, fmt.Sprintf("%d %s: %s", p.Span.StartLine, p.Key, message))
			if p.Severity != event.SeverityWarning || p.Hint == "" || p.File != s.Path {
				t.Errorf("%s: the problem %+v lacks something", c.name, p)
			}
		}
		if diff := cmp.Diff(c.want, have, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestLoad(t *testing.T) {
	config, home, project := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(config, "skills/one/SKILL.md"), md("one", "user's"))
	write(t, filepath.Join(config, "skills/notes.txt"), "no skill")
	write(t, filepath.Join(config, "skills/empty/README.md"), "no skill")
	write(t, filepath.Join(config, "plugins/p/skills/one/SKILL.md"), md("one", "plugin's"))
	write(t, filepath.Join(config, "plugins/p/skills/two/SKILL.md"), md("two", "plugin's"))
	write(t, filepath.Join(home, ".claude/skills/one/SKILL.md"), md("one", "home's"))
	write(t, filepath.Join(project, ".claude/skills/two/SKILL.md"), md("two", "project's"))
	write(t, filepath.Join(project, ".agentls/skills/three/SKILL.md"), md("three", "project's"))
	write(t, filepath.Join(project, ".agentls/skills/huge/SKILL.md"), md("huge", "x")+strings.Repeat("x", 256<<10))
	write(t, filepath.Join(project, ".agentls/skills/binary/SKILL.md"), "---\nname: binary\x00\n---\n")
	set := load(t, skill.Folders(config, home, project)...)
	var got []string
	for _, s := range set.List() {
		got = append(got, s.Name+" "+s.Description+" "+s.Layer.String())
	}
	if diff := cmp.Diff([]string{"one user's user", "three project's project", "two project's project"},
		got); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	var problems []string
	for _, p := range set.Problems() {
		problems = append(problems, filepath.Base(filepath.Dir(p.File))+" "+string(p.Severity))
	}
	slices.Sort(problems)
	if diff := cmp.Diff([]string{"binary error", "huge error", "one warning"}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%+v", diff, set.Problems())
	}
	if _, err := set.Find("thre"); err == nil || !strings.Contains(err.Error(), "three") {
		t.Errorf("a misspelt name: %v", err)
	}
	if without := load(t, skill.Folders("", "")...); len(without.List()) != 0 ||
		len(without.Names()) != len(skill.Builtin()) {
		t.Errorf("no folders hold %v", without.Names())
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := skill.Load(cancelled, skill.Folders(config, home)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pdf/SKILL.md"), md("pdf", "x"))
	write(t, filepath.Join(dir, "pdf/scripts/fill.py"), "print()\n")
	write(t, filepath.Join(dir, "pdf/reference.md"), "reference\n")
	write(t, filepath.Join(dir, "pdf/.hidden"), "x")
	write(t, filepath.Join(dir, "pdf/a/b/c/d/e/f/deep.md"), "x")
	write(t, filepath.Join(dir, "secret.txt"), "secret")
	if err := os.Symlink("../secret.txt", filepath.Join(dir, "pdf/link.txt")); err != nil {
		t.Fatal(err)
	}
	set := load(t, skill.Folder{Layer: agent.LayerUser, Dir: dir})
	s, err := set.Find("pdf")
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "pdf/reference.md"), filepath.Join(dir, "pdf/scripts/fill.py")},
		files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if text, err := set.Read(files[0]); err != nil || text != "reference\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range []string{"pdf/link.txt", "pdf/none.txt", "pdf/scripts"} {
		if text, err := set.Read(filepath.Join(dir, name)); err == nil || errors.Is(err, skill.ErrNotOfSkill) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"secret.txt", "pdf/../secret.txt", "other/x"} {
		if text, err := set.Read(filepath.Join(dir, name)); !errors.Is(err, skill.ErrNotOfSkill) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestLinks(t *testing.T) {
	project, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "stolen/SKILL.md"), md("stolen", "x"))
	write(t, filepath.Join(project, "shared/inside/SKILL.md"), md("inside", "x"))
	skills := filepath.Join(project, ".agentls/skills")
	if err := os.MkdirAll(filepath.Join(skills, "filed"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"stolen": filepath.Join(outside, "stolen"), "inside": "../../shared/inside", "gone": "../../nowhere",
		"filed/SKILL.md": filepath.Join(outside, "stolen/SKILL.md"),
	} {
		if err := os.Symlink(target, filepath.Join(skills, name)); err != nil {
			t.Fatal(err)
		}
	}
	set := load(t, skill.Folder{Layer: agent.LayerProject, Dir: skills, Within: project})
	if list := set.List(); len(list) != 1 || list[0].Name != "inside" {
		t.Errorf("the project has the skills %v", set.Names())
	}
	var refused []string
	for _, p := range set.Problems() {
		refused = append(refused, filepath.Base(filepath.Dir(p.File)))
		if p.Severity != event.SeverityError || p.Hint == "" {
			t.Errorf("unexpected problem %+v", p)
		}
	}
	if !slices.Equal(refused, []string{"filed", "stolen"}) {
		t.Errorf("refused were %v, want filed and stolen: %+v", refused, set.Problems())
	}
	// A folder of skills that is itself a link out of the project is none of the project's.
	other := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(other, "skills")); err != nil {
		t.Fatal(err)
	}
	set = load(t, skill.Folder{Layer: agent.LayerProject, Dir: filepath.Join(other, "skills"), Within: other})
	if len(set.List()) != 0 || len(set.Problems()) != 1 {
		t.Errorf("a linked folder gave %v, %+v", set.Names(), set.Problems())
	}
	// The user's own links lead where they like.
	set = load(t, skill.Folder{Layer: agent.LayerUser, Dir: skills})
	if names := set.Names(); !slices.Contains(names, "stolen") || !slices.Contains(names, "inside") {
		t.Errorf("the user has the skills %v", names)
	}
}

func TestBuiltinSkillsAreSound(t *testing.T) {
	for _, s := range skill.Builtin() {
		if len(s.Problems) > 0 || s.Description == "" || s.Text == "" || s.Layer != agent.LayerBuiltin {
			t.Errorf("%s: %+v", s.Name, s.Problems)
		}
		if files, err := s.Files(); len(files) > 0 || err != nil {
			t.Errorf("%s has the files %v, %v", s.Name, files, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "---\n---\n", md("a", "b"), "---\nname: [a\n---\nx",
		"---\nname: &a [*a]\ndescription: {a: b}\n---\nx", "---\nallowed-tools: ((,\n---\n", "--- \nx: y\n...\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := skill.Parse("/x/y/SKILL.md", text)
		if s.Name == "" || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || len(s.Name) > 64 {
			t.Fatalf("%q has the name %q", text, s.Name)
		}
		if strings.ContainsAny(s.Description, "\n\r") {
			t.Fatalf("%q has the description %q", text, s.Description)
		}
		lines := strings.Count(text, "\n")
		for _, p := range s.Problems {
			if p.Message == "" || p.Hint == "" || p.Span.StartLine > lines || p.Span.EndColumn < 0 {
				t.Fatalf("%q has the problem %+v", text, p)
			}
		}
	})
}

func BenchmarkLoad200(b *testing.B) {
	dir := b.TempDir()
	for i := range 200 {
		name := fmt.Sprintf("skill-%03d", i)
		write(b, filepath.Join(dir, name, "SKILL.md"),
			md(name, "Does a thing. Use it where the thing is to be done.")+strings.Repeat("Some more instructions.\n",
				200))
	}
	b.ResetTimer()
	for b.Loop() {
		if set := load(b, skill.Folder{Layer: agent.LayerUser, Dir: dir}); len(set.List()) != 200 {
			b.Fatal(len(set.List()))
		}
	}
}

// TestHiddenCharacters: they are warned of, with a fix at their place; of a project's skill they reach no model.
func TestHiddenCharacters(t *testing.T) {
	for _, layer := range []agent.Layer{agent.LayerProject, agent.LayerUser} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "deploy", skill.FileName),
			"---\r\nname: deploy\r\ndescription: Dep\u200bloys.\r\n---\r\nPush it.\U000e0052\U000e0075\U000e006e\r\n")
		more := filepath.Join(dir, "deploy", "more.md")
		write(t, more, "More\u202e text, with 👩\u200d💻.\n")
		set := load(t, skill.Folder{Layer: layer, Dir: dir})
		s, err := set.Find("deploy")
		if err != nil {
			t.Fatal(err)
		}
		attached, err := set.Read(more)
		if err != nil {
			t.Fatal(err)
		}
		clean := s.Text == "Push it." && s.Description == "Deploys." && attached == "More text, with 👩\u200d💻.\n"
		if clean != (layer == agent.LayerProject) {
			t.Errorf("%s: %+q %+q %+q", layer, s.Text, s.Description, attached)
		}
		var spans []event.Span
		for _, p := range s.Problems {
			if p.Fix == nil || p.Fix.New != "" || p.Severity != event.SeverityWarning ||
				!strings.Contains(p.Message, "cannot be seen") {
				t.Errorf("unexpected: %+v", p)
				continue
			}
			spans = append(spans, p.Fix.Span)
		}
		want := []event.Span{
			{StartLine: 2, StartColumn: 16, EndLine: 2, EndColumn: 19},
			{StartLine: 4, StartColumn: 8, EndLine: 4, EndColumn: 20},
		}
		if diff := cmp.Diff(want, spans); diff != "" {
			t.Errorf("the places (-want +got):\n%s", diff)
		}
	}
}
