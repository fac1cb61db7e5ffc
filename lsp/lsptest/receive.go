package lsptest

import (
	"encoding/json"
	"errors"
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

// notified works on a notification. The lock is held, as for all below.
func (e *Editor) notified(method string, params json.RawMessage) {
	switch method {
	case "window/showMessage", "window/logMessage":
		e.message(method, params)
	case "$/progress":
		e.progress.progressed(params)
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
	what, known := serverRequests[method]
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
		return configuration(&e.judge, e.options.Settings, params)
	case "workspace/workspaceFolders":
		return e.folders(), nil
	case "window/workDoneProgress/create":
		return nil, e.progress.create(lookup(params, "token"))
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

// configuration answers workspace/configuration by the settings.
func configuration(j *judge, settings, params json.RawMessage) (any, error) {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := json.Unmarshal(params, &p); err != nil || len(p.Items) == 0 {
		j.fault("workspace/configuration: bad params %s", shorten(string(params)))
	}
	list := []json.RawMessage{}
	for _, item := range p.Items {
		switch {
		case settings == nil:
			list = append(list, json.RawMessage("null"))
		case item.Section == "agentls":
			list = append(list, settings)
		default:
			raw := lookup(settings, strings.TrimPrefix(item.Section, "agentls."))
			if raw == nil {
				raw = json.RawMessage("null")
			}
			list = append(list, raw)
		}
	}
	return list, nil
}
