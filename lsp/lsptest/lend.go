package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// loan is an answer to the next request of a method whose params fit: what the editor lends to agents.
type loan struct {
	method string
	params *regexp.Regexp
	// Pieces are sent to the request's partialResultToken, before it is answered.
	Pieces []json.RawMessage `json:"pieces"`
	// Result is the answer, or Error is.
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc2.Error `json:"error"`
	// Silent leaves the request without an answer, until it is taken back.
	Silent bool `json:"silent"`
}

// errSilent says that a request is never answered.
var errSilent = errors.New("the editor says nothing")

// lend takes a loan: METHOD "expression" {…}. Each is used once, the first that fits.
func lend(e *Editor, args []string) error {
	expression, err := regexp.Compile(args[1])
	if err != nil {
		return fmt.Errorf("the expression of the params: %w", err)
	}
	l := loan{method: args[0], params: expression}
	if err := json.Unmarshal([]byte(args[2]), &l); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if l.Result != nil {
		if err := conforms(l.method, "result", l.Result); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loans = append(e.loans, l)
	return nil
}

// announce adds members to what the profile announces under experimental.agentls: true, or what stands behind a = as
// JSON.
func (s *stage) announce(args []string) error {
	var capabilities map[string]any
	if err := json.Unmarshal(s.profile.Capabilities, &capabilities); err != nil {
		return err
	}
	member := func(of map[string]any, name string) map[string]any {
		inner, ok := of[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			of[name] = inner
		}
		return inner
	}
	own := member(member(capabilities, "experimental"), "agentls")
	own["version"] = "0.1.0"
	for _, member := range args {
		name, value, given := strings.Cut(member, "=")
		if own[name] = true; given {
			own[name] = json.RawMessage(value)
		}
	}
	var err error
	s.profile.Capabilities, err = json.Marshal(capabilities)
	return err
}

// answerLoan answers a request by what the editor lends. A method that nothing is lent for is one that it does not
// implement. The lock is held.
func (t *talk) answerLoan(method string, params json.RawMessage) (any, error) {
	for i, l := range t.loans {
		if l.method != method || !l.params.Match(params) {
			continue
		}
		t.loans = append(t.loans[:i:i], t.loans[i+1:]...)
		if method == "agent/model/generate" {
			paired(t.judge, params)
		}
		token := lookup(params, "partialResultToken")
		for _, piece := range l.Pieces {
			t.notify("$/progress", struct {
				Token json.RawMessage `json:"token"`
				Value json.RawMessage `json:"value"`
			}{token, piece})
		}
		switch {
		case l.Silent:
			return nil, errSilent
		case l.Error != nil:
			return nil, l.Error
		}
		return l.Result, nil
	}
	return nil, methodNotFound(method)
}
