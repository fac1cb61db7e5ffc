package agent

import (
	"encoding/json"
	"time"
)

// definitionJSON is a Definition with the keys of the native format.
type definitionJSON struct {
	identityJSON
	Mode Mode `json:"mode,omitempty"`
	programJSON
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Effort      string   `json:"effort,omitempty"`
	limitsJSON
	AsChild        *childJSON                 `json:"as_child,omitempty"`
	Tools          *[]string                  `json:"tools,omitempty"`
	Disallowed     []string                   `json:"disallowed_tools,omitempty"`
	ToolOptions    map[string]toolOptionsJSON `json:"tool_options,omitempty"`
	Subagents      *[]string                  `json:"subagents,omitempty"`
	Permissions    string                     `json:"permissions,omitempty"`
	Rules          []ruleJSON                 `json:"rules,omitempty"`
	PermissionMode string                     `json:"permission_mode,omitempty"`
	Context        string                     `json:"context,omitempty"`
	Instructions   string                     `json:"instructions,omitempty"`
	Reminder       string                     `json:"reminder,omitempty"`
	Skills         []string                   `json:"skills,omitempty"`
	MCPServers     []map[string]*serverJSON   `json:"mcp_servers,omitempty"`
	Hooks          map[string][]hookJSON      `json:"hooks,omitempty"`
	Aliases        []string                   `json:"aliases,omitempty"`
	looksJSON
	promptJSON
}

type identityJSON struct {
	Name        string     `json:"name"`
	ID          string     `json:"id,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Category    []Category `json:"category"`
}

type programJSON struct {
	Engine  string    `json:"engine,omitempty"`
	Command []string  `json:"command,omitempty"`
	Env     []string  `json:"env,omitempty"`
	Mode    string    `json:"program_mode,omitempty"`
	Home    *homeJSON `json:"home,omitempty"`
	Network []string  `json:"network,omitempty"`
}

type homeJSON struct {
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
}

type looksJSON struct {
	Icon    string `json:"icon,omitempty"`
	Color   string `json:"color,omitempty"`
	Order   int    `json:"order,omitempty"`
	Visible *bool  `json:"visible,omitempty"`
}

type promptJSON struct {
	Prompt        string            `json:"prompt,omitempty"`
	PromptFile    string            `json:"prompt_file,omitempty"`
	Variables     map[string]string `json:"variables,omitempty"`
	DefaultPrefix *bool             `json:"default_prefix,omitempty"`
}

type limitsJSON struct {
	MaxTurns int         `json:"max_turns,omitempty"`
	Timeout  string      `json:"timeout,omitempty"`
	Budget   *budgetJSON `json:"budget,omitempty"`
}

type budgetJSON struct {
	Tokens int64   `json:"tokens,omitempty"`
	Cost   float64 `json:"cost,omitempty"`
}

type childJSON struct {
	limitsJSON
	Subagents *[]string `json:"subagents,omitempty"`
	Agent     string    `json:"agent,omitempty"`
}

type toolOptionsJSON struct {
	OutputLimit int             `json:"output_limit,omitempty"`
	Timeout     string          `json:"timeout,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"`
}

type ruleJSON struct {
	Tool    string `json:"tool"`
	Pattern string `json:"pattern"`
	Action  string `json:"action"`
}

type serverJSON struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

type hookJSON struct {
	Matcher string   `json:"matcher,omitempty"`
	Command []string `json:"command"`
	Timeout string   `json:"timeout,omitempty"`
}

func limitsOf(l Limits) limitsJSON {
	w := limitsJSON{MaxTurns: l.MaxTurns, Timeout: durationText(l.Timeout)}
	if l.Tokens != 0 || l.Cost != 0 {
		w.Budget = &budgetJSON{l.Tokens, l.Cost}
	}
	return w
}

func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
