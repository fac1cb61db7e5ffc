package langserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/process"
)

const (
	// writeTime is how long a server may take to read a message.
	writeTime = 20 * time.Second
	// maxWaiting bounds how many bytes wait until a server reads them.
	maxWaiting = 256 << 20
)

// stream is a connection over a process's pipes. Messages to the server wait in a queue: otherwise the reading
// goroutine could wait for a server that itself waits until its output is read. The stream's goroutine writes the
// queue, and ends when the stream is closed.
type stream struct {
	process *process.Live
	reader  *bufio.Reader
	news    chan struct{} // has room for one: the queue is not empty
	written chan struct{} // closed when the writing goroutine has ended

	mu     sync.Mutex
	queue  [][]byte
	size   int
	closed bool
	err    error // why nothing can be written
}

func newStream(p *process.Live) *stream {
	s := &stream{
		process: p, reader: bufio.NewReaderSize(p.Out, 64<<10), news: make(chan struct{}, 1),
		written: make(chan struct{}),
	}
	go s.write()
	return s
}

func (s *stream) write() {
	defer close(s.written)
	for range s.news {
		for {
			s.mu.Lock()
			if s.closed || len(s.queue) == 0 {
				s.mu.Unlock()
				break
			}
			message := s.queue[0]
			s.queue = s.queue[1:]
			s.size -= len(message)
			s.mu.Unlock()
			// A message that is cut off cannot be continued, so the connection ends then.
			err := s.process.In.SetWriteDeadline(time.Now().Add(writeTime))
			if err == nil {
				_, err = s.process.In.Write(message)
			}
			if err != nil {
				s.fail(err)
				break
			}
		}
	}
}

// fail gives the connection up, so that its reader gets an error.
func (s *stream) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	_ = s.process.Out.Close() // it may be closed already
}

// WriteObject implements jsonrpc2.ObjectStream.
func (s *stream) WriteObject(object any) error {
	var message bytes.Buffer
	if err := (codec{}).WriteObject(&message, object); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return io.ErrClosedPipe
	case s.err != nil:
		return s.err
	case s.size+message.Len() > maxWaiting:
		return errors.New("the server does not read what it is sent")
	}
	s.queue = append(s.queue, message.Bytes())
	s.size += message.Len()
	select {
	case s.news <- struct{}{}:
	default:
	}
	return nil
}

// ReadObject implements jsonrpc2.ObjectStream.
func (s *stream) ReadObject(into any) error { return codec{}.ReadObject(s.reader, into) }

// Close implements jsonrpc2.ObjectStream.
func (s *stream) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.news) // nothing is sent to it after this, since senders check closed under the lock
	s.mu.Unlock()
	return errors.Join(s.process.In.Close(), s.process.Out.Close())
}
