package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentls/agentls/agentcore/permission"
)

const (
	// maxText bounds the text of an answer, in bytes; it is cut further before a model gets it.
	maxText = 1 << 20
	// maxImages is how many images of an answer are kept, and maxImage how large each may be, in bytes.
	maxImages = 8
	maxImage  = 4 << 20
	// returnPatience is how long a call waits for a server that is being started again.
	returnPatience = 30 * time.Second
)

// Result is the answer to a call.
type Result struct {
	// Text is for models, without invisible characters.
	Text string
	// Failed says that the tool itself calls the result an error.
	Failed bool
	Images []Image
}

// Image is an image in an answer.
type Image struct {
	// MIME is its type as the server gives it, such as "image/png".
	MIME string
	Data []byte
}

// ErrChanged is returned by Call if the tool has changed since the user allowed it.
var ErrChanged = errors.New("the server has changed the tool since the call was allowed")

// ErrUnknownOutcome is wrapped by the error of a call if nobody knows whether the call had an effect.
var ErrUnknownOutcome = errors.New("whether the call had an effect is not known")

// ready waits a moment for a server that is being started again.
func (c *Client) ready(ctx context.Context) (*link, error) {
	waiting, cancel := context.WithTimeout(ctx, returnPatience)
	defer cancel()
	l, err := c.await(waiting, func() bool { return c.gaveUp })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the MCP server %s is not connected: %w", c.options.Name, err)
	}
	return l, nil
}

// within is the context of a request to the server.
func (c *Client) within(ctx context.Context, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(c.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// Call calls a tool, provided that the server still offers it in the version that was allowed. progress gets the
// server's progress messages, from another goroutine; it may be nil. If ctx ends, the server is told. A call is never
// repeated.
func (c *Client) Call(ctx context.Context, name, version string, arguments json.RawMessage,
	progress func(string),
) (Result, error) {
	l, err := c.ready(ctx)
	if err != nil {
		return Result{}, err
	}
	c.mu.Lock()
	tool, ok := l.catalog.Tool(name)
	c.mu.Unlock()
	switch {
	case !ok:
		return Result{}, fmt.Errorf("the MCP server %s does not offer %s any more", c.options.Name, name)
	case tool.Version != version:
		return Result{}, ErrChanged
	}
	params := &sdk.CallToolParams{Name: tool.Original, Arguments: arguments}
	if progress != nil {
		token := strconv.FormatInt(c.tokens.Add(1), 10)
		params.SetProgressToken(token)
		c.mu.Lock()
		c.listening[token] = progress
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			delete(c.listening, token)
			c.mu.Unlock()
		}()
	}
	limited, cancel := c.within(ctx, c.options.CallTime)
	defer cancel()
	answer, err := l.session.CallTool(limited, params)
	if err != nil {
		return Result{}, c.explain(ctx, limited, l, err, true)
	}
	result := resultOf(answer.Content, answer.StructuredContent)
	result.Failed = answer.IsError
	return result, nil
}

// explain returns the error of a request, and gives up a connection that is broken. acts says that the request may have
// had an effect.
func (c *Client) explain(ctx, limited context.Context, l *link, err error, acts bool) error {
	unknown := func(text string) error {
		if !acts {
			return errors.New(text)
		}
		return fmt.Errorf("%s; %w", text, ErrUnknownOutcome)
	}
	refusal, refused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.ctx.Err() != nil:
		return unknown("the MCP server " + c.options.Name + " was ended with the session")
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return unknown(fmt.Sprintf("the MCP server %s did not answer within %s", c.options.Name, c.options.CallTime))
	case refused:
		return fmt.Errorf("the MCP server %s refused: %s (%d)", c.options.Name, line(refusal.Message), refusal.Code)
	}
	if l.pipe != nil && !over(err) {
		return unknown(fmt.Sprintf("the MCP server %s answered what cannot be understood: %s", c.options.Name,
			line(err.Error())))
	}
	select {
	case l.broken <- fmt.Errorf("the connection broke: %s", line(err.Error())):
	default:
	}
	return unknown(
		fmt.Sprintf("the MCP server %s ended, or the connection to it broke, while the request was on its way: %s",
			c.options.Name, line(err.Error())))
}

// over reports whether an error of a pipe says that its other end is closed.
func over(err error) bool {
	return slices.ContainsFunc([]error{sdk.ErrConnectionClosed, io.EOF, io.ErrClosedPipe, fs.ErrClosed, syscall.EPIPE},
		func(end error) bool { return errors.Is(err, end) })
}

// heard passes progress on to its call.
func (c *Client) heard(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	c.mu.Lock()
	listener := c.listening[fmt.Sprint(p.ProgressToken)]
	c.mu.Unlock()
	if listener == nil {
		return
	}
	said := line(p.Message)
	if p.Total > 0 {
		said = strings.TrimSpace(fmt.Sprintf("%.0f of %.0f %s", p.Progress, p.Total, said))
	} else if said == "" {
		said = fmt.Sprintf("%.0f", p.Progress)
	}
	listener(said)
}

