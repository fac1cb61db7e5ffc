package lsptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// requests are those that a server may send, each with the client capability that allows it, "" where none is needed.
var requests = map[string]string{
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

// registrable are the methods that agentls may register at run time, with the capability that has dynamicRegistration.
var registrable = map[string]string{
	"workspace/didChangeWatchedFiles":  "workspace.didChangeWatchedFiles",
	"workspace/didChangeConfiguration": "workspace.didChangeConfiguration",
	"workspace/executeCommand":         "workspace.executeCommand",
	"workspace/textDocumentContent":    "workspace.textDocumentContent",
	"textDocument/codeAction":          "textDocument.codeAction",
	"textDocument/codeLens":            "textDocument.codeLens",
	"textDocument/hover":               "textDocument.hover",
	"textDocument/completion":          "textDocument.completion",
	"textDocument/documentSymbol":      "textDocument.documentSymbol",
	"textDocument/inlayHint":           "textDocument.inlayHint",
	"textDocument/diagnostic":          "textDocument.diagnostic",
}

// maySpeak checks that the lifecycle allows a message now (LSP 3.18, "Server lifecycle"). The lock is held, as for all
// below.
func (e *Editor) maySpeak(r *jsonrpc2.Request) {
	switch e.phase {
	case phaseNew, phaseInitializing:
		if !slices.Contains([]string{
			"window/showMessage", "window/logMessage", "window/showMessageRequest",
			"telemetry/event",
		}, r.Method) {
			e.fault("%s before initialize was answered", r.Method)
		}
	case phaseShutdown, phaseExited:
		if !r.Notif && r.Method != "window/showMessageRequest" {
			e.fault("the request %s after shutdown", r.Method)
		}
	}
}

// Progress is a work-done progress as the user sees it.
type Progress struct {
	// Token is the token as JSON.
	Token   string
	Title   string
	Begun   bool
	Ended   bool
	Message string // the newest
	Percent int    // the newest, -1 for none
	// Cancellable is what the begin or the newest report says.
	Cancellable bool

	request     *call // the request that brought the token; nil for one that the server created
	withPercent bool
}

func (e *Editor) createProgress(token json.RawMessage) error {
	key := string(token)
	if key == "" || key[0] != '"' && (key[0] < '0' || key[0] > '9') && key[0] != '-' {
		e.fault("window/workDoneProgress/create: %q is no token", key)
		return fmt.Errorf("%q is no token", key)
	}
	if e.progress[key] != nil {
		e.fault("window/workDoneProgress/create: token %s was used before", key)
	}
	e.addProgress(&Progress{Token: key, Percent: -1})
	return nil
}

func (e *Editor) addProgress(p *Progress) {
	e.progress[p.Token] = p
	e.order = append(e.order, p)
}

// giveToken notes the work-done token that a request of ours brings.
func (e *Editor) giveToken(c *call) {
	if token := lookup(c.params, "workDoneToken"); truthy(token) {
		e.addProgress(&Progress{Token: string(token), Percent: -1, request: c})
	}
}

func (e *Editor) progressed(params json.RawMessage) {
	key, value := string(lookup(params, "token")), lookup(params, "value")
	p := e.progress[key]
	if p == nil {
		e.fault("$/progress: token %s was neither created nor given by the client", key)
		return
	}
	if p.request != nil && p.request.ended {
		e.fault("$/progress: token %s came with %s, which is answered already", key, p.request.method)
	}
	var v struct {
		Kind        string  `json:"kind"`
		Title       string  `json:"title"`
		Message     *string `json:"message"`
		Percentage  *int    `json:"percentage"`
		Cancellable *bool   `json:"cancellable"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		e.fault("$/progress: token %s: bad value %s", key, shorten(string(value)))
		return
	}
	switch v.Kind {
	case "begin":
		if p.Begun {
			e.fault("$/progress: token %s begins twice", key)
		}
		if v.Title == "" {
			e.fault("$/progress: token %s begins without a title", key)
		}
		p.Begun, p.Title, p.withPercent = true, v.Title, v.Percentage != nil
	case "report":
		if !p.Begun {
			e.fault("$/progress: token %s reports before it begins", key)
		}
		if p.withPercent != (v.Percentage != nil) {
			e.fault("$/progress: token %s (%q): a percentage has to be in the begin and in every report, or nowhere",
				key, p.Title)
		}
	case "end":
		if !p.Begun {
			e.fault("$/progress: token %s ends before it begins", key)
		}
	default:
		e.fault("$/progress: token %s: there is no kind %q", key, v.Kind)
	}
	if p.Ended {
		e.fault("$/progress: token %s (%q) goes on after its end", key, p.Title)
	}
	p.Ended = p.Ended || v.Kind == "end"
	if v.Percentage != nil {
		if *v.Percentage < max(p.Percent, 0) || *v.Percentage > 100 {
			e.fault("$/progress: token %s (%q): percentage %d after %d", key, p.Title, *v.Percentage, p.Percent)
		}
		p.Percent = *v.Percentage
	}
	if v.Message != nil {
		p.Message = *v.Message
	}
	if v.Cancellable != nil {
		p.Cancellable = *v.Cancellable
	}
}

// publish takes diagnostics.
func (e *Editor) publish(params json.RawMessage) {
	const method, base = "textDocument/publishDiagnostics", "textDocument.publishDiagnostics"
	if e.profile.Announces("textDocument.diagnostic") { // one that says nothing of either takes the older one
		e.needs(base, method)
	}
	var p struct {
		URI         string        `json:"uri"`
		Version     *int32        `json:"version"`
		Diagnostics *[]Diagnostic `json:"diagnostics"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.URI == "" || p.Diagnostics == nil {
		e.fault("%s: bad params %s (%v)", method, shorten(string(params)), err)
		return
	}
	if p.Version != nil {
		e.needs(base+".versionSupport", method)
	}
	shown, counts := e.countedIn(p.URI, p.Version, *p.Diagnostics)
	if !counts {
		e.fault("%s: %s", method, shown)
	}
	for _, d := range *p.Diagnostics {
		if d.Message == "" {
			e.fault("%s: a diagnostic without a message", method)
		}
		for member, there := range map[string]bool{
			"tagSupport": d.Tags != nil, "dataSupport": d.Data != nil,
			"codeDescriptionSupport": d.CodeDescription != nil, "relatedInformation": d.RelatedInformation != nil,
		} {
			if there {
				e.needs(base+"."+member, method)
			}
		}
	}
	e.diagnostics[p.URI] = published{
		version: p.Version, text: shown, list: *p.Diagnostics,
		times: e.diagnostics[p.URI].times + 1,
	}
}

// countedIn finds the text that the ranges of diagnostics count in: that of the version, else the newest
// that they fit in, because the server may not have seen our last changes. Where there is none it returns what is
// wrong, and false.
func (e *Editor) countedIn(u string, version *int32, list []Diagnostic) (string, bool) {
	d := e.documents[u]
	if d == nil {
		disk, err := e.showing(u)
		if e.known[u] > 0 || e.written[pathOf(u)] {
			return disk, true // the server hears later that it is closed or changed, if at all
		}
		if version != nil && len(list) > 0 {
			return fmt.Sprintf("version %d of %s, which is not open", *version, u), false
		}
		if err != nil && len(list) > 0 {
			return fmt.Sprintf("diagnostics for %s: %v", u, err), false
		}
		return disk, e.fit(disk, list) == nil
	}
	if version != nil {
		text, known := d.history[*version]
		if !known && e.known[u] > 1 {
			return d.text, true // of the time before it was opened again
		}
		if !known {
			return fmt.Sprintf("%s never had version %d", u, *version), false
		}
		if err := e.fit(text, list); err != nil && e.known[u] == 1 {
			return fmt.Sprintf("in version %d of %s, %v", *version, u, err), false
		}
		return text, true
	}
	var first error
	for v := d.version; v > 0; v-- {
		text, known := d.history[v]
		if !known {
			continue
		}
		err := e.fit(text, list)
		if err == nil {
			return text, true
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Sprintf("in %s, %v", u, first), e.known[u] > 1
}

func (e *Editor) fit(text string, list []Diagnostic) error {
	for _, d := range list {
		if _, _, err := e.encoding.Span(text, d.Range); err != nil {
			return fmt.Errorf("diagnostic %q: %w", d.Message, err)
		}
	}
	return nil
}

func (e *Editor) register(params json.RawMessage) error {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if err := json.Unmarshal(params, &p); err != nil || len(p.Registrations) == 0 {
		e.fault("client/registerCapability: bad params %s", shorten(string(params)))
	}
	for _, r := range p.Registrations {
		capability, known := registrable[r.Method]
		if !known {
			e.fault("client/registerCapability: %q cannot be registered", r.Method)
			continue
		}
		if !truthy(lookup(e.profile.Capabilities, capability+".dynamicRegistration")) {
			e.fault("client/registerCapability: %s: the client did not announce %s.dynamicRegistration",
				r.Method, capability)
		}
		if e.registered[r.ID].method != "" {
			e.fault("client/registerCapability: id %q is in use", r.ID)
		}
		e.registered[r.ID] = registration{r.Method, r.Options}
	}
	return nil
}

func (e *Editor) unregister(params json.RawMessage) error {
	var p struct {
		Unregisterations []struct { // LSP's spelling
			ID string `json:"id"`
		} `json:"unregisterations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	for _, r := range p.Unregisterations {
		if e.registered[r.ID].method == "" {
			e.fault("client/unregisterCapability: id %q is not registered", r.ID)
		}
		delete(e.registered, r.ID)
	}
	return nil
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
	for _, p := range e.order {
		if p.request == c && p.Begun && !p.Ended {
			e.fault("%s was answered before its progress %s ended", c.method, p.Token)
		}
	}
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

// checkError checks that an error answer uses a code of JSON-RPC or LSP, and says something.
func (e *Editor) checkError(c *call, failure *jsonrpc2.Error) {
	codes := []int64{-32700, -32600, -32601, -32602, -32603, -32002, -32001, -32803, -32802, -32801, -32800}
	if !slices.Contains(codes, failure.Code) {
		e.fault("%s: error code %d is not one of LSP's", c.method, failure.Code)
	}
	if failure.Message == "" {
		e.fault("%s: an error without a message", c.method)
	}
	if strings.HasPrefix(c.method, "agent/") || c.command != "" {
		e.checkFailure(c, failure)
	}
}

// checkFailure checks the data of an error of the custom protocol: that it says what happened, by a kind of the
// protocol's table, with the code that the table has for it.
func (e *Editor) checkFailure(c *call, failure *jsonrpc2.Error) {
	if failure.Data == nil || text(lookup(*failure.Data, "kind")) == "" || text(lookup(*failure.Data, "detail")) == "" {
		e.fault("%s: an error without data {kind, detail}: %s", c.method, failure.Message)
		return
	}
	kind, code := text(lookup(*failure.Data, "kind")), int64(-32803)
	switch kind {
	case "invalid_params":
		code = -32602
	case "method_not_found":
		code = -32601
	case "content_modified":
		code = -32801
	case "cancelled":
		code = -32800
	case "internal":
		code = -32603
	}
	if failure.Code != code {
		e.fault("%s: the kind %q comes with the code %d, and the protocol's table has %d: %s", c.method, kind,
			failure.Code, code, failure.Message)
	}
	if known, err := errorKinds(); err != nil || !slices.Contains(known, kind) {
		e.fault("%s: the protocol has no error of the kind %q: %s", c.method, kind, failure.Message)
	}
}

func (e *Editor) checkResult(c *call, result json.RawMessage) {
	if c.method == "agent/subscribe" || c.command == "agentls.subscribe" {
		e.subscribedTo(c, result)
	}
	switch {
	case c.method == "initialize":
		e.initialized(result)
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

// initialized takes the server's capabilities.
func (e *Editor) initialized(result json.RawMessage) {
	e.phase = phaseRunning
	e.server = lookup(result, "capabilities")
	if e.server == nil {
		e.fault("initialize: the result has no capabilities")
	}
	offered := e.options.Encodings
	if offered == nil {
		for _, name := range e.profile.strings("general.positionEncodings") {
			offered = append(offered, Encoding(name))
		}
	}
	chosen := Encoding(text(lookup(e.server, "positionEncoding")))
	switch {
	case chosen == "":
		chosen = UTF16
	case !slices.Contains(offered, chosen) && chosen != UTF16:
		e.fault("initialize: position encoding %q was not offered", chosen)
	}
	e.encoding = chosen
	if kinds := lookup(e.server, "codeActionProvider.codeActionKinds"); kinds != nil {
		e.needs("textDocument.codeAction.codeActionLiteralSupport", "initialize: codeActionProvider as an object")
	}
	if lookup(e.server, "workspace.textDocumentContent") != nil {
		e.needs("workspace.textDocumentContent", "initialize: workspace.textDocumentContent")
	}
}
