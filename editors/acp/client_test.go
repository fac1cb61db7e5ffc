package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/acp/acptest"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/editors/acp"
)

func TestMain(m *testing.M) {
	sandbox.Dispatch()
	mcptest.Dispatch()
	acptest.Dispatch()
	goleak.VerifyTestMain(m)
}

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = time.Minute

// object is a JSON object.
type object = map[string]any

// frame is a message, and who sent it.
type frame struct {
	client bool
	object
}

// judge checks a frame against the protocol; nil where the published schema is not at hand (schema_test.go).
var judge func(f frame, method string) error

// client is an editor on the other side of two pipes. Its answers to the agent's requests are those of its functions.
type client struct {
	t     *testing.T
	ctx   context.Context
	dir   string
	state string
	model *script.Script
	// answers are functions by methods of the agent's requests: from params to a result, or an error object.
	answers map[string]func(params object) (result, failure any)
	written map[string]string // what the agent wrote by itself, by names in the folder
	environ map[string]string // of the agent

	out   io.WriteCloser
	ended chan error

	mu     sync.Mutex // guards all below
	frames []frame
	news   chan struct{} // closed and replaced with each frame
	nextID int
	asked  map[string]string // the methods of requests by who sent them and their ids
	closed bool
}

// connect starts an agent on a folder with files.
func connect(t *testing.T, files map[string]string, turns string) *client {
	t.Helper()
	c := prepare(t, files)
	c.begin(turns)
	return c
}

// prepare makes a client for a folder with files, without an agent.
func prepare(t *testing.T, files map[string]string) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	t.Cleanup(cancel)
	c := &client{
		t: t, ctx: ctx, dir: t.TempDir(), state: t.TempDir(), written: map[string]string{},
		answers: map[string]func(object) (any, any){}, news: make(chan struct{}), asked: map[string]string{},
	}
	for name, text := range files {
		c.save(name, text)
	}
	return c
}

// begin starts another agent for the same folder and state.
func (c *client) begin(turns string) {
	c.t.Helper()
	var err error
	if c.model, err = script.Parse("test", turns); err != nil {
		c.t.Fatal(err)
	}
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	c.mu.Lock()
	c.frames, c.news, c.asked, c.closed = nil, make(chan struct{}), map[string]string{}, false
	c.mu.Unlock()
	c.out, c.ended = toAgent, make(chan error, 1)
	go func() {
		err := acp.Serve(c.ctx, fromClient, toClient, acp.Options{
			Version: "1.2.3", Dir: c.dir, Open: c.open, Write: c.write, Logger: slog.New(slog.DiscardHandler),
		})
		toClient.Close()
		c.ended <- err
	}()
	reading := make(chan struct{})
	go func() { defer close(reading); c.read(fromAgent) }()
	c.t.Cleanup(func() {
		c.disconnect()
		<-reading
		if err := c.model.Check(); err != nil {
			c.t.Error(err)
		}
	})
}

// disconnect ends the connection as an editor does that dies, and waits for the agent's end.
func (c *client) disconnect() {
	c.t.Helper()
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.mu.Unlock()
	if closed {
		return
	}
	c.out.Close()
	select {
	case err := <-c.ended:
		if err != nil {
			c.t.Errorf("the agent ended with %v", err)
		}
	case <-c.ctx.Done():
		c.t.Error("the agent goes on without its client")
	}
}

