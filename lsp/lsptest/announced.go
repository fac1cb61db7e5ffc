package lsptest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/sourcegraph/jsonrpc2"
)

// announced is what the server has announced, and the state of the conversation's lifecycle.
type announced struct {
	*judge
	phase        phase
	encoding     Encoding
	capabilities json.RawMessage         // ServerCapabilities
	registered   map[string]registration // by id
}

type phase int

const (
	phaseNew phase = iota
	phaseInitializing
	phaseRunning
	phaseShutdown
	phaseExited
)

// maySpeak checks that the lifecycle allows a message now (LSP 3.18, "Server lifecycle"). The lock is held, as for all
// methods below.
func (a *announced) maySpeak(r *jsonrpc2.Request) {
	switch a.phase {
	case phaseNew, phaseInitializing:
		if !slices.Contains([]string{
			"window/showMessage", "window/logMessage", "window/showMessageRequest", "telemetry/event",
		}, r.Method) {
			a.fault("%s before initialize was answered", r.Method)
		}
	case phaseShutdown, phaseExited:
		if !r.Notif && r.Method != "window/showMessageRequest" {
			a.fault("the request %s after shutdown", r.Method)
		}
	}
}

// initialized takes the capabilities of the server. offered are the encodings that the client has offered, nil for
// those of its profile.
func (a *announced) initialized(result json.RawMessage, offered []Encoding) {
	a.phase = phaseRunning
	a.capabilities = lookup(result, "capabilities")
	if a.capabilities == nil {
		a.fault("initialize: the result has no capabilities")
	}
	if offered == nil {
		for _, name := range a.profile.strings("general.positionEncodings") {
			offered = append(offered, Encoding(name))
		}
	}
	chosen := Encoding(text(lookup(a.capabilities, "positionEncoding")))
	switch {
	case chosen == "":
		chosen = UTF16
	case !slices.Contains(offered, chosen) && chosen != UTF16:
		a.fault("initialize: position encoding %q was not offered", chosen)
	}
	a.encoding = chosen
	if kinds := lookup(a.capabilities, "codeActionProvider.codeActionKinds"); kinds != nil {
		a.needs("textDocument.codeAction.codeActionLiteralSupport", "initialize: codeActionProvider as an object")
	}
	if lookup(a.capabilities, "workspace.textDocumentContent") != nil {
		a.needs("workspace.textDocumentContent", "initialize: workspace.textDocumentContent")
	}
}

// Encoding is the negotiated position encoding.
func (a *announced) Encoding() Encoding {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.encoding
}

// syncKind is the server's TextDocumentSyncKind.
func (a *announced) syncKind() int {
	raw := lookup(a.capabilities, "textDocumentSync")
	var kind int
	if json.Unmarshal(raw, &kind) == nil {
		return kind
	}
	if json.Unmarshal(lookup(raw, "change"), &kind) != nil {
		return 0
	}
	return kind
}

func (a *announced) fit(text string, list []Diagnostic) error {
	for _, d := range list {
		if _, _, err := a.encoding.Span(text, d.Range); err != nil {
			return fmt.Errorf("diagnostic %q: %w", d.Message, err)
		}
	}
	return nil
}

// scheme reports whether the server serves the text of documents whose URI has this scheme.
func (a *announced) scheme(u string) bool {
	var schemes []string
	if json.Unmarshal(lookup(a.capabilities, "workspace.textDocumentContent.schemes"), &schemes) != nil {
		return false
	}
	name, _, _ := strings.Cut(u, ":")
	return slices.Contains(schemes, name)
}

// registration is a registration by the server.
type registration struct {
	method  string
	options json.RawMessage
}

// selects reports whether a registration's documentSelector fits a document; one without a selector fits all.
func (r registration) selects(u string) bool {
	var filters []struct {
		Language string          `json:"language"`
		Scheme   string          `json:"scheme"`
		Pattern  json.RawMessage `json:"pattern"`
	}
	raw := lookup(r.options, "documentSelector")
	if !truthy(raw) {
		return true
	}
	if json.Unmarshal(raw, &filters) != nil {
		return false
	}
	for _, f := range filters {
		scheme, _, _ := strings.Cut(u, ":")
		if f.Language != "" || f.Scheme != "" && f.Scheme != scheme {
			continue
		}
		if f.Pattern == nil {
			return true
		}
		if ok, err := doublestar.Match(text(f.Pattern), filepath.ToSlash(pathOf(u))); err == nil && ok {
			return true
		}
	}
	return false
}

func (a *announced) register(params json.RawMessage) error {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if err := json.Unmarshal(params, &p); err != nil || len(p.Registrations) == 0 {
		a.fault("client/registerCapability: bad params %s", shorten(string(params)))
	}
	for _, r := range p.Registrations {
		capability, known := registrable[r.Method]
		if !known {
			a.fault("client/registerCapability: %q cannot be registered", r.Method)
			continue
		}
		if !truthy(lookup(a.profile.Capabilities, capability+".dynamicRegistration")) {
			a.fault("client/registerCapability: %s: the client did not announce %s.dynamicRegistration",
				r.Method, capability)
		}
		if a.registered[r.ID].method != "" {
			a.fault("client/registerCapability: id %q is in use", r.ID)
		}
		a.registered[r.ID] = registration{r.Method, r.Options}
	}
	return nil
}

