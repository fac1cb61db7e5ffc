package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/model"
)

// Encodings keep the JSON of the messages of a conversation, so that the cost of a request does not grow with the
// turns behind it. The zero value is ready. It may be used from any goroutine; requests of several conversations only
// make it forget.
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

// Encode returns the JSON of a value. What JSON does not demand stays as it is: code is full of characters that
// json.Marshal would write as six bytes, for pages of HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// EncodeAll returns the JSON of values with commas between them.
func EncodeAll[T any](list []T) ([]byte, error) {
	pieces := make([][]byte, len(list))
	for i, v := range list {
		var err error
		if pieces[i], err = Encode(v); err != nil {
			return nil, err
		}
	}
	return bytes.Join(pieces, comma), nil
}

// Separate puts commas between messages, for Post. Those without any JSON are left out.
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

// errNoPlace: the request was not encoded with an empty list.
var errNoPlace = errors.New("the request has no empty list of messages")

// splice puts messages, as pieces of JSON with the commas between them, into a request which was encoded with an
// empty list of them in the member of that name.
func splice(request *http.Request, member string, messages [][]byte) error {
	body, err := io.ReadAll(request.Body)
	if err := errors.Join(err, request.Body.Close()); err != nil {
		return fmt.Errorf("read the request's own body: %w", err)
	}
	at, found := emptyList(body, member)
	if !found {
		return errNoPlace
	}
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
