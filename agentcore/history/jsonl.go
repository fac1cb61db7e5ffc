package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

// The JSONL form of a session: an object a line, told apart by `type`. The first line is the session; then the system
// prompts of its runs; then each run, its messages, and behind each message the calls that it makes. The
// `parent` of a run is the run that started it. The `parent` of a message is the message that it follows, and that of a
// summary is the last message that the summary replaces. A parent stands in an earlier line. A reader ignores members
// and types that it does not know.
const (
	jsonlFormat  = "agentls-session"
	jsonlVersion = 1
)

// lineType is the `type` of a line.
type lineType struct {
	Type string `json:"type"`
}

type sessionLine struct {
	Type       string          `json:"type"`
	Format     string          `json:"format"`
	Version    int             `json:"version"`
	ID         event.SessionID `json:"id"`
	Title      string          `json:"title"`
	Summary    string          `json:"summary,omitzero"`
	Folders    []string        `json:"folders"` // absolute paths
	ForkedFrom event.SessionID `json:"forkedFrom,omitzero"`
	Created    time.Time       `json:"created,omitzero"`
	Updated    time.Time       `json:"updated,omitzero"`
}

type promptLine struct {
	Type string         `json:"type"`
	ID   store.PromptID `json:"id"` // what runs name it by
	Text string         `json:"text"`
}

type runLine struct {
	Type string      `json:"type"`
	ID   event.RunID `json:"id"`
	// differs from that of the first line where a run of the session goes on with this one
	Session event.SessionID `json:"session"`
	lineageLine
	Agent         string         `json:"agent"`
	Role          string         `json:"role"`
	Depth         int            `json:"depth"`
	Title         string         `json:"title"`
	URI           string         `json:"uri,omitzero"`
	Model         string         `json:"model"`
	Prompt        store.PromptID `json:"prompt,omitzero"` // the id of its system prompt
	RequestType   string         `json:"requestType,omitzero"`
	Request       string         `json:"request"`
	ContextMode   string         `json:"contextMode,omitzero"`
	ContextTokens int64          `json:"contextTokens,omitzero"` // of what it began with, about
	endingLine
	Turns         int             `json:"turns"`
	Usage         event.Usage     `json:"usage"` // with its children's
	FilesModified json.RawMessage `json:"filesModified,omitempty"`
	Permissions   json.RawMessage `json:"permissions,omitempty"`
	Unread        json.RawMessage `json:"unread,omitempty"` // what it was told and has not read
	Created       time.Time       `json:"created,omitzero"`
	Started       time.Time       `json:"started,omitzero"`
	Finished      time.Time       `json:"finished,omitzero"`
	DurationMs    int64           `json:"durationMs"`
}

// lineageLine is what a run's line says of the runs that it belongs to.
type lineageLine struct {
	Parent        event.RunID     `json:"parent,omitzero"`
	ParentMessage event.MessageID `json:"parentMessage,omitzero"`
	ParentCall    event.CallID    `json:"parentCall,omitzero"`
	Chain         event.RunID     `json:"chain,omitzero"`
}

// endingLine is what a run's line says of what the run came to.
type endingLine struct {
	Response string          `json:"response,omitzero"`
	Summary  string          `json:"summary,omitzero"`
	Result   json.RawMessage `json:"result,omitempty"`
	Status   event.Status    `json:"status"`
	Reason   string          `json:"reason,omitzero"`
	Error    json.RawMessage `json:"error,omitempty"`
}

type messageLine struct {
	Type   string          `json:"type"`
	ID     event.MessageID `json:"id"`
	Parent event.MessageID `json:"parent,omitzero"`
	Run    event.RunID     `json:"run"`
	Role   string          `json:"role"`
	Time   time.Time       `json:"time,omitzero"`
	Parts  json.RawMessage `json:"parts"` // as model.EncodeParts writes them
	Tokens int64           `json:"tokens,omitzero"`
	// DurationMs is how long the model took for it.
	DurationMs int64 `json:"durationMs,omitzero"`
	// Model is who answered, and Usage what that one request used; absent for a message that no model said.
	Model string       `json:"model,omitzero"`
	Usage *event.Usage `json:"usage,omitempty"`
}

// usageOf returns what the request used that the message answers; nil for a message that no model said.
func usageOf(m store.Message) *event.Usage {
	if m.Model == "" {
		return nil
	}
	return &m.Usage
}

// used reads the usage of a message from its line. Anybody may have written the line, so its counts are bounded.
func (l messageLine) used() event.Usage {
	if l.Usage == nil {
		return event.Usage{}
	}
	return l.Usage.Bounded()
}

