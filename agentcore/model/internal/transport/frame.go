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

// Frames keep the JSON that surrounds the messages of a request. That JSON is the same in all turns of a run but the
// last, and to encode the system prompt and the tools costs more than everything else in a short turn. The zero value
// is ready. Any goroutine may use Frames; a request that differs from the last one only makes Frames forget.
type Frames struct{ last atomic.Pointer[Frame] }

// Frame is a request without its messages. The exchange that first sends the request fills the frame, which does not
// change after that.
type Frame struct {
	request model.Request // without messages
	learned [2]bool
	lead    []byte
	before  []byte // nil until it is known
	after   []byte
	keep    func(*Frame)
}

// Of returns the frame of a request. learned is what the wire has learned of the server, where the frame depends on it
// as well.
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

// Known reports whether the JSON around the messages is known, because an earlier request with this frame was encoded.
func (f *Frame) Known() bool { return f.before != nil }

// Lead puts JSON in front of the messages. encode makes that JSON where the frame is not known.
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

// errNoPlace says that an encoded request has no empty list into which a frame could put the messages.
var errNoPlace = errors.New("the request has no empty list of messages")

// around returns a request as pieces of JSON: what stands before the messages, the messages, and what stands behind
// them. Where the frame is not known, rest makes a value whose JSON has an empty list in the member for the messages.
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

// learn takes the frame out of the JSON of a request without messages.
func (f *Frame) learn(member string, rest any) error {
	body, err := Encode(rest)
	if err != nil {
		return err
	}
	at, found := emptyList(body, member)
	if !found {
		return errNoPlace
	}
	// A frame lives as long as its run, so it keeps copies of just the bytes that it needs, and not the larger body.
	f.before, f.after, f.lead = bytes.Clone(body[:at]), bytes.Clone(body[at:]), bytes.Clone(f.lead)
	if f.keep != nil {
		f.keep(f)
	}
	return nil
}

// emptyList finds the member of an object that is an empty list, and returns the place within that list. Schemas of
// tools may have members of the same name, which do not count.
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

// chain reads pieces one behind the other. Each Read fills its buffer as far as it can, so that many small messages
// make few writes.
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
