package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/model"
)

// Encodings keep the JSON of the messages of a conversation, so that the cost of a request does not grow with the
// turns behind it: an SDK would encode all of them each time. The zero value is ready. It may be used from any
// goroutine; requests of several conversations only make it forget.
type Encodings struct {
	mu   sync.Mutex
	kept []encoding
}

// encoding is the JSON of one message. Messages are not changed once they are in a conversation, so that the place of
// their parts tells them apart.
type encoding struct {
	role  model.Role
	first *model.Part
	parts int
	json  []byte
}

func (e encoding) of(message model.Message) bool {
	return e.role == message.Role && e.parts == len(message.Parts) && e.parts > 0 && e.first == &message.Parts[0]
}

// List returns the JSON of each message, which encode makes where it is not known from an earlier call. The caller
// changes nothing of it.
func (e *Encodings) List(messages []model.Message, encode func(model.Message) ([]byte, error)) ([][]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([][]byte, len(messages))
	for i, message := range messages {
		if i < len(e.kept) && e.kept[i].of(message) {
			list[i] = e.kept[i].json
			continue
		}
		raw, err := encode(message)
		if err != nil {
			return nil, fmt.Errorf("encode message %d of the conversation: %w", i+1, err)
		}
		made := encoding{role: message.Role, parts: len(message.Parts), json: raw}
		if len(message.Parts) > 0 {
			made.first = &message.Parts[0]
		}
		e.kept = append(e.kept[:min(i, len(e.kept))], made)
		list[i] = raw
	}
	return list, nil
}

// Separate puts commas between messages, for Splicing. Those without any JSON are left out.
func Separate(messages [][]byte) [][]byte {
	var pieces [][]byte
	for _, message := range messages {
		if len(message) == 0 {
			continue
		}
		if len(pieces) > 0 {
			pieces = append(pieces, comma)
		}
		pieces = append(pieces, message)
	}
	return pieces
}

var comma = []byte(",")

// errNoPlace: the request is encoded in another way than splice knows.
var errNoPlace = errors.New("the request has no empty list of messages")

// splice puts messages, as pieces of JSON with the commas between them, into a request which was encoded with an
// empty list of them in the member of that name.
func splice(request *http.Request, member string, messages [][]byte) error {
	body, err := io.ReadAll(request.Body)
	if err := errors.Join(err, request.Body.Close()); err != nil {
		return fmt.Errorf("read the request's own body: %w", err)
	}
	// Within a string the quotes would be escaped, and the SDKs write this member before the tools with their schemas.
	empty := `"` + member + `":[]`
	at := bytes.Index(body, []byte(empty))
	if at < 0 {
		return errNoPlace
	}
	at += len(empty) - 1
	pieces := slices.Concat([][]byte{body[:at]}, messages, [][]byte{body[at:]})
	request.ContentLength = 0
	for _, piece := range pieces {
		request.ContentLength += int64(len(piece))
	}
	request.GetBody = func() (io.ReadCloser, error) {
		left := slices.Clone(pieces)
		return io.NopCloser(&chain{left}), nil
	}
	request.Body, err = request.GetBody()
	return err
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
