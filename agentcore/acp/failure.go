package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// Failure is why a request to an agent came to nothing.
type Failure string

const (
	// Refused: the agent answered with an error.
	Refused Failure = "refused"
	// LoginNeeded: the agent answered that the user must log in first.
	LoginNeeded Failure = "login needed"
	// Unusable: the agent answered something that cannot be used, or it cannot do what it was to be asked for.
	Unusable Failure = "unusable"
	// Late: the agent did not answer in time.
	Late Failure = "late"
	// Ended: the agent's program or the connection to it has ended.
	Ended Failure = "ended"
)

const (
	// codeLogin is the code of an error that says that the user must log in.
	codeLogin = -32000
	// maxMessage is how much of an agent's message is told, in characters.
	maxMessage = 1000
)

// Error says why a request to an agent came to nothing.
type Error struct {
	Failure Failure
	// Method is that of the request.
	Method string
	// Code is that of the agent's error; 0 where there was none.
	Code int64
	// Message says in one line what has happened, and can be shown. For an agent that has ended, it has how the program
	// ended and its last words.
	Message string
	// Logins are the names of the ways to log in, where that is needed.
	Logins []string
}

// Error implements error.
func (e *Error) Error() string { return e.Method + ": " + e.Message }

// refusal is the answer of an agent that is an error.
func (c *Client) refusal(method string, answer *jsonrpc2.Error) *Error {
	text := strings.TrimSpace(answer.Message)
	if details := detailsOf(answer.Data); details != "" && details != text {
		text = strings.TrimPrefix(text+": "+details, ": ")
	}
	e := &Error{Failure: Refused, Method: method, Code: answer.Code, Message: harmless(text, maxMessage)}
	if e.Code != codeLogin {
		return e
	}
	e.Failure = LoginNeeded
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, login := range c.agent.Logins {
		e.Logins = append(e.Logins, harmless(login.Name, maxQuote))
	}
	return e
}

// detailsOf is what the data of an error says. Many agents have "Internal error" as the message of all errors.
func detailsOf(data *json.RawMessage) string {
	if data == nil {
		return ""
	}
	var text string
	if json.Unmarshal(*data, &text) == nil {
		return strings.TrimSpace(text)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(*data, &members) != nil {
		return ""
	}
	for _, name := range []string{"details", "message", "error"} {
		if json.Unmarshal(members[name], &text) == nil && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// unusable is the error of what an agent cannot do, or has answered wrongly.
func unusable(method, format string, values ...any) *Error {
	return &Error{Failure: Unusable, Method: method, Message: harmless(fmt.Sprintf(format, values...), maxMessage)}
}

// failed is the error of a request whose call has failed. ctx is the caller's.
func (c *Client) failed(ctx context.Context, method string, err error) error {
	answer, answered := errors.AsType[*jsonrpc2.Error](err)
	switch {
	case answered:
		return c.refusal(method, answer)
	case errors.Is(err, jsonrpc2.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return &Error{Failure: Ended, Method: method, Message: c.ending()}
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
	return fmt.Errorf("%s: %w", method, err)
}
