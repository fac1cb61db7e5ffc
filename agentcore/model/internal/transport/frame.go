package transport

import (
	"bytes"
	"encoding/json"
	"errors"
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
	return a.System == b.System && a.MaxTokens == b.MaxTokens && a.Effort == b.Effort && a.NoCalls == b.NoCalls &&
		a.Only == b.Only && a.Run == b.Run && slices.EqualFunc(a.Tools, b.Tools, same)
}

// errNoPlace: the request is encoded in another way than a frame knows.
var errNoPlace = errors.New("the request has no empty list of messages")

// around returns a request as pieces of JSON: the messages, and what is around them. Unless the frame is known, rest
// makes a value with an empty list of messages in the member of that name.
func (f *Frame) around(member string, messages [][]byte, rest func() any) ([][]byte, error) {
	if !f.Known() {
		if err := f.learn(member, rest()); err != nil {
			return nil, err
		}
	}
	pieces := [][]byte{f.before, f.lead}
	if len(f.lead) > 0 && len(messages) > 0 && len(messages[0]) > 0 {
		pieces = append(pieces, comma)
	}
	return append(append(pieces, messages...), f.after), nil
}

// setBody makes pieces the body of a request.
func setBody(request *http.Request, pieces [][]byte) {
	request.ContentLength = 0
	for _, piece := range pieces {
		request.ContentLength += int64(len(piece))
	}
	request.GetBody = func() (io.ReadCloser, error) {
		left := slices.Clone(pieces)
		return io.NopCloser(&chain{left}), nil
	}
	request.Body = io.NopCloser(&chain{slices.Clone(pieces)})
}

var comma = []byte(",")

// learn takes the frame out of a request without messages.
func (f *Frame) learn(member string, rest any) error {
	body, err := Encode(rest)
	if err != nil {
		return err
	}
	at, found := emptyList(body, member)
	if !found {
		return errNoPlace
	}
	// What is kept is kept for each run that is alive: no more of it than there is.
	f.before, f.after, f.lead = bytes.Clone(body[:at]), bytes.Clone(body[at:]), bytes.Clone(f.lead)
	if f.keep != nil {
		f.keep(f)
	}
	return nil
}

// emptyList finds the empty list that is the member of an object, and returns the place within it. Schemas of tools may
// have such members, too.
func emptyList(object []byte, member string) (at int, found bool) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return 0, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return 0, false
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return 0, false
		}
		if name == member {
			return int(decoder.InputOffset()) - 1, string(value) == "[]"
		}
	}
	return 0, false
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
