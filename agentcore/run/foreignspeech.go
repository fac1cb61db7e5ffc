package run

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/tool"
)

// speech is what a foreign agent says and does in one turn of its own. Its updates come in pieces: texts are gathered
// until a call begins or the turn ends, and are then a message of the conversation. Only the run's goroutine uses it.
type speech struct {
	run       *foreign
	text      strings.Builder
	reasoning strings.Builder
	// shown publishes the pieces, without secrets; said and thought keep what may be the beginning of one.
	shown         *gathered
	said, thought *secret.Stream
	calls         map[string]*foreignCall
	open          []*foreignCall // those that have not ended, in the order of their beginnings
	acted         bool           // whether a call has ended since the agent last spoke or began one
	spent, told   *float64       // the cost of the session in US dollars as last told, and what of it was counted
}

// foreignCall is a call that a foreign agent makes by a tool of its own.
type foreignCall struct {
	row  store.ToolCall
	last acp.ToolCall // as far as it was told
	done bool
}

// maxCalls bounds the calls of one prompt that are followed; what an agent does beyond is no longer listed.
const maxCalls = 5000

// begin starts a turn of the agent.
func (s *speech) begin(f *foreign) {
	s.run, s.calls, s.open, s.acted = f, map[string]*foreignCall{}, nil, false
	s.listen()
}

// listen begins a message.
func (s *speech) listen() {
	s.text.Reset()
	s.reasoning.Reset()
	s.said, s.thought = s.run.redactor.Stream(), s.run.redactor.Stream()
	s.shown = &gathered{publish: func(body event.Body) { s.run.tell(store.Batch{}, body) }}
}

// message makes what was said since the last message one of the conversation, in front of the calls.
func (s *speech) message(calls ...model.Call) {
	s.shown.add(s.thought.Flush(), true)
	s.shown.add(s.said.Flush(), false)
	s.shown.end(true)
	m := model.Message{Role: model.RoleAssistant}
	if text := s.reasoning.String(); strings.TrimSpace(text) != "" {
		m.Parts = append(m.Parts, model.Reasoning{Text: text})
	}
	if text := s.text.String(); strings.TrimSpace(text) != "" {
		m.Parts = append(m.Parts, model.Text{Text: text})
		s.run.lastText = s.run.redactor.Text(strings.TrimSpace(text))
	}
	for _, call := range calls {
		m.Parts = append(m.Parts, call)
	}
	if len(m.Parts) > 0 {
		s.run.memory.answered.model = s.run.model.Name()
		s.run.append(m)
	}
	s.listen()
}

// end ends the turn: what was said is a message, and calls whose end was not told have ended with it.
func (s *speech) end() {
	s.message()
	for _, c := range s.open {
		if !c.done {
			s.finish(c, event.CallCancelled, "its end was not told")
		}
	}
	s.open = nil
	s.shown.end(false)
}

// take takes an update.
func (f *foreign) take(u acp.Update) {
	s := &f.speech
	if s.run == nil {
		return // it came before the first prompt, and concerns none
	}
	switch u.Kind {
	case acp.MessageChunk:
		s.chunk(u.Content, false)
	case acp.ThoughtChunk:
		s.chunk(u.Content, true)
	case acp.CallBegun, acp.CallChanged:
		s.call(*u.Call)
	case acp.PlanChanged:
		f.planned(u.Plan)
	case acp.UsageChanged:
		if cost := u.Window.Cost; cost != nil && cost.Currency == "USD" {
			s.spent = &cost.Amount
		}
	case acp.NoticeGiven:
		level := event.NoticeInfo
		if u.Notice.Severity == "warning" || u.Notice.Severity == "error" {
			level = event.NoticeWarning
		}
		f.notice(level, f.definition.Slug+": "+permission.LegibleLine(
			strings.TrimSpace(u.Notice.Title+" "+u.Notice.Description)), "")
	}
}

// chunk takes a piece of what the agent says or thinks.
func (s *speech) chunk(c *acp.Content, thought bool) {
	text := c.Text
	if c.Kind != acp.TextContent {
		text = cmp.Or(c.URI, "["+string(c.Kind)+"]")
	}
	s.turns()
	if thought {
		s.reasoning.WriteString(text)
		s.shown.add(s.thought.Write(text), true)
		return
	}
	s.text.WriteString(text)
	s.shown.add(s.said.Write(text), false)
}

// turns counts a turn of the run where the agent goes on after calls: it has asked its model again.
func (s *speech) turns() {
	if !s.acted {
		return
	}
	s.acted = false
	f := s.run
	f.turn++
	f.tell(store.Batch{}, event.TurnStarted{Turn: f.turn}, waitingFor(f.Run, "", 0))
	if f.limits.MaxTurns > 0 && f.turn > f.limits.MaxTurns {
		f.stopWorking(errTurns)
	}
}

// call takes what is told of a call. An agent may begin one by a change of it.
func (s *speech) call(told acp.ToolCall) {
	c := s.calls[told.ID]
	switch {
	case c == nil && len(s.calls) >= maxCalls:
		return
	case c == nil:
		c = s.start(told)
	case c.done:
		return
	}
	before := c.last.Title
	c.learn(told)
	if c.last.Title != before && told.Status == "" {
		s.run.tell(store.Batch{}, event.ToolCallProgress{Call: c.row.ID, Message: clip.FirstLine(c.last.Title)})
	}
	for _, place := range told.Locations {
		if path, err := s.run.session.View.Resolve(place.Path); err == nil {
			s.run.mu.Lock()
			s.run.onFile = path
			s.run.mu.Unlock()
			break
		}
	}
	switch c.last.Status {
	case "completed":
		s.finish(c, event.CallOK, "")
	case "failed":
		s.finish(c, event.CallError, "")
	}
}

