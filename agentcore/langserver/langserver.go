// Package langserver asks language servers for definitions, references and symbols, in texts that may differ from the
// disk. It implements as much of the client's side of the Language Server Protocol as that needs.
package langserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore/process"
)

const (
	// startTime bounds the answer to initialize.
	startTime = time.Minute
	// busyTime is how long an empty answer is not believed while the server is still reading the project.
	busyTime = 45 * time.Second
	// maxFound bounds how many places of an answer are used.
	maxFound = 5000
)

// Place is a place in a text. Lines and columns count from 0, columns in bytes of UTF-8.
type Place struct {
	Path                  string
	Line, Column          int
	EndLine, EndColumn    int
	Name, Kind, Container string // only for a symbol
}

// Text is a text that the server is to see.
type Text struct {
	Path string
	Text string
}

// Options say what a server is told at its start.
type Options struct {
	// Roots are the workspace folders, absolute.
	Roots []string
	// Server is what is known of it.
	Server Server
	// Read returns the text of a file as the asking run sees it, for counting columns; ok is false for a file that
	// cannot be read.
	Read func(path string) (text string, ok bool)
}

// Client is a connection to one server. Its methods may be called from any goroutine; a caller must hold the client by
// Use while it asks. Close ends it.
type Client struct {
	options Options
	process *process.Live
	conn    *jsonrpc2.Conn
	utf8    bool
	stop    context.CancelFunc
	ended   chan struct{} // closed when none of the server's processes is left
	how     string        // how the server ended; set before ended is closed

	using chan struct{} // holds a token while somebody asks
	open  map[string]text

	requests atomic.Uint64

	mu   sync.Mutex
	busy map[string]bool // progress under way, by token
	news chan struct{}   // closed and replaced when busy changes
}

// text is a document that the server has open.
type text struct {
	version int
	text    string
}

