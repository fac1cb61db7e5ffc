package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
)

// The limits of what a server may offer. What exceeds them is left out and reported.
const (
	maxTools       = 128
	maxPrompts     = 128
	maxPages       = 64
	maxDescription = 4 << 10   // bytes, of a tool
	maxSchema      = 32 << 10  // bytes, of a tool
	maxDefinitions = 256 << 10 // bytes, of all tools together
	maxShown       = 200       // bytes, of a title or a name in a message
)

// Tool is a tool of a server, as it was offered.
type Tool struct {
	// Name is what agents call it ([mcpname.Tool]).
	Name string
	// Original is what the server calls it.
	Original string
	// Title is for people, in one line; empty for none.
	Title string
	// Description is for models, without invisible characters.
	Description string
	// Schema is the JSON Schema of the tool's arguments. It describes an object.
	Schema json.RawMessage
	// Version is a hash of everything that the server says about the tool. A permission for the tool holds for this
	// version.
	Version string
}

// Prompt is a prompt of a server.
type Prompt struct {
	// Name is what users call it: mcp__server__prompt.
	Name string
	// Original is what the server calls it.
	Original    string
	Description string
	Arguments   []Argument
}

// Argument is an argument of a prompt.
type Argument struct {
	Name, Description string
	Required          bool
}

// Catalog is what a server offers. It is immutable.
type Catalog struct {
	// Server is the name and version that the server gives itself, for people.
	Server    string
	Tools     []Tool
	Prompts   []Prompt
	Resources bool // the server has resources to list and read
	// Problems say which offers of the server are left out, and why, for people.
	Problems []string
}

// Tool finds a tool by the name that agents call it.
func (c *Catalog) Tool(name string) (Tool, bool) {
	i := slices.IndexFunc(c.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return c.Tools[i], true
}

// Prompt finds a prompt by the name that users call it.
func (c *Catalog) Prompt(name string) (Prompt, bool) {
	i := slices.IndexFunc(c.Prompts, func(p Prompt) bool { return p.Name == name })
	if i < 0 {
		return Prompt{}, false
	}
	return c.Prompts[i], true
}

// lister makes a catalog from a session's lists.
type lister struct {
	server  string
	session *sdk.ClientSession
	catalog *Catalog
	size    int // the size of the definitions so far
}

// list asks the server for everything that it offers.
func list(ctx context.Context, server string, session *sdk.ClientSession) (*Catalog, error) {
	l := &lister{server: server, session: session, catalog: &Catalog{}}
	answer := session.InitializeResult()
	if info := answer.ServerInfo; info != nil {
		l.catalog.Server = line(info.Name + " " + info.Version)
	}
	has := answer.Capabilities
	if has == nil {
		return l.catalog, nil
	}
	if has.Tools != nil {
		if err := l.tools(ctx); err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
	}
	if has.Prompts != nil {
		if err := l.prompts(ctx); err != nil {
			return nil, fmt.Errorf("list its prompts: %w", err)
		}
	}
	l.catalog.Resources = has.Resources != nil
	return l.catalog, nil
}

func (l *lister) leftOut(format string, values ...any) {
	if len(l.catalog.Problems) < 20 {
		l.catalog.Problems = append(l.catalog.Problems, fmt.Sprintf(format, values...))
	}
}

// pages calls read with each cursor. It stops if there is no next cursor, if a cursor comes again, or if there are too
// many pages.
func (l *lister) pages(what string, read func(cursor string) (next string, goOn bool, err error)) error {
	seen := map[string]bool{}
	cursor := ""
	for range maxPages {
		next, goOn, err := read(cursor)
		if err != nil || next == "" || !goOn {
			return err
		}
		if seen[next] {
			l.leftOut("its list of %s goes round in a circle and was cut", what)
			return nil
		}
		seen[next], cursor = true, next
	}
	l.leftOut("its list of %s has more than %d pages and was cut", what, maxPages)
	return nil
}

func (l *lister) tools(ctx context.Context) error {
	return l.pages("tools", func(cursor string) (string, bool, error) {
		page, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, t := range page.Tools {
			if len(l.catalog.Tools) == maxTools {
				l.leftOut("it has more than %d tools; the others are left out", maxTools)
				return "", false, nil
			}
			if t == nil {
				continue
			}
			one, err := toolOf(l.server, t)
			if err != nil {
				l.leftOut("its tool %s is left out: %v", line(t.Name), err)
				continue
			}
			if other, taken := l.catalog.Tool(one.Name); taken {
				l.leftOut("its tool %s is left out: it has the name of %s", line(t.Name), line(other.Original))
				continue
			}
			if l.size += len(one.Description) + len(one.Schema); l.size > maxDefinitions {
				l.leftOut("its tools take more than %d KiB to describe; those from %s on are left out",
					maxDefinitions>>10, line(t.Name))
				return "", false, nil
			}
			l.catalog.Tools = append(l.catalog.Tools, one)
		}
		return page.NextCursor, true, nil
	})
}

// toolOf is a tool without invisible characters, and within the limits.
func toolOf(server string, t *sdk.Tool) (Tool, error) {
	if strings.TrimSpace(t.Name) == "" {
		return Tool{}, errors.New("it has no name")
	}
	schema, err := schemaOf(t.InputSchema)
	if err != nil {
		return Tool{}, err
	}
	whole, err := json.Marshal(t.Annotations)
	if err != nil {
		return Tool{}, err
	}
	one := Tool{
		Name: mcpname.Tool(server, t.Name), Original: t.Name, Title: line(t.Title),
		Description: text(t.Description, maxDescription), Schema: schema,
	}
	// The version also changes if only the part changes that is cut off.
	one.Version = digest(strings.Join([]string{t.Name, t.Title, t.Description, string(schema), string(whole)}, "\x00"))
	return one, nil
}

// schemaOf is the schema of a tool's arguments. It must describe an object, and must be checkable here without schemas
// from elsewhere.
func schemaOf(value any) (json.RawMessage, error) {
	if value == nil {
		value = struct {
			Type string `json:"type"`
		}{"object"}
	}
	raw, err := json.Marshal(seen(value)) // sorts the keys
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its input schema has %d bytes, but at most %d are allowed", len(raw), maxSchema)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("its input schema is not a JSON Schema: %w", err)
	}
	if schema.Type == "" && len(schema.Types) == 0 {
		// Some servers leave the type out if a tool has no arguments.
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, fmt.Errorf("its input schema is not a JSON Schema: %w", err)
		}
		members["type"] = json.RawMessage(`"object"`)
		if raw, err = json.Marshal(members); err != nil {
			return nil, err
		}
		schema.Type = "object"
	}
	if schema.Type != "object" {
		return nil, errors.New(`its input schema does not have the type "object"`)
	}
	for name, member := range schema.Properties {
		if member == nil {
			return nil, fmt.Errorf("the schema of %s is null", line(name))
		}
	}
	if _, err := schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("its schema cannot be used: %s", line(err.Error()))
	}
	return raw, nil
}

