package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Applied is the editor's answer to an edit.
type Applied struct {
	// Refusal is why the editor did not apply the edit, "" if it applied it.
	Refusal string
	// Failed is the index in documentChanges of the part that failed, -1 if the editor does not say it.
	Failed int
}

// Apply makes the editor apply an edit.
func (c *Client) Apply(ctx context.Context, label string, edit protocol.WorkspaceEdit) (Applied, error) {
	params := protocol.ApplyWorkspaceEditParams{Edit: edit}
	if !c.PrintsEdits() {
		params.Label = &label
	}
	// The editor may send a failedChange that is no uinteger although it applied the edit, and the library's type would
	// refuse that answer.
	var result struct {
		Applied       bool            `json:"applied"`
		FailureReason *string         `json:"failureReason"`
		FailedChange  json.RawMessage `json:"failedChange"`
	}
	if err := c.Call(ctx, protocol.MethodWorkspaceApplyEdit, &params, &result); err != nil {
		var refused *jsonrpc2.Error
		if errors.As(err, &refused) {
			return Applied{"the editor answered: " + refused.Error(), -1}, nil
		}
		return Applied{}, fmt.Errorf("send the edit to the editor: %w", err)
	}
	answer := Applied{Failed: -1}
	if n, err := strconv.Atoi(string(result.FailedChange)); err == nil && n >= 0 && n < len(edit.DocumentChanges) {
		answer.Failed = n
	}
	switch {
	case result.Applied:
		answer.Failed = -1
	case result.FailureReason != nil && *result.FailureReason != "":
		answer.Refusal = *result.FailureReason
	default:
		answer.Refusal = "the editor did not apply the edit"
	}
	return answer, nil
}
