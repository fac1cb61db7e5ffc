package lsp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/run"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
)

// conversations are the documents in which the user talks with agents. Its methods may be called from any goroutine but
// the reading one of the connection.
type conversations struct {
	*window
	desk     *delivery.Desk
	pages    *pages
	launcher *launcher

	// sending is a token for whoever sends a prompt, so that one that is sent twice at a time starts one run.
	sending chan struct{}

	mu sync.Mutex
	// scribes write the answers that are under way, by the path of the document.
	scribes map[string]*scribe
}

func newConversations(w *window, desk *delivery.Desk, g *pages, l *launcher) *conversations {
	return &conversations{
		window: w, desk: desk, pages: g, launcher: l, sending: make(chan struct{}, 1), scribes: map[string]*scribe{},
	}
}

// read is an open conversation as it was when the request was read.
func (c *conversations) read(ctx context.Context, u uri.URI) (path string, text *conversation.Text, err error) {
	path = document.Path(u)
	doc := c.documents.At(ctx).Get(path)
	if doc == nil || !conversation.Is(path) {
		return "", nil, &fault.Error{
			Kind:   fault.NotFound,
			Detail: fmt.Sprintf("%s is no open conversation", c.view.Shown(path)),
			Hint: "open a file whose name ends in " + conversation.Suffix + ", or begin one by " +
				methods.CommandConversation,
		}
	}
	return path, conversation.Parse(doc.Index().Text()), nil
}

// SendPrompt answers `agent/conversation/send`.
func (c *conversations) SendPrompt(ctx context.Context, p *methods.SendPromptParams) (*methods.SentPrompt, error) {
	path, text, err := c.read(ctx, p.URI)
	if err != nil {
		return nil, err
	}
	turn, prompting := text.Prompt()
	prompt := text.Body(turn)
	if !prompting || prompt == "" {
		return nil, &fault.Error{
			Kind: fault.InvalidRequest, Detail: "there is nothing to send",
			Hint: fmt.Sprintf("write below the last heading of the document, which is %q", conversation.Prompting),
		}
	}
	if !c.client.AppliesEdits() {
		return nil, &fault.Error{
			Kind:   fault.Unsupported,
			Detail: "this editor does not let a server apply edits (workspace/applyEdit), so that no answer can be written",
			Hint:   "use `agentls chat` on a terminal",
		}
	}
	for {
		sent, busy, err := c.send(ctx, path, text, prompt)
		if busy == nil {
			return sent, err
		}
		if err := c.awaits(ctx, busy.done); err != nil { // it says its last word, which comes first
			return nil, err
		}
	}
}

// send sends a prompt, to the run at work where there is one. busy is who still writes what a run says that reads
// nothing more.
func (c *conversations) send(ctx context.Context, path string, text *conversation.Text, prompt string,
) (sent *methods.SentPrompt, busy *scribe, err error) {
	select {
	case c.sending <- struct{}{}:
		defer func() { <-c.sending }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	s := c.at(path)
	if s == nil {
		sent, err = c.start(ctx, path, text, prompt)
		return sent, nil, err
	}
	sent = &methods.SentPrompt{Session: s.session, Run: s.run, Steered: true}
	if s.has(prompt, len(text.Answers(s.run))) {
		return sent, nil, nil
	}
	switch err := c.engine.Steer(s.run, prompt); {
	case errors.Is(err, run.ErrLastWord), fault.Is(err, fault.NotFound):
		return nil, s, nil
	case err != nil:
		return nil, nil, err
	}
	s.steered(prompt)
	return sent, nil, nil
}

// start starts the run of a prompt, and has its answer written.
func (c *conversations) start(ctx context.Context, path string, text *conversation.Text, prompt string,
) (*methods.SentPrompt, error) {
	request := methods.RunParams{Prompt: prompt, Model: text.Setting(conversation.KeyModel), After: text.After()}
	if request.After == "" {
		request.Agent = text.Setting(conversation.KeyAgent)
		request.PermissionMode = methods.PermissionMode(text.Setting(conversation.KeyMode))
	} else if err := c.follows(ctx, request.After, text.Setting(conversation.KeyAgent)); err != nil {
		return nil, err
	}
	session, err := c.launcher.sessionOf(ctx, "")
	if err != nil {
		return nil, err
	}
	_, seq, err := c.engine.History().Events(ctx, session.ID)
	if err != nil {
		return nil, err
	}
	events := c.engine.Subscribe(session.ID, seq) // before the run begins, so that nothing of it is missed
	started, err := c.launcher.Run(ctx, &request)
	if err != nil {
		return nil, err
	}
	s := newScribe(c, path, started, prompt)
	c.mu.Lock()
	c.scribes[path] = s
	c.mu.Unlock()
	c.goes(func(ctx context.Context) { s.listen(ctx, events) })
	c.goes(func(ctx context.Context) {
		defer c.left(s)
		s.write(ctx)
	})
	return &methods.SentPrompt{Session: started.Session, Run: started.Run}, nil
}

// follows refuses a conversation whose settings name another agent than the one that it is with. It says where the
// answer that the prompt follows was gone back behind elsewhere.
func (c *conversations) follows(ctx context.Context, after event.RunID, agent string) error {
	engine, err := c.open(ctx)
	if err != nil {
		return err
	}
	former, err := engine.History().Run(ctx, after)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil // which is told at its start
	case err != nil:
		return err
	case former.Rewound:
		c.tell(ctx, protocol.MessageTypeWarning, "agentls: the answer that this prompt follows was gone back behind; "+
			"\"Go back to before this\" takes it out of the document")
	}
	if agent == "" || former.Agent == agent {
		return nil
	}
	return &fault.Error{
		Kind:   fault.InvalidRequest,
		Detail: fmt.Sprintf("the conversation is with %s, and its settings name %s", former.Agent, agent),
		Hint:   "begin another document for another agent, or take its name out of the settings",
	}
}

