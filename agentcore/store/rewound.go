package store

import (
	"context"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
)

// SetRewound notes that the user went back to before the prompts of stored runs, or that what they did was brought
// back. It may be called from any goroutine, and waits until that is durable.
func (s *Store) SetRewound(ctx context.Context, rewound bool, runs ...event.RunID) error {
	set := func(w *writer) ([]event.Event, error) {
		for _, run := range runs {
			if err := w.exec("UPDATE run SET rewound = ? WHERE id = ?", rewound, run); err != nil {
				return nil, fmt.Errorf("note that run %s was gone back behind: %w", run, err)
			}
		}
		return nil, nil
	}
	return s.submitOwn(set, nil).Wait(ctx)
}
