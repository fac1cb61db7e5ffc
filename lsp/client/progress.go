package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// progressTime bounds the wait for the answer to a token for `$/progress`. Editors give this answer without asking a
// person.
const progressTime = 10 * time.Second

// MaxTokens bounds how many tokens for `$/progress` wait for their answers at once.
const MaxTokens = 8

// progressTokens are the requests for tokens for `$/progress`. Some editors announce progress but never answer such a
// request; they are not asked again. Its methods may be called from any goroutine.
type progressTokens struct {
	room     chan struct{} // has room for MaxTokens, one for each request that waits for its answer
	silent   chan struct{} // closed when the editor is not to be asked again
	mu       sync.Mutex
	answered bool // the editor has answered a request, with a result or an error
}

func newProgressTokens() *progressTokens {
	return &progressTokens{room: make(chan struct{}, MaxTokens), silent: make(chan struct{})}
}

var errNoProgress = errors.New("the editor takes no progress of the server's; runs are told of in its log")

// heard notes how a request for a token ended.
func (t *progressTokens) heard(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var refused *jsonrpc2.Error
	isRefused := errors.As(err, &refused)
	t.answered = t.answered || err == nil || isRefused
	if t.answered && !(isRefused && refused.Code == jsonrpc2.MethodNotFound) {
		return // the next request may have another outcome
	}
	select {
	case <-t.silent:
	default:
		close(t.silent)
	}
}

// CreateProgress announces a token for `$/progress`.
func (c *Client) CreateProgress(ctx context.Context, token protocol.ProgressToken) error {
	bounded, cancel := context.WithTimeout(ctx, min(progressTime, c.answerTime))
	defer cancel()
	select {
	case <-c.tokens.silent:
		return errNoProgress
	default:
	}
	select {
	case c.tokens.room <- struct{}{}:
		defer func() { <-c.tokens.room }()
	case <-c.tokens.silent:
		return errNoProgress
	case <-bounded.Done():
		return errors.Join(ctx.Err(), errNoProgress)
	}
	params := protocol.WorkDoneProgressCreateParams{Token: token}
	err := c.Call(bounded, protocol.MethodWindowWorkDoneProgressCreate, &params, nil)
	if ctx.Err() == nil {
		c.tokens.heard(err)
	}
	return err
}
