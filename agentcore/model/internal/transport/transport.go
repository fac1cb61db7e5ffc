// Package transport holds what the provider wires share below their vendor's types: the HTTP client,
// the watch over a silent or endless server, and the sorting of failures into model.Error.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// defaultIdle is how long a server may send nothing.
	defaultIdle = 120 * time.Second
	// maxAnswer bounds one answer, in bytes on the wire.
	maxAnswer = 256 << 20
	// maxErrorBody bounds what is read of an error answer, in bytes.
	maxErrorBody = 64 << 10
	// drainTime bounds the wait for the end of a stream whose last event was read.
	drainTime = 20 * time.Millisecond
)

var (
	errIdle    = errors.New("the server sent nothing")
	errTooLong = fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)
)

// Upstream describes a provider to the exchanges with it. An Upstream does not change.
type Upstream struct {
	name string // "provider/model", for Error.Provider
	// secrets are texts that must not reach an error: the key and the values of configured headers.
	secrets []string
	idle    time.Duration // how long the server may send nothing; 0 means defaultIdle
	// keyHint says where the key comes from, urlHint what the base URL looks like.
	keyHint, urlHint string
	resets           func(header http.Header, now time.Time) time.Duration // see Vendor
}

// Name is "provider/model".
func (u *Upstream) Name() string { return u.name }

// Exchange is one request and its answer. It is used by one goroutine.
type Exchange struct {
	// Context is what the request must be sent with.
	Context context.Context

	upstream *Upstream
	caller   context.Context
	cancel   context.CancelCauseFunc
	idle     time.Duration
	timer    *time.Timer
	body     *body
	said     Conversation // that was sent
}

// begin prepares a request.
func (u *Upstream) begin(ctx context.Context) *Exchange {
	x := &Exchange{upstream: u, caller: ctx, idle: u.idle}
	if x.idle <= 0 {
		x.idle = defaultIdle
	}
	x.Context, x.cancel = context.WithCancelCause(ctx)
	x.timer = time.AfterFunc(x.idle, func() { x.cancel(errIdle) })
	return x
}

// Post sends a request to address with the endpoint's header. The body is the conversation within the frame. Where the
// frame is not known, rest makes a value whose JSON has an empty list in the member for the messages. An answer that is
// not a stream becomes a *model.Error. The exchange owns the body of a stream: it watches the body and closes it.
func (x *Exchange) Post(to *Endpoint, address, member string, frame *Frame, said Conversation, rest func() any,
) (*http.Response, error) {
	x.said = said
	pieces, err := frame.around(member, said.Pieces, rest)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	request, err := http.NewRequestWithContext(x.Context, http.MethodPost, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header = to.Header.Clone()
	setBody(request, pieces)
	response, err := to.Client.Do(request)
	if err != nil {
		return nil, err
	}
	x.body = &body{ReadCloser: response.Body, exchange: x, left: maxAnswer}
	response.Body = x.body
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case response.StatusCode >= 300:
		return nil, x.refused(response)
	case kind == "text/html", kind == "application/json":
		return nil, x.notAStream(response, kind)
	}
	return response, nil
}

// Hurry shortens the time for which the server may send nothing from here on.
func (x *Exchange) Hurry(idle time.Duration) { x.idle = min(x.idle, idle) }

// GivenUp reports whether the caller has cancelled the request.
func (x *Exchange) GivenUp() bool { return x.caller.Err() != nil }

// drain reads the rest of an answer whose last event was read, so that the connection can be used again. A server that
// does not end its answer gets only drainTime for that.
func (x *Exchange) drain() {
	if x.body == nil {
		return
	}
	x.Hurry(drainTime)
	// A failure here costs only the connection: the answer is complete.
	_, _ = io.Copy(io.Discard, io.LimitReader(x.body, maxErrorBody))
}

// end gives the request up, whatever its state, and releases all that belongs to it.
func (x *Exchange) end() {
	x.timer.Stop()
	if x.body != nil {
		_ = x.body.Close() // the connection goes with the context in any case
	}
	x.cancel(context.Canceled)
}

// body watches the reading of an answer. The idle timer runs while a read waits for the server, and stands still while
// the consumer works.
type body struct {
	io.ReadCloser
	exchange *Exchange
	left     int64
	head     []byte // the first bytes, to say what came instead of a stream
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	b.exchange.timer.Reset(b.exchange.idle)
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.exchange.timer.Stop()
	b.left -= int64(n)
	if room := 256 - len(b.head); room > 0 {
		b.head = append(b.head, p[:min(n, room)]...)
	}
	return n, err
}
