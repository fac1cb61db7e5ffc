package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = 4 * time.Minute

// packet is any message of the server.
type packet struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// everything is what a client may announce of which the server makes use.
const everything = `{
	"workspace": {"applyEdit": true, "configuration": true, "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "delete"]},
		"didChangeWatchedFiles": {"dynamicRegistration": true}, "textDocumentContent": {}, "inlayHint": {"refreshSupport": true}},
	"window": {"workDoneProgress": true, "showDocument": {"support": true}},
	"textDocument": {"publishDiagnostics": {"versionSupport": true}, "inlayHint": {"dynamicRegistration": true}, "hover": {"dynamicRegistration": true},
		"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}}
}`

// rude is an editor that answers only what a test tells it to answer, and minds no manners. (The scenarios' editor
// behaves.)
type rude struct {
	t     *testing.T
	dir   string
	in    io.WriteCloser
	ended chan int

	mu   sync.Mutex
	next int
	got  []packet
	news chan struct{}
	// answers gives the raw result, or error member, of the server's requests by method, "" for all others; what is
	// missing is never answered.
	answers map[string]string
}

// serveRude starts a server with a scripted model. An answer of the editor's is waited for answerTime.
func serveRude(t *testing.T, answerTime time.Duration, turns ...script.Turn) *rude {
	t.Helper()
	return serveRudeWith(t, Options{AnswerTime: answerTime, Getenv: func(string) string { return "" }}, turns...)
}