func (a *announced) unregister(params json.RawMessage) error {
	var p struct {
		Unregisterations []struct { // LSP's spelling
			ID string `json:"id"`
		} `json:"unregisterations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	for _, r := range p.Unregisterations {
		if a.registered[r.ID].method == "" {
			a.fault("client/unregisterCapability: id %q is not registered", r.ID)
		}
		delete(a.registered, r.ID)
	}
	return nil
}

// Watches reports whether the server has asked for file events.
func (a *announced) Watches() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.registered {
		if r.method == "workspace/didChangeWatchedFiles" {
			return true
		}
	}
	return false
}

// serves reports whether the server announced a feature for a document. The lock is held.
func (a *announced) serves(method, u string) bool {
	return truthy(lookup(a.capabilities, languageProviders[method])) || a.selecting(method, u) > 0
}

// selecting is how many registrations of a feature select a document. The lock is held.
func (a *announced) selecting(method, u string) int {
	count := 0
	for _, r := range a.registered {
		if r.method == method && r.selects(u) {
			count++
		}
	}
	return count
}

// checkActions checks the answer to a code action request. The lock is held.
func (a *announced) checkActions(c *call, result json.RawMessage) {
	const base, method = "textDocument.codeAction.", "textDocument/codeAction"
	if !truthy(lookup(a.capabilities, "codeActionProvider")) {
		a.fault("%s is served but not announced", method)
	}
	var list []Action
	if err := json.Unmarshal(result, &list); err != nil {
		a.fault("%s: bad result %s: %v", method, shorten(string(result)), err)
		return
	}
	var context codeActionContext
	if err := json.Unmarshal(lookup(c.params, "context"), &context); err != nil {
		return // the scenario sent the request itself
	}
	for _, one := range list {
		what := fmt.Sprintf("%s: %q", method, one.Title)
		if one.Title == "" {
			a.fault("%s: an action without a title", method)
		}
		if one.Command != nil {
			a.checkCommand(*one.Command, what)
		}
		if one.bare {
			continue
		}
		a.needs(base+"codeActionLiteralSupport", what)
		if one.Command == nil && one.Edit == nil && one.Disabled == nil {
			a.fault("%s has neither an edit nor a command", what)
		}
		if one.Disabled != nil {
			a.needs(base+"disabledSupport", what)
		}
		if one.IsPreferred != nil {
			a.needs(base+"isPreferredSupport", what)
		}
		if one.Data != nil {
			a.needs(base+"dataSupport", what)
		}
		if len(context.Only) > 0 &&
			!slices.ContainsFunc(context.Only, func(kind string) bool {
				return kind == "" || one.Kind == kind ||
					strings.HasPrefix(one.Kind, kind+".")
			}) {
			a.fault("%s is of kind %q; only %q were asked for", what, one.Kind, context.Only)
		}
		if one.Kind == "" {
			a.fault("%s has no kind", what)
		}
		a.checkKind(one.Kind, what)
	}
}

// checkKind checks that the server announced an action's kind, if it announced kinds at all.
func (a *announced) checkKind(kind, what string) {
	var kinds []string
	if json.Unmarshal(lookup(a.capabilities, "codeActionProvider.codeActionKinds"), &kinds) != nil {
		return
	}
	if !slices.ContainsFunc(kinds, func(k string) bool { return kind == k || strings.HasPrefix(kind, k+".") }) {
		a.fault("%s: the kind %q is not among the announced %q", what, kind, kinds)
	}
}

// checkCommand checks that a command which the server offers can be executed. The lock is held.
func (a *announced) checkCommand(c Command, what string) {
	var commands []string
	if err := json.Unmarshal(lookup(a.capabilities, "executeCommandProvider.commands"), &commands); err != nil ||
		!slices.Contains(commands, c.Command) {
		a.fault("%s: the command %q is not in executeCommandProvider", what, c.Command)
	}
	if c.Title == "" {
		a.fault("%s: the command %q has no title", what, c.Command)
	}
}

// languageProviders are the members of the server's capabilities that announce the features.
var languageProviders = map[string]string{
	"textDocument/completion": "completionProvider", "textDocument/hover": "hoverProvider",
	"textDocument/documentLink": "documentLinkProvider", "textDocument/documentSymbol": "documentSymbolProvider",
	"textDocument/foldingRange": "foldingRangeProvider",
	"textDocument/codeLens":     "codeLensProvider", "textDocument/inlayHint": "inlayHintProvider",
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
	"textDocument/foldingRange":        "textDocument.foldingRange",
	"textDocument/documentLink":        "textDocument.documentLink",
	"textDocument/inlayHint":           "textDocument.inlayHint",
	"textDocument/diagnostic":          "textDocument.diagnostic",
}
