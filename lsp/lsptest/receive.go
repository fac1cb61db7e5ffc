package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// receive looks at a message of the server as soon as it was read. It runs on the connection's reading goroutine and
// never waits.
func (e *Editor) receive(r *jsonrpc2.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.changed()
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	e.heard++
	e.maySpeak(r)
	if r.Notif {
		if e.options.Heard != nil {
			e.options.Heard(r.Method, params)
		}
		e.notified(r.Method, params)
		return
	}
	result, err := e.asked(r.Method, params)
	switch {
	case errors.Is(err, errHeld):
		e.hold(r)
	case errors.Is(err, errSilent):
		e.unanswered = append(e.unanswered, r)
	case err != nil:
		var code *jsonrpc2.Error
		if !errors.As(err, &code) {
			code = &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
		e.reply(r, nil, code)
	default:
		e.reply(r, result, nil)
	}
	for _, send := range e.behindReply {
		send()
	}
	e.behindReply = nil
}

func (e *Editor) reply(r *jsonrpc2.Request, result any, failure *jsonrpc2.Error) {
	id, method := r.ID, r.Method
	raw := encode(result)
	e.post(func() {
		var err error
		if failure != nil {
			err = e.conn.ReplyWithError(context.Background(), id, failure)
		} else {
			err = e.conn.Reply(context.Background(), id, &raw)
		}
		if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
			e.lockedFault("answer %s: %v", method, err)
		}
	})
}

// notified works on a notification. The lock is held, as for all below.
func (e *Editor) notified(method string, params json.RawMessage) {
	switch method {
	case "window/showMessage", "window/logMessage":
		e.message(method, params)
	case "$/progress":
		e.progressed(params)
	case "textDocument/publishDiagnostics":
		e.publish(params)
	case "$/cancelRequest":
		e.withdraw(params)
	case "$/logTrace", "telemetry/event":
	case "agent/event":
		if !e.subscribed {
			e.fault("agent/event without agent/subscribe")
		} else {
			e.event(params)
		}
		e.conforms(method, "params", params)
		e.notifications = append(e.notifications, Notification{method, params})
	case "agent/status":
		e.needs("experimental.agentls", method)
		e.conforms(method, "params", params)
		e.notifications = append(e.notifications, Notification{method, params})
	default:
		e.fault("the notification %s is not in the protocol", method)
	}
}

// asked works on a request and returns its result.
func (e *Editor) asked(method string, params json.RawMessage) (any, error) {
	what, known := requests[method]
	if !known {
		e.fault("the request %s is not in the protocol", method)
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no such method: " + method}
	}
	if what != "" && !e.profile.Announces(what) {
		e.fault("%s: the client did not announce %s", method, what)
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported: " + method}
	}
	switch method {
	case "workspace/applyEdit":
		return e.applyEditRequest(params)
	case "workspace/configuration":
		return e.configuration(params)
	case "workspace/workspaceFolders":
		return e.folders(), nil
	case "window/workDoneProgress/create":
		return nil, e.createProgress(lookup(params, "token"))
	case "window/showMessageRequest":
		return e.showPrompt(params)
	case "window/showDocument":
		return e.show(params)
	case "client/registerCapability":
		return nil, e.register(params)
	case "client/unregisterCapability":
		return nil, e.unregister(params)
	}
	if strings.HasSuffix(method, "/refresh") {
		e.refreshes[method]++
		return nil, nil
	}
	e.conforms(method, "params", params)
	e.notifications = append(e.notifications, Notification{method, params})
	if method == "agent/ask" {
		return e.askPermission(params)
	}
	if method == "agent/question" {
		return e.askQuestion(params)
	}
	return e.answerLoan(method, params)
}

