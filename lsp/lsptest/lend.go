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
func (p *play) lend(args []string) error {
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
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.editor.loans = append(p.editor.loans, l)
	return nil
}

// announce adds members to what the profile announces under experimental.agentls: true, or what stands behind a = as
// JSON.
func (p *play) announce(args []string) error {
	var capabilities map[string]any
	if err := json.Unmarshal(p.profile.Capabilities, &capabilities); err != nil {
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
	p.profile.Capabilities, err = json.Marshal(capabilities)
	return err
}

// answerLoan answers a request by what the editor lends. A method that nothing is lent for is one that it does not
// implement. The lock is held.
func (e *Editor) answerLoan(method string, params json.RawMessage) (any, error) {
	for i, l := range e.loans {
		if l.method != method || !l.params.Match(params) {
			continue
		}
		e.loans = append(e.loans[:i:i], e.loans[i+1:]...)
		if method == "agent/model/generate" {
			e.paired(params)
		}
		token := lookup(params, "partialResultToken")
		for _, piece := range l.Pieces {
			e.notify("$/progress", struct {
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

// paired checks that each call of a conversation has its result in the message behind it.
func (e *Editor) paired(params json.RawMessage) {
	var p struct {
		Messages []struct {
			Role  string `json:"role"`
			Parts []struct {
				Kind string `json:"kind"`
				ID   string `json:"id"`
			} `json:"parts"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		e.fault("agent/model/generate: %v", err)
		return
	}
	waiting := map[string]bool{}
	for i, m := range p.Messages {
		if m.Role == "tool" != (len(waiting) > 0) {
			e.fault("agent/model/generate: message %d is of the role %s, behind %d calls", i, m.Role, len(waiting))
		}
		for _, part := range m.Parts {
			switch {
			case part.Kind == "call" && m.Role == "assistant":
				waiting[part.ID] = true
			case part.Kind == "result" && m.Role == "tool" && waiting[part.ID]:
				delete(waiting, part.ID)
			case part.Kind != "text":
				e.fault("agent/model/generate: message %d of the role %s has a part %s %q", i, m.Role,
					part.Kind, part.ID)
			}
		}
		if m.Role == "tool" && len(waiting) > 0 {
			e.fault("agent/model/generate: message %d leaves %d calls without a result", i, len(waiting))
		}
	}
}
