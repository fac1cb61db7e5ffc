package openai

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// reasons reports by its id whether the model reasons: other models refuse parameters for reasoning.
func (e *endpoint) reasons() bool {
	id := e.plainID()
	if strings.Contains(id, "chat") { // gpt-5-chat-latest and models like it do not reason
		return false
	}
	for _, prefix := range []string{"gpt-5", "gpt-6", "gpt-oss", "o1", "o3", "o4", "codex"} {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// plainID is the model's id in lower case, without a gateway's prefix.
func (e *endpoint) plainID() string {
	return strings.ToLower(e.model[strings.LastIndexByte(e.model, '/')+1:])
}

// Effort knows the vendor's models by their ids. Models of compatible servers may reason under other ids.
func (e *endpoint) Effort() (use model.EffortUse, hint string) {
	switch {
	case e.reasons():
		return model.EffortTaken, ""
	case e.Own:
		return model.EffortRefused, ""
	}
	return model.EffortUnknown, ""
}

// Effort is the endpoint's, except for the vendor's models from gpt-5.4 on: for these, Chat Completions refuses an
// effort together with tools, and refers to Responses.
func (c *chat) Effort() (use model.EffortUse, hint string) {
	var minor int
	if n, _ := fmt.Sscanf(c.plainID(), "gpt-5.%d", &minor); c.Own &&
		(n == 1 && minor >= 4 || strings.HasPrefix(c.plainID(), "gpt-6")) {
		return model.EffortRefused, `set api = "responses" of its provider in your config.toml, since the vendor takes ` +
			"an effort beside tools only there"
	}
	return c.endpoint.Effort()
}