func (e *Editor) message(method string, params json.RawMessage) Message {
	var p struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
		Actions []struct {
			Title string `json:"title"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Type < 1 || p.Type > 5 || p.Message == "" {
		e.fault("%s: bad params %s", method, shorten(string(params)))
	}
	m := Message{Method: method, Type: p.Type, Text: p.Message}
	for _, a := range p.Actions {
		m.Titles = append(m.Titles, a.Title)
	}
	e.messages = append(e.messages, m)
	return m
}

// show opens a document for the user.
func (e *Editor) show(params json.RawMessage) (any, error) {
	var p struct {
		URI      string `json:"uri"`
		External bool   `json:"external"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.URI == "" {
		e.fault("window/showDocument: bad params %s", shorten(string(params)))
	}
	success := struct {
		Success bool `json:"success"`
	}{true}
	file := pathOf(p.URI)
	switch {
	case p.External:
	case file != "":
		content, err := os.ReadFile(file)
		if err != nil {
			e.fault("window/showDocument: %v", err)
			success.Success = false
			break
		}
		if !within(file, e.options.Root) && !within(file, e.options.Foreign) {
			e.fault("window/showDocument: %s is neither in the workspace nor in the state folder", file)
		}
		e.shown[p.URI] = string(content)
	case e.scheme(p.URI):
		e.fetch(p.URI)
	default:
		e.fault(
			"window/showDocument: nobody can read %s: its scheme is not among workspace.textDocumentContent.schemes",
			p.URI)
		success.Success = false
	}
	return success, nil
}

func within(file, folder string) bool {
	rest, err := filepath.Rel(folder, file)
	return folder != "" && err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// scheme reports whether the server serves the text of such documents.
func (e *Editor) scheme(u string) bool {
	var schemes []string
	if json.Unmarshal(lookup(e.server, "workspace.textDocumentContent.schemes"), &schemes) != nil {
		return false
	}
	name, _, _ := strings.Cut(u, ":")
	return slices.Contains(schemes, name)
}

// fetch asks the server for the text of a document of its own.
func (e *Editor) fetch(u string) {
	p := e.begin("workspace/textDocumentContent", textDocument{URI: u})
	e.fetches.Go(func() {
		raw, err := p.Wait(context.Background()) // ends with the connection at the latest
		e.mu.Lock()
		defer e.mu.Unlock()
		if err != nil && !errors.Is(err, ErrDisconnected) {
			e.fault("workspace/textDocumentContent of %s: %v", u, err)
		}
		e.shown[u] = text(lookup(raw, "text"))
		e.changed()
	})
}

func (e *Editor) configuration(params json.RawMessage) (any, error) {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := json.Unmarshal(params, &p); err != nil || len(p.Items) == 0 {
		e.fault("workspace/configuration: bad params %s", shorten(string(params)))
	}
	list := []json.RawMessage{}
	for _, item := range p.Items {
		switch {
		case e.options.Settings == nil:
			list = append(list, json.RawMessage("null"))
		case item.Section == "agentls":
			list = append(list, e.options.Settings)
		default:
			raw := lookup(e.options.Settings, strings.TrimPrefix(item.Section, "agentls."))
			if raw == nil {
				raw = json.RawMessage("null")
			}
			list = append(list, raw)
		}
	}
	return list, nil
}

func (e *Editor) applyEditRequest(params json.RawMessage) (any, error) {
	result := struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason,omitempty"`
		FailedChange  *int   `json:"failedChange,omitempty"`
	}{Applied: true}
	record := EditAnswer{Label: text(lookup(params, "label")), Edit: lookup(params, "edit")}
	if lookup(params, "metadata") != nil {
		e.needs("workspace.workspaceEdit.metadataSupport", "workspace/applyEdit")
	}
	if e.profile.PrintsEdits && record.Label != "" {
		e.fault("workspace/applyEdit: the client prints the label %q, for which the user may have to press a key",
			record.Label)
	}
	if do := e.onEdit; do != nil {
		e.onEdit = nil
		e.mu.Unlock()
		do()
		e.mu.Lock()
	}
	send := func() {}
	var err error
	r := e.reaction
	if e.refusal != "" {
		err = errors.New(e.refusal)
		e.refusal = ""
	} else {
		send, err = e.applyEdit(record.Edit, "workspace/applyEdit")
		if err == nil {
			send, err = e.react(r, editedIn(record.Edit), send)
		}
	}
	e.reaction = Reaction{}
	if err != nil {
		result.Applied, result.FailureReason = false, err.Error()
	}
	var failed *partError
	if errors.As(err, &failed) && e.profile.Announces("workspace.workspaceEdit.failureHandling") {
		result.FailedChange = &failed.index
	}
	record.Applied, record.Reason = result.Applied, result.FailureReason
	e.applied = append(e.applied, record)
	switch {
	case err != nil && failed == nil:
	case r.Hold:
		e.held = append(e.held, send)
	case e.profile.ChangeAfterAnswer:
		e.behindReply = append(e.behindReply, send)
	default:
		send()
	}
	return result, nil
}

// conforms checks a custom message against its JSON Schema.
func (e *Editor) conforms(method, part string, value json.RawMessage) {
	if err := conforms(method, part, value); err != nil {
		e.fault("%s: %s: %v", method, part, err)
	}
}

// Shown returns the texts of the documents that the server has shown to the user, each under its URI as a headline.
func (e *Editor) Shown() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shownText()
}

func (e *Editor) shownText() string {
	var b strings.Builder
	for u, content := range e.shown {
		fmt.Fprintf(&b, "%s\n%s\n", u, content)
	}
	return b.String()
}

// Messages are what the server told the user so far.
func (e *Editor) Messages() []Message {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.messages)
}