type callLine struct {
	Type      string           `json:"type"`
	ID        event.CallID     `json:"id"`
	Run       event.RunID      `json:"run"`
	Message   event.MessageID  `json:"message,omitzero"`
	ModelCall string           `json:"modelCall"`
	Tool      string           `json:"tool"`
	Arguments json.RawMessage  `json:"arguments,omitempty"`
	Title     string           `json:"title"`
	Effect    string           `json:"effect"`
	Intent    time.Time        `json:"intent,omitzero"`
	Started   time.Time        `json:"started,omitzero"`
	Finished  time.Time        `json:"finished,omitzero"`
	Status    event.CallStatus `json:"status,omitzero"` // absent where no outcome is known
	Summary   string           `json:"summary,omitzero"`
	Output    string           `json:"output,omitzero"`
	ExitCode  *int             `json:"exitCode,omitzero"` // of the command that it ran to its end
}

// Export writes a session of any process as JSONL, which Import reads: its runs with their conversations, and the
// former ones that these go on with. Secrets that are known by now are taken out. It reads the store.
func (h *Reader) Export(ctx context.Context, id event.SessionID, w io.Writer) error {
	rec, err := h.record(ctx, id)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	write := func(line any) {
		if err != nil {
			return
		}
		var text bytes.Buffer
		encoder := json.NewEncoder(&text) // ends the line
		encoder.SetEscapeHTML(false)
		if err = encoder.Encode(line); err == nil {
			_, err = buffered.WriteString(h.redact(text.String())) // placeholders have no character that JSON escapes
		}
	}
	s := rec.session
	write(sessionLine{
		"session", jsonlFormat, jsonlVersion, s.ID, s.Title, s.Summary, append([]string{}, s.Roots...),
		s.ForkedFrom, s.Created, s.Updated,
	})
	for _, prompt := range rec.prompts {
		write(promptLine{"prompt", prompt.ID, prompt.Text})
	}
	for _, part := range rec.runs {
		r := part.run
		write(runLine{
			"run", r.ID, r.Session,
			lineageLine{r.Parent, r.ParentMessage, r.ParentCall, r.Chain},
			r.Agent, r.Role, r.Depth,
			r.Title, r.URI, r.Model, r.Prompt, r.RequestType, r.Request, r.ContextMode, r.ContextTokens,
			endingLine{r.Response, r.Summary, r.Result, r.Status, r.Reason, r.Failure},
			r.Turns, r.Usage,
			r.FilesModified, r.Permissions, r.Unread, r.Created, r.Started, r.Completed, r.Duration.Milliseconds(),
		})
		made := part.byMessage()
		calls := func(of event.MessageID) {
			for _, c := range made[of] {
				write(callLine{
					"call", c.ID, c.Run, c.Message, c.ModelCall, c.Tool, c.Arguments, c.Title, c.Effect, c.Intent,
					c.Started, c.Finished, c.Status,
					c.Summary, c.Output, c.ExitCode,
				})
			}
		}
		for _, m := range part.messages {
			write(messageLine{
				"message", m.ID, m.Parent, m.Run, m.Role, m.Time, m.Parts, m.Tokens,
				m.Duration.Milliseconds(), m.Model, usageOf(m),
			})
			calls(m.ID)
		}
		calls("")
	}
	return errors.Join(err, buffered.Flush())
}

const (
	// maxImport bounds an imported file, and maxLine one of its lines, in bytes.
	maxImport, maxLine = 512 << 20, 64 << 20
	// maxImportDepth bounds how deep imported runs may be below each other.
	maxImportDepth = 64
)

// Import stores a session that Export wrote, perhaps elsewhere, as a new one with ids of its own, and returns its id
// when it is durable. place gets the folders of the file, absolute paths that may not be here, and returns those that
// the session is on from now on; nil keeps them. Nothing in the file can give a run more power than its agent has here,
// and what it cost is not counted again. A file that is no such text is an Error of the kind invalid_request.
func (h *Reader) Import(ctx context.Context, r io.Reader,
	place func(folders []string) []string,
) (event.SessionID, error) {
	rec, err := readRecord(r, h.narrow)
	if err != nil {
		return "", err
	}
	if place != nil {
		rec.moveTo(place(rec.session.Roots))
	}
	if len(rec.session.Roots) == 0 {
		return "", &fault.Error{
			Kind: fault.InvalidRequest, Detail: "the file names no folder that the session is on",
			Hint: "say on which folder it goes on",
		}
	}
	return h.keepCopy(ctx, rec)
}

