package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Implementation names a program that speaks the protocol.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Agent is what an agent says of itself when it is initialized.
type Agent struct {
	Implementation
	// Load, Resume and List say that the agent can load a session with its history, go on with one without it, and list
	// them; Close that it can free what a session holds; More that a session may have several folders.
	Load, Resume, List, Close, More bool
	// Image, Audio and Embedded say which content prompts may have besides texts and links.
	Image, Audio, Embedded bool
	// Logins are the ways to log in that the agent offers.
	Logins []LoginMethod
}

// LoginMethod is a way to log in to an agent.
type LoginMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Type is "terminal" where the user logs in by running the agent's program on a terminal.
	Type string `json:"type"`
}

// Place is where a session works.
type Place struct {
	// Folder is where the agent starts, absolute.
	Folder string
	// More are further folders. They are sent only to an agent that takes them ([Agent].More).
	More []string
}

// Session is a session of an agent when it begins.
type Session struct {
	ID string
	// Mode is the id of the mode that it is in, "" where the agent has no modes.
	Mode    string
	Modes   []Mode
	Options []ConfigOption
}

// Mode is a way in which an agent works, such as one that only plans.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Modes are the modes of a session, and the id of the one that it is in.
type Modes struct {
	Current   string `json:"currentModeId"`
	Available []Mode `json:"availableModes"`
}

// ConfigOption is a setting of a session, such as the model.
type ConfigOption struct {
	ID, Name, Description, Category string
	// Type is "select" where the option has one of Values, and "boolean" where it is on or off.
	Type string
	// Current is the value of a select, On that of a boolean.
	Current string
	On      bool
	Values  []ConfigValue
}

// ConfigValue is a value that a [ConfigOption] can have. Values of a group stay in the order of the groups.
type ConfigValue struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ConfigOption) UnmarshalJSON(data []byte) error {
	var wire struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Category    string          `json:"category"`
		Type        string          `json:"type"`
		Current     json.RawMessage `json:"currentValue"`
		Options     []struct {
			ConfigValue
			Group []ConfigValue `json:"options"`
		} `json:"options"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*o = ConfigOption{
		ID: wire.ID, Name: wire.Name, Description: wire.Description, Category: wire.Category, Type: wire.Type,
	}
	if o.ID == "" {
		return errors.New("a config option has no id")
	}
	for _, value := range wire.Options {
		if value.Group != nil {
			o.Values = append(o.Values, value.Group...)
		} else {
			o.Values = append(o.Values, value.ConfigValue)
		}
	}
	switch o.Type {
	case "select":
		return json.Unmarshal(wire.Current, &o.Current)
	case "boolean":
		return json.Unmarshal(wire.Current, &o.On)
	}
	return nil
}

// StopReason says why a turn has ended. An agent may have reasons that are not listed here.
type StopReason string

// The stop reasons of the protocol.
const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)

// Usage is what a turn has used. A number that the agent does not tell is nil, which is not 0.
type Usage struct {
	Input      *int64 `json:"inputTokens"`
	Output     *int64 `json:"outputTokens"`
	Thought    *int64 `json:"thoughtTokens"`
	CacheRead  *int64 `json:"cachedReadTokens"`
	CacheWrite *int64 `json:"cachedWriteTokens"`
	Total      *int64 `json:"totalTokens"`
}

// check refuses numbers that no usage can have.
func (u Usage) check() error {
	for _, n := range []*int64{u.Input, u.Output, u.Thought, u.CacheRead, u.CacheWrite, u.Total} {
		if n != nil && *n < 0 {
			return fmt.Errorf("a number of tokens is %d", *n)
		}
	}
	return nil
}

// ContentKind is the kind of a [Content].
type ContentKind string

// The kinds of content of the protocol.
const (
	TextContent     ContentKind = "text"
	ImageContent    ContentKind = "image"
	AudioContent    ContentKind = "audio"
	LinkContent     ContentKind = "resource_link"
	ResourceContent ContentKind = "resource"
)

// Content is a part of a prompt or of what an agent says. Its kind decides which members it has.
type Content struct {
	Kind ContentKind
	// Text is that of a text.
	Text string
	// Data is an image or a sound in base64, and MIME its type.
	Data, MIME string
	// URI and Name are those of a link; an image may have a URI, too.
	URI, Name string
	// Resource is that of a resource.
	Resource *Resource
	// Raw is the whole of a content of an unknown kind.
	Raw json.RawMessage
}

// Resource is a text or a file that is a part of a message.
type Resource struct {
	URI  string `json:"uri"`
	MIME string `json:"mimeType,omitempty"`
	// Text is nil where the resource is no text; then Blob has its bytes in base64.
	Text *string `json:"text,omitempty"`
	Blob string  `json:"blob,omitempty"`
}

// Text is a text as content.
func Text(text string) Content { return Content{Kind: TextContent, Text: text} }

// contentMembers are the members of the known kinds of content.
type contentMembers struct {
	Kind     ContentKind `json:"type"`
	Text     *string     `json:"text,omitempty"`
	Data     string      `json:"data,omitempty"`
	MIME     string      `json:"mimeType,omitempty"`
	URI      string      `json:"uri,omitempty"`
	Name     string      `json:"name,omitempty"`
	Resource *Resource   `json:"resource,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (c Content) MarshalJSON() ([]byte, error) {
	members := contentMembers{
		Kind: c.Kind, Data: c.Data, MIME: c.MIME, URI: c.URI, Name: c.Name, Resource: c.Resource,
	}
	switch c.Kind {
	case TextContent:
		members.Text = &c.Text
	case ImageContent, AudioContent, LinkContent, ResourceContent:
	default:
		return c.Raw, nil
	}
	return json.Marshal(members)
}

// UnmarshalJSON implements json.Unmarshaler. Only a content of a known kind can be wrong.
func (c *Content) UnmarshalJSON(data []byte) error {
	kind, err := kindOf(data, "type")
	if err != nil {
		return err
	}
	*c = Content{Kind: ContentKind(kind)}
	switch c.Kind {
	case TextContent, ImageContent, AudioContent, LinkContent, ResourceContent:
	default:
		c.Raw = bytes.Clone(data)
		return nil
	}
	var members contentMembers
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	c.Data, c.MIME, c.URI, c.Name, c.Resource = members.Data, members.MIME, members.URI, members.Name, members.Resource
	switch {
	case members.Text != nil:
		c.Text = *members.Text
	case c.Kind == TextContent:
		return errors.New("a text has no text")
	}
	if c.Kind == ResourceContent && c.Resource == nil {
		return errors.New("a resource has no resource")
	}
	return nil
}

// kindOf is the member that says which kind an object is.
func kindOf(data []byte, member string) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return "", err
	}
	var kind string
	if err := json.Unmarshal(members[member], &kind); err != nil || kind == "" {
		return "", fmt.Errorf("%s is missing, or no text", member)
	}
	return kind, nil
}
