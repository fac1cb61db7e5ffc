package agentcore

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Error is a refusal in words for a person: what happened, and what to do.
type Error struct {
	// Kind is a short name such as "not_found" or "invalid_request".
	Kind   string
	Detail string
	Hint   string
	Cause  error
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Detail
	}
	return e.Detail + "; " + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func notFound(what, id, hint string) *Error {
	return &Error{Kind: "not_found", Detail: fmt.Sprintf("there is no %s %q", what, id), Hint: hint}
}

// Explain returns what is known of an error as a Failure: kind, detail and hint from the errors of this
// module, and the bare text of any other.
func Explain(err error) event.Failure {
	var own *Error
	var file *workspace.FileError
	var provider *model.Error
	switch {
	case errors.As(err, &own):
		return event.Failure{Kind: own.Kind, Detail: own.Detail, Hint: own.Hint}
	case errors.As(err, &file):
		return event.Failure{Kind: string(file.Kind), Detail: file.Path + ": " + file.Detail, Hint: file.Hint}
	case errors.As(err, &provider):
		return event.Failure{Kind: string(provider.Kind), Detail: provider.Error(), Hint: provider.Hint}
	case errors.Is(err, context.Canceled), errors.Is(err, errCancelled):
		return event.Failure{Kind: "cancelled", Detail: "the run was cancelled"}
	}
	return event.Failure{Kind: "internal", Detail: err.Error()}
}
