package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/outline"
)

// shop is a small workspace to look around in.
var shop = map[string]string{
	"orders/store.go": `// Package orders keeps orders.
package orders

// Store holds orders by number.
type Store struct{ orders map[int]Order }

// Save writes an order to the file.
// It may fail.
func (s *Store) Save(o Order) error {
	s.orders[o.Number] = o
	return nil
}
`,
	"orders/price.go":      "package orders\n\nfunc discounted(o Order) int {\n\treturn o.Total - o.Discount\n}\n",
	"orders/store_test.go": "package orders\n\nfunc TestSave(t *testing.T) {\n\tnew(Store).Save(Order{})\n}\n",
	"cmd/main.go":          "package main\n\nfunc main() {\n\tstore.Save(order)\n\tprintTotals()\n}\n",
	"web/cart.js":          "export function checkoutCart(cart) {\n  return saveOrder(cart)\n}\n",
	"vendor/lib/save.go":   "package lib\n\nfunc Save() {}\n",
	"settings.py":          "def read_settings(path):\n    return open(path).read()\n",
	"README.md":            "# Shop\n\nOrders are saved in a file.\n",
}

// headings are the lines of an answer that name places.
func headings(answer string) []string {
	var lines []string
	for line := range strings.Lines(answer) {
		if placeLine().MatchString(line) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func TestExplore(t *testing.T) {
	d := &desk{t: t, files: map[string]string{
		"config/load.go": "package config\n\n// LoadConfig reads the file.\nfunc LoadConfig(path string) error { " +
			"return nil }\n",
		"config/load_test.go": "package config\n\nfunc TestLoadConfig(t *testing.T) { LoadConfig(\"\") }\n",
		"main.go":             "package main\n\nfunc main() { config.LoadConfig(\"\") }\n",
		"tool.py":             "def load_config(path):\n    pass\n",
	}}
	answer := d.converse("Where is the config loaded? See `LoadConfig`.")
	want := `config/load.go:4: defines LoadConfig; named at main.go:3, config/load_test.go:3
     3  // LoadConfig reads the file.
     4  func LoadConfig(path string) error { return nil }
tool.py:1: defines load_config`
	if !strings.HasPrefix(answer, want) {
		t.Errorf("the answer is:\n%s", answer)
	}
	if !strings.Contains(answer, "main.go:3") || !strings.Contains(answer, noModel) || d.turns != 3 {
		t.Errorf("after %d turns the answer is:\n%s", d.turns, answer)
	}
}

func TestExploreRanks(t *testing.T) {
	for _, test := range []struct{ prompt, first string }{
		{"Where are orders saved?", "orders/store.go:9: defines Save"},
		{"Where is the discount taken off?", "orders/price.go:3: defines discounted"},
		{"How does the checkout of a cart work?", "web/cart.js:1: defines checkoutCart"},
		{"Which tests cover Save?", "orders/store_test.go:3: defines TestSave"},
		{"Who calls `Save`?", "cmd/main.go:4: Save in main"},
	} {
		d := &desk{t: t, files: shop, tools: []string{"read", "glob", "grep", "list"}}
		answer := d.converse(test.prompt)
		if found := headings(answer); len(found) == 0 || !strings.HasPrefix(found[0], test.first) {
			t.Errorf("%s: the first place is not %q:\n%s", test.prompt, test.first, answer)
		}
	}
}

func TestExploreQuotes(t *testing.T) {
	d := &desk{t: t, files: shop, tools: []string{"read", "glob", "grep", "list"}}
	answer := d.converse("Where are orders saved?")
	for _, part := range []string{
		"     7  // Save writes an order to the file.\n     8  // It may fail.\n     9  func (s *Store) " +
			"Save(o Order) " +
			"error {\n    10  \ts.orders[o.Number] = o\n",
		"named at ", "cmd/main.go:4", "Looked for: orders, saved.",
	} {
		if !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %q:\n%s", part, answer)
		}
	}
}

// TestExploreShortens has prose that uses a longer form than code.
func TestExploreShortens(t *testing.T) {
	d := &desk{t: t, files: map[string]string{"a.py": "def read_config(path):\n    pass\n"}}
	answer := d.converse("Where is the configuration of zebras?")
	if found := headings(answer); len(found) == 0 || !strings.HasPrefix(found[0], "a.py:1: defines read_config") {
		t.Errorf("the answer is:\n%s", answer)
	}
	if !strings.Contains(answer, "Looked for: configuration, zebras. In no line: zebras.") {
		t.Errorf("the answer does not say what is missing:\n%s", answer)
	}
}

func TestThoroughness(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("p%02d/walk.go",
			i)] = fmt.Sprintf("package p%d\n\n// Walk%d walks.\nfunc Walk%d() {\n\tstep()\n}\n", i, i, i)
	}
	places, reads := map[thoroughness]int{}, map[thoroughness]int{}
	for words, want := range map[string]thoroughness{
		"Where is walk?\n\n<task>\nyou are: coder ▸ explore\nthoroughness: quick\n</task>": quick,
		"Where is walk?":                   medium,
		"Where is walk? Be very thorough.": thorough,
	} {
		d := &desk{t: t, files: files, tools: []string{"read", "glob", "grep", "list"}}
		answer := d.converse(words)
		if !strings.Contains(answer, "A "+want.String()+" search") {
			t.Errorf("%q is not %s:\n%s", words, want, answer)
		}
		for _, c := range d.asked {
			if c.Name == "read" {
				reads[want]++
			}
		}
		places[want] = len(headings(answer))
	}
	for _, of := range []thoroughness{quick, medium, thorough} {
		if bounds := reaches[of]; places[of] != bounds.places || reads[of] > bounds.files*(bounds.rounds-1) ||
			reads[of] < bounds.files {
			t.Errorf("%s: %d places, %d reads", of, places[of], reads[of])
		}
	}
}

