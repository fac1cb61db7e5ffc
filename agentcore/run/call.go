package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// call is one tool call on its way.
type call struct {
	id        event.CallID
	asked     model.Call
	tool      tool.Tool // nil where there is none of that name
	spec      tool.Spec
	title     string
	arguments json.RawMessage
	access    *tool.Access // what it reaches for; nil where its tool declares nothing
	do        func(context.Context, tool.Host) (tool.Result, error)
	refusal   string // why it is not carried out, empty if it is
	started   time.Time
	hooked    hook.Outcome // what the hooks before it said
	images    []model.Image
	version   string             // of the tool of an MCP server that was decided on
	exit      *int               // code of the command that it ran to its end; nil for none
	leftOut   string             // what its command changed and may not, and why; empty for nothing
	made      *event.CallSummary // of the result, once it has ended
	line      *line              // for a call that starts a child
	unasked   bool               // whether the user is not asked about it: it is denied then
}

// faultLine is an error in one line: where its first only begins a list, with the list's first item.
func faultLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if item, ok := strings.CutPrefix(rest, "- "); ok && strings.HasSuffix(line, ":") {
		return clip.FirstLine(line + " " + item)
	}
	return clip.FirstLine(text)
}

// take makes the call what its tool has made of its arguments.
func (c *call) take(parsed tool.Call) {
	c.title, c.arguments, c.access, c.do = parsed.Title, parsed.Arguments, parsed.Access, parsed.Run
}

// paths are the files and folders that the call names, as the model wrote them.
func (c *call) paths() []string {
	if c.access == nil {
		return nil
	}
	return c.access.Paths
}

// validArguments are the arguments as JSON, whatever the model sent.
func (c *call) validArguments() json.RawMessage {
	if json.Valid(c.arguments) {
		return c.arguments
	}
	text, _ := json.Marshal(string(c.arguments)) // a string always encodes
	return text
}

// narrowed is a decision on a call after its hooks: where one wants the user to be asked, what the rules allow is asked
// for, this once.
func (c *call) narrowed(d permission.Decision) permission.Decision {
	if c.hooked.Ask && d.Action == permission.Allow {
		d.Action, d.Reason, d.Always = permission.Ask,
			"a hook wants you to be asked: "+permission.Visible(c.hooked.AskReason), nil
	}
	return d
}

// unrefused sets the outcome of a call that is refused, or cut off by the run's end, and reports true where it is
// neither.
func unrefused(refusal string, err error, status *event.CallStatus, text, summary *string) bool {
	switch {
	case err != nil:
		*status, *text, *summary = event.CallCancelled, "error: the call was cancelled", "cancelled"
	case strings.HasPrefix(refusal, "error: "): // it would fail, so nobody was asked
		*text, *summary = refusal, faultLine(strings.TrimPrefix(refusal, "error: "))
		*status = event.CallError
	case refusal != "":
		*status, *text, *summary = event.CallDenied, refusal, clip.FirstLine(strings.TrimPrefix(refusal, "denied: "))
	}
	return err == nil && refusal == ""
}

// deniedError is the error of a call that turned out to be denied while it was made.
type deniedError struct{ why, advice string }

func (e *deniedError) Error() string { return denied(permission.Decision{Advice: e.advice}, e.why) }

// denied is what the model is told of a call that may not be made: why, and what to do instead.
func denied(decision permission.Decision, why string) string {
	text := "denied: " + strings.TrimSuffix(why, ".")
	if decision.Advice != "" {
		text += ". " + strings.ToUpper(decision.Advice[:1]) + decision.Advice[1:]
	}
	return text
}

// detailOf is the whole of what is asked for, as a person can check it. changes are those of the files that it edits.
func detailOf(request permission.Request, c *call, changes string) string {
	if request.Command != "" {
		return permission.Visible(request.Command)
	}
	var b strings.Builder
	for _, p := range request.Paths {
		fmt.Fprintln(&b, permission.Visible(p.Name))
	}
	for _, h := range request.Hosts {
		fmt.Fprintln(&b, permission.Visible(h))
	}
	if b.Len() == 0 {
		return permission.Visible(string(c.arguments))
	}
	b.WriteString(changes)
	return strings.TrimSpace(b.String())
}
