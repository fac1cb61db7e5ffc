package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/model"
)

// Key is the key that Wire.New must give its model.
const Key = "sk-test-0123456789abcdef"

// Wire is a provider wire under test.
type Wire struct {
	// New makes a model named "prov/m" for a server, with Key.
	New func(url string, client *http.Client, idle time.Duration) model.Model
	// Stream is a whole answer of the wire: text with characters outside ASCII, reasoning and two calls.
	Stream string
	// Last is a text in Stream. The answer is complete once the line that begins with Last has come.
	Last string
	// ErrorBody makes the vendor's error answer.
	ErrorBody func(kind, message string) string
	// Overflow is what the vendor says when a conversation is too long.
	Overflow string
}

// want is what an error must be.
type want struct {
	kind   model.ErrorKind
	status int
	after  time.Duration
	detail string
}

// check compares an error with what it must be.
func check(t *testing.T, err error, want want) {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	if e.Kind != want.kind || e.Status != want.status || e.RetryAfter != want.after || e.Provider != "prov/m" {
		t.Errorf("kind %s, status %d, retry after %s, provider %s; want kind %s, status %d, retry after %s (%v)",
			e.Kind, e.Status, e.RetryAfter, e.Provider, want.kind, want.status, want.after, e)
	}
	if !strings.Contains(e.Detail, want.detail) {
		t.Errorf("the detail is %q, want %q in it", e.Detail, want.detail)
	}
	if e.Hint == "" || strings.ToLower(e.Hint[:1]) != e.Hint[:1] { // it is shown behind a semicolon
		t.Errorf("the hint is %q", e.Hint)
	}
	if len(e.Detail) > 500 || strings.Contains(fmt.Sprintf("%+v %s %v", e, e.Hint, e.Cause), Key) {
		t.Errorf("the detail has %d bytes, or the key is in it: %q", len(e.Detail), e.Detail)
	}
}

// Faults runs all tests of failures, cancellation and silence.
func Faults(t *testing.T, wire Wire) {
	t.Run("status", func(t *testing.T) { statuses(t, wire) })
	t.Run("cut", func(t *testing.T) { cuts(t, wire) })
	t.Run("pieces", func(t *testing.T) { inPieces(t, wire) })
	t.Run("cancel", func(t *testing.T) { cancels(t, wire) })
	t.Run("silence", func(t *testing.T) { silence(t, wire) })
	t.Run("refused", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		a := Ask(t, wire.New(server.URL, nil, 0), Request())
		check(t, a.Err, want{kind: model.ErrNetwork, detail: "refused"})
	})
	t.Run("bad URL", func(t *testing.T) {
		for _, url := range []string{"localhost:1234", "ftp://x/", "http://", "http://[::1", "::"} {
			check(t, Ask(t, wire.New(url, nil, 0), Request()).Err, want{kind: model.ErrInvalid, detail: "base URL"})
		}
	})
	t.Run("connection is kept", func(t *testing.T) {
		addresses := make(chan string, 4)
		server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
			addresses <- r.RemoteAddr
			if len(addresses) == 2 { // a refusal in between costs no connection either
				http.Error(w, wire.ErrorBody("rate_limit_error", "slow down"), http.StatusTooManyRequests)
				return
			}
			// The answer has a length: a loaded machine may be late to end an answer without one, which costs the
			// connection.
			w.Header().Set("Content-Length", strconv.Itoa(len(wire.Stream)))
			SSE(wire.Stream, 0)(w, r)
		})
		m := wire.New(server.URL, server.Client, 0)
		for i := range 4 {
			if a := Ask(t, m, Request()); (a.Err != nil) != (i == 1) {
				t.Fatal(a.Err)
			}
		}
		first := <-addresses
		for range 3 {
			if next := <-addresses; next != first {
				t.Errorf("the requests came over several connections, %s and %s", first, next)
			}
		}
	})
}

