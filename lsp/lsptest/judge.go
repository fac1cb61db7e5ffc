package lsptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// judge has the lock of an editor, and keeps what the server has done against the protocol.
type judge struct {
	profile *Profile
	mu      sync.Mutex    // guards the state of all parts of the editor
	news    chan struct{} // closed when something has changed
	faults  []string
}

// fault notes a breach of the protocol. The lock is held.
func (j *judge) fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(j.faults, text) {
		j.faults = append(j.faults, text)
	}
}

func (j *judge) lockedFault(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fault(format, args...)
}

// Faults are the breaches of the protocol so far, each once.
func (j *judge) Faults() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.faults)
}

// changed wakes those who wait. The lock is held.
func (j *judge) changed() {
	close(j.news)
	j.news = make(chan struct{})
}

// needs notes a fault unless the client announced what the server uses. The lock is held.
func (j *judge) needs(capability, what string) {
	if !j.profile.Announces(capability) {
		j.fault("%s: the client did not announce %s", what, capability)
	}
}

// conforms checks a custom message against its JSON Schema.
func (j *judge) conforms(method, part string, value json.RawMessage) {
	if err := conforms(method, part, value); err != nil {
		j.fault("%s: %s: %v", method, part, err)
	}
}

// checkError checks that an error answer uses a code of JSON-RPC or LSP, and says something.
func (j *judge) checkError(c *call, failure *jsonrpc2.Error) {
	codes := []int64{-32700, -32600, -32601, -32602, -32603, -32002, -32001, -32803, -32802, -32801, -32800}
	if !slices.Contains(codes, failure.Code) {
		j.fault("%s: error code %d is not one of LSP's", c.method, failure.Code)
	}
	if failure.Message == "" {
		j.fault("%s: an error without a message", c.method)
	}
	if strings.HasPrefix(c.method, "agent/") || c.command != "" {
		j.checkFailure(c, failure)
	}
}

// checkFailure checks the data of an error of the custom protocol: that it says what happened, by a kind of the
// protocol's table, with the code that the table has for it.
func (j *judge) checkFailure(c *call, failure *jsonrpc2.Error) {
	if failure.Data == nil || text(lookup(*failure.Data, "kind")) == "" || text(lookup(*failure.Data, "detail")) == "" {
		j.fault("%s: an error without data {kind, detail}: %s", c.method, failure.Message)
		return
	}
	kind := text(lookup(*failure.Data, "kind"))
	code, special := map[string]int64{
		"invalid_params": -32602, "method_not_found": -32601, "content_modified": -32801, "cancelled": -32800,
		"internal": -32603,
	}[kind]
	if !special {
		code = -32803
	}
	if failure.Code != code {
		j.fault("%s: the kind %q comes with the code %d, and the protocol's table has %d: %s", c.method, kind,
			failure.Code, code, failure.Message)
	}
	if known, err := errorKinds(); err != nil || !slices.Contains(known, kind) {
		j.fault("%s: the protocol has no error of the kind %q: %s", c.method, kind, failure.Message)
	}
}

// paired checks that each call of a conversation has its result in the message behind it.
func paired(j *judge, params json.RawMessage) {
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
		j.fault("agent/model/generate: %v", err)
		return
	}
	waiting := map[string]bool{}
	for i, m := range p.Messages {
		if m.Role == "tool" != (len(waiting) > 0) {
			j.fault("agent/model/generate: message %d is of the role %s, behind %d calls", i, m.Role, len(waiting))
		}
		for _, part := range m.Parts {
			switch {
			case part.Kind == "call" && m.Role == "assistant":
				waiting[part.ID] = true
			case part.Kind == "result" && m.Role == "tool" && waiting[part.ID]:
				delete(waiting, part.ID)
			case part.Kind != "text":
				j.fault("agent/model/generate: message %d of the role %s has a part %s %q", i, m.Role,
					part.Kind, part.ID)
			}
		}
		if m.Role == "tool" && len(waiting) > 0 {
			j.fault("agent/model/generate: message %d leaves %d calls without a result", i, len(waiting))
		}
	}
}
