// Package lending is what an editor lends to agents: its language model, and what its own language servers know.
//
// A request to the model goes out as `agent/model/generate`, and the pieces of its answer come by `$/progress`.
// `agent/model/lend` says which models there are; a run gets one of them where the user has no key. Tokens that the
// editor does not count are guessed, since budgets need a number.
package lending

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// Means are what a Lender works with. Nothing of it is replaced.
type Means struct {
	Client    *client.Client
	Documents *document.Documents
	View      *workspace.View
	// Silence bounds the wait for the next piece of an answer.
	Silence time.Duration
}

// Lender asks the editor for what it lends. Its methods may be called from any goroutine.
type Lender struct {
	Means

	mu     sync.Mutex
	told   bool               // the editor has said which models it lends
	models []provider.Lent    // by `agent/model/lend`
	last   int                // the number of the last request
	under  map[string]*pieces // answers under way, by the token of their pieces
}

// New makes the lender of an editor.
func New(m Means) *Lender { return &Lender{Means: m, under: map[string]*pieces{}} }

// Lends is what the editor has said.
func (l *Lender) Lends() ([]provider.Lent, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.models), l.Client.Announced().Models && (!l.told || len(l.models) > 0)
}

// LentModel returns a model by its id, "" for the editor's choice.
func (l *Lender) LentModel(id string) model.Model {
	m := &lentModel{lender: l, id: id}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.models, func(lent provider.Lent) bool { return lent.ID == id }); i >= 0 {
		m.lent = l.models[i]
	}
	return m
}

// LendModels answers `agent/model/lend`.
func (l *Lender) LendModels(_ context.Context, p *methods.LendModelsParams) error {
	if !l.Client.Announced().Models {
		return &fault.Error{
			Kind:   fault.Unsupported,
			Detail: "the editor did not announce that it answers agent/model/generate",
			Hint:   "set capabilities.experimental.agentls.models in initialize",
		}
	}
	var models []provider.Lent
	for i, m := range p.Models {
		if m.ID == "" {
			return wire.InvalidParams(fmt.Errorf("models[%d].id is empty", i))
		}
		models = append(models,
			provider.Lent{ID: m.ID, Title: m.Title, ContextTokens: m.ContextTokens, NoCalls: m.NoCalls})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told, l.models = true, models
	return nil
}

// pieces are the parts of one answer that have come and that Stream has not taken yet. The reading goroutine puts them
// there and never waits.
type pieces struct {
	mu   sync.Mutex
	list []model.Event
	news chan struct{} // has room for one
}

func (p *pieces) put(e model.Event) {
	p.mu.Lock()
	p.list = append(p.list, e)
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

func (p *pieces) take() []model.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list = nil
	return list
}

// begin makes a token, to which the pieces of an answer are sent until end.
func (l *Lender) begin() (token string, p *pieces, end func()) {
	p = &pieces{news: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	token = fmt.Sprintf("agentls.generate.%d", l.last)
	l.under[token] = p
	return token, p, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.under, token)
	}
}

// Progressed takes in a `$/progress` of the editor, which is a piece of an answer. It drops a piece of an answer that
// nobody waits for any more.
func (l *Lender) Progressed(params jsonrpc2.RawMessage) error {
	var p struct {
		Token json.RawMessage   `json:"token"`
		Value methods.ModelPart `json:"value"`
	}
	if err := methods.Decode(params, &p); err != nil {
		return err
	}
	var token string
	if json.Unmarshal(p.Token, &token) != nil {
		return nil // a number is no token of ours
	}
	l.mu.Lock()
	under := l.under[token]
	l.mu.Unlock()
	if under == nil {
		return nil
	}
	switch p.Value.Kind {
	case "text":
		under.put(model.TextDelta{Text: p.Value.Text})
	case "reasoning":
		under.put(model.ReasoningDelta{Text: p.Value.Text})
	case "call":
		under.put(model.CallDelta{Name: p.Value.Name})
	}
	return nil
}
