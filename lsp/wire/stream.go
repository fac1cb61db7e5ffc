package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
)

const (
	// DefaultMaxBody is the largest body in bytes that a Stream accepts unless told otherwise.
	DefaultMaxBody = 64 << 20
	// keepBuffer is the size in bytes up to which a Stream keeps its buffers between two messages.
	keepBuffer = 1 << 20
	// headerSpace is room for "Content-Length: ", 20 digits and two line ends.
	headerSpace = 40
)

// responsePrefix is the beginning that jsonrpc2.AppendMessage gives to responses, and to no other messages.
var responsePrefix = []byte(`{"jsonrpc":"2.0","id":`)

// StreamOptions are the limits of a Stream.
type StreamOptions struct {
	MaxBody int64        // largest accepted body in bytes; 0 is DefaultMaxBody
	Logger  *slog.Logger // told of dropped messages, never of their contents; nil is silence
}

// Stream frames JSON-RPC messages as the Base Protocol of LSP 3.18 says, and guards the connection: it answers what is
// no message itself, so that the connection never sees it. It implements jsonrpc2.Stream.
//
// One goroutine may read at a time. Any goroutine may write: each message is written in one piece. A write blocks for
// as long as the peer does not read; nothing is queued here, so that a slow peer slows its writers down and costs no
// memory.
type Stream struct {
	in      *bufio.Reader
	inPipe  io.Closer
	out     io.WriteCloser
	maxBody int64
	log     *slog.Logger

	body []byte // reused by Read, owned by the reading goroutine

	writeMu sync.Mutex
	frame   []byte // reused by writes, guarded by writeMu

	closed    atomic.Bool
	closeOnce sync.Once
	closeErr  error

	followers followers

	calls atomic.Int64 // our own calls so far; their ids run from 1 to this

	owed   tally         // requests that were read and are not answered yet
	broken chan struct{} // closed by the first write that fails
	once   sync.Once     // guards closing broken
}

// NewStream makes a Stream that reads in and writes out, and owns both: Close closes them.
func NewStream(in io.ReadCloser, out io.WriteCloser, o StreamOptions) *Stream {
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Stream{
		// The buffer must hold the longest header line.
		in: bufio.NewReaderSize(in, 2*maxHeader), inPipe: in, out: out,
		maxBody: o.MaxBody, log: o.Logger, broken: make(chan struct{}),
	}
}

// Read returns the next well-formed message. It answers and skips malformed ones. It returns io.EOF at the end of the
// input or after Close, io.ErrUnexpectedEOF when the input ends inside of a message, and an error that wraps ErrFraming
// when the boundaries are lost, after telling the peer. A request's params are valid until the next Read.
// The context is only looked at between messages; Close ends a waiting Read if closing the input does.
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if s.closed.Load() {
			return nil, 0, io.EOF
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		body, err := s.readBody()
		if err != nil {
			if s.closed.Load() {
				err = io.EOF
			}
			return nil, 0, err
		}
		if body == nil {
			continue
		}
		msg, reject := decodeMessage(body, s.calls.Load())
		if reject != nil {
			if err := s.refuse(reject); err != nil {
				return nil, 0, err
			}
			continue
		}
		if _, ok := msg.(*jsonrpc2.Call); ok {
			s.owed.add(1)
		}
		return msg, int64(len(body)), nil
	}
}

