package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentls/agentls/agentcore/process"
)

const (
	// maxMessage bounds one message of a server, in bytes.
	maxMessage = 16 << 20
	// maxNoise is how many lines in a row a server may write that are no messages, since many programs print a greeting
	// on their standard output.
	maxNoise = 200
	// writePatience is how long a server may take to read a message.
	writePatience = 30 * time.Second

	// floodTime is the time in which a server may send floodCount messages or floodBytes without being asked.
	floodTime  = 10 * time.Second
	floodCount = 5000
	floodBytes = 32 << 20
)

// pipe speaks JSON-RPC in lines (specification, Transports, stdio). It implements the transport and the connection of
// the SDK.
type pipe struct {
	process *process.Live
	out     *bufio.Reader
	flood   flood
	writing chan struct{} // holds a token while somebody writes

	mu    sync.Mutex
	fault error // why the connection was given up
}

func newPipe(p *process.Live) *pipe {
	return &pipe{process: p, out: bufio.NewReaderSize(p.Out, 64<<10), writing: make(chan struct{}, 1)}
}

// Connect implements sdk.Transport.
func (p *pipe) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID implements sdk.Connection.
func (*pipe) SessionID() string { return "" }

// Close implements sdk.Connection: a waiting Read returns.
func (p *pipe) Close() error {
	return errors.Join(p.process.In.Close(), p.process.Out.Close())
}

// failed notes for people why nothing more is read or written.
func (p *pipe) failed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil && !errors.Is(err, os.ErrClosed) {
		p.fault = err
	}
	return err
}

// problem is why the connection was given up; nil if the server itself ended it.
func (p *pipe) problem() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(p.fault, io.EOF) {
		return nil
	}
	return p.fault
}

// Read implements sdk.Connection. It returns the next message, and skips lines that are no messages.
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	for noise := 0; ; {
		text, err := p.line()
		if err != nil {
			return nil, p.failed(err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(text)
		if err != nil {
			if noise++; noise > maxNoise {
				return nil, p.failed(fmt.Errorf("it wrote something that is not a message of the protocol, such as %q",
					line(string(text))))
			}
			continue
		}
		if _, unasked := message.(*jsonrpc.Request); unasked {
			if err := p.flood.pass(len(text)); err != nil {
				return nil, p.failed(err)
			}
		}
		return message, nil
	}
}

// line reads up to the end of a line.
func (p *pipe) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := p.out.ReadSlice('\n')
		if len(whole)+len(part) > maxMessage {
			return nil, fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)
		}
		if err == nil && whole == nil {
			return bytes.Clone(part), nil
		}
		whole = append(whole, part...)
		if err == nil || errors.Is(err, io.EOF) && len(bytes.TrimSpace(whole)) > 0 {
			return whole, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// Write implements sdk.Connection.
func (p *pipe) Write(ctx context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	select {
	case p.writing <- struct{}{}:
		defer func() { <-p.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// A message that is cut off cannot be continued, so the connection ends then.
	if err := p.process.In.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return p.failed(err)
	}
	if _, err := p.process.In.Write(append(text, '\n')); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("it did not read a message within %s", writePatience)
		}
		return p.failed(err)
	}
	return nil
}

// flood counts what a server sends without being asked. The reading goroutine owns it.
type flood struct {
	since time.Time
	count int
	bytes int
}

func (f *flood) pass(size int) error {
	if now := time.Now(); now.Sub(f.since) > floodTime {
		*f = flood{since: now}
	}
	f.count, f.bytes = f.count+1, f.bytes+size
	if f.count > floodCount || f.bytes > floodBytes {
		return fmt.Errorf("it sent more than it was asked for: %d messages with %d bytes within %s", f.count,
			f.bytes, floodTime)
	}
	return nil
}
