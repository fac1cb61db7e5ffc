package openai

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// reasons reports whether the model reasons, by its id: others refuse what is asked of those that do.
func (e *endpoint) reasons() bool {
	id := e.plainID()
	if strings.Contains(id, "chat") { // gpt-5-chat-latest and its like do not
		return false
	}
	for _, prefix := range []string{"gpt-5", "gpt-6", "gpt-oss", "o1", "o3", "o4", "codex"} {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// plainID is the model's id in small letters, without what a gateway puts in front of it.
func (e *endpoint) plainID() string {
	return strings.ToLower(e.model[strings.LastIndexByte(e.model, '/')+1:])
}

// Effort tells the vendor's models by their ids. Of a compatible server's, some reason that have other names.
func (e *endpoint) Effort() (use model.EffortUse, hint string) {
	switch {
	case e.reasons():
		return model.EffortTaken, ""
	case e.Own:
		return model.EffortRefused, ""
	}
	return model.EffortUnknown, ""
}

// Effort is that of the endpoint, but for the vendor's models from gpt-5.4 on: Chat Completions refuses their effort
// beside tools, and names Responses instead.
func (c *chat) Effort() (use model.EffortUse, hint string) {
	var minor int
	if n, _ := fmt.Sscanf(c.plainID(), "gpt-5.%d", &minor); c.Own &&
		(n == 1 && minor >= 4 || strings.HasPrefix(c.plainID(), "gpt-6")) {
		return model.EffortRefused, `set api = "responses" of its provider in your config.toml, since the vendor takes ` +
			"an effort beside tools only there"
	}
	return c.endpoint.Effort()
}