// open is the Open of the agent.
func (c *client) open(ctx context.Context, folder string, servers map[string]config.MCPServer,
	reading func(context.Context, event.SessionID, []string),
) (*acp.Project, error) {
	view, err := workspace.Open([]workspace.Root{{Path: folder, Name: filepath.Base(folder)}}, workspace.Options{})
	if err != nil {
		return nil, err
	}
	cfg := config.Default()
	cfg.DefaultAgent, cfg.SubagentAsk = "coder", config.AskBubble
	for name, s := range servers {
		cfg.MCP[name] = s
	}
	engine, err := agentcore.Open(ctx, agentcore.Options{
		StateDir: c.state, Config: cfg, Getenv: func(name string) string { return c.environ[name] }, Reading: reading,
		OpenModel: func(provider.Choice) (model.Model, error) { return c.model, nil },
	})
	if err != nil {
		return nil, err
	}
	return &acp.Project{
		Engine: engine, View: view, Stale: func(context.Context) bool { return false },
		Session: func(ctx context.Context, resume event.RunID) (s *agentcore.Session, err error) {
			if resume == "" {
				s, err = engine.OpenSession(ctx, view, "")
			} else {
				s, err = engine.ResumeSession(ctx, view, "", resume)
			}
			if err == nil {
				s.SetTrusted(true)
			}
			return s, err
		},
		Close: func(ctx context.Context) error {
			err := engine.Close(context.WithoutCancel(ctx))
			view.Close()
			return err
		},
	}, nil
}

// write is the Write of the agent. A file that is called readonly is refused.
func (c *client) write(view *workspace.View, edits []workspace.FileEdit) (changed []string, refused map[string]error) {
	refused = map[string]error{}
	for _, e := range edits {
		if strings.Contains(e.Path, "readonly") {
			refused[e.Path] = fmt.Errorf("the file is read-only")
			continue
		}
		err := os.WriteFile(e.Path, []byte(e.After()), 0o600)
		if e.Delete {
			err = os.Remove(e.Path)
		}
		if err != nil {
			refused[e.Path] = err
			continue
		}
		c.mu.Lock()
		c.written[view.Relative(e.Path)] = e.After()
		c.mu.Unlock()
		changed = append(changed, e.Path)
	}
	return changed, refused
}

func (c *client) path(name string) string { return filepath.Join(c.dir, name) }

func (c *client) save(name, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.path(name)), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(c.path(name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// saved expects the text of a file on the disk; "" is no file.
func (c *client) saved(name, want string) {
	c.t.Helper()
	if have, _ := os.ReadFile(c.path(name)); string(have) != want {
		c.t.Errorf("%s on the disk is %q, want %q", name, have, want)
	}
}

// read takes the agent's messages until it has ended, and answers its requests.
func (c *client) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var message object
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			c.t.Errorf("the agent sent %q: %v", lines.Bytes(), err)
			continue
		}
		c.note(frame{false, message})
		method, _ := message["method"].(string)
		if id, ok := message["id"]; method != "" && ok {
			go c.answer(id, method, message)
		}
	}
}

// answer answers a request of the agent.
func (c *client) answer(id any, method string, message object) {
	reply := object{"jsonrpc": "2.0", "id": id}
	do := c.answers[method]
	if do == nil {
		reply["error"] = object{"code": -32601, "message": "Method not found"}
		c.t.Errorf("the agent asks for %s, which was not announced", method)
	} else {
		params, _ := message["params"].(object)
		result, failure := do(params)
		if failure != nil {
			reply["error"] = failure
		} else {
			reply["result"] = result
		}
	}
	c.send(reply)
}

