package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpand(t *testing.T) {
	values := map[string]string{
		"a": "A", "b": "B {{a}}", "no": "", "off": "false", "on": "true",
		"max_depth": "3", "depth": "0",
	}
	for _, c := range []struct{ name, text, want string }{
		{"plain", "no braces, { one } and }}\n", "no braces, { one } and }}\n"},
		{"variable", "x {{a}} y {{ a }}{{a}}", "x A y AA"},
		{"values are not expanded", "{{b}}", "B {{a}}"},
		{"case of letters", "{{A}} {{MAX_DEPTH}}", "A 3"},
		{"empty value", "[{{no}}]", "[]"},
		{"unknown stays", "{{nobody}} {{a}}", "{{nobody}} A"},
		{"escaped", `\{{a}} {{a}} \\{{a}}`, `{{a}} A \{{a}}`},
		{
			"not ours", "${{ github.ref }} {{.Field}} {{}} {{{a}}} {{ a",
			"${{ github.ref }} {{.Field}} {{}} {{{a}}} {{ a",
		},
		{"tag over lines", "{{a\n}}", "{{a\n}}"},
		{"true", "x{{#if on}}1{{else}}2{{/if}}y", "x1y"},
		{"nought", "x{{#if depth}}1{{else}}2{{/if}}y", "x2y"},
		{"false", "x{{#if off}}1{{else}}2{{/if}}y", "x2y"},
		{"empty is false", "x{{#if no}}1{{/if}}y", "xy"},
		{"other spelling", "{{#IF ON}}1{{ELSE}}2{{/IF}}", "1"},
		{"nested", "{{#if on}}1{{#if off}}2{{else}}3{{/if}}4{{/if}}", "134"},
		{"nested in a false one", "{{#if off}}1{{#if on}}2{{else}}3{{/if}}4{{/if}}5", "5"},
		{"lines go with their tags", "a\n{{#if on}}\nb\n  {{else}}  \nc\n{{/if}}\nd\n", "a\nb\nd\n"},
		{"line ends of others", "a\r\n{{#if off}}\r\nb\r\n{{/if}}\r\nd\r\n", "a\r\nd\r\n"},
		{"tags one below the other", "{{#if on}}\n{{#if on}}\nx\n{{/if}}\n{{/if}}", "x\n"},
		{"behind an escape", "\\{{\n {{#if on}}\nx\n{{/if}}\n", "{{\nx\n"},
		{"not alone on the line", "- {{#if on}}\nx{{/if}}\n", "- \nx\n"},
		{
			"unknown section stays", "a\n{{#if foo}}\n{{a}}\n{{else}}\n{{b}}\n{{/if}}\nz",
			"a\n{{#if foo}}\nA\n{{else}}\nB {{a}}\n{{/if}}\nz",
		},
		{"unfinished", "{{#if on}}1{{else}}{{a}}", "{{#if on}}1{{else}}A"},
		{"ends nothing", "1{{/if}}{{else}}2", "1{{/if}}{{else}}2"},
		{"other blocks", "{{#each x}}{{a}}{{/each}}", "{{#each x}}A{{/each}}"},
	} {
		tpl, _ := ParseTemplate(c.text)
		if got := tpl.Expand(values); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestTemplateProblems(t *testing.T) {
	for _, c := range []struct {
		text string
		// want are the faulty pieces, each with a word of its message.
		want [][2]string
	}{
		{"{{a}} {{#if a}}x{{else}}y{{/if}} ${{ x.y }} {{.Z}} {{}}", nil},
		{"x {{#if a}} y", [][2]string{{"{{#if a}}", "no end"}}},
		{"{{#if a}}{{#if b}}{{/if}}", [][2]string{{"{{#if a}}", "no end"}}},
		{"{{/if}}", [][2]string{{"{{/if}}", "ends no section"}}},
		{"{{else}}", [][2]string{{"{{else}}", "no section"}}},
		{"{{#if a}}{{else}}{{else}}{{/if}}", [][2]string{{"{{else}}", "no section"}}},
		{"{{#each a}}", [][2]string{{"{{#each a}}", "no tag"}}},
		{"{{my name}} {{1st}}", [][2]string{{"{{my name}}", "no name"}, {"{{1st}}", "no name"}}},
		{"{{/a}} {{a/}}", [][2]string{{"{{/a}}", "no tag"}}},
		{`\{{#each a}} \{{my name}}`, nil},
		{
			strings.Repeat("{{#if a}}", maxSections+1) + strings.Repeat("{{/if}}", maxSections),
			[][2]string{{"{{#if a}}", "deep"}},
		},
	} {
		_, problems := ParseTemplate(c.text)
		if len(problems) != len(c.want) {
			t.Errorf("%q has the problems %+v, want %d", c.text, problems, len(c.want))
			continue
		}
		for i, p := range problems {
			if c.text[p.Offset:p.End] != c.want[i][0] || !strings.Contains(p.Message, c.want[i][1]) || p.Hint == "" {
				t.Errorf("%q has the problem %+v at %q, want %q", c.text, p, c.text[p.Offset:p.End], c.want[i])
			}
		}
	}
}

func TestTemplateNames(t *testing.T) {
	const text = "{{b}} {{#if a}}{{b}}{{else}}{{team}}{{/if}} {{can_delegat}} {{Time}}"
	tpl, problems := ParseTemplate(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff([]string{"b", "a", "team", "can_delegat", "Time"}, tpl.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	unknown := tpl.Unknown("a", "b", "team")
	if len(unknown) != 1 || text[unknown[0].Offset:unknown[0].End] != "{{can_delegat}}" ||
		!strings.Contains(unknown[0].Hint, "can_delegate?") {
		t.Errorf("unknown names: %+v", unknown)
	}
	if all := tpl.Unknown(); len(all) != 5 {
		t.Errorf("without own variables there are %d unknown uses, want 5: %+v", len(all), all)
	}
}

// TestNamesOfOtherProducts has a prompt with the names that other products' prompts have for what a child is told.
func TestNamesOfOtherProducts(t *testing.T) {
	tpl,
		problems := ParseTemplate(
		"{{ROLE}} {{DEPTH}}/{{MAX_DEPTH}} {{PARENT_ROLE}} {{TASK}} {{CRITERIA}} {{MAX_ITERATIONS}} {{MAX_DURATION}} " +
			"{{CAN/CANNOT}} {{#IF CAN_DELEGATE}}{{ALLOWED_DELEGATIONS}}{{/IF}} {{current_time}} {{working_directory}}")
	if problems = append(problems, tpl.Unknown()...); len(problems) > 0 {
		t.Errorf("there are problems: %+v", problems)
	}
}

func TestBuiltinVariablesAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range Builtins {
		if !validName(v.Name) || seen[v.Name] || !strings.HasSuffix(v.Doc, ".") {
			t.Errorf("%+v is no proper, single entry", v)
		}
		seen[v.Name] = true
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "{{a}}", `\{{a}}`, "{{#if a}}\n{{b}}\n{{else}}\r\n x {{/if}}\n", "{{#if b}}", "{{/if}}{{else}}",
		"{{{{a}}}}", `{{\{{}}`,
		"{{#if a}}{{else}}{{#if b}}\n {{else}} \n{{/if}}", "a {{ b", "{{#if a}}{{#if a}}{{else}}{{/if}}", "\\", "{{",
		"\n  {{/if}}  \n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tpl, problems := ParseTemplate(text)
		for _, p := range append(problems, tpl.Unknown()...) {
			if p.Offset < 0 || p.End > len(text) || p.Offset >= p.End || p.Message == "" || p.Hint == "" {
				t.Fatalf("%q has the problem %+v", text, p)
			}
		}
		// Nothing is known, so nothing changes.
		if got, want := tpl.Expand(nil), strings.ReplaceAll(text, `\{{`, "{{"); got != want {
			t.Fatalf("%q becomes %q, want %q", text, got, want)
		}
		values := map[string]string{"a": "A", "b": ""}
		if got := tpl.Expand(values); !strings.Contains(text, "{{") && got != text {
			t.Fatalf("%q becomes %q", text, got)
		}
		if got := tpl.Expand(values); len(got) > len(text) {
			t.Fatalf("%q of %d bytes grows to %d by values of one", text, len(text), len(got))
		}
	})
}