// TestExploreInParallel has the first searches in one turn, none of them twice.
func TestExploreInParallel(t *testing.T) {
	d := &desk{t: t, files: shop, tools: []string{"read", "glob", "grep"}}
	d.converse("quick: where are orders saved?")
	if d.turns != 2 {
		t.Errorf("%d turns", d.turns)
	}
	seen := map[string]bool{}
	for _, c := range d.asked {
		key := c.Name + string(c.Arguments)
		if seen[key] {
			t.Errorf("%s is asked twice", key)
		}
		seen[key] = true
	}
	if len(d.asked) < 5 { // definitions, two words, names, a file
		t.Errorf("%d calls: %v", len(d.asked), d.asked)
	}
}

func TestExploreFails(t *testing.T) {
	d := &desk{
		t: t, files: shop, tools: []string{"read", "glob", "grep"},
		refuse: func(string, map[string]json.RawMessage) string { return "the disk is gone" },
	}
	if answer := d.converse("Where are orders saved?"); !strings.Contains(answer, "In no line: orders, saved.") ||
		!strings.Contains(answer, noModel) {
		t.Errorf("the answer is:\n%s", answer)
	}
	none := &desk{t: t, tools: []string{"read"}}
	if answer := none.converse("Where are orders saved?"); !strings.Contains(answer,
		"needs the tool `grep` or `glob`") {
		t.Errorf("the answer is:\n%s", answer)
	}
}

// TestExplainFinds has a question for an explanation that names no file.
func TestExplainFinds(t *testing.T) {
	d := &desk{t: t, files: shop, tools: searching}
	if found := headings(d.converse("Explain how the discount works.")); len(found) == 0 ||
		!strings.HasPrefix(found[0], "orders/price.go:3: defines discounted") {
		t.Errorf("the places are %q", found)
	}
	if answer := d.converse("Explain this."); !strings.Contains(answer, "There is no file to explain") {
		t.Errorf("the answer is:\n%s", answer)
	}
}

func TestSurvey(t *testing.T) {
	d := &desk{t: t, files: shop, tools: []string{"read", "glob", "grep", "list"}}
	answer := d.converse("Explore this project")
	for _, words := range []string{
		"Give me an overview of this repository.",
		"Explore the code base.\n\n<pass>\nThis is pass 1 of at most 2 at this task.\n</pass>",
	} {
		if other := d.converse(words); other != answer {
			t.Errorf("%q is answered by:\n%s", words, other)
		}
	}
	found := headings(answer)
	if len(found) != len(shop) || !strings.HasPrefix(found[len(found)-1], "vendor/lib/save.go:3: defines Save") {
		t.Errorf("the answer is:\n%s", answer)
	}
	for _, part := range []string{
		"orders/store.go:5: defines Store, Save\n", "cmd/main.go:3: defines main\n",
		"README.md:1: defines nothing that the rules know\n",
	} {
		if !strings.Contains(answer, part) {
			t.Errorf("the answer lacks %q:\n%s", part, answer)
		}
	}
}

func TestTerms(t *testing.T) {
	for words, want := range map[string][]string{
		"Where is readConfig called?":            {"readConfig"},
		"how are the dropped messages retried?":  {"drop", "messag", "retry"},
		"Which function parses `foo.Bar` here?":  {"foo.Bar", "pars"},
		"What does this do?":                     nil,
		"Where is F defined?":                    {"F"},
		"Which lock does the DB take, if any?":   {"DB", "lock"},
		"Explore the code base.":                 nil,
		"Where does the address class come from": {"address"},
	} {
		var got []string
		for _, term := range (&wish{words: words}).terms(5) {
			got = append(got, term.stem)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestDefinedBy(t *testing.T) {
	for line, want := range map[string]string{
		"func (s *Store) Save(o Order) error {": "Save", "def read(self):": "read",
		"export default class Cart {": "Cart",
		"  async load(url) {":         "load", "deploy() {": "deploy", "pub(crate) fn walk() {": "walk",
		"public static int sum(int a) {": "sum",
		"\tif len(a) > 0 {":              "", "  for (const a of b) {": "", "\treturn x": "", "} else {": "",
		"save(order)": "",
	} {
		if got, _ := outline.Defines(line); got != want {
			t.Errorf("%q defines %q, want %q", line, got, want)
		}
	}
}