// statuses answers with everything that is no stream.
func statuses(t *testing.T, wire Wire) {
	date := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	long := strings.Repeat("ä", 600)
	for _, test := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   want
	}{
		{
			"seconds", 429,
			http.Header{"Retry-After": {"7"}},
			wire.ErrorBody("rate_limit_error", "slow down"),
			want{model.ErrRateLimit, 429, 7 * time.Second, "slow down"},
		},
		{"date", 429, http.Header{
			"Retry-After": {date.Add(90 * time.Second).Format(http.TimeFormat)},
			"Date":        {date.Format(http.TimeFormat)},
		}, "", want{model.ErrRateLimit, 429, 90 * time.Second, "Too Many"}},
		{
			"date in the past", 503,
			http.Header{
				"Retry-After": {date.Format(http.TimeFormat)},
				"Date":        {date.Add(time.Hour).Format(http.TimeFormat)},
			},
			"",
			want{
				model.ErrOverloaded, 503, 0,
				"Service Unavailable",
			},
		},
		{"nonsense", 429, http.Header{"Retry-After": {"NaN"}}, "", want{model.ErrRateLimit, 429, 0, ""}},
		{"endless", 429, http.Header{"Retry-After": {"1e300"}}, "", want{model.ErrRateLimit, 429, 24 * time.Hour, ""}},
		{
			"milliseconds", 429,
			http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}},
			"",
			want{model.ErrRateLimit, 429, 1500 * time.Millisecond, ""},
		},
		{
			"529", 529, nil, wire.ErrorBody("overloaded_error", "Overloaded"),
			want{model.ErrOverloaded, 529, 0, "Overloaded"},
		},
		{"500", 500, nil, wire.ErrorBody("api_error", "oops"), want{model.ErrServer, 500, 0, "oops"}},
		{
			"502 page", 502,
			http.Header{"Content-Type": {"text/html"}},
			"<html><head><title>502 Bad Gateway</title></head><body>x</body></html>",
			want{model.ErrServer, 502, 0, "502 Bad Gateway"},
		},
		{
			"400", 400, nil, wire.ErrorBody("invalid_request_error", "tools: bad\nschema "+long),
			want{model.ErrInvalid, 400, 0, "tools: bad schema ä"},
		},
		{
			"overflow", 400, nil, wire.ErrorBody("invalid_request_error", wire.Overflow),
			want{model.ErrContext, 400, 0, wire.Overflow},
		},
		{"413", 413, nil, "too big", want{model.ErrContext, 413, 0, "too big"}},
		{
			"401", 401, nil, wire.ErrorBody("authentication_error", "invalid key "+Key+", really"),
			want{model.ErrAuth, 401, 0, "invalid key [key], really"},
		},
		{"403", 403, nil, "", want{model.ErrAuth, 403, 0, "Forbidden"}},
		{"404", 404, nil, wire.ErrorBody("not_found_error", "model: m"), want{model.ErrNotFound, 404, 0, "model: m"}},
		{"408", 408, nil, "", want{model.ErrNetwork, 408, 0, "Request Timeout"}},
		{
			"no money", 429, nil, wire.ErrorBody("insufficient_quota", "You exceeded your current quota"),
			want{model.ErrAuth, 429, 0, "quota"},
		},
		{
			"plain string", 500, nil, `{"error":"model runner crashed"}`,
			want{model.ErrServer, 500, 0, "model runner crashed"},
		},
		{"detail", 422, nil, `{"detail":[{"msg":"extra field"}]}`, want{model.ErrInvalid, 422, 0, "extra field"}},
		{
			"redirect", 307,
			http.Header{"Location": {"https://elsewhere.example/"}},
			"",
			want{model.ErrInvalid, 307, 0, "elsewhere.example"},
		},
		{
			"page with 200", 200,
			http.Header{"Content-Type": {"text/html; charset=utf-8"}},
			"<!doctype html><p>Please <b>log in</b>",
			want{model.ErrProtocol, 0, 0, "log in"},
		},
		{
			"hidden page", 200,
			http.Header{"Content-Type": {"text/plain"}},
			"<!doctype html>\n<p>Please log in\n",
			want{model.ErrProtocol, 0, 0, "Please log in"},
		},
		{
			"text with 200", 200,
			http.Header{"Content-Type": {"text/plain"}},
			"upstream failed\n",
			want{model.ErrProtocol, 0, 0, "upstream failed"},
		},
		{
			"JSON with 200", 200,
			http.Header{"Content-Type": {"application/json"}},
			`{"id":"x","content":"not streamed"}`,
			want{model.ErrProtocol, 0, 0, "not streamed"},
		},
		{
			"error with 200", 200,
			http.Header{"Content-Type": {"application/json"}},
			`{"error":{"type":"overloaded_error","message":"busy"}}`,
			want{model.ErrOverloaded, 0, 0, "busy"},
		},
		{"empty", 200, http.Header{"Content-Type": {"text/event-stream"}}, "", want{model.ErrNetwork, 0, 0, "cut off"}},
		{
			"only comments", 200,
			http.Header{"Content-Type": {"text/event-stream"}},
			": keep-alive\n\n: keep-alive\n\n",
			want{model.ErrNetwork, 0, 0, "cut off"},
		},
		{
			"broken JSON", 200,
			http.Header{"Content-Type": {"text/event-stream"}},
			"event: x\ndata: {\"type\":\n\n",
			want{model.ErrProtocol, 0, 0, "invalid JSON"},
		},
		{
			"endless line", 200,
			http.Header{"Content-Type": {"text/event-stream"}},
			"data: " + strings.Repeat("x", 33<<20),
			want{model.ErrProtocol, 0, 0, "too long"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.WriteHeader(test.status)
				if _, err := io.WriteString(w, test.body); err != nil {
					return // the client stopped reading
				}
			})
			check(t, Ask(t, wire.New(server.URL, server.Client, 0), Request()).Err, test.want)
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

