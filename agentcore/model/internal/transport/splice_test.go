package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

// TestEncodings encodes each message once, and anew where the conversation is another.
func TestEncodings(t *testing.T) {
	var made []string
	encode := func(m model.Message) ([]byte, error) {
		made = append(made, m.Text())
		if m.Text() == "bad" {
			return nil, errors.New("no")
		}
		return []byte(m.Text()), nil
	}
	one, two, three := model.UserText("one"), model.UserText("two"), model.UserText("three")
	answered := model.Message{Role: model.RoleAssistant, Parts: two.Parts}
	empty := model.Message{Role: model.RoleUser}
	var e Encodings
	for _, step := range []struct {
		conversation []model.Message
		want, made   string
	}{
		{[]model.Message{one, two}, "one two", "one two"},
		{[]model.Message{one, two, three}, "one two three", "three"},
		{[]model.Message{one}, "one", ""},
		{[]model.Message{one, two, three}, "one two three", ""},
		{[]model.Message{one, answered, three}, "one two three", "two three"},
		{[]model.Message{three, one}, "three one", "three one"},
		{[]model.Message{three, empty, two}, "three  two", " two"},
		{[]model.Message{three, empty, two}, "three  two", " two"},
	} {
		made = nil
		list, err := e.List(step.conversation, encode)
		if got := string(bytes.Join(list, []byte(" "))); err != nil || got != step.want ||
			strings.Join(made, " ") != step.made {
			t.Errorf("%q, %v, made of %q; want %q made of %q", got, err, made, step.want, step.made)
		}
	}
	if _, err := e.List([]model.Message{model.UserText("bad")}, encode); err == nil ||
		!strings.Contains(err.Error(), "message 1") {
		t.Errorf("the error is %v", err)
	}
}

func TestSeparate(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "a b": "a,b", " a  b ": "a,b"} {
		if got := bytes.Join(Separate(bytes.Split([]byte(in), []byte(" "))), nil); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestSplice reads a request to which messages were added, twice, by buffers of several sizes.
func TestSplice(t *testing.T) {
	const before, after = `{"model":"m","first":[{"messages":[]}],"messages":[`, `],"tools":[{"text":"\"messages\":[]","messages":[]}]}`
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader(before+after))
	if err != nil {
		t.Fatal(err)
	}
	if err := splice(request, "messages",
		[][]byte{[]byte(`{"a":1}`), []byte(","), nil, []byte(`{"b":2}`)}); err != nil {
		t.Fatal(err)
	}
	const want = before + `{"a":1},{"b":2}` + after
	for size := 1; size <= len(want)+1; size++ {
		body, err := request.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := io.CopyBuffer(&got, struct{ io.Reader }{body}, make([]byte, size)); err != nil ||
			got.String() != want || request.ContentLength != int64(len(want)) {
			t.Errorf("%d bytes at once: %s, %v; the length is %d", size, got.String(), err, request.ContentLength)
		}
	}
	if request, err = http.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := splice(request, "messages", nil); !errors.Is(err, errNoPlace) {
		t.Errorf("the error is %v", err)
	}
}
