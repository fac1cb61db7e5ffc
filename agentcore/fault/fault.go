// Package fault holds the refusals of the engine: what happened, in words for a person, and what to do about it. Every
// room may return one, so this package knows only those below them whose errors it explains.
package fault

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Kind is a short name of what went wrong, by which programs tell refusals apart. The protocol has fewer of them
// (methods.ErrorKind).
type Kind string

// The kinds of [Error]. Results of runs have others beside them: the reasons of a run's end and the kinds of models'
// and files' errors.
const (
	Cancelled           Kind = "cancelled"
	Changing            Kind = "changing" // a file does not hold still
	ChildrenFailed      Kind = "children_failed"
	Dismissed           Kind = "dismissed" // a person closed a prompt without an answer
	EmptyAnswer         Kind = "empty_answer"
	InUse               Kind = "in_use" // another process has it
	Internal            Kind = "internal"
	InvalidDefinition   Kind = "invalid_definition"
	InvalidRequest      Kind = "invalid_request"
	NoKey               Kind = "no_key"
	NoModel             Kind = "no_model"
	NotAllowed          Kind = "not_allowed"
	NotFound            Kind = "not_found"
	OutputMismatch      Kind = "output_mismatch" // an answer does not fit the output schema
	Refused             Kind = "refused"         // by the model's provider
	Rejected            Kind = "rejected"        // by a hook or a rule
	ShuttingDown        Kind = "shutting_down"
	StateUnavailable    Kind = "state_unavailable" // the state folder cannot be used
	Store               Kind = "store"             // the database cannot be written
	Unchanged           Kind = "unchanged"         // there is nothing that has changed
	UnknownModel        Kind = "unknown_model"
	UnknownProvider     Kind = "unknown_provider"
	Unsupported         Kind = "unsupported" // the editor cannot do it
	UnsupportedProvider Kind = "unsupported_provider"
)

// Error is a refusal in words for a person: what happened, and what to do.
type Error struct {
	Kind   Kind
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

// Missing is the refusal where there is nothing with an id or a name.
func Missing(what, id, hint string) *Error {
	return &Error{Kind: NotFound, Detail: fmt.Sprintf("there is no %s %q", what, id), Hint: hint}
}

// Unstored is the refusal where something could not be committed to the store.
func Unstored(err error) *Error {
	return &Error{
		Kind: Store, Detail: "what happened could not be stored: " + err.Error(),
		Hint:  "free space in, or repair, the state folder (see `agentls doctor`), and start again what was ended",
		Cause: err,
	}
}

// Is reports whether an error is, or wraps, an [Error] of one of the kinds.
func Is(err error, kinds ...Kind) bool {
	own, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	for _, k := range kinds {
		if own.Kind == k {
			return true
		}
	}
	return false
}

// ErrCancelled is the cause of a run that the user ended.
var ErrCancelled = errors.New("cancelled by the user")

// Explain returns what is known of an error as a Failure: kind, detail and hint from the errors of this
// module, and the bare text of any other.
func Explain(err error) event.Failure {
	var own *Error
	var file *workspace.FileError
	var provider *model.Error
	switch {
	case errors.As(err, &own):
		return event.Failure{Kind: string(own.Kind), Detail: own.Detail, Hint: own.Hint}
	case errors.As(err, &file):
		return event.Failure{Kind: string(file.Kind), Detail: file.Path + ": " + file.Detail, Hint: file.Hint}
	case errors.As(err, &provider):
		return event.Failure{Kind: string(provider.Kind), Detail: provider.Error(), Hint: provider.Hint}
	case errors.Is(err, context.Canceled), errors.Is(err, ErrCancelled):
		return event.Failure{Kind: string(Cancelled), Detail: "the run was cancelled"}
	}
	return event.Failure{Kind: string(Internal), Detail: err.Error()}
}
