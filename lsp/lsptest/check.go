package lsptest

import (
	"encoding/json"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// serverRequests are the requests that a server may send, each with the client capability that allows it, "" if none is
// needed.
var serverRequests = map[string]string{
	"workspace/applyEdit":                   "workspace.applyEdit",
	"workspace/configuration":               "workspace.configuration",
	"workspace/workspaceFolders":            "workspace.workspaceFolders",
	"window/showDocument":                   "window.showDocument.support",
	"window/showMessageRequest":             "",
	"window/workDoneProgress/create":        "window.workDoneProgress",
	"client/registerCapability":             "",
	"client/unregisterCapability":           "",
	"workspace/codeLens/refresh":            "workspace.codeLens.refreshSupport",
	"workspace/inlayHint/refresh":           "workspace.inlayHint.refreshSupport",
	"workspace/diagnostic/refresh":          "workspace.diagnostics.refreshSupport",
	"workspace/textDocumentContent/refresh": "workspace.textDocumentContent",
	"agent/ask":                             "experimental.agentls.asks",
	"agent/question":                        "experimental.agentls.questions",
	"agent/model/generate":                  "experimental.agentls.models",
	"agent/diagnostics":                     "experimental.agentls.diagnostics",
	"agent/symbols":                         "experimental.agentls.symbols",
}

// responded looks at an answer of the server as soon as it was read, on the connection's reading goroutine.
func (e *Editor) responded(_ *jsonrpc2.Request, response *jsonrpc2.Response) {
	if response == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.changed()
	c := e.pending[response.ID.Num]
	if c == nil || response.ID.IsString {
		e.fault("an answer to request %s, which is not under way", response.ID)
		return
	}
	delete(e.pending, response.ID.Num)
	c.ended = true
	e.progress.answered(c)
	if response.Error != nil {
		e.checkError(c, response.Error)
		return
	}
	result := json.RawMessage("null")
	if response.Result != nil {
		result = *response.Result
	}
	e.checkResult(c, result)
}

func (e *Editor) checkResult(c *call, result json.RawMessage) {
	if c.subscribes() {
		e.subscribedTo(c, result)
	}
	switch {
	case c.method == "initialize":
		e.initialized(result, e.options.Encodings)
	case c.method == "shutdown":
		e.phase = max(e.phase, phaseShutdown)
	case c.method == "textDocument/codeAction":
		e.checkActions(c, result)
	case c.method == "workspace/executeCommand":
		if strings.HasPrefix(c.command, "agentls.") {
			if err := conforms(c.command, "result", result); err != nil {
				e.fault("command %s: result: %v", c.command, err)
			}
		}
	case strings.HasPrefix(c.method, "agent/"):
		e.conforms(c.method, "result", result)
	}
}
