package agentcore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/store"
)

const (
	// delegatedRuns is how many of the latest runs of a type of child are counted.
	delegatedRuns = 50
	// enoughRuns is how many runs there must be to say anything about a type.
	enoughRuns = 3
)

// delegation tells a delegating agent, in a few lines for its prompt, how the subagents that it may start have done on
// these folders: a line for each type that has run often enough, in their order, such as
//
//	explore: 14 runs, 93 % completed, median 6 turns, 40 s
//
// It is empty where there is nothing to tell. The subagents are slugs. It reads the disk; call it once for a run, at
// its start, since a prompt must not change.
func delegation(ctx context.Context, from *store.Store, folders, subagents []string) (string, error) {
	var lines []string
	for _, slug := range subagents {
		runs, err := from.DelegatedRuns(ctx, slug, folders, delegatedRuns)
		if err != nil {
			return "", err
		}
		if len(runs) >= enoughRuns {
			lines = append(lines, slug+": "+summary(runs))
		}
	}
	return strings.Join(lines, "\n"), nil
}

// summary says in a line how runs went. There must be at least one.
func summary(runs []store.DelegatedRun) string {
	completed := 0
	turns, times := make([]int, 0, len(runs)), make([]time.Duration, 0, len(runs))
	for _, r := range runs {
		if r.Succeeded {
			completed++
		}
		turns, times = append(turns, r.Turns), append(times, r.Duration)
	}
	middle, plural := median(turns), "s"
	if middle == 1 {
		plural = ""
	}
	took := median(times)
	text := took.Round(time.Second).String()
	if took < time.Minute {
		text = fmt.Sprintf("%.0f s", max(1, took.Seconds()))
	}
	return fmt.Sprintf("%d runs, %d %% completed, median %d turn%s, %s", len(runs), completed*100/len(runs),
		middle, plural, text)
}

// median sorts the values and returns the middle one, the lower of two.
func median[T int | time.Duration](values []T) T {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
