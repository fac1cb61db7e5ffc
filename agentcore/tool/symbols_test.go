package tool_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

var shop = map[string]string{
	"shop.go": "package shop\n\nfunc Buy(n int) int {\n\treturn price(n)\n}\n\nfunc price(n int) int { return 2 " +
		"* n }\n\ntype Shop struct{}\n\nfunc (s *Shop) Open() {}\n",
	"sell/sell.go": "package sell\n\nfunc Sell() int { return shop.Buy(1) }\n",
	"notes.txt":    "Buy milk.\n",
}

// TestSymbolsByPatterns has no language server.
func TestSymbolsByPatterns(t *testing.T) {
	h := tooltest.New(t, shop)
	h.Type("sell/sell.go", "package sell\n\nfunc Sell() int { return shop.Buy(1) + shop.Buy(2) }\n")
	for arguments, want := range map[string]string{
		`{"kind":"document","path":"shop.go"}`: "shop.go:3:6: function Buy\nshop.go:7:6: " +
			"function price\nshop.go:9:6: class Shop\nshop.go:11:16: function Open\n",
		`{"kind":"workspace","name":"se"}`: "sell/sell.go:3:6: function Sell | func " +
			"Sell() int { return shop.Buy(1) + shop.Buy(2) }\n",
		`{"kind":"definition","name":"shop.Buy"}`: "shop.go:3:6: function Buy | func Buy(n " +
			"int) int {\n",
		`{"kind":"definition","path":"sell/sell.go","name":"Buy"}`: "shop.go:3:6: function Buy | func Buy(n " +
			"int) int {\n",
		`{"kind":"definition","path":"sell/sell.go","line":3,"column":32}`: "shop.go:3:6: function Buy | func Buy(n " +
			"int) int {\n",
		`{"kind":"references","path":"shop.go","name":"price"}`: "shop.go:4:9: | return " +
			"price(n)\nshop.go:7:6: | func price(n int) int { return 2 * n }\n",
		`{"action":"references","symbol":"Buy"}`: "notes.txt:1:1: | Buy " +
			"milk.\nsell/sell.go:3:31: | func Sell() int { return shop.Buy(1) + shop.Buy(2) }\nshop.go:3:6: | func " +
			"Buy(n int) int {\n",
		`{"kind":"definition","name":"Nothing"}`: "Nothing was found. ",
	} {
		result, err := h.Call(t.Context(), "symbols", arguments)
		want += "By patterns in the text, which may be wrong: there is no language server here."
		if err != nil || result.Text != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", arguments, err, result.Text, want)
		}
	}
	for arguments, want := range map[string]string{
		`{"kind":"document"}`:                                        "path is missing",
		`{"kind":"workspace","path":"shop.go"}`:                      "name is missing",
		`{"kind":"definition","path":"shop.go"}`:                     "name is missing",
		`{"kind":"definition","path":"shop.go","line":99}`:           "has 11 lines, not 99",
		`{"kind":"definition","path":"shop.go","name":"sell"}`:       "there is no sell in shop.go; leave out path",
		`{"kind":"references","path":"shop.go","line":1,"name":"n"}`: "there is no n in line 1 of shop.go",
		`{"kind":"document","path":"gone.go"}`:                       "gone.go",
		`{"kind":"everything"}`:                                      "kind",
	} {
		if _, err := h.Call(t.Context(), "symbols", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

// TestSymbolsByServer has a language server, which is asked for the right place.
func TestSymbolsByServer(t *testing.T) {
	h := tooltest.New(t, shop)
	var asked []tool.SymbolQuery
	place := func(name string, line, column int) tool.Symbol {
		return tool.Symbol{Path: h.Path(name), Span: event.Span{
			StartLine: line, StartColumn: column, EndLine: line,
			EndColumn: column + 1,
		}}
	}
	h.Server = func(q tool.SymbolQuery) (tool.Symbols, error) {
		asked = append(asked, q)
		found := tool.Symbols{Source: "testls"}
		switch q.Kind {
		case tool.ListWorkspace:
			other, open := place("sell/sell.go", 2, 5), place("shop.go", 10, 5)
			other.Name, other.Kind = "Opener", "class"
			open.Name, open.Kind, open.Container = "Open", "method", "Shop"
			found.List = []tool.Symbol{other, open}
		case tool.FindReferences:
			found.List = []tool.Symbol{
				place("sell/sell.go", 2, 31), place("sell/sell.go", 2, 31),
				{Path: "/usr/lib/far.go", Span: event.Span{StartLine: 6}},
			}
		default:
			found.List = []tool.Symbol{place("shop.go", 2, 5)}
		}
		return found, nil
	}
	for _, test := range []struct {
		arguments, want string
		asked           []tool.SymbolQuery
	}{
		{
			`{"kind":"definition","path":"shop.go","line":4,"name":"price"}`,
			"shop.go:3:6: | func Buy(n int) int {\nBy testls.",
			[]tool.SymbolQuery{{Kind: tool.FindDefinition, Path: h.Path("shop.go"), Line: 3, Column: 8}},
		},
		{ // where it is defined is the best place to ask at
			`{"kind":"references","path":"shop.go","name":"price"}`,
			"sell/sell.go:3:32: | func Sell() int { return shop.Buy(1) }\n/usr/lib/far.go:7:1:\nBy testls.",
			[]tool.SymbolQuery{{Kind: tool.FindReferences, Path: h.Path("shop.go"), Line: 6, Column: 5}},
		},
		{ // the name itself, not the whole symbol
			`{"kind":"references","name":"Shop.Open"}`,
			"sell/sell.go:3:32: | func Sell() int { return shop.Buy(1) }\n/usr/lib/far.go:7:1:\nBy testls.",
			[]tool.SymbolQuery{
				{Kind: tool.ListWorkspace, Name: "Shop.Open"},
				{Kind: tool.FindReferences, Path: h.Path("shop.go"), Line: 10, Column: 15},
			},
		},
		{
			`{"kind":"workspace","name":"Open"}`,
			"shop.go:11:6: method Open in Shop | func (s *Shop) Open() {}\nsell/sell.go:3:6: class Opener | func " +
				"Sell() int { return shop.Buy(1) }\nBy testls.",
			[]tool.SymbolQuery{{Kind: tool.ListWorkspace, Name: "Open"}},
		},
	} {
		asked = nil
		result, err := h.Call(t.Context(), "symbols", test.arguments)
		if err != nil || result.Text != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.arguments, err, result.Text, test.want)
		}
		if len(asked) != len(test.asked) {
			t.Errorf("%s asked for %+v", test.arguments, asked)
			continue
		}
		for i, q := range test.asked {
			if asked[i] != q {
				t.Errorf("%s asked for %+v, want %+v", test.arguments, asked[i], q)
			}
		}
	}
	h.Server = func(tool.SymbolQuery) (tool.Symbols, error) { return tool.Symbols{}, errors.New("it ended") }
	result, err := h.Call(t.Context(), "symbols", `{"kind":"definition","name":"Buy"}`)
	if err != nil || !strings.HasSuffix(result.Text, "which may be wrong: the language server failed: it ended.") ||
		!strings.HasPrefix(result.Text, "shop.go:3:6:") {
		t.Errorf("%v, %s", err, result.Text)
	}
}
