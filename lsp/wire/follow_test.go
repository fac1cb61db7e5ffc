package wire

import (
	"context"
	"fmt"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// What is to come behind an answer does, and nothing comes of it where the request fails.
func TestAfterAnswer(t *testing.T) {
	conn := make(chan *Conn, 1)
	c := serve(t, Dispatch{
		Request: answerLifecycle(func(ctx context.Context, method string, _ jsonrpc2.RawMessage) (any, error) {
			with := <-conn
			conn <- with
			for range 2 {
				AfterAnswer(ctx, func() {
					if err := with.Notify(context.WithoutCancel(ctx), "behind", method); err != nil {
						t.Error(err)
					}
				})
			}
			if method == "fails" {
				return nil, InvalidRequest("no")
			}
			return method, nil
		}),
	}, Options{})
	conn <- c.conn
	c.handshake()
	for id, method := range []string{"fails", "works", "fails", "works"} {
		c.send(request(id+1, method, "{}"))
		if method == "fails" {
			c.wantError(fmt.Sprint(id+1), jsonrpc2.InvalidRequest)
			continue
		}
		c.wantResult(fmt.Sprint(id + 1))
		for range 2 {
			if m := c.next(); m.Method != "behind" {
				t.Fatalf("behind the answer comes %s", show(m))
			}
		}
	}
	AfterAnswer(t.Context(), func() { t.Error("it was called behind no answer") })
}