// moveTo puts a session on other folders. The first of them takes the place of all folders that the session was on.
func (r *record) moveTo(roots []string) {
	former := r.session.Roots
	if slices.Equal(former, roots) || len(roots) == 0 {
		return
	}
	r.session.Roots = roots
	for i := range r.runs {
		row := &r.runs[i].run
		path := ""
		if row.URI != "" {
			path = event.FilePath(row.URI)
		}
		row.URI = ""
		for _, root := range former {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				row.URI = event.FileURI(filepath.Join(roots[0], rel))
			}
		}
	}
}

// reading is a record while it is read.
type reading struct {
	record record
	runs   map[event.RunID]int       // where in record.runs; -1 for one that is left out
	known  map[event.MessageID]bool  // messages so far
	calls  map[event.CallID]struct{} // calls so far
	depths map[event.RunID]int       // of the runs so far
	// prompts maps the ids of prompts in the file to their ids here. They differ where a secret was taken out of a
	// prompt since.
	prompts map[store.PromptID]store.PromptID
	narrow  func(json.RawMessage) json.RawMessage // as in Options
}

func readRecord(r io.Reader, narrow func(json.RawMessage) json.RawMessage) (record, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxImport+1), 1<<20)
	into := reading{
		narrow: narrow, runs: map[event.RunID]int{}, known: map[event.MessageID]bool{},
		calls: map[event.CallID]struct{}{}, depths: map[event.RunID]int{}, prompts: map[store.PromptID]store.PromptID{},
	}
	size := 0
	for n := 1; ; n++ {
		line, err := readLine(in)
		if size += len(line) + 1; err == nil && size > maxImport {
			err = fmt.Errorf("the file has more than %d MB", maxImport>>20)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF")) // as some editors write it
		}
		if text := bytes.TrimSpace(line); err == nil && len(text) > 0 {
			err = into.take(text)
		}
		if err != nil {
			return record{}, &fault.Error{
				Kind: fault.InvalidRequest, Detail: fmt.Sprintf("line %d: %v", n, err),
				Hint: "import a file that `agentls sessions export` wrote", Cause: err,
			}
		}
	}
	if into.record.session.ID == "" {
		return record{}, &fault.Error{
			Kind: fault.InvalidRequest, Detail: "the file is empty",
			Hint: "import a file that `agentls sessions export` wrote",
		}
	}
	return into.record, nil
}

// readLine returns the next line without its end, or io.EOF behind the last one.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("it has more than %d MB", maxLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

func (r *reading) take(text []byte) error {
	var kind lineType
	if err := json.Unmarshal(text, &kind); err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	if r.record.session.ID == "" && kind.Type != "session" {
		return errors.New("the first line is not of the type session")
	}
	switch kind.Type {
	case "session":
		return decodeLine(text, r.takeSession)
	case "prompt":
		return decodeLine(text, r.takePrompt)
	case "run":
		return decodeLine(text, r.takeRun)
	case "message":
		return decodeLine(text, r.takeMessage)
	case "call":
		return decodeLine(text, r.takeCall)
	}
	return nil // of a later version
}

func decodeLine[L any](text []byte, take func(L) error) error {
	var line L
	err := json.Unmarshal(text, &line)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("its member %s must not be of the kind %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return err
	}
	return take(line)
}

func (r *reading) takeSession(l sessionLine) error {
	switch {
	case l.Format != jsonlFormat:
		return fmt.Errorf("its format is %q, not %q", l.Format, jsonlFormat)
	case l.Version > jsonlVersion:
		return fmt.Errorf("its version is %d; this agentls knows %d: update it", l.Version, jsonlVersion)
	case r.record.session.ID != "":
		return errors.New("there is a second session in the file")
	case l.ID == "":
		return errors.New("the session has no id")
	}
	for _, root := range l.Folders {
		if !filepath.IsAbs(root) {
			return fmt.Errorf("the folder %q is no absolute path", root)
		}
	}
	r.record.session = store.Session{
		ID: l.ID, Title: oneLine(l.Title), Summary: l.Summary, Roots: l.Folders,
		ForkedFrom: l.ID, Created: l.Created,
	}
	return nil
}

func (r *reading) takePrompt(l promptLine) error {
	if _, twice := r.prompts[l.ID]; l.ID == "" || twice {
		return fmt.Errorf("the prompt %q has no id of its own", l.ID)
	}
	prompt := store.PromptOf(l.Text)
	r.prompts[l.ID] = prompt.ID
	r.record.prompts = append(r.record.prompts, prompt)
	return nil
}

