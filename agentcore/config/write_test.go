package config

import (
	"errors"
	"strings"
	"testing"
)

func TestWithText(t *testing.T) {
	for name, test := range map[string]struct{ file, value, want string }{
		"empty": {"", "{{agent}}", "statusline = '{{agent}}'\n"},
		"behind comment": {
			"# mine\n\nmax_depth = 3\n[budget]\ntokens = 1\n", "a",
			"# mine\nstatusline = 'a'\n\nmax_depth = 3\n[budget]\ntokens = 1\n",
		},
		"only comment": {"# mine", "a", "# mine\nstatusline = 'a'\n"},
		"in its place": {
			"max_depth = 3\nstatusline = \"old \\\" one\" # why\n", "new",
			"max_depth = 3\nstatusline = 'new' # why\n",
		},
		"quoted key": {
			"  'statusline'='old'\r\nmax_depth = 3\r\n", "it's",
			"  'statusline'=\"it's\"\r\nmax_depth = 3\r\n",
		},
		"ends of lines": {"max_depth = 3\r\n", "a", "statusline = 'a'\r\nmax_depth = 3\r\n"},
		"in a table": {
			"[prompt.variables]\nstatusline = 'x'\n", "a",
			"statusline = 'a'\n[prompt.variables]\nstatusline = 'x'\n",
		},
		"emptied": {"statusline = 'a'\n", "", "statusline = ''\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := WithText([]byte(test.file), "statusline", test.value)
			if err != nil || string(got) != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
	// What a line only looks like, and strings of several lines, are a person's.
	for _, file := range []string{
		"statusline = \"\"\"\na\"\"\"\n",
		"x = \"\"\"\nstatusline = 'a'\n\"\"\"\nstatusline = 'b'\n", "statusline = '''a'''\n",
	} {
		if got, err := WithText([]byte(file), "statusline", "new"); !errors.Is(err, ErrByHand) {
			t.Errorf("%q became %q, %v", file, got, err)
		}
	}
	if _, err := WithText([]byte("max_depth = "), "statusline", "a"); err == nil ||
		!strings.Contains(err.Error(), "read the configuration") {
		t.Errorf("a broken file: %v", err)
	}
}