// serveRudeWith is serveRude with further options.
func serveRudeWith(t *testing.T, o Options, turns ...script.Turn) *rude {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	scripted := script.New("test", turns...)
	r := &rude{
		t: t, dir: t.TempDir(), in: inW, ended: make(chan int, 1), news: make(chan struct{}),
		answers: map[string]string{},
	}
	state := t.TempDir()
	var group sync.WaitGroup
	group.Go(func() {
		o.Dirs = config.Dirs{State: state, Config: state}
		o.OpenModel = func(provider.Choice) (model.Model, error) { return scripted, nil }
		code, err := Serve(context.Background(), inR, outW, o)
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
		r.ended <- code
		outW.Close()
	})
	group.Go(func() { r.read(bufio.NewReader(outR)) })
	t.Cleanup(func() {
		inW.Close()
		group.Wait()
		if err := scripted.Check(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rude) read(from *bufio.Reader) {
	for {
		header, err := from.ReadString('\n')
		if err != nil {
			return
		}
		length, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(header, "Content-Length:")))
		if err != nil {
			continue // another header, or the empty line
		}
		if blank, err := from.ReadString('\n'); err != nil || strings.TrimSpace(blank) != "" {
			r.t.Errorf("an unexpected header %q (%v)", blank, err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		var p packet
		if err := json.Unmarshal(body, &p); err != nil {
			r.t.Errorf("the server sent %q: %v", body, err)
			return
		}
		r.mu.Lock()
		r.got = append(r.got, p)
		answer, answered := r.answers[p.Method]
		if !answered {
			answer, answered = r.answers[""]
		}
		close(r.news)
		r.news = make(chan struct{})
		r.mu.Unlock()
		if answered && p.ID != nil && p.Method != "" {
			go r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, p.ID, answer))
		}
	}
}

func (r *rude) answer(method, member string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[method] = member
}

func (r *rude) send(body string) {
	// A server that has ended reads no more; what was missed shows in the test.
	_, _ = fmt.Fprintf(r.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (r *rude) notify(method, params string) {
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// all are the messages so far.
func (r *rude) all() []packet {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// begin sends a request and returns its id.
func (r *rude) begin(method, params string) int {
	r.mu.Lock()
	r.next++
	id := r.next
	r.mu.Unlock()
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return id
}

// until waits for a message that fits, from the first on.
func (r *rude) until(what string, fits func(packet) bool) packet {
	r.t.Helper()
	patience := time.NewTimer(watchdog)
	defer patience.Stop()
	for at := 0; ; {
		r.mu.Lock()
		news := r.news
		for ; at < len(r.got); at++ {
			if fits(r.got[at]) {
				p := r.got[at]
				r.mu.Unlock()
				return p
			}
		}
		r.mu.Unlock()
		select {
		case <-news:
		case <-patience.C:
			r.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// answered waits for the answer to a request.
func (r *rude) answered(id int) packet {
	r.t.Helper()
	return r.until(fmt.Sprintf("the answer to request %d", id), func(p packet) bool {
		return p.Method == "" && string(p.ID) == strconv.Itoa(id)
	})
}

func (r *rude) asked(method string) packet {
	r.t.Helper()
	return r.until(method, func(p packet) bool { return p.Method == method })
}

// call is a request that must succeed; its result is decoded into result.
func (r *rude) call(method, params string, result any) {
	r.t.Helper()
	p := r.answered(r.begin(method, params))
	if p.Error != nil {
		r.t.Fatalf("%s: %d %s", method, p.Error.Code, p.Error.Message)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(p.Result, result); err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
}

// introduce sends initialize alone.
func (r *rude) introduce(capabilities, more string) {
	r.t.Helper()
	r.call("initialize",
		fmt.Sprintf(`{"processId":null,"rootUri":%q,"capabilities":%s%s}`, r.uri(""), capabilities, more), nil)
}

func (r *rude) initialize(capabilities, more string) {
	r.t.Helper()
	r.introduce(capabilities, more)
	r.notify("initialized", "{}")
}

func (r *rude) uri(name string) string { return "file://" + filepath.Join(r.dir, name) }

func (r *rude) open(name, text string) {
	raw, err := json.Marshal(text)
	if err != nil {
		r.t.Fatal(err)
	}
	r.notify("textDocument/didOpen",
		fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":%s}}`, r.uri(name), raw))
}

// between is a range as JSON.
func between(line, character, endLine, endCharacter uint32) string {
	return fmt.Sprintf(`{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`,
		line, character, endLine, endCharacter)
}

// change tells of changes of a document, which are JSON.
func (r *rude) change(name string, version int, changes string) {
	r.notify("textDocument/didChange",
		fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":%s}`, r.uri(name), version, changes))
}

// replace has a document show another text, as JSON without its quotes, in version 2.
func (r *rude) replace(name, text string) {
	r.change(name, 2, `[{"text":"`+text+`"}]`)
}

// quit ends the server properly.
func (r *rude) quit() {
	r.t.Helper()
	r.call("shutdown", "null", nil)
	r.notify("exit", "null")
	r.gone(0)
}

func (r *rude) gone(want int) {
	r.t.Helper()
	select {
	case code := <-r.ended:
		if code != want {
			r.t.Errorf("the server ended with code %d, want %d", code, want)
		}
	case <-time.After(watchdog):
		r.t.Fatal("the server does not end")
	}
}

// improve is a script that proposes one edit of a.go.
var improve = []script.Turn{
	{Answer: []script.Step{script.Call{Name: "read", Arguments: `{"path":"a.go"}`}}},
	{
		Answer: []script.Step{
			script.Call{Name: "edit", Arguments: `{"path":"a.go","old_string":"one","new_string":"two"}`},
		},
	},
	{Answer: []script.Step{script.Text("Improved.")}},
}

// serveImproved is a server whose model has improved a.go, and whose edit is open.
func serveImproved(t *testing.T) *rude {
	r := serveRude(t, time.Hour, improve...)
	r.answer("workspace/configuration", `"result":[null]`)
	r.initialize(everything, "")
	r.improved()
	return r
}

// improved opens a.go, has it improved, and returns the params that accept the edit.
func (r *rude) improved() string {
	r.t.Helper()
	r.open("a.go", "package one\n")
	var started struct{ Run string }
	r.call("agent/run", `{"agent":"coder","prompt":"Improve it."}`, &started)
	var result struct{ Status, Proposal string }
	r.call("agent/wait", fmt.Sprintf(`{"run":%q}`, started.Run), &result)
	if result.Status != "completed" || result.Proposal == "" {
		r.t.Fatalf("the run ended as %+v", result)
	}
	return fmt.Sprintf(`{"proposal":%q}`, result.Proposal)
}

// An editor that announces everything and answers nothing costs patience, never the server.
func TestNothingIsAnswered(t *testing.T) {
	r := serveRude(t, 50*time.Millisecond, improve...)
	r.initialize(everything, "")
	accept := r.improved()
	for range 2 {
		p := r.answered(r.begin("agent/proposal/accept", accept))
		if p.Error == nil || !strings.Contains(p.Error.Message, "did not answer workspace/applyEdit") {
			t.Errorf("accepting an edit that the editor did not answer: %+v", p)
		}
	}
	var left struct {
		Proposals []struct{ State string }
	}
	r.call("agent/proposals", "{}", &left)
	if len(left.Proposals) != 1 || left.Proposals[0].State != "open" {
		t.Errorf("the proposals are %+v, want an open one", left)
	}
	// The command shows a document.
	r.call("workspace/executeCommand", `{"command":"agentls.proposal.diff","arguments":[`+accept+`]}`, nil)
	r.asked("window/showDocument")
	r.quit()
}

// The same with more patience than there is time: the end does not wait for the answers.
func TestQuitWhileNothingIsAnswered(t *testing.T) {
	for _, how := range []string{"shutdown", "exit", "end of input"} {
		t.Run(how, func(t *testing.T) {
			r := serveRude(t, time.Hour, improve...)
			r.answer("workspace/configuration", `"result":[null]`)
			r.initialize(everything, "")
			accept := r.improved()
			r.begin("agent/proposal/accept", accept)
			r.begin("agent/proposal/accept", accept)
			r.asked("workspace/applyEdit")
			r.asked("window/workDoneProgress/create")
			r.asked("client/registerCapability")
			switch how {
			case "shutdown":
				r.quit()
			case "exit":
				r.notify("exit", "null")
				r.gone(1)
			default:
				r.in.Close()
				r.gone(1)
			}
		})
	}
}

func TestQuitBeforeAnythingIsOpen(t *testing.T) {
	for _, messages := range []string{"", "initialized", "initialized didChangeConfiguration"} {
		r := serveRude(t, time.Hour)
		r.introduce(everything, "")
		if strings.Contains(messages, "initialized") {
			r.notify("initialized", "{}")
		}
		if strings.Contains(messages, "Configuration") {
			r.notify("workspace/didChangeConfiguration", `{"settings":null}`)
		}
		r.quit()
	}
}

// Of edits in several files, those that the editor cannot make are named, and the others are made.
func TestAcceptWhereOneFileIsRefused(t *testing.T) {
	r := serveRude(t, time.Hour,
		improve[0],
		script.Turn{Answer: []script.Step{
			script.Call{Name: "edit", Arguments: `{"path":"a.go","old_string":"one","new_string":"two"}`},
			script.Call{Name: "write", Arguments: `{"path":"b.go","content":"package two\n"}`},
		}},
		improve[2],
	)
	r.answer("workspace/applyEdit", `"result":{"applied":true}`)
	r.initialize(`{"workspace":{"applyEdit":true}}`, "")
	id := r.begin("agent/proposal/accept", r.improved())
	edit := r.asked("workspace/applyEdit")
	r.replace("a.go", `package two\n`)
	var p struct {
		Edit struct {
			Changes         map[string]any
			DocumentChanges []any
		}
	}
	if err := json.Unmarshal(edit.Params, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Edit.Changes) != 1 || p.Edit.Changes[r.uri("a.go")] == nil || p.Edit.DocumentChanges != nil {
		t.Errorf("the edit is %s, want plain changes of a.go alone", edit.Params)
	}
	var result struct {
		Applied []string
		Failed  []struct{ Reason string }
	}
	if err := json.Unmarshal(r.answered(id).Result, &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Applied) != 1 || len(result.Failed) != 1 || !strings.Contains(result.Failed[0].Reason, "create") {
		t.Errorf("unexpected result: %+v", result)
	}
	r.quit()
}

// Who gives up accepting does not hold up the next one.
func TestCancelDuringAccept(t *testing.T) {
	r := serveRude(t, time.Hour, improve...)
	r.answer("workspace/configuration", `"result":[null]`)
	r.initialize(everything, "")
	accept := r.improved()
	first := r.begin("agent/proposal/accept", accept)
	r.asked("workspace/applyEdit")
	second := r.begin("agent/proposal/accept", accept)
	r.answer("workspace/applyEdit", `"result":{"applied":false,"failureReason":"busy"}`)
	r.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, first))
	if p := r.answered(first); p.Error == nil || p.Error.Code != -32800 {
		t.Errorf("the cancelled request got %+v", p)
	}
	if p := r.answered(second); p.Error != nil || !strings.Contains(string(p.Result), "busy") {
		t.Errorf("the other request got %+v %s", p, p.Result)
	}
	r.until("$/cancelRequest of the edit", func(p packet) bool { return p.Method == "$/cancelRequest" })
	r.quit()
}

// A progress that the editor refuses is none: the run goes on, and is told of in the editor's log.
func TestProgressRefused(t *testing.T) {
	r := serveRude(t, time.Hour, improve...)
	r.answer("workspace/configuration", `"result":[null]`)
	r.answer("window/workDoneProgress/create", `"error":{"code":-32601,"message":"no progress here"}`)
	r.answer("client/registerCapability", `"error":{"code":-32601,"message":"no"}`)
	r.initialize(everything, "")
	r.improved()
	created := r.asked("window/workDoneProgress/create")
	var p struct{ Token json.RawMessage }
	if err := json.Unmarshal(created.Params, &p); err != nil {
		t.Fatal(err)
	}
	r.until("the run in the log", func(p packet) bool {
		return p.Method == "window/logMessage" && strings.Contains(string(p.Params), "coder: Improve it.")
	})
	for _, token := range []string{string(p.Token), "7", `"none"`, "null"} {
		r.notify("window/workDoneProgress/cancel", `{"token":`+token+`}`)
	}
	r.quit()
	for _, m := range r.all() {
		if m.Method == "$/progress" {
			t.Errorf("progress was sent: %s", m.Params)
		}
	}
}

// Editors send odd things as their settings; none of them keeps the server from starting.
func TestOddSettings(t *testing.T) {
	for _, c := range []struct{ options, told string }{
		{`[]`, ""},
		{`null`, ""},
		{`{}`, ""},
		{`"x"`, "expected an object"},
		{`[1]`, "expected an object"},
		{`{"trusted":"yes"}`, ""},
	} {
		r := serveRude(t, time.Hour)
		r.answer("workspace/configuration", `"result":[[]]`)
		r.initialize(`{"workspace":{"configuration":true}}`, `,"initializationOptions":`+c.options)
		r.call("agent/list", "{}", nil)
		if c.told != "" {
			r.until("a message about "+c.options, func(p packet) bool {
				return p.Method == "window/showMessage" && strings.Contains(string(p.Params), c.told)
			})
		}
		r.quit()
		for _, m := range r.all() {
			if c.told == "" && m.Method == "window/showMessage" {
				t.Errorf("%s: %s", c.options, m.Params)
			}
		}
	}
}

// Requests by the thousand, while the user types, are all answered.
func TestManyRequests(t *testing.T) {
	const n = 2000
	r := serveImproved(t)
	ids := make([]int, 0, n)
	for i := range n {
		r.change("a.go", i+2, `[{"range":`+between(0, 0, 0, 0)+`,"text":"//\n"}]`)
		ids = append(ids, r.begin("textDocument/codeAction", fmt.Sprintf(
			`{"textDocument":{"uri":%q},"range":%s,"context":{"diagnostics":[]}}`, r.uri("a.go"),
			between(uint32(i), 0, math.MaxUint32, math.MaxUint32))))
	}
	for _, id := range ids {
		if p := r.answered(id); p.Error != nil {
			t.Fatalf("request %d: %+v", id, p.Error)
		}
	}
	r.quit()
}

// Documents that nobody opened, twice opened ones, versions that go back and ranges that are nowhere do no harm.
func TestOddDocuments(t *testing.T) {
	r := serveRude(t, time.Hour)
	r.answer("workspace/configuration", `"result":[null]`)
	r.initialize(everything, "")
	r.change("none.go", 1, `[{"text":"x"}]`)
	r.notify("textDocument/didClose", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, r.uri("none.go")))
	r.notify("textDocument/didSave", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, r.uri("none.go")))
	r.open("a.go", "first")
	r.open("a.go", "package one\n")
	r.change("a.go", 5, `[{"range":`+between(9, 9, math.MaxUint32, 0)+`,"text":"// end\n"}]`)
	r.change("a.go", 3, `[{"range":`+between(1, 0, 0, 0)+`,"text":"package two\n"}]`)
	r.change("a.go", 3, `[]`)
	r.change("a.go", 4, `null`)
	r.change("a.go", 4, `[{"range":null,"text":7}]`)
	r.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:","languageId":"","version":0,"text":""}}`)
	r.notify("workspace/didChangeWorkspaceFolders", `{"event":{`+
		`"added":[{"uri":"file:relative","name":"x"},{"uri":"untitled:x","name":"y"}],`+
		`"removed":[{"uri":"file:","name":""}]}}`)
	r.notify("workspace/didChangeWatchedFiles", `{"changes":[{"uri":"","type":1},{"uri":"file:","type":9}]}`)
	for _, u := range []string{r.uri("a.go"), "file:", "", "agentls:/answers/x.md", "http://x/y"} {
		p := r.answered(r.begin("textDocument/codeAction", fmt.Sprintf(
			`{"textDocument":{"uri":%q},"range":%s,"context":{"diagnostics":[],"only":[""]}}`, u, between(3, 0, 0, 0))))
		if p.Error != nil {
			t.Errorf("code actions of %q: %+v", u, p.Error)
		}
	}
	r.quit()
}

// Every command and method answers every kind of nonsense, and the server goes on.
func TestOddArguments(t *testing.T) {
	r := serveRude(t, time.Hour, script.Turn{Times: script.Any, Answer: []script.Step{script.Text("done")}})
	r.answer("workspace/configuration", `"result":[null]`)
	r.initialize(everything, "")
	r.open("a.go", "package one\n")
	r.answer("window/showMessageRequest", `"result":null`) // delegate waits for a person
	long := strconv.Quote(strings.Repeat("x", 1<<14))
	odd := []string{
		`null`, `7`, `"x"`, `[]`, `[[]]`, `{}`, `{"run":null}`, `{"run":""}`, `{"run":` + long + `}`, `{"uri":"file:"}`,
		`{"uri":""}`, `{"uri":"agentls:/answers/x.md"}`,
		`{"uri":"untitled:none","range":{"start":{"line":4294967295,"character":0},"end":{"line":0,"character":0}}}`,
		`{"uris":["file:///none","file:///none"]}`, `{"uris":[]}`, `{"prompt":""}`,
		`{"prompt":"x","agent":` + long + `}`, `{"prompt":"x","limits":{"maxTurns":-1}}`,
		`{"prompt":"x","limits":{"timeoutMs":-9223372036854775808}}`, `{"prompt":"x","each":["file:///none"]}`,
		`{"prompt":"x","session":"s0"}`, `{"proposal":"p0","hunks":["h0","h0"]}`, `{"finding":"f0"}`,
		`{"session":"s0","since":18446744073709551615}`, `{"folder":"file:","limit":-1,"before":"s0"}`,
		`{"timeoutMs":-1,"run":"r0"}`,
	}
	var list struct {
		Capabilities struct {
			ExecuteCommandProvider struct{ Commands []string }
		}
	}
	if err := json.Unmarshal(r.answered(1).Result, &list); err != nil {
		t.Fatal(err)
	}
	commands := list.Capabilities.ExecuteCommandProvider.Commands
	if len(commands) == 0 {
		t.Fatal("the server has no commands")
	}
	ids := map[int]string{}
	for _, command := range append(commands, "", "agentls.none") {
		for _, arguments := range append(odd, `{},{}`) {
			params := fmt.Sprintf(`{"command":%q,"arguments":[%s]}`, command, arguments)
			ids[r.begin("workspace/executeCommand", params)] = command + arguments
		}
		ids[r.begin("workspace/executeCommand", fmt.Sprintf(`{"command":%q}`, command))] = command
	}
	for _, method := range []string{
		"agent/run", "agent/wait", "agent/subscribe", "agent/sessions", "agent/proposal/diff",
		"workspace/textDocumentContent", "textDocument/codeAction",
	} {
		for _, params := range odd {
			if params[0] == '{' || params[0] == '[' { // JSON-RPC has no others
				ids[r.begin(method, params)] = method + params
			}
		}
	}
	for id, what := range ids {
		if p := r.answered(id); p.Error != nil && (p.Error.Code == -32603 || p.Error.Message == "") {
			t.Errorf("%.200s: %+v", what, p.Error)
		}
	}
	r.quit()
}

// TestDocumentOfOneLongLine changes a line of 10 MiB and asks about it. What a change costs is for the buffer's own
// tests.
func TestDocumentOfOneLongLine(t *testing.T) {
	r := serveRude(t, time.Hour)
	r.answer("workspace/configuration", `"result":[null]`)
	r.initialize(everything, "")
	r.open("long.json", `"`+strings.Repeat("a😀", 2<<20)+`"`)
	for i := range 200 {
		at := i * 31_013
		r.change("long.json", i+2, `[{"range":`+between(0, uint32(at), 0, uint32(at+1))+`,"text":"x"}]`)
	}
	r.call("textDocument/codeAction", fmt.Sprintf(`{"textDocument":{"uri":%q},"range":%s,"context":{"diagnostics":[]}}`,
		r.uri("long.json"), between(0, 5, 0, 6291456)), nil)
	r.call("textDocument/hover", fmt.Sprintf(
		`{"textDocument":{"uri":%q},"position":{"line":0,"character":6000000}}`, r.uri("long.json")), nil)
	r.notify("textDocument/didClose", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, r.uri("long.json")))
	r.quit()
}