// at is who writes into a document; nil for nobody.
func (c *conversations) at(path string) *scribe {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scribes[path]
}

// left forgets a scribe that has ended.
func (c *conversations) left(s *scribe) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scribes[s.path] == s {
		delete(c.scribes, s.path)
	}
	close(s.done)
}

// RewindConversation answers `agent/conversation/rewind`.
func (c *conversations) RewindConversation(ctx context.Context, p *methods.RewindConversationParams,
) (*methods.RewindResult, error) {
	path, text, err := c.read(ctx, p.URI)
	if err != nil {
		return nil, err
	}
	if _, there := text.Without(p.Run); !there {
		return nil, fault.Missing("answer in the document", string(p.Run), "name the run of one of its headings")
	}
	result, err := c.desk.Rewind(ctx, &methods.RewindParams{Run: p.Run})
	if err != nil {
		return nil, err
	}
	without := func(doc *document.Document) (delivery.Change, bool) {
		edit, ok := conversation.Parse(doc.Index().Text()).Without(p.Run)
		return delivery.Change{Start: edit.Start, End: edit.End, New: edit.New}, ok
	}
	err = delivery.Write(ctx, c.desk, path, "go back to before a prompt", without)
	if err != nil {
		err = fmt.Errorf("the edits are taken back, but the answer stays in the document: %w", err)
	}
	return result, err
}

// conversationsFolder is where the conversations are that the server begins.
const conversationsFolder = "conversations"

// Conversation answers `agent/conversation`.
func (c *conversations) Conversation(ctx context.Context, p *methods.ConversationParams,
) (*methods.Conversation, error) {
	engine, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.options.Dirs.State, conversationsFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for conversations: %w", err)
	}
	var path string
	if p.Run == "" {
		path, err = begun(dir, time.Now())
	} else {
		path, err = c.recorded(ctx, engine.History(), dir, p.Run)
	}
	if err != nil {
		return nil, err
	}
	u := uri.File(path)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	if doc := c.documents.At(ctx).Get(path); doc != nil {
		text = []byte(doc.Index().Text()) // which the user may not have saved
	}
	c.pages.shows("the conversation", func(ctx context.Context) error {
		shown, err := c.client.OpenAtEnd(ctx, u, string(text))
		if err == nil && !shown {
			c.tell(ctx, protocol.MessageTypeInfo, "agentls: the conversation is in "+path)
		}
		return err
	})
	return &methods.Conversation{URI: u}, nil
}

// begun makes the file of a conversation that begins.
func begun(dir string, now time.Time) (string, error) {
	day := now.Format(time.DateOnly)
	text := conversation.Recorded("Conversation of "+now.Format("2 January 2006, 15:04"), nil)
	for n := 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%s-%d%s", day, n, conversation.Suffix))
		if err := create(path, text); err == nil || !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// create writes a new file that the user alone may read and write; the error is [fs.ErrExist] where there is one.
func create(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make a conversation: %w", err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write a conversation: %w", err)
	}
	return nil
}

// recorded makes the file of what was said in a run and before it. A file that is there stays: it may have what the
// user has not sent yet.
func (c *conversations) recorded(ctx context.Context, stored *history.Reader, dir string, id event.RunID,
) (string, error) {
	row, err := stored.Run(ctx, id)
	if err != nil {
		return "", err
	}
	messages, _, err := stored.Transcript(ctx, id, "", 0)
	if err != nil {
		return "", err
	}
	agents := func(of event.RunID) string {
		if r, err := stored.Run(ctx, of); err == nil {
			return r.Agent
		}
		return row.Agent
	}
	path := filepath.Join(dir, string(id)+conversation.Suffix)
	title := strings.TrimSpace(row.Title)
	if title == "" {
		title = "Conversation with " + row.Agent
	}
	if err := create(path, conversation.Recorded(title, turnsOf(messages, agents))); !errors.Is(err, fs.ErrExist) {
		return path, err
	}
	return path, nil
}

// turnsOf are the turns of a stored conversation: what the user said, and what the runs said and did after it.
func turnsOf(messages []history.Message, agentOf func(event.RunID) string) []conversation.Said {
	var turns []conversation.Said
	var answer conversation.Answer
	end := func() {
		if n := len(turns); n > 0 && turns[n-1].Run != "" {
			answer.End()
			turns[n-1].Text = answer.String()
		}
		answer = conversation.Answer{}
	}
	for _, m := range messages {
		switch {
		case m.Role == model.RoleUser && !m.Summary && strings.TrimSpace(m.Text) != "":
			end()
			turns = append(turns, conversation.Said{Text: run.Unwrapped(m.Text)})
		case m.Role == model.RoleAssistant:
			if n := len(turns); n == 0 || turns[n-1].Run != m.Run {
				end()
				turns = append(turns, conversation.Said{Run: m.Run, Agent: agentOf(m.Run)})
			}
			answer.Text(m.Text)
			answer.Break()
			for _, call := range m.Calls {
				answer.Line(calledLine(call.Tool, call.Status, ""))
			}
		}
	}
	end()
	return turns
}

// calledLine is a call in a conversation.
func calledLine(title string, status event.CallStatus, summary string) string {
	line := "`" + strings.ReplaceAll(title, "`", "'") + "`"
	if status != event.CallOK && status != "" {
		line += " **" + string(status) + "**"
	}
	if summary != "" {
		line += ": " + summary
	}
	return line
}
