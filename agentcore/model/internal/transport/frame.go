package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/model"
)

// Frames keep the JSON of a request around its messages, which is the same in all turns of a run but the last: to
// encode the system prompt and the tools costs more than all else of a short turn. The zero value is ready. It may be
// used from any goroutine; requests that differ only make it forget.
type Frames struct{ last atomic.Pointer[Frame] }

// Frame is a request without its messages. It is filled by the exchange that first sends it, and does not change after
// that.
type Frame struct {
	request model.Request // without messages
	learned [2]bool
	lead    []byte
	before  []byte // nil until it is known
	after   []byte
	keep    func(*Frame)
}

// Of returns the frame of a request. learned is what the frame depends on beside the request, since the wire learned it
// of the server.
func (f *Frames) Of(request *model.Request, learned ...bool) *Frame {
	var of [2]bool
	copy(of[:], learned)
	if last := f.last.Load(); last != nil && last.learned == of && alike(&last.request, request) {
		return last
	}
	frame := &Frame{request: *request, learned: of, keep: f.last.Store}
	frame.request.Messages, frame.request.Tools = nil, slices.Clone(request.Tools)
	if request.Temperature != nil {
		frame.request.Temperature = new(*request.Temperature)
	}
	return frame
}

// Known reports whether the request need not be encoded without its messages, since a former one was.
func (f *Frame) Known() bool { return f.before != nil }

// Lead puts JSON in front of the messages, which encode makes where the frame is not known.
func (f *Frame) Lead(encode func() ([]byte, error)) error {
	if f.Known() {
		return nil
	}
	var err error
	f.lead, err = encode()
	return err
}

// alike reports whether two requests differ at most in their messages.
func alike(a, b *model.Request) bool {
	same := func(a, b model.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	}
	if (a.Temperature == nil) != (b.Temperature == nil) || a.Temperature != nil && *a.Temperature != *b.Temperature {
		return false
	}
	return a.System == b.System && a.MaxTokens == b.MaxTokens && a.NoCalls == b.NoCalls && a.Only == b.Only &&
		a.Run == b.Run && slices.EqualFunc(a.Tools, b.Tools, same)
}

// errNoPlace: the request is encoded in another way than a frame knows.
var errNoPlace = errors.New("the request has no empty list of messages")

// splice makes the messages, as pieces of JSON, and what is around them the body of a request. Unless the frame is
// known, the request was encoded with an empty list of messages in the member of that name.
func (f *Frame) splice(request *http.Request, member string, messages [][]byte) error {
	if err := f.learn(request, member); err != nil {
		return err
	}
	pieces := [][]byte{f.before, f.lead}
	if len(f.lead) > 0 && len(messages) > 0 && len(messages[0]) > 0 {
		pieces = append(pieces, comma)
	}
	pieces = append(append(pieces, messages...), f.after)
	request.ContentLength = 0
	for _, piece := range pieces {
		request.ContentLength += int64(len(piece))
	}
	request.GetBody = func() (io.ReadCloser, error) {
		left := slices.Clone(pieces)
		return io.NopCloser(&chain{left}), nil
	}
	var err error
	request.Body, err = request.GetBody()
	return err
}

var comma = []byte(",")

// learn takes the frame out of the body of a request, unless it is known.
func (f *Frame) learn(request *http.Request, member string) error {
	body, err := io.ReadAll(request.Body)
	if err := errors.Join(err, request.Body.Close()); err != nil {
		return fmt.Errorf("read the request's own body: %w", err)
	}
	if f.Known() {
		return nil
	}
	// Within a string the quotes would be escaped, and the SDKs write this member before the tools with their schemas.
	empty := `"` + member + `":[]`
	at := bytes.Index(body, []byte(empty))
	if at < 0 {
		return errNoPlace
	}
	at += len(empty) - 1
	// What is kept is kept for each run that is alive: no more of it than there is.
	f.before, f.after, f.lead = bytes.Clone(body[:at]), bytes.Clone(body[at:]), bytes.Clone(f.lead)
	if f.keep != nil {
		f.keep(f)
	}
	return nil
}

// chain reads pieces one behind the other, filling what it is given: many small messages make few writes.
type chain struct{ left [][]byte }

// Read implements io.Reader.
func (c *chain) Read(p []byte) (n int, err error) {
	for len(c.left) > 0 && n < len(p) {
		taken := copy(p[n:], c.left[0])
		n += taken
		if c.left[0] = c.left[0][taken:]; len(c.left[0]) == 0 {
			c.left = c.left[1:]
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
