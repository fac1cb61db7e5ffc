package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"
)

// sink is an output that remembers each write.
type sink struct {
	mu     sync.Mutex
	writes [][]byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, bytes.Clone(p))
	return len(p), nil
}

func (*sink) Close() error { return nil }

// bodies are the bodies of what was written, one per write.
func (s *sink) bodies(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, w := range s.writes {
		r := bufio.NewReader(bytes.NewReader(w))
		body, err := readFrame(r)
		if err != nil || r.Buffered() > 0 {
			t.Fatalf("a write that is not one frame: %q (%v)", w, err)
		}
		all = append(all, string(body))
	}
	return all
}

// readAll reads input to its end. It renders each message, and returns what the guard answered and the last error.
func readAll(t *testing.T, input string, o StreamOptions) (messages, answers []string, err error) {
	t.Helper()
	out := new(sink)
	s := NewStream(io.NopCloser(strings.NewReader(input)), out, o)
	s.calls.Store(5)
	for {
		msg, _, err := s.Read(t.Context())
		if err != nil {
			return messages, out.bodies(t), err
		}
		switch m := msg.(type) {
		case *jsonrpc2.Call:
			messages = append(messages, fmt.Sprintf("call %q %s %s", m.ID(), m.Method(), m.Params()))
		case *jsonrpc2.Notification:
			messages = append(messages, fmt.Sprintf("note %s %s", m.Method(), m.Params()))
		case *jsonrpc2.Response:
			messages = append(messages, fmt.Sprintf("answer %q %s %v", m.ID(), m.Result(), m.Err()))
		}
	}
}

