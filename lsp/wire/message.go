package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

// rejection says why the guard does not let a message pass.
type rejection struct {
	id     jsonrpc2.ID // the zero ID is null on the wire
	code   jsonrpc2.Code
	reason string
	silent bool // a notification or a response is never answered (JSON-RPC 2.0, sections 4.1 and 5)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// decodeMessage turns a body into a message, or says why it is none. Method and id are copies; a request's params alias
// body; a response's result is a copy. lastCall is the highest id of our own calls so far, which begin with 1.
func decodeMessage(body []byte, lastCall int64) (jsonrpc2.Message, *rejection) {
	body = bytes.Trim(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	if !json.Valid(body) {
		return nil, &rejection{code: jsonrpc2.ParseError, reason: syntaxError(body)}
	}
	switch body[0] {
	case '{':
	case '[':
		return nil, &rejection{
			code:   jsonrpc2.InvalidRequest,
			reason: "batches are not part of the language server protocol; send the messages one by one",
		}
	default:
		return nil, &rejection{code: jsonrpc2.InvalidRequest, reason: "a message must be a JSON object"}
	}
	view, err := jsonrpc2.ScanMessageView(body)
	if err == nil {
		msg, ok := viewedMessage(&view)
		if ok {
			return msg, nil
		}
	}
	return diagnose(body, lastCall)
}

// viewedMessage handles well-formed messages without copying their params. ok is false for all other bodies, which
// diagnose has to look at.
func viewedMessage(view *jsonrpc2.MessageView) (msg jsonrpc2.Message, ok bool) {
	if !utf8.Valid(view.MethodRaw) || !utf8.Valid(view.IDRaw) {
		return nil, false
	}
	switch view.Kind {
	case jsonrpc2.MessageViewCall, jsonrpc2.MessageViewNotification:
		if len(view.Params) > 0 && !structured(view.Params) {
			return nil, false
		}
		method, ok := view.MethodString()
		if !ok {
			return nil, false
		}
		if view.Kind == jsonrpc2.MessageViewCall {
			id, ok := view.ID.ID()
			return jsonrpc2.NewCall(id, method, view.Params), ok
		}
		// A message with the id null is neither a request nor a notification.
		return jsonrpc2.NewNotification(method, view.Params), view.IDRaw == nil
	case jsonrpc2.MessageViewResponseResult, jsonrpc2.MessageViewResponseError:
		if !view.ID.IsValid() {
			return nil, false
		}
		msg, err := view.Owned()
		return msg, err == nil
	default:
		return nil, false
	}
}

// diagnose looks at a JSON object that is not a well-formed message: it finds what is wrong, and the id for the answer.
// It is lenient with responses, because one of our calls waits for them. body is valid JSON.
func diagnose(body []byte, lastCall int64) (jsonrpc2.Message, *rejection) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, &rejection{code: jsonrpc2.ParseError, reason: err.Error()}
	}
	rawID, hasID := fields["id"]
	id, validID := decodeID(rawID)
	rawMethod, hasMethod := fields["method"]
	if !hasMethod {
		return diagnoseResponse(fields, id, lastCall)
	}
	reject := func(reason string) (jsonrpc2.Message, *rejection) {
		return nil, &rejection{id: id, code: jsonrpc2.InvalidRequest, reason: reason, silent: !hasID}
	}
	_, hasResult := fields["result"]
	_, hasError := fields["error"]
	var method *string
	var version string
	switch {
	case !utf8.Valid(rawMethod):
		return nil, &rejection{code: jsonrpc2.ParseError, reason: "the method is not valid UTF-8"}
	case hasID && !validID:
		return reject("the id must be a string or a 64-bit integer")
	case json.Unmarshal(fields["jsonrpc"], &version) != nil || version != "2.0":
		return reject(`the member "jsonrpc" must be "2.0"`)
	case json.Unmarshal(rawMethod, &method) != nil || method == nil:
		return reject("the method must be a string")
	case hasResult || hasError:
		return reject("a message cannot be a request and a response at once")
	}
	params := fields["params"]
	if isNull(params) {
		params = nil
	}
	if len(params) > 0 && !structured(params) {
		return reject("params must be an object or an array")
	}
	if hasID {
		return jsonrpc2.NewCall(id, *method, jsonrpc2.RawMessage(params)), nil
	}
	return jsonrpc2.NewNotification(*method, jsonrpc2.RawMessage(params)), nil
}

// diagnoseResponse reads an object without a method. A null error counts as none and a missing result as null, as some
// clients send them.
func diagnoseResponse(fields map[string]json.RawMessage, id jsonrpc2.ID,
	lastCall int64,
) (jsonrpc2.Message, *rejection) {
	result, hasResult := fields["result"]
	fault, hasError := fields["error"]
	if !hasResult && !hasError {
		if n, ok := id.Number(); !ok || n < 1 || n > lastCall {
			return nil, &rejection{id: id, code: jsonrpc2.InvalidRequest, reason: `the member "method" is missing`}
		}
	}
	if !id.IsValid() {
		return nil, &rejection{reason: "a response without an id", silent: true}
	}
	if hasError && !isNull(fault) {
		answer := new(jsonrpc2.Error)
		if err := json.Unmarshal(fault, answer); err != nil {
			answer = jsonrpc2.NewError(jsonrpc2.InternalError, "the peer answered with a malformed error object")
		}
		return jsonrpc2.NewResponse(id, nil, answer), nil
	}
	return jsonrpc2.NewResponse(id, jsonrpc2.RawMessage(result), nil), nil
}

// decodeID reads a request's id: a string of valid UTF-8, or an integer of 64 bits without fraction or exponent, so
// that it can be echoed digit by digit.
func decodeID(raw []byte) (jsonrpc2.ID, bool) {
	if len(raw) == 0 || isNull(raw) || !utf8.Valid(raw) {
		return jsonrpc2.ID{}, false
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return jsonrpc2.NewStringID(s), err == nil
	}
	var n int64
	if err := json.Unmarshal(raw, &n); err != nil {
		return jsonrpc2.ID{}, false
	}
	return jsonrpc2.NewNumberID(n), true
}

func isNull(raw []byte) bool { return string(raw) == "null" }

// structured reports whether raw, a valid JSON value without white space in front, is an object or an array.
func structured(raw []byte) bool { return raw[0] == '{' || raw[0] == '[' }

// syntaxError says what is wrong with a body that is no JSON, and at which byte (0-based).
func syntaxError(body []byte) string {
	var nothing struct{}
	err := json.Unmarshal(body, &nothing)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("the body is not valid JSON: %v (at byte %d)", syntax, syntax.Offset)
	}
	return "the body is not valid JSON"
}
