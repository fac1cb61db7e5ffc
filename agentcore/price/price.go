package price

import (
	_ "embed"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/model"
)

// Rates are US dollars per million tokens.
type Rates struct {
	Input  float64 `toml:"input"`
	Output float64 `toml:"output"`
	// Cached is for input that the vendor's cache served, nil if it costs as much as other input.
	Cached *float64 `toml:"cached"`
	// Written is for input that was put into the vendor's cache, nil if it costs as much as other input.
	Written *float64 `toml:"written"`
}

// Price is what a model costs. The zero Price means that the model is free.
type Price struct {
	Rates
	// Long are the rates of a request with much input, nil if they are the same.
	Long *Long `toml:"long"`
}

// Long are the rates of a whole request whose input, cached input included, has more than Above tokens.
type Long struct {
	Above int64 `toml:"above"`
	Rates
}

// maxCost bounds the cost of an answer, so that costs can be added up and written down, whatever the rates are.
const maxCost = 1e12

// Cost is the price of one answer in US dollars. The usage is that of a single request: the rates may depend on its
// size.
func (p *Price) Cost(u model.Usage) float64 {
	rates := p.Rates
	if p.Long != nil && u.Input+u.Cached > p.Long.Above {
		rates = p.Long.Rates
	}
	cached, written := rates.Input, rates.Input
	if rates.Cached != nil {
		cached = *rates.Cached
	}
	if rates.Written != nil {
		written = *rates.Written
	}
	const million = 1e6
	cost := (float64(u.Input-u.Written)*rates.Input + float64(u.Written)*written +
		float64(u.Cached)*cached + float64(u.Output)*rates.Output) / million
	if math.IsNaN(cost) {
		return 0 // no tokens at an infinite rate cost nothing
	}
	return min(max(cost, 0), maxCost)
}

//go:embed prices.toml
var prices string

// table is prices.toml without its date, which is for people.
type table struct {
	Vendors []vendor `toml:"vendor"`
}

// vendor is a company that sells models at one host.
type vendor struct {
	Host   string           `toml:"host"`
	Source string           `toml:"source"`
	Models map[string]Price `toml:"models"`
}

// modelsOf returns the prices of the vendor at a host, nil for none. It reads the vendor's part of the table only once,
// and only when it is needed, since a run asks for the price of one model before it begins.
func modelsOf(host string) map[string]Price {
	if known, ok := parts.Load(host); ok {
		return known.(map[string]Price)
	}
	const head = "[[vendor]]\n"
	for part := range strings.SplitSeq(prices, head) {
		if !strings.HasPrefix(part, `host = "`+host+`"`+"\n") {
			continue
		}
		var t table
		if _, err := toml.Decode(head+part, &t); err != nil {
			panic(fmt.Sprintf("read the embedded prices: %v", err)) // the file is part of the program
		}
		parts.Store(host, t.Vendors[0].Models)
		return t.Vendors[0].Models
	}
	return nil
}

// parts maps hosts to the prices that were read.
var parts sync.Map

// version matches what vendors append to the name of a model without changing its price: a date, a number, "latest".
var version = lazyregexp.New(`-(\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)$`)

// Of returns the public price of a model at the address at which it is reached, and whether there is one. Only the
// vendor's own address has one, since gateways and resellers set their own prices. id is the vendor's id of the model,
// which may end in a version ("claude-sonnet-4-5-20250929"); any other longer name is another model.
func Of(baseURL, id string) (Price, bool) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return Price{}, false
	}
	models := modelsOf(strings.ToLower(u.Hostname()))
	if p, ok := models[id]; ok {
		return p, true
	}
	p, ok := models[version().ReplaceAllString(id, "")]
	return p, ok
}

// Dollars writes a cost for people: with cents, or below ten cents with as many digits as are needed.
func Dollars(cost float64) string {
	switch {
	case cost == 0:
		return "$0"
	case cost < 0.0001:
		return "<$0.0001"
	case cost < 0.1:
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}