func TestReadMessages(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":7,"method":"a"}`
	got := `call #7 a `
	length := fmt.Sprintf("Content-Length: %d", len(ping))
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":7,"method":"a","params":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}
	for _, test := range []struct {
		name, input string
		messages    []string
		code        jsonrpc2.Code // of the one answer of the guard, or 0
		id          string        // of that answer
		err         error         // the last one; nil is io.EOF
	}{
		// headers
		{
			name: "extra headers",
			input: "X-A: 1\r\n" + length +
				"\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" + ping,
			messages: []string{got},
		},
		{
			name:     "charset utf8",
			input:    length + "\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n" + ping,
			messages: []string{got},
		},
		{
			name: "other charset",
			input: length + "\r\nContent-Type: application/vscode-jsonrpc; charset=utf-16\r\n\r\n" +
				ping + frame(ping),
			messages: []string{got},
			code:     -32600,
			id:       "null",
		},
		{
			name:     "lower case, no space, LF",
			input:    "content-length:" + length[16:] + "\n\n" + ping,
			messages: []string{got},
		},
		{name: "blank lines between", input: frame(ping) + "\r\n\n" + frame(ping), messages: []string{got, got}},
		{name: "same length twice", input: length + "\r\n" + length + "\r\n\r\n" + ping, messages: []string{got}},
		{
			name:  "two lengths",
			input: length + "\r\nContent-Length: 3\r\n\r\n" + ping,
			code:  -32700,
			id:    "null",
			err:   ErrFraming,
		},
		{
			name:  "negative length",
			input: "Content-Length: -1\r\n\r\n" + ping,
			code:  -32700,
			id:    "null",
			err:   ErrFraming,
		},
		{
			name:  "length of 65 bits",
			input: "Content-Length: 36893488147419103232\r\n\r\n",
			code:  -32700,
			id:    "null",
			err:   ErrFraming,
		},
		{
			name:  "length of 62 bits",
			input: "Content-Length: 4611686018427387904\r\n\r\n",
			code:  -32700,
			id:    "null",
			err:   ErrFraming,
		},
		{name: "no length", input: "X-A: 1\r\n\r\n" + ping, code: -32700, id: "null", err: ErrFraming},
		{name: "no field", input: "hello\r\n" + frame(ping), code: -32700, id: "null", err: ErrFraming},
		{name: "long line", input: "X: " + strings.Repeat("a", 1<<20), code: -32700, id: "null", err: ErrFraming},
		{
			name:  "many lines",
			input: strings.Repeat("X: a\r\n", 1<<16) + frame(ping),
			code:  -32700,
			id:    "null",
			err:   ErrFraming,
		},
		{name: "many blank lines", input: strings.Repeat("\n", maxHeader+1), code: -32700, id: "null", err: ErrFraming},
		{name: "end in a header", input: "Content-Len", err: io.ErrUnexpectedEOF},
		{name: "end after a header line", input: length + "\r\n", err: io.ErrUnexpectedEOF},
		{name: "end before a body", input: length + "\r\n\r\n", err: io.ErrUnexpectedEOF},
		{name: "end in a body", input: length + "\r\n\r\n{", err: io.ErrUnexpectedEOF},
		{
			name:  "end in an oversized body",
			input: "Content-Length: 5000\r\n\r\n{",
			code:  -32600,
			id:    "null",
			err:   io.ErrUnexpectedEOF,
		},
		{
			name:     "oversized, then well",
			input:    frame(strings.Repeat(" ", 1<<11)) + frame(ping),
			messages: []string{got},
			code:     -32600,
			id:       "null",
		},
		// a header in a text must never be taken for one
		{
			name:     "body longer than said",
			input:    frame(`{"jsonrpc":"2.0","method":"a"}`) + "x\r\n\r\n" + frame(ping),
			messages: []string{"note a "},
			code:     -32700,
			id:       "null",
			err:      ErrFraming,
		},
		// JSON
		{name: "empty body", input: frame("") + frame(ping), messages: []string{got}, code: -32700, id: "null"},
		{name: "no JSON", input: frame("{") + frame(ping), messages: []string{got}, code: -32700, id: "null"},
		{
			name:     "broken inside of params",
			input:    frame(`{"jsonrpc":"2.0","id":7,"method":"a","params":{"b" 1}}`) + frame(ping),
			messages: []string{got},
			code:     -32700,
			id:       "null",
		},
		{name: "broken notification", input: frame(`{"jsonrpc":"2.0","method":"a",}`), code: -32700, id: "null"},
		{name: "byte order mark", input: frame("\xef\xbb\xbf" + ping), messages: []string{got}},
		{name: "trailing bytes", input: frame(ping + "x"), code: -32700, id: "null"},
		{name: "trailing space", input: frame(ping + " \r\n"), messages: []string{got}},
		{
			name:     "9,000 deep",
			input:    frame(deep(9000)),
			messages: []string{got + strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
		},
		{name: "1,000,000 deep", input: frame(deep(1e6)), code: -32700, id: "null"},
		{
			name:  "method no UTF-8",
			input: frame("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}"),
			code:  -32700,
			id:    "null",
		},
		{
			name:  "id no UTF-8",
			input: frame("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"a\"}"),
			code:  -32600,
			id:    "null",
		},
		{
			name:     "params no UTF-8",
			input:    frame("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\",\"params\":[\"\xff\"]}"),
			messages: []string{got + "[\"\xff\"]"},
		},
		// ids
		{
			name:     "id of 17 digits",
			input:    frame(`{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`),
			messages: []string{`call #9007199254740993 a `},
		},
		{
			name:     "id negative",
			input:    frame(`{"jsonrpc":"2.0","id":-1,"method":"a"}`),
			messages: []string{`call #-1 a `},
		},
		{
			name:     "id string",
			input:    frame(`{"jsonrpc":"2.0","id":"ü😀\n","method":"a"}`),
			messages: []string{`call "ü😀\n" a `},
		},
		{name: "id empty", input: frame(`{"jsonrpc":"2.0","id":"","method":"a"}`), messages: []string{`call "" a `}},
		{name: "id fraction", input: frame(`{"jsonrpc":"2.0","id":1.5,"method":"a"}`), code: -32600, id: "null"},
		{
			name:  "id of 65 bits",
			input: frame(`{"jsonrpc":"2.0","id":36893488147419103232,"method":"a"}`),
			code:  -32600,
			id:    "null",
		},
		{name: "id null", input: frame(`{"jsonrpc":"2.0","id":null,"method":"a"}`), code: -32600, id: "null"},
		{name: "id object", input: frame(`{"jsonrpc":"2.0","id":{},"method":"a"}`), code: -32600, id: "null"},
		// requests
		{name: "batch", input: frame("[" + ping + "]"), code: -32600, id: "null"},
		{name: "empty batch", input: frame("[]"), code: -32600, id: "null"},
		{name: "number", input: frame("42"), code: -32600, id: "null"},
		{name: "null", input: frame("null"), code: -32600, id: "null"},
		{name: "empty object", input: frame("{}"), code: -32600, id: "null"},
		{name: "no version", input: frame(`{"id":7,"method":"a"}`), code: -32600, id: "7"},
		{name: "version 1.0", input: frame(`{"jsonrpc":"1.0","id":"x","method":"a"}`), code: -32600, id: `"x"`},
		{name: "version a number", input: frame(`{"jsonrpc":2.0,"id":7,"method":"a"}`), code: -32600, id: "7"},
		{name: "method a number", input: frame(`{"jsonrpc":"2.0","id":7,"method":42}`), code: -32600, id: "7"},
		{name: "method null", input: frame(`{"jsonrpc":"2.0","id":7,"method":null}`), code: -32600, id: "7"},
		{name: "method missing", input: frame(`{"jsonrpc":"2.0","id":7,"params":{}}`), code: -32600, id: "7"},
		{
			name:     "method with an escape",
			input:    frame(`{"jsonrpc":"2.0","id":7,"method":"\u0061"}`),
			messages: []string{got},
		},
		{
			name:     "names with an escape",
			input:    frame(`{"jsonrpc":"2.0","id":7,"m\u0065thod":"a"}`),
			messages: []string{got},
		},
		{
			name:  "names in another case",
			input: frame(`{"JSONRPC":"2.0","ID":7,"METHOD":"a"}`),
			code:  -32600,
			id:    "null",
		},
		{
			name:  "request and response",
			input: frame(`{"jsonrpc":"2.0","id":7,"method":"a","result":1}`),
			code:  -32600,
			id:    "7",
		},
		{
			name:  "params a string",
			input: frame(`{"jsonrpc":"2.0","id":7,"method":"a","params":"x"}`),
			code:  -32600,
			id:    "7",
		},
		{
			name:     "params null",
			input:    frame(`{"jsonrpc":"2.0","id":7,"method":"a","params":null}`),
			messages: []string{got},
		},
		// notifications are not answered
		{
			name:     "notification",
			input:    frame(`{"jsonrpc":"2.0","method":"a","params":[1]}`),
			messages: []string{"note a [1]"},
		},
		{name: "notification without version", input: frame(`{"method":"a"}`)},
		{name: "notification, method a number", input: frame(`{"jsonrpc":"2.0","method":1}`)},
		{name: "notification, params a string", input: frame(`{"jsonrpc":"2.0","method":"a","params":"x"}`)},
		// responses are read leniently, and not answered
		{
			name:     "result",
			input:    frame(`{"jsonrpc":"2.0","id":3,"result":{}}`),
			messages: []string{`answer #3 {} <nil>`},
		},
		{
			name:     "result null",
			input:    frame(`{"jsonrpc":"2.0","id":3,"result":null}`),
			messages: []string{`answer #3 null <nil>`},
		},
		{
			name:     "error",
			input:    frame(`{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}`),
			messages: []string{`answer #3  no`},
		},
		{
			name:     "result and error null",
			input:    frame(`{"jsonrpc":"2.0","id":3,"result":1,"error":null}`),
			messages: []string{`answer #3 1 <nil>`},
		},
		{
			name:     "result and error",
			input:    frame(`{"jsonrpc":"2.0","id":3,"result":1,"error":{"code":1,"message":"no"}}`),
			messages: []string{`answer #3  no`},
		},
		{
			name:     "error no object",
			input:    frame(`{"jsonrpc":"2.0","id":3,"error":"no"}`),
			messages: []string{`answer #3  the peer answered with a malformed error object`},
		},
		{
			name:     "neither, a call of ours",
			input:    frame(`{"jsonrpc":"2.0","id":3}`),
			messages: []string{`answer #3  <nil>`},
		},
		{name: "neither, no call of ours", input: frame(`{"jsonrpc":"2.0","id":99}`), code: -32600, id: "99"},
		{name: "response without id", input: frame(`{"jsonrpc":"2.0","result":1}`)},
		{
			name:  "error response without id",
			input: frame(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			limit := int64(1 << 10)
			if strings.Contains(test.name, "deep") {
				limit = 4 << 20
			}
			messages, answers, err := readAll(t, test.input, StreamOptions{MaxBody: limit})
			if diff := cmp.Diff(test.messages, messages); diff != "" {
				t.Errorf("messages (-want +got):\n%.2000s", diff)
			}
			want := test.err
			if want == nil {
				want = io.EOF
			}
			if !errors.Is(err, want) {
				t.Errorf("the last error is %v, want %v", err, want)
			}
			if test.code == 0 {
				if len(answers) > 0 {
					t.Errorf("the guard answered %q", answers)
				}
				return
			}
			prefix := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,`, test.id, test.code)
			if len(answers) != 1 || !strings.HasPrefix(answers[0], prefix) {
				t.Errorf("the guard answered %q, want one that begins %s", answers, prefix)
			}
		})
	}
}

// An oversized body is read over piece by piece, whatever it claims.
func TestOversizedBodyIsNotAllocated(t *testing.T) {
	const size = 1 << 30
	input := io.MultiReader(
		strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n", size)),
		io.LimitReader(zeros{}, size),
		strings.NewReader(frame(`{"jsonrpc":"2.0","method":"after"}`)),
	)
	out := new(sink)
	s := NewStream(io.NopCloser(input), out, StreamOptions{})
	msg, _, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if note, ok := msg.(*jsonrpc2.Notification); !ok || note.Method() != "after" {
		t.Fatalf("got %#v", msg)
	}
	if cap(s.body) > keepBuffer {
		t.Errorf("a buffer of %d bytes was kept", cap(s.body))
	}
	if len(out.bodies(t)) != 1 {
		t.Errorf("answers: %q", out.bodies(t))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Each message is one write, from however many goroutines, and the prefix that tells responses apart holds for them
// alone.
func TestWrites(t *testing.T) {
	out := new(sink)
	s := NewStream(io.NopCloser(strings.NewReader("")), out, StreamOptions{})
	messages := []jsonrpc2.Message{
		jsonrpc2.NewCall(jsonrpc2.NewNumberID(1), "a", nil),
		jsonrpc2.NewNotification("b", jsonrpc2.RawMessage(`{"x":"`+strings.Repeat("y", 100_000)+`"}`)),
		jsonrpc2.NewResponse(jsonrpc2.NewStringID("c"), nil, nil),
		jsonrpc2.NewResponse(jsonrpc2.NewNumberID(2), nil, jsonrpc2.NewError(-1, "no")),
	}
	const rounds = 50
	s.owed.add(2 * rounds)
	var wg sync.WaitGroup
	for range rounds {
		for _, m := range messages {
			wg.Go(func() {
				if _, err := s.Write(t.Context(), m); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := len(out.bodies(t)); n != rounds*len(messages) {
		t.Errorf("%d frames were written, want %d", n, rounds*len(messages))
	}
	receive(t, s.owed.idle()) // every response counted, and nothing else
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), messages[0]); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write after Close: %v", err)
	}
	if _, _, err := s.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("a read after Close: %v", err)
	}
}

// FuzzRead feeds any bytes. The stream must come to an end, and what it answers and passes on must be well formed.
func FuzzRead(f *testing.F) {
	ping := `{"jsonrpc":"2.0","id":7,"method":"a","params":{"b":[1,null,"\u00fc"]}}`
	for _, seed := range []string{
		"", "\r\n", "{", "Content-Length: 0\r\n\r\n", "Content-Length: 4611686018427387904\r\n\r\n",
		frame(ping), frame(ping) + frame(ping), frame("[" + ping + "]"), frame("\xef\xbb\xbf" + ping),
		frame(`{"jsonrpc":"2.0","id":1,"result":null,"error":null}`), frame(`{"id":1.5}`), frame(`{"method":"\ud800"}`),
		"content-length:2\nContent-Type: a/b; charset=latin1\n\n{}",
		frame(`{"jsonrpc":"2.0","id":"\ud800","method":"x"}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		out := new(sink)
		s := NewStream(io.NopCloser(bytes.NewReader(input)), out, StreamOptions{MaxBody: 1 << 12})
		for {
			msg, _, err := s.Read(t.Context())
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrFraming) {
					t.Fatalf("ended with %v", err)
				}
				break
			}
			again, reject := decodeMessage(jsonrpc2.AppendMessage(nil, msg), 0)
			if reject != nil {
				t.Fatalf("a message that passed does not pass again: %#v: %s", msg, reject.reason)
			}
			if _, ok := msg.(*jsonrpc2.Response); !ok {
				first, second := jsonrpc2.AppendMessage(nil, msg), jsonrpc2.AppendMessage(nil, again)
				if diff := cmp.Diff(string(first), string(second)); diff != "" {
					t.Fatal(diff)
				}
			}
		}
		for _, body := range out.bodies(t) {
			if _, reject := decodeMessage([]byte(body), 0); reject != nil && !reject.silent {
				t.Fatalf("the guard answered with a malformed message %q: %s", body, reject.reason)
			}
		}
	})
}
