package config

import (
	"encoding/json"
	"testing"

	"github.com/BurntSushi/toml"
)

// seedTexts are texts in which keys and values are hard to tell apart.
var seedTexts = []string{
	"max_depth = 3 # x\n[[permission]]\ntool = 'bash'\naction = \"deny\"\n[[permission]]\ntool = 'x'\n",
	"a.\"b.c\".'d' = [ 1, # ,]\n [2, {x = 3, y.z = 4}], 1979-05-27 07:32:00, ]\n",
	"x = \"\"\"a\n\\\"\"\"\"b\\\n  c\"\"\"\"\"\ny = '''q''''\nz = \"\\u0041\"\n\"\\u0041\" = 1\n",
	"[a]\n[[a.b]]\nc = 1\n[a.b.d]\ne = 2\n[[a.b]]\n[a.b.d]\n",
	"[mcp.m]\r\ncommand = 'x'\r\nargs = ['a']\r\n[hooks]\r\nStop = [{command = 'y'}]\r\n",
	"\uFEFFmax_depth = 1e9\n1 = nan\nt = 07:32:00\nd = 1979-05-27T07:32:00Z\n",
	"[providers.x]\nbase_url = 3\nheaders = {a = 1}\n",
	"x = {}\n[y]\n[y.z]\nx = [[],[[]]]\n",
}

func FuzzTOML(f *testing.F) {
	for _, text := range seedTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, layer := range []Layer{LayerUser, LayerProject} {
			for _, p := range Check([]byte(text), layer, "config.toml") {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.File == "" {
					t.Errorf("a problem without a place: %+v", p)
				}
			}
		}
	})
}

func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		`{"max_depth": 3, "agentls": {"x": null}, "budget.cost": 1e400}`, `{"permission": [{"tool": 1}]}`, `[`, `null`,
		`{"hooks": {"Stop": [{"command": ["a", 1]}]}, "mcp": {"": {}}}`, `{"retention": {"size": 1.5}}`, `{"a..b": 1}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, problems := Load(Sources{Settings: json.RawMessage(text), Flags: []string{text}})
		for _, p := range problems {
			if p.Source == "" || p.Message == "" ||
				(p.Key == "" && p.Line == 0 && p.Source == "editor settings" &&
					p.Message != "more problems are not shown") {
				t.Errorf("a problem without a place: %+v", p)
			}
		}
		for v := range c.Values() {
			if !json.Valid([]byte(v.Text)) {
				t.Errorf("%s is not JSON: %s", v.Key, v.Text)
			}
			var decoded struct{ V any }
			if _, err := toml.Decode("V = "+v.Text, &decoded); err != nil {
				t.Errorf("%s is not TOML: %s: %v", v.Key, v.Text, err)
			}
		}
	})
}