// Start opens the connection to a server that was just started, which the client owns from now on. It returns when the
// server is ready for questions.
func Start(ctx context.Context, p *process.Live, o Options) (*Client, error) {
	c := &Client{
		options: o, process: p, ended: make(chan struct{}), using: make(chan struct{}, 1), open: map[string]text{},
		busy: map[string]bool{}, news: make(chan struct{}),
	}
	background, stop := context.WithCancel(context.Background())
	c.stop = stop
	stream := newStream(p)
	c.conn = jsonrpc2.NewConn(background, stream, handler{c}, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	go func() {
		defer close(c.ended)
		<-c.conn.DisconnectNotify()
		<-stream.written
		p.Kill()
		c.how = p.Wait()
	}()
	if err := c.initialize(ctx); err != nil {
		err = c.explain(ctx, err)
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	params := initialize{Capabilities: json.RawMessage(capabilities), Options: c.options.Server.Options}
	for _, root := range c.options.Roots {
		params.Folders = append(params.Folders, folder{uriOf(root), filepath.Base(root)})
		params.RootURI = cmp.Or(params.RootURI, uriOf(root))
	}
	var result initialized
	if err := c.call(ctx, "initialize", params, &result); err != nil {
		return fmt.Errorf("start to speak with it: %w", err)
	}
	c.utf8 = result.Capabilities.Encoding == "utf-8"
	return c.conn.Notify(ctx, "initialized", struct{}{})
}

// Ended is closed when nothing of the server is left.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// Close ends the server and waits until nothing of it is left.
func (c *Client) Close() {
	_ = c.conn.Close() // it may be closed already
	<-c.ended
	c.stop()
}

// explain adds how the server ended to the error of a request that failed because of it.
func (c *Client) explain(ctx context.Context, err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		select {
		case <-c.ended:
			return errors.New(c.how)
		case <-ctx.Done():
		case <-time.After(5 * time.Second): // the server was told to end
		}
	}
	return err
}

// Use waits until no other caller asks. Then it tells the server which texts the caller sees where they differ from the
// disk. Files that are gone for the caller become empty, since the protocol has no word for them. changed are files
// whose text on the disk may have changed since they were last read.
func (c *Client) Use(ctx context.Context, texts []Text, changed []string) (done func(), err error) {
	select {
	case c.using <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ended:
		return nil, errors.New(c.how)
	}
	done = func() { <-c.using }
	if err := c.sync(ctx, texts, changed); err != nil {
		done()
		return nil, c.explain(ctx, err)
	}
	return done, nil
}

func (c *Client) sync(ctx context.Context, texts []Text, files []string) error {
	want := map[string]bool{}
	for _, t := range texts {
		want[t.Path] = true
		if err := c.show(ctx, t); err != nil {
			return err
		}
	}
	var events watched
	for _, path := range slices.Sorted(maps.Keys(c.open)) {
		if want[path] {
			continue
		}
		delete(c.open, path)
		if err := c.conn.Notify(ctx, "textDocument/didClose", closed{document{uriOf(path)}}); err != nil {
			return err
		}
		files = append(files, path) // the file may have come back on the disk
	}
	slices.Sort(files)
	for _, path := range slices.Compact(files) {
		if want[path] {
			continue
		}
		kind := 2 // changed
		if _, err := os.Lstat(path); err != nil {
			kind = 3 // deleted
		}
		events.Changes = append(events.Changes, fileEvent{uriOf(path), kind})
	}
	if len(events.Changes) == 0 {
		return nil
	}
	return c.conn.Notify(ctx, "workspace/didChangeWatchedFiles", events)
}

// show opens a document, or changes it where it is open.
func (c *Client) show(ctx context.Context, t Text) error {
	now, isOpen := c.open[t.Path]
	switch {
	case isOpen && now.text == t.Text:
		return nil
	case isOpen:
		now.version++
		now.text = t.Text
		c.open[t.Path] = now
		return c.conn.Notify(ctx, "textDocument/didChange",
			changed{versioned{uriOf(t.Path), now.version}, []change{{t.Text}}})
	}
	c.open[t.Path] = text{1, t.Text}
	return c.conn.Notify(ctx, "textDocument/didOpen",
		opened{item{uriOf(t.Path), c.options.Server.language(t.Path), 1, t.Text}})
}

// Definition returns where the symbol at a place is defined. The document has to be among the texts of Use.
func (c *Client) Definition(ctx context.Context, path string, line, column int) ([]Place, error) {
	return c.places(ctx, "textDocument/definition",
		at{Document: document{uriOf(path)}, Position: c.position(path, line, column)})
}

// References returns where the symbol at a place is used, its declaration included.
func (c *Client) References(ctx context.Context, path string, line, column int) ([]Place, error) {
	params := at{Document: document{uriOf(path)}, Position: c.position(path, line, column)}
	params.Context = &struct {
		Declaration bool `json:"includeDeclaration"`
	}{true}
	return c.places(ctx, "textDocument/references", params)
}

// Document returns the symbols of a document in the server's order, those inside others behind them.
func (c *Client) Document(ctx context.Context, path string) ([]Place, error) {
	raw, err := c.ask(ctx, "textDocument/documentSymbol", closed{document{uriOf(path)}})
	if err != nil {
		return nil, err
	}
	list, err := several[symbol](raw)
	if err != nil {
		return nil, err
	}
	return c.symbols(nil, path, "", list), nil
}

// Workspace returns the symbols of the workspace whose name matches, by the server's own idea of that.
func (c *Client) Workspace(ctx context.Context, name string) ([]Place, error) {
	raw, err := c.ask(ctx, "workspace/symbol", matching{name})
	if err != nil {
		return nil, err
	}
	list, err := several[symbol](raw)
	if err != nil {
		return nil, err
	}
	return c.symbols(nil, "", "", list), nil
}

func (c *Client) symbols(into []Place, path, container string, list []symbol) []Place {
	for _, s := range list {
		if len(into) >= maxFound {
			break
		}
		p := Place{Name: s.Name, Kind: kindOf(s.Kind), Container: cmp.Or(container, s.Container)}
		switch {
		case s.Location != nil:
			p.Path = pathOf(s.Location.URI)
			if s.Location.Range != nil {
				c.span(&p, *s.Location.Range)
			}
		case s.Selection != nil:
			p.Path = path
			c.span(&p, *s.Selection)
		}
		if p.Path == "" {
			continue
		}
		into = append(into, p)
		into = c.symbols(into, path, s.Name, s.Children)
	}
	return into
}

func (c *Client) places(ctx context.Context, method string, params any) ([]Place, error) {
	raw, err := c.ask(ctx, method, params)
	if err != nil {
		return nil, err
	}
	list, err := several[location](raw)
	if err != nil {
		return nil, err
	}
	var places []Place
	for _, l := range list[:min(len(list), maxFound)] {
		p := Place{Path: pathOf(cmp.Or(l.URI, l.TargetURI))}
		span := cmp.Or(l.Range, l.TargetRange)
		if p.Path == "" || span == nil {
			continue
		}
		c.span(&p, *span)
		places = append(places, p)
	}
	return places, nil
}

// contentModified is the error of a server whose texts changed while it worked (LSP 3.17, ErrorCodes).
const contentModified = -32801

// ask sends a request. While the server is still reading the project, an empty answer does not count.
func (c *Client) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	patience := time.NewTimer(busyTime)
	defer patience.Stop()
	for again := 0; ; again++ {
		_, before := c.working()
		var raw json.RawMessage
		err := c.call(ctx, method, params, &raw)
		var refused *jsonrpc2.Error
		modified := errors.As(err, &refused) && refused.Code == contentModified && again < 10
		if err != nil && !modified {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, c.explain(ctx, err)
		}
		text := strings.TrimSpace(string(raw))
		if !modified && text != "" && text != "null" && text != "[]" {
			return raw, nil
		}
		busy, news := c.working()
		switch {
		case !busy && (modified || news != before && again < 10): // the server has learned more since it answered
			continue
		case !busy:
			return raw, nil
		}
		select {
		case <-news:
		case <-patience.C:
			return raw, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ended:
			return nil, errors.New(c.how)
		}
	}
}

