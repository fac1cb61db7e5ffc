package acp

import (
	"encoding/json"

	protocol "github.com/agentls/agentls/agentcore/acp"
)

// protocolVersion is the version of the protocol that we speak.
const protocolVersion = 1

// The types of the protocol, as far as we read and send it. The schema says what their members mean. Those that both
// sides of a connection see alike are the client's.
type (
	supported struct{}

	clientCapabilities struct {
		FS struct {
			Read  bool `json:"readTextFile"`
			Write bool `json:"writeTextFile"`
		} `json:"fs"`
		Session *struct {
			Notices *supported `json:"notices"`
		} `json:"session"`
		Elicitation *struct {
			Form *supported `json:"form"`
		} `json:"elicitation"`
	}
	initializeParams struct {
		Version      *int                     `json:"protocolVersion"`
		Capabilities clientCapabilities       `json:"clientCapabilities"`
		Client       *protocol.Implementation `json:"clientInfo"`
	}
	initializeResult struct {
		Version      int                     `json:"protocolVersion"`
		Capabilities agentCapabilities       `json:"agentCapabilities"`
		AuthMethods  []struct{}              `json:"authMethods"`
		Agent        protocol.Implementation `json:"agentInfo"`
	}
	agentCapabilities struct {
		LoadSession bool `json:"loadSession"`
		Prompt      struct {
			Image    bool `json:"image"`
			Audio    bool `json:"audio"`
			Embedded bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		MCP struct {
			HTTP bool `json:"http"`
			SSE  bool `json:"sse"`
		} `json:"mcpCapabilities"`
		Session struct {
			List   supported `json:"list"`
			Resume supported `json:"resume"`
			Close  supported `json:"close"`
		} `json:"sessionCapabilities"`
	}

	named struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	mcpServer struct {
		Type    string   `json:"type"` // empty, and in some clients "stdio", for a command
		Name    string   `json:"name"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Env     []named  `json:"env"`
		URL     string   `json:"url"`
		Headers []named  `json:"headers"`
	}
	// sessionParams are those of session/new, load and resume.
	sessionParams struct {
		Session string      `json:"sessionId"`
		Folder  string      `json:"cwd"`
		More    []string    `json:"additionalDirectories"`
		Servers []mcpServer `json:"mcpServers"`
	}
	sessionResult struct {
		Session string         `json:"sessionId,omitempty"`
		Modes   protocol.Modes `json:"modes"`
		Options []configOption `json:"configOptions"`
	}
	configOption struct {
		ID          string                 `json:"id"`
		Name        string                 `json:"name"`
		Description string                 `json:"description,omitempty"`
		Category    string                 `json:"category,omitempty"`
		Type        string                 `json:"type"`
		Current     string                 `json:"currentValue"`
		Options     []protocol.ConfigValue `json:"options"`
	}
	configResult struct {
		Options []configOption `json:"configOptions"`
	}
	listParams struct {
		Folder string `json:"cwd"`
		Cursor string `json:"cursor"`
	}
	listResult struct {
		Sessions []sessionInfo `json:"sessions"`
		Next     string        `json:"nextCursor,omitempty"`
	}
	sessionInfo struct {
		Session string `json:"sessionId"`
		Folder  string `json:"cwd"`
		Title   string `json:"title,omitempty"`
		Updated string `json:"updatedAt,omitempty"`
	}
	// onSession are the params of what is about one session.
	onSession struct {
		Session string `json:"sessionId"`
	}
	modeParams struct {
		onSession
		Mode string `json:"modeId"`
	}
	configParams struct {
		onSession
		Option string          `json:"configId"`
		Value  json.RawMessage `json:"value"`
	}
	promptParams struct {
		onSession
		Prompt []contentBlock `json:"prompt"`
	}
	promptResult struct {
		Reason string `json:"stopReason"`
	}
	cancelParams struct {
		Request json.RawMessage `json:"requestId"`
	}

	// contentBlock is a part of a prompt.
	contentBlock struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MIME     string `json:"mimeType"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
		Resource *struct {
			URI  string  `json:"uri"`
			Text *string `json:"text"`
			Blob string  `json:"blob"`
			MIME string  `json:"mimeType"`
		} `json:"resource"`
	}

	notification struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	sessionUpdate struct {
		Session string `json:"sessionId"`
		Update  any    `json:"update"`
	}
	textContent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	chunk struct {
		Update  string      `json:"sessionUpdate"`
		Content textContent `json:"content"`
		Message string      `json:"messageId,omitempty"`
	}
	location struct {
		Path string `json:"path"`
		Line int    `json:"line,omitempty"`
	}
	toolContent struct {
		Type    string       `json:"type"`
		Content *textContent `json:"content,omitempty"`
		Path    string       `json:"path,omitempty"`
		Old     *string      `json:"oldText,omitempty"`
		New     *string      `json:"newText,omitempty"`
	}
	// toolCall is a tool_call, a tool_call_update, or what a permission is asked for.
	toolCall struct {
		Update    string          `json:"sessionUpdate,omitempty"`
		ID        string          `json:"toolCallId"`
		Title     string          `json:"title,omitempty"`
		Name      string          `json:"name,omitempty"`
		Kind      string          `json:"kind,omitempty"`
		Status    string          `json:"status,omitempty"`
		Content   []toolContent   `json:"content,omitempty"`
		Locations []location      `json:"locations,omitempty"`
		Input     json.RawMessage `json:"rawInput,omitempty"`
	}
	planUpdate struct {
		Update  string               `json:"sessionUpdate"`
		Entries []protocol.PlanEntry `json:"entries"`
	}
	commandsUpdate struct {
		Update   string             `json:"sessionUpdate"`
		Commands []protocol.Command `json:"availableCommands"`
	}
	modeUpdate struct {
		Update string `json:"sessionUpdate"`
		Mode   string `json:"currentModeId"`
	}
	configUpdate struct {
		Update  string         `json:"sessionUpdate"`
		Options []configOption `json:"configOptions"`
	}
	titleUpdate struct {
		Update string `json:"sessionUpdate"`
		Title  string `json:"title"`
	}
	usageUpdate struct {
		Update string         `json:"sessionUpdate"`
		Used   int64          `json:"used"`
		Size   int64          `json:"size"`
		Cost   *protocol.Cost `json:"cost,omitempty"`
	}
	notice struct {
		Update      string `json:"sessionUpdate"`
		Severity    string `json:"severity"`
		Title       string `json:"title"`
		Description string `json:"description,omitempty"`
	}

	permissionParams struct {
		Session string                      `json:"sessionId"`
		Call    toolCall                    `json:"toolCall"`
		Options []protocol.PermissionOption `json:"options"`
	}
	permissionResult struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}

	elicitationParams struct {
		Mode    string          `json:"mode"`
		Session string          `json:"sessionId"`
		Call    string          `json:"toolCallId,omitempty"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
	elicitationResult struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}

	readParams struct {
		Session string `json:"sessionId"`
		Path    string `json:"path"`
	}
	readResult struct {
		Content *string `json:"content"`
	}
	writeParams struct {
		Session string `json:"sessionId"`
		Path    string `json:"path"`
		Content string `json:"content"`
	}
)
