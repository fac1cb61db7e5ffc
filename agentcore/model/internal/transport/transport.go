// Package transport holds what the provider wires share below their vendor's types: the HTTP client,
// the watch over a silent or endless server, and the sorting of failures into model.Error.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/model"
)

const (
	// DefaultIdle is how long a server may send nothing.
	DefaultIdle = 120 * time.Second
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

// Client returns the client that a wire sends with: base, or a new one if base is nil, that follows no
// redirect (a redirect would carry key and conversation to another host). It shares the connections of base.
func Client(base *http.Client) *http.Client {
	if base == nil {
		base = model.NewHTTPClient()
	}
	client := *base
	client.CheckRedirect = stay
	return &client
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Upstream describes a provider to this package. It is not changed after it was made.
type Upstream struct {
	// Name is "provider/model", for Error.Provider.
	Name string
	// Secrets are texts that must not reach an error: the key and the values of configured headers.
	Secrets []string
	// Idle is how long the server may send nothing; 0 means DefaultIdle.
	Idle time.Duration
	// KeyHint says where the key comes from.
	KeyHint string
	// URLHint says what the base URL looks like.
	URLHint string
	// Resets reads the vendor's own headers for how long to wait after a rate limit; nil for none.
	Resets func(header http.Header, now time.Time) time.Duration
}

// Exchange is one request and its answer. It is used by one goroutine, and ended with End.
type Exchange struct {
	// Context is what the request must be sent with.
	Context context.Context

	upstream *Upstream
	caller   context.Context
	cancel   context.CancelCauseFunc
	idle     time.Duration
	timer    *time.Timer
	body     *body
}

// Begin prepares a request.
func (u *Upstream) Begin(ctx context.Context) *Exchange {
	x := &Exchange{upstream: u, caller: ctx, idle: u.Idle}
	if x.idle <= 0 {
		x.idle = DefaultIdle
	}
	x.Context, x.cancel = context.WithCancelCause(ctx)
	x.timer = time.AfterFunc(x.idle, func() { x.cancel(errIdle) })
	return x
}

// Send is the middleware for a vendor's SDK. It sends the request, turns every answer that is no stream
// into a *model.Error, and watches the body.
func (x *Exchange) Send(request *http.Request,
	next func(*http.Request) (*http.Response, error),
) (*http.Response, error) {
	response, err := next(request)
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

// Hurry shortens how long the server may send nothing from here on.
func (x *Exchange) Hurry(idle time.Duration) { x.idle = min(x.idle, idle) }

// GivenUp reports whether the caller has cancelled the request.
func (x *Exchange) GivenUp() bool { return x.caller.Err() != nil }

// Drain reads the rest of an answer whose last event was seen, so that the connection can be used again. It
// gives a server that does not end its answer a moment only.
func (x *Exchange) Drain() {
	if x.body == nil {
		return
	}
	x.Hurry(drainTime)
	// A failure here costs the connection and nothing else: the answer is complete.
	_, _ = io.Copy(io.Discard, io.LimitReader(x.body, maxErrorBody))
}

// End gives the request up, whatever its state, and releases all that belongs to it.
func (x *Exchange) End() {
	x.timer.Stop()
	if x.body != nil {
		_ = x.body.Close() // the connection goes with the context in any case
	}
	x.cancel(context.Canceled)
}

// body watches the reading of an answer: the idle timer runs while a read waits, and not while the
// consumer works.
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

// CheckBase returns an error of url.Parse, or one that says what is missing, for a base URL that nothing can be sent
// to.
func CheckBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("read the base URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the base URL %q does not begin with http:// or https:// and a host", u.Redacted())
	}
	return u, nil
}

// Secrets returns the texts that no error may hold: the key, and header values long enough to be one.
func Secrets(key string, headers map[string]string) []string {
	secrets := []string{key}
	for _, value := range headers {
		if len(value) >= 8 {
			secrets = append(secrets, strings.TrimPrefix(value, "Bearer "))
		}
	}
	return secrets
}

// Authorises reports whether the headers hold an Authorization, or the vendor's own header for the key.
func Authorises(headers map[string]string, own string) bool {
	for name := range headers {
		if strings.EqualFold(name, "Authorization") || strings.EqualFold(name, own) {
			return true
		}
	}
	return false
}
