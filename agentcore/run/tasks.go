package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/tool"
)

// errStarterEnded is the cause with which a run in the background is ended when the run that started it has ended.
var errStarterEnded = fmt.Errorf("the run that started it has ended: %w", fault.ErrCancelled)

// tasks are the runs that a run has started. Its methods may be called from any goroutine of the run.
type tasks struct {
	ctx, working context.Context // the context of the run, and that of its work before the hand-over
	former       []tool.TaskState
	inbox        *inbox
	waited       *waitList

	mu       sync.Mutex
	children []*Run // the runs to which it delegated, in order
}

// add notes a child that was started.
func (t *tasks) add(child *Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.children = append(t.children, child)
}

// find returns the children with these ids, and those that were started by the former runs that this run goes on with,
// which have all ended. Without ids it returns all.
func (t *tasks) find(ids []event.RunID) (children []*Run, former []tool.TaskState, err error) {
	t.mu.Lock()
	children = slices.Clone(t.children)
	t.mu.Unlock()
	former = slices.Clone(t.former)
	if len(ids) == 0 {
		return children, former, nil
	}
	var known []string
	for _, state := range former {
		known = append(known, string(state.ID))
	}
	for _, child := range children {
		known = append(known, string(child.id))
	}
	for _, id := range ids {
		switch {
		case slices.Contains(known, string(id)):
		case len(known) == 0:
			return nil, nil, fmt.Errorf("you have no task %q; you have started none", id)
		default:
			return nil, nil, fmt.Errorf("you have no task %q; yours are %s", id, strings.Join(known, ", "))
		}
	}
	children = slices.DeleteFunc(children, func(c *Run) bool { return !slices.Contains(ids, c.id) })
	former = slices.DeleteFunc(former, func(s tool.TaskState) bool { return !slices.Contains(ids, s.ID) })
	return children, former, nil
}

// ended reports whether the run's end is durable.
func (r *resources) ended() bool { return closed(r.done) }

// end ends the children that still run, and waits for their end, which comes soon.
func (t *tasks) end(cause error) {
	children, _, _ := t.find(nil) // without ids there is no error
	for _, child := range children {
		child.cancel(cause)
	}
	for _, child := range children {
		<-child.done
	}
}

// left tells, for the run's result, of the children in the background whose end the run has not heard of: their state,
// what they changed, and what they said. It is empty where there are none.
func (t *tasks) left() string {
	var b strings.Builder
	children, _, _ := t.find(nil) // without ids there is no error
	for _, id := range t.inbox.unheard() {
		i := slices.IndexFunc(children, func(c *Run) bool { return c.id == id })
		if i < 0 {
			continue
		}
		result := children[i].Snapshot()
		fmt.Fprintf(&b, "\n- %s (%s, %s): %s", children[i].definition.Slug, children[i].request.Title, id,
			result.Status)
		if len(result.Files) > 0 {
			fmt.Fprintf(&b, "; changed %s", strings.Join(result.Files, ", "))
		}
		if said := clip.FirstLine(result.Output); said != "" {
			b.WriteString("; said: " + said)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nWhat it started in the background and had no turn left to read:" + b.String()
}

// mayEnd reports whether a run that has nothing more to do may end. It waits for children in the background. Where it
// reports false, there is something to read. The error is that of the run's context.
func (t *tasks) mayEnd() (bool, error) {
	closed, owed := t.inbox.close()
	if closed || owed == 0 {
		return closed, nil
	}
	resume := t.waitsInBackground(owed)
	defer resume()
	for {
		select {
		case <-t.inbox.news: // it may be about a message that was read since
			if closed, owed = t.inbox.close(); closed || owed == 0 {
				return closed, nil
			}
		case <-t.ctx.Done():
			return false, t.ctx.Err()
		}
	}
}

// await waits for the children in the background before the run's last turn, so that the last word can tell what came
// of them. It waits no longer than until the rest of the run's time is kept for the hand-over. What the children use is
// taken from the run's budget, and they end with it. The error is that of the run's context.
func (t *tasks) await() error {
	owed := t.inbox.coming()
	if owed == 0 {
		return nil
	}
	resume := t.waitsInBackground(owed)
	defer resume()
	for t.inbox.coming() > 0 {
		select {
		case <-t.inbox.news:
		case <-t.working.Done():
			return t.ctx.Err()
		}
	}
	return nil
}

// waitsInBackground is waits with a text about so many children.
func (t *tasks) waitsInBackground(owed int) (resume func()) {
	return t.waited.waits(fmt.Sprintf("waits for %s in the background", clip.Counted(owed, "child", "children")))
}

// awaits waits for the end of children, while other runs may have the run's place. The error is that of ctx. Where ctx
// is the run's own, the children have ended also then.
func (t *tasks) awaits(ctx context.Context, children ...*Run) error {
	resume := t.waited.waitsOn(childrenOf(children))
	for _, child := range children {
		select {
		case <-child.done:
		case <-ctx.Done():
			if t.ctx.Err() != nil {
				<-child.done // its context is below that of the run
			}
		}
	}
	resume()
	return ctx.Err()
}

// childrenOf describes waiting for these runs.
func childrenOf(children []*Run) *awaited {
	list := make([]awaitedChild, len(children))
	for i, child := range children {
		list[i] = awaitedChild{child.definition.Slug, child.done}
	}
	return &awaited{waitsFor(list), list}
}
