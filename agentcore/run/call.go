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
	refusal   string // why the call is not carried out; empty if it is
	started   time.Time
	hooked    hook.Outcome // what the hooks said before the call
	images    []model.Image
	version   string             // the version of the MCP server's tool that was decided on
	exit      *int               // the exit code of the call's command; nil unless the command ran to its end
	leftOut   string             // what the command changed without being allowed to, and why; empty for nothing
	made      *event.CallSummary // the call as the run's result lists it, once it has ended
	line      *line              // for a call that starts a child
	unasked   bool               // whether the user is not asked about it: it is denied then
}

// faultLine puts an error into one line. Where the error's first line only begins a list, the first item follows it.
func faultLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if item, ok := strings.CutPrefix(rest, "- "); ok && strings.HasSuffix(line, ":") {
		return clip.FirstLine(line + " " + item)
	}
	return clip.FirstLine(text)
}

// take fills in what the tool has made of the call's arguments.
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

// narrowed changes a decision on a call by what its hooks said: where a hook wants the user to be asked, a call that
// the rules allow is asked about, and the answer counts for this call alone.
func (c *call) narrowed(d permission.Decision) permission.Decision {
	if c.hooked.Ask && d.Action == permission.Allow {
		d.Action, d.Reason, d.Always = permission.Ask,
			"a hook wants you to be asked: "+permission.Visible(c.hooked.AskReason), nil
	}
	return d
}

// unrefused sets the outcome of a call that was refused, or that the run's end cut off. It reports true for a call that
// may go ahead.
func unrefused(refusal string, err error, status *event.CallStatus, text, summary *string) bool {
	switch {
	case err != nil:
		*status, *text, *summary = event.CallCancelled, "error: the call was cancelled", "cancelled"
	case strings.HasPrefix(refusal, "error: "): // the call would fail, so that nobody was asked about it
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

// detailOf is the whole of what the user is asked for, in a form that a person can check. changes are the changes to
// the files that the call edits.
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
