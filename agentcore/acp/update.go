package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// UpdateKind is the kind of an [Update].
type UpdateKind string

// The kinds of updates of the protocol that are taken apart here.
const (
	UserChunk      UpdateKind = "user_message_chunk"
	MessageChunk   UpdateKind = "agent_message_chunk"
	ThoughtChunk   UpdateKind = "agent_thought_chunk"
	CallBegun      UpdateKind = "tool_call"
	CallChanged    UpdateKind = "tool_call_update"
	PlanChanged    UpdateKind = "plan"
	CommandsListed UpdateKind = "available_commands_update"
	ModeChanged    UpdateKind = "current_mode_update"
	OptionsChanged UpdateKind = "config_option_update"
	InfoChanged    UpdateKind = "session_info_update"
	UsageChanged   UpdateKind = "usage_update"
	NoticeGiven    UpdateKind = "notice"
)

// Update tells what has happened in a session. Its kind decides which members it has.
type Update struct {
	Kind UpdateKind
	// Content is that of a chunk, and Message the id of the message that the chunk belongs to, which may be "".
	Content *Content
	Message string
	// Call is that of CallBegun and CallChanged.
	Call *ToolCall
	// Plan is the whole plan.
	Plan []PlanEntry
	// Commands are all that the session has.
	Commands []Command
	// Mode is the id of the mode that the session is in.
	Mode string
	// Options are all that the session has.
	Options []ConfigOption
	// Title is that of the session; nil where InfoChanged does not tell it.
	Title *string
	// Window is how full the session's context is.
	Window *Window
	// Notice is that of NoticeGiven.
	Notice *Notice
	// Raw is the whole of an update of an unknown kind.
	Raw json.RawMessage
}

