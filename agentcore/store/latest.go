package store

import (
	"github.com/agentls/agentls/agentcore/event"
)

// latest is what the rows of one transaction come to, where several of its batches write the same one: a call that has
// its outcome by then, what a run with many children has used. Such a row is written once. A transaction is committed
// as a whole, so that nobody sees the difference.
type latest struct {
	runs   map[event.RunID]*Run
	calls  map[event.CallID]*ToolCall
	usages map[event.RunID]*laterUsage
}

// laterUsage is the most that a run has used, and how many batches have yet to say so. It is void where the whole row
// of the run comes after that.
type laterUsage struct {
	RunUsage
	left int
	void bool
}

// latestOf looks through the jobs of a transaction. It changes none, since each may get a transaction of its own yet.
func latestOf(jobs []*job) latest {
	l := latest{
		runs: map[event.RunID]*Run{}, calls: map[event.CallID]*ToolCall{}, usages: map[event.RunID]*laterUsage{},
	}
	for _, j := range jobs {
		for i := range j.batch.Runs {
			r := j.batch.Runs[i]
			if former := l.runs[r.ID]; former != nil && former.Unread != nil {
				r.Unread = former.Unread // a run keeps what it was inserted with
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

// most is what two reports of the same run come to, as the statement for one would add them.
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

// run returns the row to write in the place of a row, nil where it is written already. It stands where the first of
// them stood: what refers to it follows, and rows are read in the order of their insertion. So does call.
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

// usage returns what to write in the place of a report, nil where a later one is still to come, or the row has it.
func (l *latest) usage(u *RunUsage) *RunUsage {
	later := l.usages[u.Run]
	if later.left--; later.left > 0 || later.void {
		return nil
	}
	return &later.RunUsage
}