func (r *reading) takeRun(l runLine) error {
	if _, twice := r.runs[l.ID]; l.ID == "" || twice {
		return fmt.Errorf("the run %q has no id of its own", l.ID)
	}
	above, known := r.runs[l.Parent]
	switch {
	case l.Parent != "" && !known:
		return fmt.Errorf("the run %s stands in front of the one that started it", l.ID)
	case l.Role == RoleHidden, l.Parent != "" && above < 0:
		r.runs[l.ID] = -1
		return nil
	case strings.TrimSpace(l.Agent) == "":
		return fmt.Errorf("the run %s names no agent", l.ID)
	}
	depth := 0
	if l.Parent != "" {
		depth = r.depths[l.Parent] + 1
	}
	if depth > maxImportDepth {
		return fmt.Errorf("the run %s is more than %d below the first", l.ID, maxImportDepth)
	}
	r.runs[l.ID], r.depths[l.ID] = len(r.record.runs), depth
	part := recordedRun{run: store.Run{
		ID: l.ID, Agent: l.Agent, Role: l.Role, Title: oneLine(l.Title), URI: l.URI, Model: l.Model,
		Prompt: r.prompts[l.Prompt], Request: l.Request, Permissions: encodedOrNil(l.Permissions),
		Unread: encodedOrNil(l.Unread), Created: l.Created, Started: l.Started, Completed: l.Finished,
		Origin: store.Origin{
			Parent: l.Parent, ParentMessage: l.ParentMessage, ParentCall: l.ParentCall, Chain: l.Chain, Depth: depth,
			RequestType: l.RequestType, ContextMode: l.ContextMode, ContextTokens: l.ContextTokens,
		},
		Ending: store.Ending{
			Response: l.Response, Summary: oneLine(l.Summary), Result: encodedOrNil(l.Result), Status: l.Status,
			Reason: l.Reason, Failure: encodedOrNil(l.Error), FilesModified: encodedOrNil(l.FilesModified),
		},
		Spent: store.Spent{Usage: l.Usage},
	}}
	if part.run.Permissions != nil { // none is the least
		part.run.Permissions = r.narrow(part.run.Permissions)
	}
	var said []string
	if part.run.Unread != nil && json.Unmarshal(part.run.Unread, &said) != nil {
		return fmt.Errorf("what the run %s has not read is no list of texts", l.ID)
	}
	var failure event.Failure
	if part.run.Failure != nil && json.Unmarshal(part.run.Failure, &failure) != nil {
		return fmt.Errorf("the error of the run %s is no object with kind and detail", l.ID)
	}
	r.record.runs = append(r.record.runs, part)
	return nil
}

// partOf returns the run of a line, nil for one that is left out.
func (r *reading) partOf(id event.RunID) (*recordedRun, error) {
	at, known := r.runs[id]
	if !known {
		return nil, fmt.Errorf("there is no run %q in front of it", id)
	}
	if at < 0 {
		return nil, nil
	}
	return &r.record.runs[at], nil
}

func (r *reading) takeMessage(l messageLine) error {
	part, err := r.partOf(l.Run)
	if err != nil || part == nil {
		return err
	}
	if l.ID == "" || r.known[l.ID] {
		return fmt.Errorf("the message %q has no id of its own", l.ID)
	}
	if !slices.Contains([]model.Role{model.RoleUser, model.RoleAssistant, model.RoleTool}, model.Role(l.Role)) {
		return fmt.Errorf("the message %s has the role %q", l.ID, l.Role)
	}
	if _, err := model.DecodeParts(l.Parts); err != nil {
		return err
	}
	if !r.known[l.Parent] {
		l.Parent = "" // what it goes on with is not in the file
	}
	r.known[l.ID] = true
	part.messages = append(part.messages, store.Message{
		ID: l.ID, Run: l.Run, Parent: l.Parent, Role: l.Role, Parts: l.Parts, Time: l.Time,
		Tokens: l.Tokens, Duration: time.Duration(l.DurationMs) * time.Millisecond, Model: l.Model, Usage: l.used(),
	})
	return nil
}

func (r *reading) takeCall(l callLine) error {
	part, err := r.partOf(l.Run)
	if err != nil || part == nil {
		return err
	}
	if _, twice := r.calls[l.ID]; l.ID == "" || twice {
		return fmt.Errorf("the call %q has no id of its own", l.ID)
	}
	r.calls[l.ID] = struct{}{}
	part.calls = append(part.calls, store.ToolCall{
		ID: l.ID, Run: l.Run, Message: l.Message, ModelCall: l.ModelCall, Tool: l.Tool,
		Arguments: encodedOrNil(l.Arguments), Title: oneLine(l.Title), Effect: l.Effect,
		Intent: l.Intent, Started: l.Started, Finished: l.Finished, Status: l.Status, Summary: oneLine(l.Summary),
		Output: l.Output, ExitCode: l.ExitCode,
	})
	return nil
}

// oneLine is a text for lists.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