// ToolCall is a call of a tool, or what has changed of one. In a CallChanged, and in a permission request, an empty
// text and a nil list say that nothing has changed; a list that is there replaces the former one.
type ToolCall struct {
	ID    string `json:"toolCallId"`
	Title string `json:"title"`
	// Name is that of the tool, where the agent tells it.
	Name string `json:"name"`
	// Kind is what the call does, such as "edit" or "execute".
	Kind string `json:"kind"`
	// Status is "pending", "in_progress", "completed" or "failed".
	Status    string          `json:"status"`
	Content   []ToolContent   `json:"content"`
	Locations []Location      `json:"locations"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
}

// ToolContentKind is the kind of a [ToolContent].
type ToolContentKind string

// The kinds of what a call brings forth.
const (
	SaidContent     ToolContentKind = "content"
	DiffContent     ToolContentKind = "diff"
	TerminalContent ToolContentKind = "terminal"
)

// ToolContent is a part of what a call brings forth. Its kind decides which members it has.
type ToolContent struct {
	Kind ToolContentKind
	// Content is that of SaidContent.
	Content *Content
	// Path is the file of a diff, Old its former text, nil for a new file, and New its new text.
	Path string
	Old  *string
	New  string
	// Terminal is the id of a terminal.
	Terminal string
	// Raw is the whole of a content of an unknown kind.
	Raw json.RawMessage
}

// Location is a place in a file that a call works on. Line counts from 1, and is nil where the whole file is meant.
type Location struct {
	Path string `json:"path"`
	Line *int   `json:"line"`
}

// PlanEntry is a step of a plan.
type PlanEntry struct {
	Content string `json:"content"`
	// Priority is "high", "medium" or "low".
	Priority string `json:"priority"`
	// Status is "pending", "in_progress" or "completed".
	Status string `json:"status"`
}

// Command is a command that a prompt can begin with, behind a slash.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Input is nil for a command that nothing follows.
	Input *CommandInput `json:"input,omitempty"`
}

// CommandInput is what follows a command.
type CommandInput struct {
	Hint string `json:"hint"`
}

// Window is how full the context of a session is, in tokens.
type Window struct {
	Used, Size int64
	// Cost is that of the whole session so far; nil where the agent does not tell it.
	Cost *Cost
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// Notice is something that the user should see.
type Notice struct {
	// Severity is "info", "warning" or "error".
	Severity    string `json:"severity"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// UnmarshalJSON implements json.Unmarshaler. Only an update of a known kind can be wrong.
func (u *Update) UnmarshalJSON(data []byte) error {
	kind, err := kindOf(data, "sessionUpdate")
	if err != nil {
		return err
	}
	*u = Update{Kind: UpdateKind(kind)}
	switch u.Kind {
	case UserChunk, MessageChunk, ThoughtChunk:
		return u.chunk(data)
	case CallBegun, CallChanged:
		u.Call = new(ToolCall)
		return json.Unmarshal(data, u.Call)
	case UsageChanged:
		return u.usage(data)
	case NoticeGiven:
		u.Notice = new(Notice)
		return json.Unmarshal(data, u.Notice)
	case PlanChanged, CommandsListed, ModeChanged, OptionsChanged, InfoChanged:
		return u.state(data)
	}
	u.Raw = bytes.Clone(data)
	return nil
}

func (u *Update) chunk(data []byte) error {
	var members struct {
		Content *Content `json:"content"`
		Message string   `json:"messageId"`
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	u.Content, u.Message = members.Content, members.Message
	if u.Content == nil {
		return errors.New("content is missing")
	}
	return nil
}

func (u *Update) usage(data []byte) error {
	var members struct {
		Used *int64 `json:"used"`
		Size *int64 `json:"size"`
		Cost *Cost  `json:"cost"`
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	if members.Used == nil || members.Size == nil || *members.Used < 0 || *members.Size < 0 {
		return errors.New("used or size is no number of tokens")
	}
	u.Window = &Window{*members.Used, *members.Size, members.Cost}
	return nil
}

// state takes an update that tells the whole of something.
func (u *Update) state(data []byte) error {
	var members struct {
		Plan     []PlanEntry    `json:"entries"`
		Commands []Command      `json:"availableCommands"`
		Mode     string         `json:"currentModeId"`
		Options  []ConfigOption `json:"configOptions"`
		Title    *string        `json:"title"`
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	missing := ""
	switch u.Kind {
	case PlanChanged:
		if u.Plan = members.Plan; u.Plan == nil {
			missing = "entries"
		}
	case CommandsListed:
		if u.Commands = members.Commands; u.Commands == nil {
			missing = "availableCommands"
		}
	case ModeChanged:
		if u.Mode = members.Mode; u.Mode == "" {
			missing = "currentModeId"
		}
	case OptionsChanged:
		if u.Options = members.Options; u.Options == nil {
			missing = "configOptions"
		}
	default:
		u.Title = members.Title
	}
	if missing != "" {
		return fmt.Errorf("%s is missing", missing)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	type members ToolCall
	if err := json.Unmarshal(data, (*members)(c)); err != nil {
		return err
	}
	if c.ID == "" {
		return errors.New("toolCallId is missing")
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler. Only a content of a known kind can be wrong.
func (c *ToolContent) UnmarshalJSON(data []byte) error {
	kind, err := kindOf(data, "type")
	if err != nil {
		return err
	}
	*c = ToolContent{Kind: ToolContentKind(kind)}
	switch c.Kind {
	case SaidContent, DiffContent, TerminalContent:
	default:
		c.Raw = bytes.Clone(data)
		return nil
	}
	var members struct {
		Content  *Content `json:"content"`
		Path     string   `json:"path"`
		Old      *string  `json:"oldText"`
		New      *string  `json:"newText"`
		Terminal string   `json:"terminalId"`
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	c.Content, c.Path, c.Old, c.Terminal = members.Content, members.Path, members.Old, members.Terminal
	if members.New != nil {
		c.New = *members.New
	}
	switch {
	case c.Kind == SaidContent && c.Content == nil:
		return errors.New("content has no content")
	case c.Kind == DiffContent && (c.Path == "" || members.New == nil):
		return errors.New("a diff has no path or no newText")
	}
	return nil
}