// seen removes invisible characters from all strings of a decoded JSON value.
func seen(value any) any {
	switch v := value.(type) {
	case string:
		return permission.Seen(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = seen(v[i])
		}
		return list
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			members[permission.Seen(name)] = seen(member)
		}
		return members
	}
	return value
}

func (l *lister) prompts(ctx context.Context) error {
	return l.pages("prompts", func(cursor string) (string, bool, error) {
		page, err := l.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		for _, p := range page.Prompts {
			if len(l.catalog.Prompts) == maxPrompts {
				l.leftOut("it has more than %d prompts; the others are left out", maxPrompts)
				return "", false, nil
			}
			if p == nil || strings.TrimSpace(p.Name) == "" || len(p.Arguments) > 32 {
				continue
			}
			one := Prompt{Name: mcpname.Tool(l.server, p.Name), Original: p.Name, Description: line(p.Description)}
			if _, taken := l.catalog.Prompt(one.Name); taken {
				continue
			}
			for _, a := range p.Arguments {
				if a != nil {
					one.Arguments = append(one.Arguments,
						Argument{Name: line(a.Name), Description: line(a.Description), Required: a.Required})
				}
			}
			l.catalog.Prompts = append(l.catalog.Prompts, one)
		}
		return page.NextCursor, true, nil
	})
}

// line is a text of a server as people see it in one line.
func line(s string) string {
	return permission.Visible(strings.Join(strings.Fields(text(s, maxShown)), " "))
}

// text is a text of a server without invisible characters, cut to a number of bytes.
func text(s string, limit int) string {
	if len(s) > 2*limit {
		s = s[:2*limit] // the rest will be cut off in any case
	}
	s = permission.Seen(s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// digest is the SHA-256 of a text in hex digits.
func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
