package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/position"
)

// A request's positions are in the text that the client had then: what it typed behind the request moves them, and
// takes them away with their lines.
func TestRequestsAndNewerText(t *testing.T) {
	done := script.Turn{Answer: []script.Step{script.Text("Done.")}}
	r := serveRude(t, time.Hour, done, done)
	r.initialize(everything, "")
	settings := r.asked("workspace/configuration") // nothing is started before it is answered
	r.open("a.go", "package one\n\n// agent: improve it\n")
	r.open("b.go", "package one\n\nvar b int\n")
	command := func(name, arguments string) int {
		return r.begin("workspace/executeCommand", fmt.Sprintf(`{"command":%q,"arguments":[%s]}`, name, arguments))
	}
	at := func(line int) string {
		const where = `"uri":%q,"range":{"start":{"line":%d,"character":0},"end":{"line":%[2]d,"character":3}}`
		return fmt.Sprintf(where, r.uri("b.go"), line)
	}
	comment := command("agentls.request", fmt.Sprintf(`{"uri":%q,"line":2}`, r.uri("a.go")))
	moved, gone := command("agentls.explain", "{"+at(2)+"}"), command("agentls.explain", "{"+at(0)+"}")
	run := r.begin("agent/run", `{"prompt":"x","context":{`+at(0)+`}}`)
	r.replace("a.go", `package one\n\n\n\n// agent: improve it\n`)
	r.replace("b.go", `package two\n\n\n\nvar b int\n`)
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":[null]}`, settings.ID))
	var started []string
	for _, id := range []int{comment, moved} {
		p := r.answered(id)
		if p.Error != nil {
			t.Errorf("request %d, whose lines have moved: %+v", id, p.Error)
			continue
		}
		var answer struct{ Run string }
		if err := json.Unmarshal(p.Result, &answer); err != nil || answer.Run == "" {
			t.Errorf("request %d started %s: %v", id, p.Result, err)
		}
		started = append(started, answer.Run)
	}
	for _, id := range []int{gone, run} {
		if p := r.answered(id); p.Error == nil || p.Error.Code != -32801 {
			t.Errorf("request %d, whose lines are gone: %+v %s, want ContentModified", id, p.Error, p.Result)
		}
	}
	var list struct {
		Sessions []struct{ ID string }
	}
	r.call("agent/sessions", "{}", &list)
	var session struct {
		Tree []struct{ Title string }
	}
	r.call("agent/session", fmt.Sprintf(`{"session":%q}`, list.Sessions[0].ID), &session)
	if !strings.Contains(fmt.Sprint(session.Tree), "b.go:5-5") {
		t.Errorf("the runs are %+v, want one on b.go:5", session.Tree)
	}
	for _, id := range started { // each has asked the model
		var ended struct{ Status string }
		if r.call("agent/wait", fmt.Sprintf(`{"run":%q}`, id), &ended); ended.Status != "completed" {
			t.Errorf("run %s is %+v", id, ended)
		}
	}
	r.quit()
}

// second has a document show another text, in version 2.
func second(d *document.Documents, u uri.URI, text string) {
	id := protocol.VersionedTextDocumentIdentifier{Version: 2}
	id.URI = u
	whole := &protocol.TextDocumentContentChangeWholeDocument{Text: text}
	if _, err := d.Change(id, []protocol.TextDocumentContentChangeEvent{whole}); err != nil {
		panic(err)
	}
}

