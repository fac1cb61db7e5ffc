package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
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
	spaces := func(before, _ *model.Message) string {
		if before == nil {
			return ""
		}
		return " "
	}
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
		{[]model.Message{three, empty, two}, "three two", " two"},
		{[]model.Message{three, empty, two}, "three two", " two"},
	} {
		made = nil
		said, err := e.Join(step.conversation, encode, spaces)
		if got := string(bytes.Join(said.Pieces, nil)); err != nil || got != step.want ||
			strings.Join(made, " ") != step.made {
			t.Errorf("%q, %v, made of %q; want %q made of %q", got, err, made, step.want, step.made)
		}
	}
	if _, err := e.Join([]model.Message{model.UserText("bad")}, encode, spaces); err == nil ||
		!strings.Contains(err.Error(), "message 1") {
		t.Errorf("the error is %v", err)
	}
}

// What a request was given stays as it is, whatever is joined after it, and so do the ids of its calls.
func TestConversationStays(t *testing.T) {
	call := func(id string) model.Message {
		return model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Call{ID: id}}}
	}
	encode := func(m model.Message) ([]byte, error) {
		if calls := m.Calls(); len(calls) > 0 {
			return []byte(calls[0].ID), nil
		}
		return []byte(m.Text()), nil
	}
	var e Encodings
	join := func(messages ...model.Message) Conversation {
		said, err := e.Join(messages, encode, Commas)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	one, a, b, c := model.UserText("one"), call("a"), call("b"), call("c")
	first := join(one, a)
	second := join(one, a, b)
	check := func(when string) {
		t.Helper()
		for said, want := range map[*Conversation]string{&first: "one,a", &second: "one,a,b"} {
			if got := string(bytes.Join(said.Pieces, nil)); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
			for _, id := range []string{"a", "b", "c", "one"} {
				if want := id != "one" && strings.Contains(want, ","+id); said.called(id) != want {
					t.Errorf("%s: the call %s is in %q: %v", when, id, got(said), !want)
				}
			}
		}
	}
	check("both")
	join(one, a, c)
	check("after a branch")
	join(c, model.UserText("x"), b)
	check("after another conversation")
	join()
	check("after none")
}

func got(said *Conversation) string { return string(bytes.Join(said.Pieces, nil)) }

// TestFrames: a frame is known again for requests that differ in their messages alone, and for no others.
func TestFrames(t *testing.T) {
	base := func() *model.Request {
		return &model.Request{
			System: "s", Messages: []model.Message{model.UserText("x")}, MaxTokens: 1, Run: "r",
			Tools: []model.Tool{{Name: "n", Description: "d", Schema: []byte("{}")}},
		}
	}
	var frames Frames
	learn := func(request *model.Request, learned ...bool) {
		rest := func() any { return json.RawMessage(`{"messages":[]}`) }
		if _, err := frames.Of(request, learned...).around("messages", nil, rest); err != nil {
			t.Fatal(err)
		}
	}
	learn(base())
	again := base()
	again.Messages = append(again.Messages, model.UserText("y"))
	if !frames.Of(again).Known() {
		t.Error("a request with another message has another frame")
	}
	if frames.Of(base(), true).Known() || frames.Of(base(), false, true).Known() {
		t.Error("what was learned of the server makes no other frame")
	}
	// Each member of a request and of a tool counts, also those that there will be.
	changed := func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "!")
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
		default:
			t.Fatalf("a member of the kind %v", v.Kind())
		}
	}
	for i := range reflect.TypeFor[model.Request]().NumField() {
		request := base()
		field := reflect.TypeFor[model.Request]().Field(i)
		if field.Name == "Messages" {
			continue
		}
		changed(reflect.ValueOf(request).Elem().Field(i))
		if frames.Of(request).Known() {
			t.Errorf("a request with another %s has the same frame", field.Name)
		}
	}
	for i := range reflect.TypeFor[model.Tool]().NumField() {
		request := base()
		changed(reflect.ValueOf(&request.Tools[0]).Elem().Field(i))
		if frames.Of(request).Known() {
			t.Errorf("a request with another %s of a tool has the same frame",
				reflect.TypeFor[model.Tool]().Field(i).Name)
		}
	}
}

// TestSplice reads a request to which messages were added, twice, by buffers of several sizes.
func TestSplice(t *testing.T) {
	const before, after = `{"model":"m","first":[{"messages":[]}],"messages":[`, `],"tools":[{"text":"\"messages\":[]","messages":[]}]}`
	pieces, err := new(Frame).around("messages", [][]byte{[]byte(`{"a":1}`), []byte(","), nil, []byte(`{"b":2}`)},
		func() any { return json.RawMessage(before + after) })
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	setBody(request, pieces)
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
	for _, body := range []string{`{}`, `{"messages":[1]}`, `{"tools":[{"messages":[]}]}`, `[]`} {
		_, err := new(Frame).around("messages", nil, func() any { return json.RawMessage(body) })
		if !errors.Is(err, errNoPlace) {
			t.Errorf("%s: the error is %v", body, err)
		}
	}
}

// A conversation that grows is not compared from its beginning for each request.
func TestGrowingConversationIsNotCompared(t *testing.T) {
	const turns = 1000
	var e Encodings
	var messages []model.Message
	encode := func(m model.Message) ([]byte, error) { return []byte(m.Text()), nil }
	join := func() Conversation {
		said, err := e.Join(messages, encode, Commas)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	want := ""
	for range turns {
		messages, want = append(messages, model.UserText("x")), strings.TrimPrefix(want+",x", ",")
		if said := join(); got(&said) != want {
			t.Fatalf("of %d messages there are %d bytes", len(messages), len(got(&said)))
		}
	}
	if e.compared > 20*turns { // where the list is made larger, all are
		t.Errorf("%d messages were compared in %d turns", e.compared, turns)
	}
	messages = append(messages[:turns-2], model.UserText("y"), model.UserText("z"), model.UserText("a")) // in its place
	if said := join(); !strings.HasSuffix(got(&said), "x,y,z,a") || len(got(&said)) != len(want)+2 {
		t.Errorf("after another branch in the same array it ends with %q", got(&said)[len(want)-8:])
	}
}
