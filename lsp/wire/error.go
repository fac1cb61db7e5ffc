package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// CodeRequestFailed is LSP's code for a request that was well formed and failed (LSP 3.17, ErrorCodes.RequestFailed).
const CodeRequestFailed jsonrpc2.Code = -32803

// maxName bounds the length in bytes of a name from the peer that an error message repeats.
const maxName = 200

// Data is the data member of an error response. An empty hint is left out.
type Data struct {
	Kind   string `json:"kind,omitempty"`   // a stable word for programs: one of the protocol's ErrorKind
	Detail string `json:"detail,omitempty"` // what happened, and to what; empty if the message says it
	Hint   string `json:"hint,omitempty"`   // what the user can do about it
}

// Error is an error with its code on the wire. A request's function returns one to choose the code. If it is wrapped,
// its code and data are sent with the message of the outermost error.
type Error struct {
	Code    jsonrpc2.Code
	Message string
	Data    Data
	Err     error // the cause, may be nil; it is not sent
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// InvalidParams says that err was found in a request's params (-32602).
func InvalidParams(err error) *Error {
	return &Error{
		Code: jsonrpc2.InvalidParams, Message: fmt.Sprintf("invalid params: %v", err),
		Data: Data{Kind: "invalid_params", Detail: err.Error()}, Err: err,
	}
}

// MethodNotFound says that there is no such request (-32601).
func MethodNotFound(method string) *Error {
	return &Error{
		Code: jsonrpc2.MethodNotFound, Message: fmt.Sprintf("there is no request %q", truncate(method)),
		Data: Data{Kind: "method_not_found"},
	}
}

// InvalidRequest says that a request must not be sent, or not now (-32600).
func InvalidRequest(reason string) *Error {
	return &Error{Code: jsonrpc2.InvalidRequest, Message: reason, Data: Data{Kind: "invalid_request"}}
}

// RequestFailed says that a well-formed request failed because of err (-32803).
func RequestFailed(err error) *Error {
	return &Error{Code: CodeRequestFailed, Message: err.Error(), Data: Data{Kind: "failed"}, Err: err}
}

// ContentModified says what has changed since a request about it was sent (-32801).
func ContentModified(what string) *Error {
	return &Error{Code: protocol.CodeContentModified, Message: what, Data: Data{Kind: "content_modified"}}
}

// RequestCancelled says that the client cancelled the request (-32800).
func RequestCancelled() *Error {
	return &Error{
		Code: protocol.CodeRequestCancelled, Message: "the client cancelled the request",
		Data: Data{Kind: "cancelled"}, Err: context.Canceled,
	}
}

// InternalError says that the server itself is at fault (-32603).
func InternalError(err error) *Error {
	return &Error{Code: jsonrpc2.InternalError, Message: err.Error(), Data: Data{Kind: "internal"}, Err: err}
}

// ServerNotInitialized says that initialize must come first (-32002).
func ServerNotInitialized(method string) *Error {
	return &Error{
		Code: jsonrpc2.ServerNotInitialized, Message: fmt.Sprintf("%q came before the server was initialized",
			truncate(method)),
		Data: Data{Kind: "not_initialized", Hint: "send initialize first"},
	}
}

// truncate shortens a name from the peer so that it fits into a message.
func truncate(name string) string {
	if len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// onWire is the error that the connection sends for err. It always has a code. If err wraps the answer to a call of our
// own, that answer's code is not sent, since it is about another request.
func onWire(err error) *jsonrpc2.Error {
	// Only an error that is not wrapped is meant for the peer.
	if direct, ok := err.(*jsonrpc2.Error); ok && direct.Code != 0 { //nolint:errorlint // see above
		return direct
	}
	coded, ok := errors.AsType[*Error](err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled): // not cancelled by the client, which has another cause
		err = errors.New("agentls ended before it had finished this request")
		coded = RequestFailed(err)
		coded.Data.Kind = "shutting_down"
	case errors.Is(err, context.DeadlineExceeded):
		coded = RequestFailed(err)
	default:
		coded = InternalError(err)
	}
	sent := &jsonrpc2.Error{Code: coded.Code, Message: strings.ToValidUTF8(err.Error(), "\uFFFD")}
	if sent.Code == 0 {
		sent.Code = jsonrpc2.InternalError
	}
	data := coded.Data
	data.Kind, data.Detail = cmp.Or(data.Kind, "internal"), cmp.Or(data.Detail, sent.Message)
	// Strings can always be encoded.
	sent.Data, _ = json.Marshal(data)
	return sent
}
