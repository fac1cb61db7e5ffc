package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
)

// The codes of errors that the protocol adds to those of JSON-RPC.
const (
	codeNotFound  = -32002 // a session or file
	codeCancelled = -32800
)

func invalidRequest(format string, args ...any) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

func invalidParams(format string, args ...any) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// missing is the error of params without a member that they need.
func missing(member string) error { return invalidParams("params.%s is missing", member) }

// failureOf is an error as the client gets it. Its data is an event.Failure, as everywhere in agentls.
func failureOf(err error) *jsonrpc2.Error {
	if own, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return own
	}
	failure := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
	if errors.Is(err, context.Canceled) {
		failure.Code, failure.Message = codeCancelled, "cancelled"
		return failure
	}
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return failure
	}
	switch refusal.Kind {
	case fault.NotFound:
		failure.Code = codeNotFound
	case fault.InvalidRequest:
		failure.Code = jsonrpc2.CodeInvalidParams
	}
	return withFailure(failure, event.Failure{
		Kind: string(refusal.Kind), Detail: refusal.Detail, Hint: refusal.Hint,
	})
}

// withFailure adds what went wrong to an error.
func withFailure(to *jsonrpc2.Error, f event.Failure) *jsonrpc2.Error {
	data, err := json.Marshal(f)
	if err == nil {
		raw := json.RawMessage(data)
		to.Data = &raw
	}
	return to
}

// failed is the error of a turn whose run failed.
func failed(f *event.Failure) error {
	if f == nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "the run failed, and does not say why"}
	}
	text := f.Detail
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return withFailure(&jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: text}, *f)
}

// unknownSession refuses a session that is not open here, or not stored.
func unknownSession(id string) error {
	return &jsonrpc2.Error{
		Code:    codeNotFound,
		Message: fmt.Sprintf("there is no session %q; session/list lists those that can be loaded", id),
	}
}
