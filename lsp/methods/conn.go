// Package methods holds the custom methods of the protocol as Go has them: their params and results,
// dispatch to the server, and the messages to the client. All of it but decoding is generated from
// schema/agent.metamodel.json; schema/PROTOCOL.md describes it.
package methods

import (
	"context"
	"encoding/json"
	"fmt"
)

// Conn is the connection to a client. Call waits for the answer and stores it in result; both give
// up when ctx ends.
type Conn interface {
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// call decodes params, calls the method and returns its result.
func call[P, R any](ctx context.Context, params []byte, method func(context.Context, *P) (*R, error)) (any, error) {
	into := new(P)
	if err := Decode(params, into); err != nil {
		return nil, err
	}
	result, err := method(ctx, into)
	if err != nil {
		return nil, err
	}
	return result, nil
}

func callNoResult[P any](ctx context.Context, params []byte, method func(context.Context, *P) error) (any, error) {
	into := new(P)
	if err := Decode(params, into); err != nil {
		return nil, err
	}
	return nil, method(ctx, into)
}

// request sends a request and decodes the client's answer strictly: it comes from outside, too.
func request[R any](ctx context.Context, conn Conn, method string, params any) (*R, error) {
	result, err := requestNullable[R](ctx, conn, method, params)
	if err == nil && result == nil {
		return nil, fmt.Errorf("decode the client's answer to %s: it is null", method)
	}
	return result, err
}

// requestNullable is request where null is an answer; the result is nil then.
func requestNullable[R any](ctx context.Context, conn Conn, method string, params any) (*R, error) {
	var raw json.RawMessage
	if err := conn.Call(ctx, method, params, &raw); err != nil {
		return nil, fmt.Errorf("send %s to the client: %w", method, err)
	}
	if absent(raw) {
		return nil, nil
	}
	result := new(R)
	if err := Decode(raw, result); err != nil {
		return nil, fmt.Errorf("decode the client's answer to %s: %w", method, err)
	}
	return result, nil
}
