package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// failed makes the error answer of a request that could not be done, with kind, detail and hint, and the code of its
// kind.
func failed(err error) error {
	var chosen *wire.Error
	var bad *methods.ParamsError
	switch {
	case errors.As(err, &bad):
		return wire.InvalidParams(err)
	case errors.As(err, &chosen), errors.Is(err, context.Canceled):
		return err
	}
	failure := fault.Explain(err)
	kind := errorKind(failure.Kind)
	answer := wire.RequestFailed(err)
	answer.Message = failure.Detail
	if failure.Hint != "" {
		answer.Message += "; " + failure.Hint
	}
	switch kind {
	case methods.KindCancelled:
		answer.Code = protocol.CodeRequestCancelled
	case methods.KindInvalidParams:
		answer.Code = jsonrpc2.InvalidParams
	case methods.KindInternal:
		answer.Code = jsonrpc2.InternalError
	}
	answer.Data = wire.Data{Kind: string(kind), Detail: failure.Detail, Hint: failure.Hint}
	return answer
}

// errorKind is the protocol's word for a kind of the engine's. The engine has more kinds, since models and the command
// line read them, too. The protocol's list is closed, so that a client can know all kinds.
func errorKind(kind string) methods.ErrorKind {
	switch kind {
	case "invalid_request":
		return methods.KindInvalidParams
	case "unknown_model", "unknown_provider", "unsupported_provider", "no_key":
		return methods.KindNoModel
	case "rejected", string(workspace.Outside), string(workspace.Protected), string(workspace.Directory),
		string(workspace.NotRegular), string(workspace.Binary), string(workspace.TooLarge), string(workspace.IO):
		return methods.KindNotAllowed
	case "store", "state_unavailable":
		return methods.KindInternal
	}
	switch known := methods.ErrorKind(kind); known {
	case methods.KindInvalidParams, methods.KindNotFound, methods.KindInvalidDefinition, methods.KindNotAllowed,
		methods.KindNoModel, methods.KindInUse, methods.KindUnsupported, methods.KindCancelled,
		methods.KindDismissed, methods.KindShuttingDown, methods.KindInternal:
		return known
	}
	return methods.KindFailed
}