// What a request asks of a file that people write for agentls is answered for the text of its moment.
func TestAnswersForTheTextOfTheMoment(t *testing.T) {
	view, err := workspace.Open(nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	ours := func(string) authoring.Kind { return authoring.ProjectConfig }
	utf16 := position.Encoding(protocol.PositionEncodingKindUTF16)
	documents := document.New(utf16, view, ours)
	a := &authored{editor: &editor{documents: documents}}
	u := uri.File("/w/config.toml")
	documents.Open(protocol.TextDocumentItem{URI: u, Version: 1, Text: "default_agent = \"coder\"\n"})
	ctx := documents.Keep(t.Context())
	second(documents, u, "")
	if sheet := a.sheetOf(ctx, "/w/config.toml"); sheet == nil || len(sheet.Symbols()) != 1 {
		t.Errorf("the request sees %+v", sheet)
	}
	if sheet := a.sheetOf(documents.Keep(t.Context()), "/w/config.toml"); sheet == nil || len(sheet.Symbols()) != 0 {
		t.Errorf("the next request sees %+v", sheet)
	}
	if _, err := documents.Close(u); err != nil {
		t.Error(err)
	}
	if sheet := a.sheetOf(ctx, "/w/config.toml"); sheet == nil || len(sheet.Symbols()) != 1 {
		t.Error("what was closed behind a request is gone for it")
	}
}

// Who waits for a run with a token of its own is told of it there: from its beginning to its end, which comes before
// the answer. It need not have announced anything.
func TestWaitWithAToken(t *testing.T) {
	r := serveRude(t, time.Hour, curious()[0], script.Turn{Answer: []script.Step{script.Text("Done.")}})
	r.initialize(`{}`, "")
	r.open("a.go", "package one\n")
	var started struct{ Run string }
	r.call("agent/run", fmt.Sprintf(`{"agent":"coder","prompt":"Ask.","context":{"uri":%q}}`, r.uri("a.go")), &started)
	about := func(token, kind string) func(packet) bool {
		return func(p packet) bool {
			params := string(p.Params)
			return p.Method == "$/progress" && strings.Contains(params, `"token":`+token) &&
				strings.Contains(params, `"`+kind+`"`)
		}
	}
	wait := func(token, more string) int {
		id := r.begin("agent/wait", fmt.Sprintf(`{"run":%q,"workDoneToken":%s%s}`, started.Run, token, more))
		p := r.until("the beginning on "+token, about(token, "begin"))
		params := string(p.Params)
		if !strings.Contains(params, "coder: Ask.") || !strings.Contains(params, `"cancellable":false`) {
			t.Errorf("it begins with %s", p.Params)
		}
		return id
	}
	first, second, soon := wait(`"mine"`, ""), wait("7", ""), wait(`"soon"`, `,"timeoutMs":1`)
	ended := func(id int, token string) {
		t.Helper()
		if p := r.answered(id); p.Error != nil && p.Error.Code != -32800 {
			t.Fatalf("waiting: %+v", p.Error)
		}
		all := r.all()
		end := slices.IndexFunc(all, about(token, "end"))
		answer := slices.IndexFunc(all,
			func(p packet) bool { return p.Method == "" && string(p.ID) == strconv.Itoa(id) })
		if end < 0 || end > answer {
			t.Errorf("on %s, the end is message %d, and the answer %d", token, end, answer)
		}
	}
	ended(soon, `"soon"`)
	cancelled := wait(`"cancelled"`, "")
	r.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, cancelled))
	ended(cancelled, `"cancelled"`)
	r.answerQuestion()
	ended(first, `"mine"`)
	ended(second, "7")
	r.call("agent/wait", fmt.Sprintf(`{"run":%q,"workDoneToken":"late"}`, started.Run), nil) // it has ended
	if p := r.answered(r.begin("agent/wait", `{"run":"r0","workDoneToken":"none"}`)); p.Error == nil {
		t.Error("a run that there is not was waited for")
	}
	if slices.ContainsFunc(r.all(), about(`"none"`, "begin")) {
		t.Error("progress of a run that there is not")
	}
	r.quit()
}

// The version of a document in a proposal is that of the ranges beside it, however fast the user types.
func TestProposalsWhileTyping(t *testing.T) {
	const n = 2000
	r := serveImproved(t)
	ids := make([]int, 0, n)
	for i := range n {
		r.change("a.go", i+2, `[{"range":`+between(0, 0, 0, 0)+`,"text":"//\n"}]`)
		ids = append(ids, r.begin("agent/proposals", "{}"))
	}
	for _, id := range ids {
		var list struct {
			Proposals []struct {
				Files []struct {
					Version int
					Hunks   []struct{ Range protocol.Range }
				}
			}
		}
		if err := json.Unmarshal(r.answered(id).Result, &list); err != nil {
			t.Fatal(err)
		}
		file := list.Proposals[0].Files[0]
		if line := int(file.Hunks[0].Range.Start.Line); line != file.Version-1 {
			t.Fatalf("in version %d the hunk is said to be in line %d", file.Version, line)
		}
	}
	r.quit()
}