// Resources lists the server's resources, or the ones after a cursor, as text for models.
func (c *Client) Resources(ctx context.Context, cursor string) (Result, error) {
	l, err := c.ready(ctx)
	if err != nil {
		return Result{}, err
	}
	limited, cancel := c.within(ctx, c.options.CallTime)
	defer cancel()
	page, err := l.session.ListResources(limited, &sdk.ListResourcesParams{Cursor: cursor})
	if err != nil {
		return Result{}, c.explain(ctx, limited, l, err, false)
	}
	var b strings.Builder
	for _, r := range page.Resources {
		if r != nil && b.Len() < maxText {
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", line(r.URI), line(r.Name), line(r.MIMEType), line(r.Description))
		}
	}
	if cursor == "" {
		// Not every server with resources has templates.
		if templates, err := l.session.ListResourceTemplates(limited, nil); err == nil {
			for _, r := range templates.ResourceTemplates {
				if r != nil && b.Len() < maxText {
					fmt.Fprintf(&b, "%s\t%s\t%s\t%s (fill in what is in braces)\n", line(r.URITemplate), line(r.Name),
						line(r.MIMEType), line(r.Description))
				}
			}
		}
	}
	if b.Len() == 0 {
		return Result{Text: "There are no resources."}, nil
	}
	head := "uri\tname\ttype\tdescription\n"
	if page.NextCursor != "" {
		fmt.Fprintf(&b, "There are more: cursor %q.\n", text(page.NextCursor, 4<<10))
	}
	return Result{Text: head + b.String()}, nil
}

// ReadResource reads a resource of the server.
func (c *Client) ReadResource(ctx context.Context, uri string) (Result, error) {
	l, err := c.ready(ctx)
	if err != nil {
		return Result{}, err
	}
	limited, cancel := c.within(ctx, c.options.CallTime)
	defer cancel()
	answer, err := l.session.ReadResource(limited, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return Result{}, c.explain(ctx, limited, l, err, false)
	}
	var parts []sdk.Content
	for _, one := range answer.Contents {
		parts = append(parts, &sdk.EmbeddedResource{Resource: one})
	}
	return resultOf(parts, nil), nil
}

// Expand gets a prompt with its arguments, by their names, as text.
func (c *Client) Expand(ctx context.Context, name string, arguments map[string]string) (string, error) {
	l, err := c.ready(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	prompt, ok := l.catalog.Prompt(name)
	c.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("the MCP server %s has no prompt %s", c.options.Name, name)
	}
	limited, cancel := c.within(ctx, c.options.CallTime)
	defer cancel()
	answer, err := l.session.GetPrompt(limited, &sdk.GetPromptParams{Name: prompt.Original, Arguments: arguments})
	if err != nil {
		return "", c.explain(ctx, limited, l, err, false)
	}
	var b strings.Builder
	for i, m := range answer.Messages {
		if m == nil {
			continue
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		if m.Role == "assistant" {
			b.WriteString("(as the assistant) ")
		}
		b.WriteString(resultOf([]sdk.Content{m.Content}, nil).Text)
	}
	return text(b.String(), maxText), nil
}

// resultOf is a server's answer for a model: bounded, and without invisible characters.
func resultOf(parts []sdk.Content, structured any) Result {
	var r Result
	var b strings.Builder
	add := func(part string) {
		if b.Len() < maxText && part != "" {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			b.WriteString(text(part, maxText))
		}
	}
	image := func(kind string, data []byte) {
		switch {
		case len(data) > maxImage || len(r.Images) == maxImages:
			add(fmt.Sprintf("[an image (%s, %d bytes) is left out]", line(kind), len(data)))
		default:
			r.Images = append(r.Images, Image{MIME: kind, Data: data})
		}
	}
	for _, part := range parts {
		switch p := part.(type) {
		case *sdk.TextContent:
			add(p.Text)
		case *sdk.ImageContent:
			image(p.MIMEType, p.Data)
		case *sdk.AudioContent:
			add(fmt.Sprintf("[a sound (%s, %d bytes) is left out]", line(p.MIMEType), len(p.Data)))
		case *sdk.ResourceLink:
			add(fmt.Sprintf("[the resource %s: %s]", line(p.URI), line(p.Name+" "+p.Description)))
		case *sdk.EmbeddedResource:
			switch one := p.Resource; {
			case one == nil:
			case strings.HasPrefix(one.MIMEType, "image/"):
				image(one.MIMEType, one.Blob)
			case len(one.Blob) > 0:
				add(fmt.Sprintf("[the resource %s (%s, %d bytes) is no text]", line(one.URI), line(one.MIMEType),
					len(one.Blob)))
			default:
				add(one.Text)
			}
		}
	}
	if b.Len() == 0 && len(r.Images) == 0 && structured != nil {
		if raw, err := json.Marshal(structured); err == nil {
			add(string(raw))
		}
	}
	r.Text = permission.Seen(b.String()) // parts may form an invisible sequence only when they are joined
	return r
}

// fileURI is the URI of a folder, as a root.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
