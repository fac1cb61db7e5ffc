package wire

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// AfterAnswer calls do once the result of the request of ctx is written, on the goroutine that wrote it, so that
// whatever do sends or starts follows the answer. do must not wait. It is not called if the request fails. ctx must be
// the context that Dispatch.Request got and has not yet returned from, or one made from it; for any other ctx,
// AfterAnswer does nothing.
func AfterAnswer(ctx context.Context, do func()) {
	if f, ok := ctx.Value(followingKey{}).(*following); ok {
		f.mu.Lock()
		f.do = append(f.do, do)
		f.mu.Unlock()
	}
}

type followingKey struct{}

// following is what is to be done after the answer to one request.
type following struct {
	mu sync.Mutex
	do []func()
}

func (f *following) take() []func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.do
}

// followers are what is to be done after answers that are not written yet. They are safe for concurrent use; the zero
// value is ready.
type followers struct {
	mu   sync.Mutex
	list []follower
}

type follower struct {
	// prefix is the beginning of the answer.
	prefix []byte
	do     []func()
}

// follow notes what is to be done after the answer to a request. The answer is about to be written.
func (s *Stream) follow(id jsonrpc2.ID, do []func()) {
	if len(do) == 0 {
		return
	}
	// The id is the last member but one; what follows it differs between answers.
	prefix, _ := bytes.CutSuffix(jsonrpc2.AppendResponse(nil, id, jsonrpc2.RawMessage("null"), nil),
		[]byte(`"result":null}`))
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	s.followers.list = append(s.followers.list, follower{prefix, do})
}

// takeFollower returns what is to be done after an answer.
func (s *Stream) takeFollower(answer []byte) []func() {
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	at := slices.IndexFunc(s.followers.list, func(f follower) bool { return bytes.HasPrefix(answer, f.prefix) })
	if at < 0 {
		return nil
	}
	do := s.followers.list[at].do
	s.followers.list = slices.Delete(s.followers.list, at, at+1)
	return do
}