// readBody reads one frame. The body is nil if it was refused without being read.
func (s *Stream) readBody() ([]byte, error) {
	h, err := readHeader(s.in)
	if err != nil {
		if errors.Is(err, ErrFraming) {
			if werr := s.refuse(&rejection{code: jsonrpc2.ParseError, reason: err.Error()}); werr != nil {
				return nil, errors.Join(err, werr)
			}
		}
		return nil, err
	}
	reason := ""
	if h.length > s.maxBody {
		reason = fmt.Sprintf("the message of %d bytes is over the limit of %d; it was not read", h.length, s.maxBody)
	} else if !h.utf8() {
		reason = fmt.Sprintf("the encoding %.40q is not supported; send UTF-8", h.charset)
	}
	if reason != "" {
		// The peer is told before the body is skipped, since the announced length may be wrong.
		if err := s.refuse(&rejection{code: jsonrpc2.InvalidRequest, reason: reason}); err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, s.in, h.length); err != nil {
			return nil, unexpected(err)
		}
		return nil, nil
	}
	body := s.body
	if int64(cap(body)) < h.length {
		body = make([]byte, h.length)
		if h.length <= keepBuffer {
			s.body = body
		}
	}
	body = body[:h.length]
	if _, err := io.ReadFull(s.in, body); err != nil {
		return nil, unexpected(err)
	}
	if len(body) == 0 {
		// The body must not be nil: an empty body is malformed JSON, not a refused frame.
		body = []byte{}
	}
	return body, nil
}

// unexpected replaces the end of the input by the error for an end inside of a message.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// refuse answers a malformed message, unless it is one that must not be answered.
func (s *Stream) refuse(r *rejection) error {
	s.log.Warn("malformed message", "reason", r.reason, "answered", !r.silent)
	if r.silent {
		return nil
	}
	_, err := s.write(func(dst []byte) []byte {
		return jsonrpc2.AppendResponse(dst, r.id, nil, jsonrpc2.NewError(r.code, r.reason))
	})
	return err
}

// Write sends one message. It is safe for concurrent use and blocks while the peer does not read; the context is
// not looked at, since a frame that has begun must be finished.
func (s *Stream) Write(_ context.Context, msg jsonrpc2.Message) (int64, error) {
	response := false
	var behind []func()
	n, err := s.write(func(dst []byte) []byte {
		start := len(dst)
		dst = jsonrpc2.AppendMessage(dst, msg)
		if response = bytes.HasPrefix(dst[start:], responsePrefix); response {
			behind = s.takeFollower(dst[start:])
		}
		return dst
	})
	if response {
		s.owed.add(-1)
	}
	if err == nil {
		for _, do := range behind {
			do()
		}
	}
	return n, err
}

// write frames what appendBody appends, and writes it with one call of out.Write.
func (s *Stream) write(appendBody func(dst []byte) []byte) (int64, error) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.closed.Load() {
		return 0, fmt.Errorf("write a message: %w", io.ErrClosedPipe)
	}
	if cap(s.frame) < headerSpace {
		s.frame = make([]byte, headerSpace, 4<<10)
	}
	frame := appendBody(s.frame[:headerSpace])
	if cap(frame) <= keepBuffer {
		s.frame = frame
	}
	// The header is written directly before the body, so that the body need not be moved.
	var space [headerSpace]byte
	head := append(space[:0], "Content-Length: "...)
	head = strconv.AppendInt(head, int64(len(frame)-headerSpace), 10)
	head = append(head, "\r\n\r\n"...)
	frame = frame[headerSpace-len(head):]
	copy(frame, head)
	n, err := s.out.Write(frame)
	if err != nil {
		s.once.Do(func() { close(s.broken) })
		return int64(n), fmt.Errorf("write a message: %w", err)
	}
	return int64(n), nil
}

// drain waits until all requests that were read are answered, until writing has failed, or until ctx ends.
func (s *Stream) drain(ctx context.Context) {
	select {
	case <-s.owed.idle():
	case <-s.broken:
	case <-ctx.Done():
	}
}

// Close closes input and output. Later reads return io.EOF, later writes fail. It is safe to call from any goroutine
// and more than once; every call returns the first one's error.
func (s *Stream) Close() error {
	s.closeOnce.Do(func() {
		s.closed.Store(true)
		s.closeErr = errors.Join(s.inPipe.Close(), s.out.Close())
	})
	return s.closeErr
}
