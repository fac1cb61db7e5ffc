package agentcore

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore/mention"
)

// maxChecked bounds the mentions of a prompt that [Refusals] looks at.
const maxChecked = 50

// RefusedPart is a part of a prompt that keeps it from being sent.
type RefusedPart struct {
	// Start and End are where it stands in the prompt, in bytes.
	Start, End int
	Err        error
}

// Refusals says what of a prompt for an agent, the default one for "", keeps it from being sent, as far as that is told
// without a wait: images, symbols and changes are not looked at. It reads the prompts where the text calls one, and the
// files that are mentioned, at most 50; it asks no editor and runs nothing. Any goroutine may call it. The error is
// ctx's, or that of an agent that there is not.
func Refusals(ctx context.Context, s *Session, agent, text string) ([]RefusedPart, error) {
	rights, err := rightsOf(s, agent)
	if err != nil {
		return nil, err
	}
	call, err := findPrompt(ctx, s, text)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	said := text
	start, end := callIn(text)
	if err == nil && call != nil {
		err, said = fits(s, &RunRequest{Agent: agent}, call), call.text
	}
	if err != nil {
		return []RefusedPart{{start, end, err}}, nil
	}
	var refused []RefusedPart
	m := mentions{session: s, rights: rights, layer: s.shared.Board.Proposal().Fork(), brief: true}
	found := mention.Find(said)
	for _, one := range found[:min(len(found), maxChecked)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if one.Name == mention.Diff || one.Name == mention.Diagnostics || isImage(one.Name) {
			continue
		}
		_, _, err := m.read(ctx, one)
		switch {
		case err == nil:
		case call != nil: // its file has the mention, or an argument
			return []RefusedPart{{start, end, fmt.Errorf("%s: %w", one.Text(said), forPeople(err))}}, nil
		default:
			refused = append(refused, RefusedPart{one.Start, one.End, forPeople(err)})
		}
	}
	return refused, nil
}