// call sends a request, and cancels it if ctx ends before the answer.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	id := jsonrpc2.ID{Num: c.requests.Add(1)}
	err := c.conn.Call(ctx, method, params, result, jsonrpc2.PickID(id))
	if ctx.Err() != nil {
		_ = c.conn.Notify(context.WithoutCancel(ctx), "$/cancelRequest", struct {
			// if this cannot be sent, the server is gone
			ID uint64 `json:"id"`
		}{id.Num})
	}
	return err
}

// working reports whether the server has progress under way, and returns what is closed when that changes.
func (c *Client) working() (bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.busy) > 0, c.news
}

// position is a place in the server's encoding.
func (c *Client) position(path string, line, column int) position {
	if !c.utf8 {
		column = utf16(lineOf(c.open[path].text, line), column)
	}
	return position{line, column}
}

// span sets the place of a range, in bytes. If a text cannot be read, its columns stay in the server's unit.
func (c *Client) span(p *Place, r textRange) {
	p.Line, p.Column, p.EndLine, p.EndColumn = r.Start.Line, r.Start.Character, r.End.Line, r.End.Character
	if c.utf8 {
		return
	}
	content, ok := c.open[p.Path], true
	if _, isOpen := c.open[p.Path]; !isOpen && c.options.Read != nil {
		content.text, ok = c.options.Read(p.Path)
	}
	if ok {
		p.Column = bytesOf(lineOf(content.text, p.Line), p.Column)
		p.EndColumn = bytesOf(lineOf(content.text, p.EndLine), p.EndColumn)
	}
}

// handler answers what the server asks. It runs on the connection's reading goroutine and never waits.
type handler struct{ client *Client }

// Handle implements jsonrpc2.Handler.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Notif {
		if r.Method == "$/progress" && r.Params != nil {
			h.client.progressed(*r.Params)
		}
		return
	}
	var result any
	switch r.Method {
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create",
		"window/showMessageRequest",
		"workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh",
		"workspace/diagnostic/refresh":
	case "workspace/configuration":
		var p struct {
			Items []json.RawMessage `json:"items"`
		}
		if r.Params != nil && json.Unmarshal(*r.Params, &p) == nil {
			result = make([]*struct{}, min(len(p.Items), 1000)) // null each: nothing is set
		}
	case "workspace/workspaceFolders":
		folders := []folder{}
		for _, root := range h.client.options.Roots {
			folders = append(folders, folder{uriOf(root), filepath.Base(root)})
		}
		result = folders
	case "workspace/applyEdit":
		result = struct {
			Applied bool `json:"applied"`
		}{}
	default:
		// If the connection breaks here, whoever asks gets the error.
		_ = conn.ReplyWithError(ctx, r.ID,
			&jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported: " + r.Method})
		return
	}
	_ = conn.Reply(ctx, r.ID, result) // as above
}

// progressed keeps track of what the server is busy with.
func (c *Client) progressed(raw json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch token := string(p.Token); {
	case p.Value.Kind == "begin" && len(c.busy) < 1000:
		c.busy[token] = true
	case p.Value.Kind == "end":
		delete(c.busy, token)
	default:
		return
	}
	close(c.news)
	c.news = make(chan struct{})
}
