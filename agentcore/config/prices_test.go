package config

import (
	"strings"
	"testing"
)

func TestPrices(t *testing.T) {
	c, problems := sources{
		user: `
[prices."openai/gpt-5"]
input = 2
output = 20
cached = 0.5
[prices."local/*"]
input = 0
output = 0
[prices."local/big-*"]
input = 1
output = 1
[prices."local/half"]
input = 1
`,
		project: "[prices.\"openai/gpt-5\"]\ninput = 0\noutput = 0\n",
		flags:   []string{`prices.editor={input = 3, output = 4, written = 5}`},
	}.load()
	var told []string
	for _, p := range problems {
		told = append(told, p.String())
	}
	if len(told) != 2 || !strings.Contains(told[0], "output is missing") ||
		!strings.Contains(told[1], "a project may not set this") {
		t.Errorf("problems: %q", told)
	}
	for name, want := range map[string]float64{
		"openai/gpt-5": 2, "openai/gpt-5-mini": -1, "local/small": 0, "local/big-one": 1, "local/half": 0, "editor": 3,
		"locally/x": -1,
	} {
		p, ok := c.Price(name)
		if ok != (want >= 0) || ok && *p.Input != want {
			t.Errorf("the price of %s: %t, %+v; want an input of %g", name, ok, p, want)
		}
	}
	if p := c.Prices["editor"]; p.Cached != nil || *p.Written != 5 {
		t.Errorf("editor: %+v", p)
	}
	if got := values(c)[`prices."openai/gpt-5".cached`]; got != "0.5 | ~/.config/agentls/config.toml:5" {
		t.Errorf("cached is listed as %q", got)
	}
}
