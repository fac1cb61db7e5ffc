package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

// heard is a transport that gives each request the same answer and hands on what was sent.
type heard struct {
	answer string
	take   func(io.Reader)
}

// RoundTrip implements http.RoundTripper.
func (h heard) RoundTrip(request *http.Request) (*http.Response, error) {
	h.take(io.LimitReader(request.Body, request.ContentLength))
	return canned(h.answer).RoundTrip(request)
}

// says is a model on a wire whose server gives each request the same answer.
func says(wire Wire, stream string, take func(io.Reader)) model.Model {
	return wire.New("http://127.0.0.1:1", &http.Client{Transport: heard{stream, take}}, 0)
}

// turn appends to a conversation the messages of a turn that reads a file.
func turn(conversation []model.Message, n int) []model.Message {
	id := fmt.Sprintf("c%d", n)
	return append(conversation,
		model.Message{Role: model.RoleAssistant, Parts: []model.Part{
			model.Call{ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a.go"}`)},
		}},
		model.Message{Role: model.RoleTool, Parts: []model.Part{
			model.Result{ID: id, Name: "read", Text: strings.Repeat("a line of a file\n", 10)},
		}})
}

// Turns checks what a wire sends for a conversation that grows, is shortened and is rewound. Each request must be, byte
// for byte, what a new wire sends that has seen no earlier request. It must cost only what is new in it, whatever the
// number of earlier turns. stream is an answer of the wire.
func Turns(t *testing.T, wire Wire, stream string) {
	var sent []byte
	hear := func(r io.Reader) {
		var err error
		if sent, err = io.ReadAll(r); err != nil {
			t.Error(err)
		}
	}
	ask := func(m model.Model, request *model.Request) string {
		for _, err := range m.Stream(t.Context(), request) {
			if err != nil {
				t.Fatal(err)
			}
		}
		return string(sent)
	}
	warm := says(wire, stream, hear)
	both := func(what string, request *model.Request) {
		t.Helper()
		got, want := ask(warm, request), ask(says(wire, stream, hear), request)
		if got != want {
			t.Errorf("%s: the request is not that of a wire that has seen none before:\n%s\n%s", what, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: the request is no JSON:\n%s", what, got)
		}
	}
	full, half := Conversation(), 0.5
	for n := range len(full.Messages) + 1 {
		request := *full
		request.Messages = full.Messages[:n]
		both(fmt.Sprintf("%d messages", n), &request)
	}
	other := *full
	other.Messages = turn(slices.Clone(full.Messages), 1)
	other.Messages = append(other.Messages, model.Message{Role: model.RoleUser}, model.UserText("and then?"))
	both("more", &other)
	other.NoCalls, other.Temperature, other.Run = true, &half, "run-2"
	both("the last turn", &other)
	other.System, other.Tools = "", other.Tools[:1]
	both("another prompt", &other)
	other.Messages = append([]model.Message{model.UserText("a summary")}, full.Messages[2:]...)
	both("shortened", &other)
	both("rewound", full)

	if short, long := costOf(t, wire, stream, 50), costOf(t, wire, stream, 2000); long > 2*short {
		t.Errorf("turn 2,000 takes %d bytes of memory, turn 50 %d", long, short)
	}
}

// costOf is how many bytes a turn allocates after a number of earlier turns, on the average over several turns.
func costOf(t *testing.T, wire Wire, stream string, turns int) uint64 {
	const over = 40
	buffer := make([]byte, 64<<10)
	m := says(wire, stream, func(r io.Reader) {
		if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, buffer); err != nil {
			t.Error(err)
		}
	})
	// A system prompt as large as those of agents are.
	request := &model.Request{System: string(bytes.Repeat([]byte("A rule.\n"), 500))}
	for n := range turns + over {
		request.Messages = turn(request.Messages, n)
	}
	all := request.Messages
	allocated := func(from, to int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n := from; n < to; n++ {
			asked := *request
			asked.Messages = all[:2*n]
			for _, err := range m.Stream(t.Context(), &asked) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(turns-1, turns) // encodes all
	// A slice that grows makes the turn expensive in which it grows. One of the two measurements has no such turn.
	return min(allocated(turns, turns+over/2), allocated(turns+over/2, turns+over)) / (over / 2)
}