// note keeps a frame, and has it judged.
func (c *client) note(f frame) {
	who, peer := "agent", "client"
	if f.client {
		who, peer = peer, who
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	method, _ := f.object["method"].(string)
	id := fmt.Sprint(f.object["id"])
	if method == "" {
		method = c.asked[peer+id]
	} else if f.object["id"] != nil {
		c.asked[who+id] = method
	}
	if judge != nil {
		if err := judge(f, method); err != nil {
			c.t.Errorf("%s sent what the schema does not have: %v\n%s", who, err, text(f.object))
		}
	}
	c.frames = append(c.frames, f)
	close(c.news)
	c.news = make(chan struct{})
}

// send sends a message.
func (c *client) send(message object) {
	line, err := json.Marshal(message)
	if err != nil {
		c.t.Error(err)
		return
	}
	var sent object // as the agent gets it
	if err := json.Unmarshal(line, &sent); err != nil {
		c.t.Error(err)
	}
	c.note(frame{true, sent})
	c.sendLine(string(line))
}

// sendLine sends a line, whatever is in it.
func (c *client) sendLine(line string) {
	// An error says that the agent has ended, which the test finds out by what is missing.
	_, _ = io.WriteString(c.out, line+"\n")
}

// ask sends a request, and returns its id.
func (c *client) ask(method string, params any) int {
	c.mu.Lock()
	c.nextID++
	id := c.nextID
	c.mu.Unlock()
	c.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id
}

func (c *client) notify(method string, params any) {
	c.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// await waits for a message of the agent that fits, and returns it with its place among all frames.
func (c *client) await(what string, fits func(object) bool) (object, int) {
	c.t.Helper()
	for {
		c.mu.Lock()
		news, all := c.news, slices.Clone(c.frames)
		c.mu.Unlock()
		for i, f := range all {
			if !f.client && fits(f.object) {
				return f.object, i
			}
		}
		select {
		case <-news:
		case <-c.ctx.Done():
			var b strings.Builder
			for _, f := range all {
				fmt.Fprintln(&b, f.client, text(f.object))
			}
			c.t.Fatalf("there was never %s:\n%s", what, b.String())
		}
	}
}

// result waits for the answer to a request.
func (c *client) result(id int) object {
	c.t.Helper()
	message, _ := c.await(fmt.Sprintf("an answer to %d", id), func(m object) bool {
		return m["method"] == nil && m["id"] == float64(id)
	})
	if failure, ok := message["error"].(object); ok {
		c.t.Fatalf("the answer to %d is an error: %s", id, text(failure))
	}
	result, _ := message["result"].(object)
	return result
}

// refused expects an error with a code whose message has a text.
func (c *client) refused(id int, code float64, want string) {
	c.t.Helper()
	message, _ := c.await(fmt.Sprintf("an answer to %d", id), func(m object) bool {
		return m["method"] == nil && m["id"] == float64(id)
	})
	failure, _ := message["error"].(object)
	if said, _ := failure["message"].(string); failure["code"] != code || !strings.Contains(said, want) {
		c.t.Errorf("the answer is %s, want the error %v with %q", text(message), code, want)
	}
}

// do sends a request and waits for its result.
func (c *client) do(method string, params any) object {
	c.t.Helper()
	return c.result(c.ask(method, params))
}

// initialize announces what the client can do.
func (c *client) initialize(capabilities object) object {
	c.t.Helper()
	return c.do("initialize", object{
		"protocolVersion": 1, "clientCapabilities": capabilities,
		"clientInfo": object{"name": "test", "version": "1"},
	})
}

// open begins a session and returns its id.
func (c *client) session() string {
	c.t.Helper()
	id, _ := c.do("session/new", object{"cwd": c.dir, "mcpServers": []any{}})["sessionId"].(string)
	return id
}

// says are the params of a prompt of words.
func says(session, words string) object {
	return object{"sessionId": session, "prompt": []any{object{"type": "text", "text": words}}}
}

// prompt has the agent work on words, and expects why the turn ended.
func (c *client) prompt(session, words, reason string) {
	c.t.Helper()
	if result := c.do("session/prompt", says(session, words)); result["stopReason"] != reason {
		c.t.Errorf("the turn ended with %v, want %s", result, reason)
	}
}

// updates are the updates of a kind that the client got so far, "" for all.
func (c *client) updates(kind string) (list []object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.frames {
		if update, ok := updateIn(f.object); ok && (kind == "" || update["sessionUpdate"] == kind) {
			list = append(list, update)
		}
	}
	return list
}

// updateIn is the update in a message.
func updateIn(message object) (object, bool) {
	params, _ := message["params"].(object)
	update, ok := params["update"].(object)
	return update, ok && message["method"] == "session/update"
}

// said is what the agent's message chunks say together.
func (c *client) said() string {
	var b strings.Builder
	for _, u := range c.updates("agent_message_chunk") {
		content, _ := u["content"].(object)
		b.WriteString(fmt.Sprint(content["text"]))
	}
	return b.String()
}

// text is a value as JSON.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
