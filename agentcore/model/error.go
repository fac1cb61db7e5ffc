package model

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind sorts provider failures by what can be done about them.
type ErrorKind string

// The kinds. Rate limits, overload, server faults and network faults are worth another try.
const (
	ErrRateLimit  ErrorKind = "rate_limit"       // 429
	ErrOverloaded ErrorKind = "overloaded"       // 529, 503
	ErrServer     ErrorKind = "server"           // other 5xx
	ErrNetwork    ErrorKind = "network"          // refused, reset, cut stream
	ErrProtocol   ErrorKind = "protocol"         // an answer that is no valid stream of the wire
	ErrAuth       ErrorKind = "auth"             // 401, 403, no key
	ErrNotFound   ErrorKind = "not_found"        // 404: no such model or path
	ErrInvalid    ErrorKind = "invalid"          // 400 and other 4xx
	ErrContext    ErrorKind = "context_overflow" // the conversation is too long for the model
)

// Error is a failure of a provider, in words for a person.
type Error struct {
	Kind ErrorKind
	// Provider is "provider/model".
	Provider string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// Detail is what the provider said, shortened; it never holds a key.
	Detail string
	// Hint is what the user can do.
	Hint string
	// RetryAfter is how long the provider asked to wait, 0 where it did not say.
	RetryAfter time.Duration
	// Cause is the underlying error, if any.
	Cause error
}

func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return fmt.Sprintf("%s: %s%s: %s", e.Provider, e.Kind, status, e.Detail)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Retryable reports whether asking again may help.
func Retryable(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case ErrRateLimit, ErrOverloaded, ErrServer, ErrNetwork, ErrProtocol:
		return true
	}
	return false
}
