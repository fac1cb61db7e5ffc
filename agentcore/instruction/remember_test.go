package instruction

import (
	"strings"
	"testing"
)

func TestRemember(t *testing.T) {
	const thing = "Use tabs."
	for _, tt := range []struct{ name, text, thing, want string }{
		{"a new file", "", thing, "## Remembered\n\n- Use tabs.\n"},
		{"no section", "# Rules\n\nBe brief.\n\n\n", thing, "# Rules\n\nBe brief.\n\n## Remembered\n\n- Use tabs.\n"},
		{"no line at the end", "Be brief.", thing, "Be brief.\n\n## Remembered\n\n- Use tabs.\n"},
		{"an empty section", "# remembered\n", thing, "# remembered\n\n- Use tabs.\n"},
		{
			"an empty section before another", "# Remembered\n\n# More\n", thing,
			"# Remembered\n\n- Use tabs.\n\n# More\n",
		},
		{
			"a section in the middle", "## Remembered\n\n- One.\n\n## More\n\n- Two.\n", thing,
			"## Remembered\n\n- One.\n- Use tabs.\n\n## More\n\n- Two.\n",
		},
		{
			"a section without its last ending", "## Remembered\n\n- One.", thing,
			"## Remembered\n\n- One.\n- Use tabs.\n",
		},
		{"other endings", "## Remembered\r\n\r\n- One.\r\n", thing, "## Remembered\r\n\r\n- One.\r\n- Use tabs.\r\n"},
		{"several lines are one", "", "  - Use\n\ttabs. ", "## Remembered\n\n- Use tabs.\n"},
		{"no heading of its own", "", "# Use tabs.", "## Remembered\n\n- Use tabs.\n"},
		{
			"two sections", "# Remembered\n- a\n# x\n# Remembered\n- b\n", thing,
			"# Remembered\n- a\n- Use tabs.\n# x\n# Remembered\n- b\n",
		},
		{"nothing", "", " - \n", "error: there is nothing to remember"},
		{"twice", "# Rules\n\n* use TABS\n", thing, "error: it is remembered there already"},
		{"too long", "", strings.Repeat("x", MaxRemembered+1), "error: it has 501 bytes"},
		{"a full file", strings.Repeat("x", maxRemembering), thing, "error: the file has 32768 bytes"},
	} {
		got, err := Remember(tt.text, tt.thing)
		if err != nil {
			got = "error: " + err.Error()
		}
		if want, isError := strings.CutPrefix(tt.want, "error: "); got != tt.want &&
			(!isError || !strings.HasPrefix(strings.TrimPrefix(got, "error: "), want)) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
