package price

import (
	"math"
	"net/url"
	"reflect"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/agentls/agentls/agentcore/model"
)

// TestTable reads the table strictly, and looks for slips of the hand.
func TestTable(t *testing.T) {
	var read table
	meta, err := toml.Decode(prices, &read)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range meta.Undecoded() {
		if key.String() != "date" {
			t.Errorf("nobody reads %s", key)
		}
	}
	if len(read.Vendors) != 3 {
		t.Errorf("there are %d vendors", len(read.Vendors))
	}
	plausible := func(name string, r Rates) {
		t.Helper()
		if r.Input <= 0 || r.Output <= r.Input {
			t.Errorf("%s: input %g, output %g", name, r.Input, r.Output)
		}
		if r.Cached != nil && (*r.Cached <= 0 || *r.Cached > r.Input/2) {
			t.Errorf("%s: cached %g, input %g", name, *r.Cached, r.Input)
		}
		if r.Written != nil && (*r.Written < r.Input || *r.Written > 2*r.Input) {
			t.Errorf("%s: written %g, input %g", name, *r.Written, r.Input)
		}
	}
	for _, v := range read.Vendors {
		if source, err := url.Parse(v.Source); err != nil || source.Scheme != "https" {
			t.Errorf("%s has the source %q", v.Host, v.Source)
		}
		if len(v.Models) == 0 {
			t.Errorf("%s has no models", v.Host)
		}
		for name, p := range v.Models {
			plausible(name, p.Rates)
			if p.Long != nil {
				plausible(name+" long", p.Long.Rates)
				if p.Long.Above <= 0 || p.Long.Input <= p.Input {
					t.Errorf("%s: above %d tokens the input costs %g, else %g",
						name, p.Long.Above, p.Long.Input, p.Input)
				}
			}
		}
	}
}

// TestPartOfAVendor reads no more of the table than the part of the vendor that is asked for, and that as a whole.
func TestPartOfAVendor(t *testing.T) {
	var whole table
	if _, err := toml.Decode(prices, &whole); err != nil {
		t.Fatal(err)
	}
	for _, v := range whole.Vendors {
		parts.Clear()
		if got := modelsOf(v.Host); !reflect.DeepEqual(got, v.Models) {
			t.Errorf("%s: %v, want %v", v.Host, got, v.Models)
		}
		modelsOf("127.0.0.1")
		read := 0
		parts.Range(func(any, any) bool { read++; return true })
		if read != 1 {
			t.Errorf("%s: %d parts were read", v.Host, read)
		}
	}
}

func TestOf(t *testing.T) {
	const anthropic, openai = "https://api.anthropic.com", "https://api.openai.com/v1"
	for _, c := range []struct {
		base, id string
		input    float64 // 0 for unknown
	}{
		{anthropic, "claude-sonnet-4-5", 3},
		{anthropic, "claude-sonnet-4-5-20250929", 3},
		{anthropic, "claude-sonnet-4-20250514", 3},
		{anthropic, "claude-3-5-haiku-latest", 0.8},
		{"https://API.anthropic.com:443", "claude-haiku-4-5", 1},
		{openai, "gpt-5", 1.25},
		{openai, "gpt-5-2025-08-07", 1.25},
		{openai, "gpt-5-pro", 15},
		{openai, "gpt-4o-2024-05-13", 5},
		{openai, "gpt-4o-2024-11-20", 2.5},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash", 0.3},

		{anthropic, "claude-sonnet-4-55", 0},
		{anthropic, "claude-sonnet", 0},
		{anthropic, "gpt-5", 0},
		{openai, "gpt-5-ultra", 0},
		{openai, "ft:gpt-4.1:acme::x", 0},
		{openai, "", 0},
		{"http://localhost:11434/v1", "gpt-5", 0},
		{"https://gateway.example/v1", "gpt-5", 0},
		{"https://api.openai.com.example/v1", "gpt-5", 0},
		{"", "gpt-5", 0},
		{":", "gpt-5", 0},
	} {
		p, ok := Of(c.base, c.id)
		if ok != (c.input != 0) || p.Input != c.input {
			t.Errorf("%s at %q: %t, input %g, want %g", c.id, c.base, ok, p.Input, c.input)
		}
	}
}

func TestCost(t *testing.T) {
	cached, written := 0.1, 5.0
	full := Price{
		Rates: Rates{Input: 2, Output: 10, Cached: &cached, Written: &written},
		Long:  &Long{Above: 1000, Rates: Rates{Input: 4, Output: 20}},
	}
	plain := Price{Rates: Rates{Input: 2, Output: 10}}
	for _, c := range []struct {
		price Price
		usage model.Usage
		want  float64 // in millionths of a dollar
	}{
		{full, model.Usage{}, 0},
		{full, model.Usage{Input: 100, Output: 10}, 300},
		{full, model.Usage{Input: 100, Output: 10, Cached: 900}, 200 + 100 + 90},
		{full, model.Usage{Input: 100, Written: 60, Output: 10}, 80 + 300 + 100},
		{full, model.Usage{Input: 101, Output: 10, Cached: 900}, 404 + 200 + 3600},
		{plain, model.Usage{Input: 100, Written: 60, Output: 10, Cached: 900}, 200 + 100 + 1800},
		{Price{}, model.Usage{Input: 100, Output: 10, Cached: 900}, 0},
	} {
		if got := c.price.Cost(c.usage) * 1e6; math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v costs %g, want %g", c.usage, got, c.want)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		var t table
		if _, err := toml.Decode(prices, &t); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDollars(t *testing.T) {
	for cost, want := range map[float64]string{
		0: "$0", 0.00001: "<$0.0001", 0.0012: "$0.0012", 0.0999: "$0.0999", 0.1: "$0.10", 12.345: "$12.35",
		1234.5: "$1234.50",
	} {
		if got := Dollars(cost); got != want {
			t.Errorf("%g is %q, want %q", cost, got, want)
		}
	}
}
