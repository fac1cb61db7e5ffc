package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
)

const (
	// maxLine bounds a message of an agent, in bytes.
	maxLine = 16 << 20
	// maxQueue is how many messages may wait until the agent reads them. Whoever sends one more waits, too.
	maxQueue = 256
	// maxQuote is how much of what an agent wrote is quoted, in characters.
	maxQuote = 120
)

// stream is the connection's lines, each a message. Its goroutine writes what waits in the queue, so that the reading
// goroutine, which answers requests, need not wait for an agent that itself waits until its output is read.
type stream struct {
	process   *process.Live
	reader    *bufio.Reader
	writeTime time.Duration
	quietTime time.Duration // how long a program that is gone, or does not listen, may say nothing
	queue     chan []byte

	finishing chan struct{} // closed when the input is to be closed behind what waits
	closed    chan struct{} // closed when the connection is over
	deaf      chan struct{} // closed when nothing more can be written
	last      chan struct{} // closed when nothing more is expected from the agent
	written   chan struct{} // closed when the writing goroutine has ended
	read      chan struct{} // closed when nothing more is read

	finish, close, ebb sync.Once

	mu    sync.Mutex
	fault error // why the connection was given up; nil where the agent ended it
}

func newStream(p *process.Live, writeTime, quietTime time.Duration) *stream {
	s := &stream{
		process: p, writeTime: writeTime, quietTime: quietTime, queue: make(chan []byte, maxQueue),
		finishing: make(chan struct{}), closed: make(chan struct{}), deaf: make(chan struct{}),
		last: make(chan struct{}), written: make(chan struct{}), read: make(chan struct{}),
	}
	s.reader = bufio.NewReaderSize(outlet{s}, 64<<10)
	go s.write()
	return s
}

// outlet is the output of the agent. Once the stream ebbs, it ends where it says nothing for a while, since a process
// that nobody knows of may hold it open.
type outlet struct{ *stream }

// Read implements io.Reader.
func (o outlet) Read(p []byte) (int, error) {
	select {
	case <-o.last:
		// Where the system knows no deadlines, the connection ends with the output.
		_ = o.process.Out.SetReadDeadline(time.Now().Add(o.quietTime))
	default:
	}
	return o.process.Out.Read(p)
}

// ebbs has what the agent still says read, and no more than that.
func (s *stream) ebbs() {
	s.ebb.Do(func() {
		close(s.last)
		_ = s.process.Out.SetReadDeadline(time.Now().Add(s.quietTime)) // as above
	})
}

// failed notes why the connection is given up. The first reason counts.
func (s *stream) failed(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = err
	}
	return err
}

// problem is why the connection was given up; nil where the agent ended it.
func (s *stream) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

func (s *stream) write() {
	defer close(s.written)
	for {
		var message []byte
		select {
		case message = <-s.queue:
		case <-s.closed:
			return
		case <-s.finishing:
			select {
			case message = <-s.queue:
			default:
				_ = s.process.In.Close() // which tells the agent to end
				return
			}
		}
		// A message that is cut off cannot be continued, so nothing is written behind it.
		_ = s.process.In.SetWriteDeadline(time.Now().Add(s.writeTime)) // where the system knows none, it waits
		if _, err := s.process.In.Write(message); err != nil {
			s.unheard(err)
			return
		}
	}
}

// unheard ends the connection since the agent reads no more: at once if it was asked to read, or else, as it has closed
// its input and may be about to end, behind what it still says.
func (s *stream) unheard(err error) {
	close(s.deaf)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = s.failed(fmt.Errorf("it did not read a message within %s", s.writeTime))
		_ = s.process.Out.Close() // which ends the reader
		return
	}
	s.ebbs()
}

// Line is a message of the protocol as it is sent, with the end of its line.
func Line(message any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // which ends it with a line feed
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return line.Bytes(), nil
}

// WriteObject implements jsonrpc2.ObjectStream. It does not wait until the message is written.
func (s *stream) WriteObject(object any) error {
	line, err := Line(object)
	if err != nil {
		return err
	}
	select {
	case <-s.closed:
		return io.ErrClosedPipe
	case <-s.deaf:
		return io.ErrClosedPipe
	case s.queue <- line:
		return nil
	}
}

// ReadObject implements jsonrpc2.ObjectStream.
func (s *stream) ReadObject(v any) error {
	line, err := s.line()
	if err == nil {
		err = s.decode(line, v)
	}
	if err != nil {
		close(s.read) // the connection reads no more after an error
	}
	return err
}

// line reads the next line that is not blank.
func (s *stream) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := s.reader.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			return nil, s.failed(fmt.Errorf("it sent a line of more than %d MiB, which begins with %s", maxLine>>20,
				quote(append(line, piece...))))
		}
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(bytes.TrimSpace(line)) > 0 && errors.Is(err, io.EOF):
			return nil, s.failed(fmt.Errorf("its output ended within a line, which begins with %s", quote(line)))
		case err != nil:
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// decode decodes a message. A line that is none ends the connection: nobody knows who wrote it, and what is missing.
func (s *stream) decode(line []byte, v any) error {
	if line[0] != '{' || !json.Valid(line) {
		return s.failed(fmt.Errorf("it wrote a line that is no message of the protocol: %s", quote(line)))
	}
	if err := json.Unmarshal(line, v); err != nil {
		return s.failed(fmt.Errorf("it wrote a message that is none of JSON-RPC: %s", quote(line)))
	}
	return nil
}

// Close implements jsonrpc2.ObjectStream.
func (s *stream) Close() error {
	var err error
	s.close.Do(func() {
		close(s.closed)
		err = s.process.Out.Close()
		_ = s.process.In.Close() // it may be closed already
	})
	return err
}

// quote is the beginning of what an agent wrote, as it can be shown.
func quote(line []byte) string {
	return `"` + harmless(string(line[:min(len(line), 4*maxQuote)]), maxQuote) + `"`
}

// harmless is a text of an agent as a person may see it, in one line of at most so many characters.
func harmless(text string, most int) string {
	return clip.Text(permission.Visible(clip.Text(text, most)), 2*most)
}
