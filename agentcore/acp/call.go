package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// protocolVersion is the version of the protocol that is spoken.
const protocolVersion = 1

var (
	errStays  = errors.New("it closed its input or output and did not end")
	errClosed = errors.New("the connection was closed")
)

// send sends a request. The reading goroutine calls answered, which may be nil, with the answer before it works on any
// later message.
func (c *Client) send(method string, params any, answered func(*jsonrpc2.Response)) (
	id jsonrpc2.ID, waiter jsonrpc2.Waiter, err error,
) {
	id = jsonrpc2.ID{Num: c.ids.Add(1)}
	c.mu.Lock()
	c.answered[id] = answered
	c.mu.Unlock()
	waiter, err = c.conn.DispatchCall(c.ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		c.mu.Lock()
		delete(c.answered, id)
		c.mu.Unlock()
	}
	return id, waiter, err
}

// call sends a request and waits for its answer, at most so long. If nobody waits any more, the agent is told so.
func (c *Client) call(ctx context.Context, limit time.Duration, method string, params, result any,
	answered func(*jsonrpc2.Response),
) error {
	id, waiter, err := c.send(method, params, answered)
	if err != nil {
		return c.failed(ctx, method, err)
	}
	late, err := c.wait(ctx, limit, method, waiter, result)
	if late || err != nil && ctx.Err() != nil {
		c.notify("$/cancel_request", map[string]any{"requestId": id.Num})
	}
	return err
}

// wait waits for the answer to a request, at most so long.
func (c *Client) wait(ctx context.Context, limit time.Duration, method string, waiter jsonrpc2.Waiter, result any) (
	late bool, err error,
) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var raw json.RawMessage
	if err = waiter.Wait(waiting, &raw); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return true, &Error{
				Failure: Late, Method: method, Message: fmt.Sprintf("it did not answer within %s", limit),
			}
		}
		return false, c.failed(ctx, method, err)
	}
	return false, decode(method, raw, result)
}

// decode decodes an answer.
func decode(method string, raw json.RawMessage, result any) error {
	if err := json.Unmarshal(raw, result); err != nil {
		return unusable(method, "it answered with what cannot be used, since %s", wrong(err))
	}
	return nil
}

// wrong says what is wrong with a value of an agent.
func wrong(err error) string {
	if mistaken, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is a %s", cmp.Or(mistaken.Field, "the whole"), mistaken.Value)
	}
	return harmless(err.Error(), maxQuote)
}

// notify sends a notification. If that fails, the connection has ended.
func (c *Client) notify(method string, params any) { _ = c.conn.Notify(c.ctx, method, params) }

// capability is a member of an agent's capabilities. It is there where it is an object, and also where it is true.
type capability bool

// UnmarshalJSON implements json.Unmarshaler.
func (c *capability) UnmarshalJSON(data []byte) error {
	*c = data[0] == '{' || string(data) == "true"
	return nil
}

// yes is what is announced to an agent.
type yes struct{}

