package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// maxAsked bounds the questions of an agent that are open at the same time.
const maxAsked = 64

// PermissionRequest asks for leave to make a call.
type PermissionRequest struct {
	Session string
	// Call is what is known of the call. There may be no update of it besides.
	Call ToolCall
	// Options are what can be chosen, by their ids. Their order means nothing, and there may be none.
	Options []PermissionOption
}

// PermissionOption is what can be chosen.
type PermissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// The kinds of options of the protocol. An agent may have others.
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
)

// Form is what an agent wants to know from the user.
type Form struct {
	Session string
	// Call is the id of the call that needs it, "" for none.
	Call    string
	Message string
	// Schema says which members the answer has.
	Schema json.RawMessage
}

// Filled is the answer to a [Form].
type Filled struct {
	// Action is "accept", "decline" or "cancel"; "" is "cancel".
	Action string `json:"action"`
	// Content is what the user has filled in, for "accept".
	Content map[string]any `json:"content,omitempty"`
}

type (
	permissionParams struct {
		onSession
		Call    ToolCall           `json:"toolCall"`
		Options []PermissionOption `json:"options"`
	}
	permissionResult struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId,omitempty"`
		} `json:"outcome"`
	}
	elicitationParams struct {
		onSession
		Mode    string          `json:"mode"`
		Call    string          `json:"toolCallId"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}
)

// permission takes a question for leave.
func (c *Client) permission(r *jsonrpc2.Request) {
	var params permissionParams
	if !c.params(r, &params) {
		return
	}
	request := PermissionRequest{Session: params.Session, Call: params.Call}
	var distinct bool
	if request.Options, distinct = choosable(params.Options); !distinct {
		c.strange("it asked with options that have no id or the same id, which are left out")
	}
	var cancelled permissionResult
	cancelled.Outcome.Outcome = "cancelled"
	c.ask(r.ID, params.Session, cancelled, func(ctx context.Context) (any, error) {
		if c.options.Permission == nil {
			return cancelled, nil
		}
		option, err := c.options.Permission(ctx, request)
		if err != nil || option == "" {
			return cancelled, err
		}
		for _, o := range request.Options {
			if o.ID == option {
				var chosen permissionResult
				chosen.Outcome.Outcome, chosen.Outcome.Option = "selected", option
				return chosen, nil
			}
		}
		return nil, fmt.Errorf("there is no option %q", option)
	})
}

// choosable are the options that an answer can name without a doubt: of several with one id, nobody knows which the
// agent takes.
func choosable(options []PermissionOption) (list []PermissionOption, all bool) {
	count := map[string]int{"": 2}
	for _, o := range options {
		count[o.ID]++
	}
	for _, o := range options {
		if count[o.ID] == 1 {
			list = append(list, o)
		}
	}
	return list, len(list) == len(options)
}

// elicit takes a form.
func (c *Client) elicit(r *jsonrpc2.Request) {
	var params elicitationParams
	if !c.params(r, &params) {
		return
	}
	if params.Mode != "form" {
		c.refuse(r, "only forms were announced")
		return
	}
	cancelled := Filled{Action: "cancel"}
	c.ask(r.ID, params.Session, cancelled, func(ctx context.Context) (any, error) {
		filled, err := c.options.Elicit(ctx, Form{params.Session, params.Call, params.Message, params.Schema})
		if filled.Action == "" {
			filled = cancelled
		}
		return filled, err
	})
}

// params decodes the params of a request of the agent. Where they cannot be used, it answers so.
func (c *Client) params(r *jsonrpc2.Request, into any) bool {
	err := errors.New("there are none")
	if r.Params != nil {
		err = json.Unmarshal(*r.Params, into)
	}
	if err == nil {
		return true
	}
	c.refuse(r, "they cannot be used, since "+wrong(err))
	return false
}

// refuse refuses params of the agent.
func (c *Client) refuse(r *jsonrpc2.Request, why string) {
	c.strange("it sent wrong params of " + harmless(r.Method, maxQuote) + ": " + why)
	c.reply(r.ID, nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "params: " + why})
}

// ask has a question answered on a goroutine of its own. Where nobody waits for the answer any more, the question is
// answered as cancelled at once, even if whoever was asked goes on.
func (c *Client) ask(id jsonrpc2.ID, session string, cancelled any, answer func(context.Context) (any, error)) {
	t := c.turn(session)
	if t == nil {
		c.strange("it asked something outside of a turn, which is answered as cancelled")
		c.reply(id, cancelled, nil)
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	c.mu.Lock()
	same, many := c.asked[id] != nil, len(c.asked) >= maxAsked
	if !same && !many {
		c.asked[id] = cancel
	}
	c.mu.Unlock()
	switch {
	case same: // an answer would be taken for that of the other
		cancel()
		c.strange("it asked twice with the same id of a request; the second question gets no answer")
		return
	case many:
		cancel()
		c.strange("it asked too many questions at once")
		c.reply(id, nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "too many questions are open"})
		return
	}
	var once sync.Once
	reply := func(result any, err error) {
		once.Do(func() {
			c.mu.Lock()
			delete(c.asked, id)
			c.mu.Unlock()
			var failure *jsonrpc2.Error
			if err != nil {
				failure = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
			}
			c.reply(id, result, failure)
		})
	}
	c.asking.Add(2)
	context.AfterFunc(ctx, func() {
		defer c.asking.Done()
		reply(cancelled, nil)
	})
	go func() {
		defer c.asking.Done()
		defer cancel() // behind the answer
		result, err := answer(ctx)
		if ctx.Err() != nil {
			result, err = cancelled, nil
		}
		reply(result, err)
	}()
}

// takenBack ends a question that the agent takes back.
func (c *Client) takenBack(raw *json.RawMessage) {
	var params struct {
		Request jsonrpc2.ID `json:"requestId"`
	}
	if raw == nil || json.Unmarshal(*raw, &params) != nil {
		c.strange("it took back a request that has no id")
		return
	}
	c.mu.Lock()
	cancel := c.asked[params.Request]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