// learn adds what is told of a call to what is known.
func (c *foreignCall) learn(told acp.ToolCall) {
	c.last.Title = cmp.Or(told.Title, c.last.Title)
	c.last.Name = cmp.Or(told.Name, c.last.Name)
	c.last.Kind = cmp.Or(told.Kind, c.last.Kind)
	c.last.Status = cmp.Or(told.Status, c.last.Status)
	if told.Content != nil {
		c.last.Content = told.Content
	}
	if told.Input != nil {
		c.last.Input = told.Input
	}
	if told.Output != nil {
		c.last.Output = told.Output
	}
}

// effects are those of the protocol's kinds of calls, as the store knows them. Others execute, as far as anybody knows.
var effects = map[string]tool.Effect{
	"read": tool.Reads, "search": tool.Reads, "think": tool.Notes, "fetch": tool.Fetches, "edit": tool.Proposes,
	"delete": tool.Proposes, "move": tool.Proposes, "switch_mode": tool.Notes,
}

// start makes a call known: it is the end of what was said before it.
func (s *speech) start(told acp.ToolCall) *foreignCall {
	s.turns()
	f := s.run
	name := cmp.Or(told.Kind, "other")
	effect, known := effects[name]
	if !known {
		effect = tool.Executes
	}
	input := told.Input
	if !json.Valid(input) {
		input = json.RawMessage("{}")
	}
	now := time.Now().UTC()
	title := permission.LegibleLine(clip.FirstLine(cmp.Or(told.Title, told.Name, name)))
	c := &foreignCall{row: store.ToolCall{
		ID: event.NewCallID(), Run: f.id, ModelCall: told.ID, Tool: name, Arguments: input, Title: title,
		Effect: effect.String(), Intent: now, Started: now,
	}}
	s.message(model.Call{ID: told.ID, Name: name, Arguments: input})
	c.row.Message = f.memory.last
	s.calls[told.ID], s.open = c, append(s.open, c)
	f.tell(store.Batch{ToolCalls: []store.ToolCall{c.row}},
		event.ToolCallStarted{Call: c.row.ID, Tool: name, Title: title}, doing(f.Run, title, 0))
	return c
}

// finish stores the end of a call, and takes what the agent has written by then.
func (s *speech) finish(c *foreignCall, status event.CallStatus, text string) {
	f := s.run
	c.done, s.acted = true, true
	text = cmp.Or(text, c.output())
	left := f.visits.visit(f.ctx, f)
	text = f.commands.Bound(string(c.row.ID), f.redactor.Text(text), 0, false)
	c.row.Status, c.row.Output, c.row.Summary = status, text, clip.FirstLine(text)
	c.row.Finished = time.Now().UTC()
	took := c.row.Finished.Sub(c.row.Started).Milliseconds()
	f.mu.Lock()
	f.result.ToolCalls = append(f.result.ToolCalls,
		event.CallSummary{Name: c.row.Tool, Status: status, DurationMs: took})
	f.mu.Unlock()
	f.stored.With(store.Batch{ToolCalls: []store.ToolCall{c.row}}, func(batch store.Batch) {
		f.tell(batch, event.ToolCallFinished{
			Call: c.row.ID, Tool: c.row.Tool, Status: status, LeftOut: left, Summary: c.row.Summary, DurationMs: took,
		})
	})
	f.append(model.Message{Role: model.RoleTool, Parts: []model.Part{model.Result{
		ID: c.row.ModelCall, Name: c.row.Tool, Text: text, Error: status != event.CallOK,
	}}})
}

// output is what a call has brought forth, as text.
func (c *foreignCall) output() string {
	var lines []string
	for _, one := range c.last.Content {
		switch {
		case one.Kind == acp.DiffContent:
			lines = append(lines, "changed "+one.Path)
		case one.Content != nil && one.Content.Kind == acp.TextContent:
			lines = append(lines, one.Content.Text)
		}
	}
	if len(lines) == 0 && len(c.last.Output) > 0 {
		var text string
		if json.Unmarshal(c.last.Output, &text) != nil {
			text = string(c.last.Output)
		}
		lines = append(lines, text)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// planned shows the agent's plan as the run's list of todos.
func (f *foreign) planned(entries []acp.PlanEntry) {
	items := make([]event.Todo, 0, len(entries))
	for _, entry := range entries {
		state := map[string]string{"completed": "done", "in_progress": "in_progress"}[entry.Status]
		items = append(items, event.Todo{
			Text:  f.redactor.Text(permission.LegibleLine(clip.FirstLine(entry.Content))),
			State: cmp.Or(state, "pending"),
		})
	}
	_ = hostRecords{f.Run}.SetTodos(f.ctx, items) // it has no error
}

// cost is what the agent's session has cost since it was asked last; nil where the agent does not tell it.
func (s *speech) cost() *float64 {
	if s.spent == nil {
		return nil
	}
	more := *s.spent
	if s.told != nil {
		more = max(0, more-*s.told)
	}
	s.told = s.spent
	return &more
}
