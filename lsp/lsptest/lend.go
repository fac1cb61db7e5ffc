package lsptest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// lend keeps an answer for a request by which the server borrows from the editor: METHOD "expression" {…}. Each loan
// answers one request; the first loan that matches does.
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

// announce adds members to what the profile announces under experimental.agentls. A member is true, or the JSON behind
// its =.
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