// cuts ends the stream after each of its bytes, cleanly and with a reset.
func cuts(t *testing.T, wire Wire) {
	last := strings.Index(wire.Stream, wire.Last)
	if last < 0 {
		t.Fatal("Wire.Last is not in Wire.Stream")
	}
	for _, reset := range []bool{false, true} {
		at := make(chan int, 1)
		server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
			SSE(wire.Stream[:<-at], 0)(w, r)
			if reset {
				Flush(w)
				panic(http.ErrAbortHandler)
			}
		})
		m := wire.New(server.URL, server.Client, 0)
		complete := last + strings.Index(wire.Stream[last:], "\n\n") + 2
		for n := range len(wire.Stream) {
			at <- n
			a := Ask(t, m, Request())
			if n < complete {
				if a.Err == nil {
					t.Fatalf("cut after %d bytes: the answer passes as complete: %q", n, wire.Stream[:n])
				}
				check(t, a.Err, want{kind: model.ErrNetwork})
			} else if a.Err != nil {
				t.Fatalf("cut after %d bytes: %v", n, a.Err)
			}
			if t.Failed() {
				t.Fatalf("cut after %d bytes (reset: %v)", n, reset)
			}
		}
	}
}

// inPieces sends the stream in small pieces and with everything that the format allows.
func inPieces(t *testing.T, wire Wire) {
	whole := Ask(t, modelFor(t, wire, SSE(wire.Stream, 0)), Request())
	if whole.Err != nil {
		t.Fatal(whole.Err)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"bytes":    SSE(wire.Stream, 1),
		"sevens":   SSE(wire.Stream, 7),
		"CRLF":     SSE(strings.ReplaceAll(wire.Stream, "\n", "\r\n"), 0),
		"comments": SSE(": hello\n\n"+strings.ReplaceAll(wire.Stream, "\n\n", "\n\n: keep-alive\n\n"), 0),
	} {
		t.Run(name, func(t *testing.T) {
			a := Ask(t, modelFor(t, wire, handler), Request())
			if got, want := fmt.Sprintf("%+v", a.Done), fmt.Sprintf("%+v", whole.Done); got != want {
				t.Errorf("got  %s\nwant %s (%v)", got, want, a.Err)
			}
		})
	}
}

func modelFor(t *testing.T, wire Wire, handler http.HandlerFunc) model.Model {
	server := Serve(t, handler)
	return wire.New(server.URL, server.Client, 0)
}

// cancels gives requests up before the answer, within it, and by leaving the loop.
func cancels(t *testing.T, wire Wire) {
	begin := wire.Stream[:strings.Index(wire.Stream, wire.Last)]
	for _, test := range []struct {
		name   string
		before string
		leave  bool
	}{{"before the answer", "", false}, {"in the answer", begin, false}, {"by leaving", begin, true}} {
		t.Run(test.name, func(t *testing.T) {
			arrived, gone := make(chan struct{}), make(chan struct{})
			server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				if test.before != "" {
					SSE(test.before, 0)(w, r)
				}
				close(arrived)
				<-r.Context().Done()
			})
			before := goleak.IgnoreCurrent()
			m := wire.New(server.URL, server.Client, 0)
			ctx, cancel := context.WithTimeout(t.Context(), Watchdog)
			defer cancel()
			if test.leave {
				for range m.Stream(ctx, Request()) {
					break
				}
			} else {
				go func() {
					<-arrived
					cancel()
				}()
				if a := AskContext(t, ctx, m, Request()); !errors.Is(a.Err, context.Canceled) {
					t.Errorf("a cancelled request ended with %v", a.Err)
				}
			}
			select {
			case <-gone:
			case <-time.After(Watchdog):
				t.Error("the server was not told")
			}
			server.Client.CloseIdleConnections()
			goleak.VerifyNone(t, before)
		})
	}
	t.Run("before the request", func(t *testing.T) {
		server := Serve(t, SSE(wire.Stream, 0))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if a := AskContext(t, ctx, wire.New(server.URL, server.Client, 0), Request()); !errors.Is(a.Err,
			context.Canceled) {
			t.Errorf("it ended with %v", a.Err)
		}
	})
}

// silence has the server go quiet before and within the answer.
func silence(t *testing.T, wire Wire) {
	for name, before := range map[string]string{
		"before the answer": "",
		"in the answer":     wire.Stream[:strings.Index(wire.Stream, wire.Last)],
	} {
		t.Run(name, func(t *testing.T) {
			server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if before != "" {
					SSE(before, 0)(w, r)
				}
				<-r.Context().Done()
			})
			a := Ask(t, wire.New(server.URL, server.Client, 50*time.Millisecond), Request())
			check(t, a.Err, want{kind: model.ErrNetwork, detail: "sent nothing for 50ms"})
		})
	}
}
