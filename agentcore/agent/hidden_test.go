package agent_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

func TestHiddenCharacters(t *testing.T) {
	const head = "---\nname: x\ndescription: Does.\ncategory: primary\n---\n"
	for text, warned := range map[string]bool{
		"You work.\n": false, "You work 👩\u200d💻 ❤\ufe0f.\n": false, "\ttabs\r\nare fine\n": false,
		"You work.\U000e0052\U000e0075\U000e006e\n": true, "safe \u202e elif\n": true, "zero\u200bwidth\n": true, "back\bspace\n": true,
	} {
		file := agent.Parse("x.md", head+text)
		file.Validate(agent.Known{})
		found := false
		for _, p := range file.Problems {
			if strings.Contains(p.Message, "cannot be seen") {
				found = true
				if p.Key != "prompt" || p.Hint == "" {
					t.Errorf("%q: %+v", text, p)
				}
			}
		}
		if found != warned {
			t.Errorf("%q: warned is %v, want %v: %v", text, found, warned, file.Problems)
		}
	}
}
