package store

import (
	"github.com/agentls/agentls/agentcore/event"
)

// latest joins the rows of one transaction where several of its batches write the same row, such as a call that has its
// outcome by then, or what a run with many children has used. Such a row is written once. Nobody sees the difference,
// since the transaction is committed as a whole.
type latest struct {
	runs   map[event.RunID]*Run
	calls  map[event.CallID]*ToolCall
	usages map[event.RunID]*laterUsage
}

// laterUsage is the most that a run has used, and how many batches are still to report it. It is void where the whole
// row of the run follows.
type laterUsage struct {
	RunUsage
	left int
	void bool
}

// latestOf looks through the jobs of a transaction. It does not change them, since each may still get a transaction of
// its own.
func latestOf(jobs []*job) latest {
	l := latest{
		runs: map[event.RunID]*Run{}, calls: map[event.CallID]*ToolCall{}, usages: map[event.RunID]*laterUsage{},
	}
	for _, j := range jobs {
		for i := range j.batch.Runs {
			r := j.batch.Runs[i]
			if former := l.runs[r.ID]; former != nil && former.Unread != nil {
				r.Unread = former.Unread // a run keeps the value from its insertion
			}
			if former := l.runs[r.ID]; former != nil {
				r.Rewound = former.Rewound
			}
			if former := l.runs[r.ID]; former != nil && !former.Created.IsZero() {
				r.Created = former.Created
			}
			l.runs[r.ID] = &r
			if later := l.usages[r.ID]; later != nil {
				later.void = true
			}
		}
		for i := range j.batch.ToolCalls {
			l.calls[j.batch.ToolCalls[i].ID] = &j.batch.ToolCalls[i]
		}
		for _, u := range j.batch.Usages {
			u.Usage, u.Own = u.Usage.Bounded(), u.Own.Bounded()
			later := l.usages[u.Run]
			if later == nil {
				later = &laterUsage{void: true}
				l.usages[u.Run] = later
			}
			if !later.void {
				u = most(later.RunUsage, u)
			}
			*later = laterUsage{RunUsage: u, left: later.left + 1}
		}
	}
	return l
}

// most joins two reports of the same run, as the statement for one would.
func most(a, b RunUsage) RunUsage {
	a.Turns = max(a.Turns, b.Turns)
	a.Usage, a.Own = mostOf(a.Usage, b.Usage), mostOf(a.Own, b.Own)
	return a
}

func mostOf(a, b event.Usage) event.Usage {
	a.InputTokens, a.OutputTokens = max(a.InputTokens, b.InputTokens), max(a.OutputTokens, b.OutputTokens)
	a.CachedTokens = max(a.CachedTokens, b.CachedTokens)
	if a.Cost == nil || b.Cost == nil {
		a.Cost = nil
	} else {
		a.Cost = new(max(*a.Cost, *b.Cost))
	}
	return a
}

// run returns the row to write instead of r, nil where it was written already. It is written at the place of the first
// of the joined rows: rows that refer to it follow, and rows are read in the order of their insertion. The same holds
// for call.
func (l *latest) run(r *Run) *Run {
	row := l.runs[r.ID]
	delete(l.runs, r.ID)
	return row
}

func (l *latest) call(c *ToolCall) *ToolCall {
	row := l.calls[c.ID]
	delete(l.calls, c.ID)
	return row
}

// usage returns the report to write instead of u, nil where a later report or the run's row follows.
func (l *latest) usage(u *RunUsage) *RunUsage {
	later := l.usages[u.Run]
	if later.left--; later.left > 0 || later.void {
		return nil
	}
	return &later.RunUsage
}