type (
	clientCapabilities struct {
		FS struct {
			Read  bool `json:"readTextFile"`
			Write bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal bool `json:"terminal"`
		Session  struct {
			Notices yes `json:"notices"`
			Options struct {
				Boolean yes `json:"boolean"`
			} `json:"configOptions"`
		} `json:"session"`
		Elicitation *elicitationCapability `json:"elicitation,omitempty"`
	}
	elicitationCapability struct {
		Form yes `json:"form"`
	}
	initializeParams struct {
		Version      int                `json:"protocolVersion"`
		Capabilities clientCapabilities `json:"clientCapabilities"`
		Client       Implementation     `json:"clientInfo"`
	}
	initializeResult struct {
		Version      json.RawMessage `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"agentCapabilities"`
		Logins       json.RawMessage `json:"authMethods"`
		Agent        json.RawMessage `json:"agentInfo"`
	}
	agentCapabilities struct {
		Load   capability `json:"loadSession"`
		Prompt struct {
			Image    capability `json:"image"`
			Audio    capability `json:"audio"`
			Embedded capability `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		Session struct {
			List   capability `json:"list"`
			Resume capability `json:"resume"`
			Close  capability `json:"close"`
			More   capability `json:"additionalDirectories"`
		} `json:"sessionCapabilities"`
	}

	sessionParams struct {
		Session string     `json:"sessionId,omitempty"`
		Folder  string     `json:"cwd"`
		More    []string   `json:"additionalDirectories,omitempty"`
		Servers []struct{} `json:"mcpServers"`
	}
	sessionResult struct {
		Session string          `json:"sessionId"`
		Modes   json.RawMessage `json:"modes"`
		Options json.RawMessage `json:"configOptions"`
	}
	// onSession are the params of what is about one session.
	onSession struct {
		Session string `json:"sessionId"`
	}
	// settingParams set a mode, or an option.
	settingParams struct {
		onSession
		Mode   string `json:"modeId,omitempty"`
		Option string `json:"configId,omitempty"`
		Type   string `json:"type,omitempty"`
		Value  any    `json:"value,omitempty"`
	}
)

// part decodes a part of an answer that the client can do without. What cannot be used is left out.
func part[T any](raw json.RawMessage) T {
	var value, none T
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return none
	}
	return value
}

// Initialize tells the agent who it works for, and returns what the agent is. It comes before all other requests.
func (c *Client) Initialize(ctx context.Context, client Implementation) (Agent, error) {
	const method = "initialize"
	params := initializeParams{Version: protocolVersion, Client: client}
	if c.options.Elicit != nil {
		params.Capabilities.Elicitation = &elicitationCapability{}
	}
	var result initializeResult
	if err := c.call(ctx, c.options.StartTime, method, params, &result, nil); err != nil {
		return Agent{}, err
	}
	if string(result.Version) != "1" {
		version := "no version"
		if len(result.Version) > 0 {
			version = "version " + string(result.Version)
		}
		return Agent{}, unusable(method, "it speaks %s of the protocol; version %d is needed", version, protocolVersion)
	}
	can := part[agentCapabilities](result.Capabilities)
	agent := Agent{
		Implementation: part[Implementation](result.Agent),
		Load:           bool(can.Load), Resume: bool(can.Session.Resume), List: bool(can.Session.List),
		Close: bool(can.Session.Close), More: bool(can.Session.More),
		Image: bool(can.Prompt.Image), Audio: bool(can.Prompt.Audio), Embedded: bool(can.Prompt.Embedded),
		Logins: part[[]LoginMethod](result.Logins),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agent = agent
	c.agent.Logins = slices.Clone(agent.Logins)
	return agent, nil
}

// paramsOf are the params of a request that opens a session.
func (c *Client) paramsOf(session string, place Place) sessionParams {
	params := sessionParams{Session: session, Folder: place.Folder, Servers: []struct{}{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agent.More {
		params.More = place.More
	}
	return params
}

// session is a session as its answer tells it.
func (r sessionResult) session(id string) Session {
	modes := part[Modes](r.Modes)
	return Session{ID: id, Mode: modes.Current, Modes: modes.Available, Options: part[[]ConfigOption](r.Options)}
}

// NewSession begins a session. What the agent tells of it before its answer is handed to Update behind the answer.
func (c *Client) NewSession(ctx context.Context, place Place) (Session, error) {
	const method = "session/new"
	c.mu.Lock()
	c.opening++
	c.mu.Unlock()
	var result sessionResult
	opened := func(answer *jsonrpc2.Response) {
		var id string
		if answer.Result != nil && answer.Error == nil {
			id = part[sessionResult](*answer.Result).Session
		}
		c.opened(id)
	}
	if err := c.call(ctx, c.options.CallTime, method, c.paramsOf("", place), &result, opened); err != nil {
		return Session{}, err
	}
	if result.Session == "" {
		return Session{}, unusable(method, "it answered with no id of a session")
	}
	return result.session(result.Session), nil
}

// LoadSession goes on with a session of the agent. The agent tells its history by updates before this returns.
func (c *Client) LoadSession(ctx context.Context, session string, place Place) (Session, error) {
	return c.open(ctx, "session/load", session, place, func(a Agent) bool { return a.Load })
}

// ResumeSession goes on with a session of the agent, which does not tell its history.
func (c *Client) ResumeSession(ctx context.Context, session string, place Place) (Session, error) {
	return c.open(ctx, "session/resume", session, place, func(a Agent) bool { return a.Resume })
}

// open opens a session that there is.
func (c *Client) open(ctx context.Context, method, id string, place Place, can func(Agent) bool) (Session, error) {
	c.mu.Lock()
	able, before := can(c.agent), c.sessions[id]
	if able && before == nil {
		c.sessions[id] = &session{} // which may be told of before the answer
	}
	c.mu.Unlock()
	switch {
	case !able:
		return Session{}, unusable(method, "it cannot do this; begin a new session")
	case before != nil:
		return Session{}, unusable(method, "the session is open")
	}
	var result sessionResult
	if err := c.call(ctx, c.options.CallTime, method, c.paramsOf(id, place), &result, nil); err != nil {
		c.forget(id)
		return Session{}, err
	}
	return result.session(id), nil
}

// forget takes no updates of a session any more.
func (c *Client) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, session)
}

// SetMode has a session work in another mode.
func (c *Client) SetMode(ctx context.Context, session, mode string) error {
	params := settingParams{onSession: onSession{session}, Mode: mode}
	return c.call(ctx, c.options.CallTime, "session/set_mode", params, new(any), nil)
}

// SetConfigOption sets an option of the type "select", and returns all options as they are then.
func (c *Client) SetConfigOption(ctx context.Context, session, option, value string) ([]ConfigOption, error) {
	return c.configure(ctx, settingParams{onSession: onSession{session}, Option: option, Value: value})
}

// SetConfigSwitch sets an option of the type "boolean", and returns all options as they are then.
func (c *Client) SetConfigSwitch(ctx context.Context, session, option string, on bool) ([]ConfigOption, error) {
	return c.configure(ctx, settingParams{
		onSession: onSession{session}, Option: option, Type: "boolean", Value: on,
	})
}

func (c *Client) configure(ctx context.Context, params settingParams) ([]ConfigOption, error) {
	var result struct {
		Options []ConfigOption `json:"configOptions"`
	}
	err := c.call(ctx, c.options.CallTime, "session/set_config_option", params, &result, nil)
	return result.Options, err
}

// CloseSession ends a session. The agent is told where it can free what the session holds.
func (c *Client) CloseSession(ctx context.Context, session string) error {
	defer c.forget(session)
	c.mu.Lock()
	can := c.agent.Close
	c.mu.Unlock()
	if !can {
		return nil
	}
	return c.call(ctx, c.options.CallTime, "session/close", onSession{session}, new(any), nil)
}
