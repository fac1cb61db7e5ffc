package lsptest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// early are the verbs that may stand before the server is used. An early verb that is not in verbs may stand only
// there.
var early = map[string]verb{
	"encoding": {1, 3, 0, func(p *play, args []string) error {
		for _, a := range args {
			p.encodings = append(p.encodings, Encoding(a))
		}
		return nil
	}}, "init": {1, 1, 1, func(p *play, args []string) error { p.init = json.RawMessage(args[0]); return nil }},
	"settings": {1, 1, 1, func(p *play, args []string) error { p.settings = json.RawMessage(args[0]); return nil }},
	"env":      {1, -1, 0, (*play).setEnv},
	"announce": {1, -1, 0, (*play).announce}, "file": {3, 3, 0, (*play).makeFile},
	"answer": {2, 2, 0, (*play).setAnswer},
}

var verbs = map[string]verb{
	"start": plain(func(*play) error { return nil }),
	// What the user does.
	"open": {1, 2, 0, (*play).open}, "edit": editing(3, 3, 0, edit), "load": {2, 2, 0, (*play).load},
	"save":    editing(1, 1, 0, func(e *Editor, args []string) error { return e.Save(args[0]) }),
	"close":   editing(1, 1, 0, func(e *Editor, args []string) error { return e.CloseDocument(args[0]) }),
	"write":   editing(2, 2, 0, func(e *Editor, args []string) error { return e.WriteDisk(args[0], args[1]) }),
	"rename":  editing(2, 2, 0, func(e *Editor, args []string) error { return e.RenameFile(args[0], args[1]) }),
	"action":  asking(3, 4, 0, (*requests).action),
	"command": asking(1, 2, 2, (*requests).command), "request": asking(1, 2, 2, (*requests).request),
	"notify": editing(1, 2, 2, notify), "begin": asking(2, 3, 3, (*requests).beginRequest),
	"await": asking(1, 1, 0, (*requests).await), "cancel": asking(1, 2, 0, (*requests).cancel),
	"report": editing(3, 3, 0, report), "lens": asking(3, 3, 0, (*requests).lens),
	"settings": {1, 1, 1, (*play).changeSettings}, "answer": {2, 2, 0, (*play).setAnswer},
	"hold": {1, 1, 0, (*play).holdPrompts}, "choose": {2, 2, 0, (*play).choose},
	"unable": editing(0, 0, 0, unable), "lend": editing(3, 3, 0, lend), "refuse": editing(1, 1, 0, refuse),
	"onedit": editing(3, 3, 0, onEdit), "onapply": editing(1, 2, 0, onApply), "format": editing(1, 1, 0, format),
	"accept": asking(1, -1, 0, decide("accept")), "reject": asking(1, -1, 0, decide("reject")),
	"complete": asking(3, 3, 0, (*requests).complete), "find": asking(2, 2, 0, (*requests).find),
	"crash": plain((*play).crash), "quit": plain((*play).quit), "restart": plain((*play).restart),
	"release": {1, 1, 0, (*play).release},
	// What is waited for.
	"wait": {1, 4, 0, (*play).wait},
	// What has to be seen.
	"diagnostics": looking(1, 1, "want/diagnostics", func(q *requests, args []string) (string, error) {
		return diagnosticText(q.editor, args[0]), nil
	}),
	"actions":     looking(2, 2, "want/actions", triggeredText(invoked)),
	"bulb":        looking(2, 1, "want/bulb", triggeredText(automatic)),
	"progress":    looking(0, 1, "want/progress", progressText),
	"completions": looking(2, 1, "want/completions", completionText),
	"triggers":    looking(1, 1, "want/triggers", triggerText),
	"lenses":      looking(1, 1, "want/lenses", lensText),
	"hover":       looking(2, 1, "want/hover", hoverText),
	"symbols":     looking(1, 1, "want/symbols", symbolText),
	"folds":       looking(1, 1, "want/folds", foldText),
	"links":       looking(1, 1, "want/links", linkText),
	"hints":       {1, 2, 0, (*play).hintsAre},
	"hunks":       {0, 1, 0, (*play).hunksAre}, "text": {2, 3, 0, (*play).textIs}, "disk": {2, 2, 0, (*play).diskIs},
	"message":  {1, 1, 0, messageIs("window/showMessage")},
	"log":      {1, 1, 0, messageIs("window/logMessage")},
	"question": {1, 1, 0, messageIs("window/showMessageRequest")},
	"shown":    {1, 1, 0, func(p *play, args []string) error { return p.wait([]string{"shown", args[0]}) }},
	"error":    asking(1, 2, 0, (*requests).errorIs), "result": asking(1, 3, 0, (*requests).resultIs),
	"capture": asking(2, 2, 0, (*requests).capture), "no": {2, 3, 0, (*play).no},
	"edits": {1, 1, 0, (*play).editsAre},
}

// check looks at the arguments of a verb.
func (v verb) check(args []string) error {
	if len(args) < v.least || v.most >= 0 && len(args) > v.most {
		return fmt.Errorf("it takes %d to %d arguments, not %d", v.least, v.most, len(args))
	}
	if v.json > 0 && len(args) >= v.json && !json.Valid([]byte(args[v.json-1])) {
		return fmt.Errorf("%s is no JSON", args[v.json-1])
	}
	return nil
}

// do carries out one line.
func (p *play) do(l line) error {
	first, isEarly := early[l.verb]
	v, known := verbs[l.verb]
	switch {
	case isEarly && p.editor == nil:
		if err := first.check(l.args); err != nil {
			return err
		}
		return first.do(p, l.args)
	case isEarly && !known:
		return errors.New("it has to stand before the server is used")
	}
	if err := p.begin(); err != nil {
		return err
	}
	args := make([]string, len(l.args))
	for i, a := range l.args {
		var err error
		if args[i], err = p.expand(a); err != nil {
			return err
		}
	}
	if !known {
		return errors.New("there is no such verb")
	}
	if err := v.check(args); err != nil {
		return err
	}
	if acts[l.verb] {
		p.edits = nil
	}
	return v.do(p, args)
}

// acts are verbs behind which edits may come.
var acts = map[string]bool{
	"action": true, "command": true, "request": true, "begin": true, "lens": true, "accept": true, "reject": true,
	"release": true, "answer": true, "choose": true, "restart": true, "crash": true,
}

func (s *stage) setEnv(args []string) error {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		s.env.Vars[name] = value
	}
	return nil
}

// makeFile makes a file that does not fit into a scenario: PATH size 50MiB, PATH hex 00ff, PATH link TARGET, PATH text
// "…".
func (s *stage) makeFile(args []string) error {
	file := filepath.Join(s.env.Root, filepath.FromSlash(args[0]))
	switch kind, value := args[1], args[2]; kind {
	case "size":
		number, ok := strings.CutSuffix(value, "MiB")
		size, err := strconv.Atoi(number)
		if err != nil || !ok {
			return fmt.Errorf("%q is no size such as 50MiB", value)
		}
		return writeFile(file, bytes.Repeat([]byte("0123456789abcde\n"), size<<20/16))
	case "hex":
		data, err := hex.DecodeString(value)
		if err != nil {
			return err
		}
		return writeFile(file, data)
	case "link":
		return os.Symlink(value, file)
	case "text":
		return writeFile(file, []byte(value))
	}
	return fmt.Errorf("there is no kind %q", args[1])
}

func (p *play) setAnswer(args []string) error {
	expression, err := regexp.Compile(args[0])
	if err != nil {
		return err
	}
	p.answers = append(p.answers, answer{message: expression, title: args[1]})
	if p.editor != nil {
		p.editor.Answer(expression, args[1])
	}
	return nil
}

// open opens a file of the disk, or a document with the text of a section.
func (p *play) open(args []string) error {
	if len(args) == 1 {
		return p.editor.Open(args[0])
	}
	f := p.scenario.section(args[1])
	if f == nil {
		return fmt.Errorf("there is no section %s", args[1])
	}
	return p.editor.OpenText(args[0], string(f.Data))
}

func edit(e *Editor, args []string) error {
	content, _, err := e.Text(args[0])
	if err != nil {
		return err
	}
	start, end, err := span(content, args[1])
	if err != nil {
		return err
	}
	return e.Edit(args[0], start, end, args[2])
}

// load replaces the text of a document by a section, as one change of what differs.
func (p *play) load(args []string) error {
	f := p.scenario.section(args[1])
	if f == nil {
		return fmt.Errorf("there is no section %s", args[1])
	}
	content, _, err := p.editor.Text(args[0])
	if err != nil {
		return err
	}
	return p.editor.Edit(args[0], 0, len(content), string(f.Data))
}

// action chooses a code action: PATH PLACE "title" [KIND]. A title that ends with * is the beginning of one.
func (q *requests) action(args []string) error {
	r, err := place(q.editor, args[0], args[1])
	if err != nil {
		return err
	}
	list, err := q.editor.Actions(q.ctx, args[0], r, args[3:]...)
	if err != nil {
		return q.took(nil, err)
	}
	var titles []string
	for _, a := range list {
		prefix, isPrefix := strings.CutSuffix(args[2], "*")
		if a.Title == args[2] || isPrefix && strings.HasPrefix(a.Title, prefix) {
			return q.took(q.editor.RunAction(q.ctx, a))
		}
		titles = append(titles, a.Title)
	}
	return fmt.Errorf("there is no such action among %q", titles)
}

func params(args []string) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	return json.RawMessage(args[0])
}

func (q *requests) command(args []string) error {
	var arguments []json.RawMessage
	if len(args) > 1 {
		arguments = append(arguments, json.RawMessage(args[1]))
	}
	return q.took(q.editor.Execute(q.ctx, args[0], arguments...))
}

func (q *requests) request(args []string) error {
	return q.took(q.editor.Call(q.ctx, args[0], orNil(params(args[1:]))))
}

// orNil keeps absent params absent.
func orNil(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}

func notify(e *Editor, args []string) error {
	e.Notify(args[0], params(args[1:]))
	return nil
}

// beginRequest sends a request under a name: NAME METHOD {json}.
func (q *requests) beginRequest(args []string) error {
	q.begun[args[0]] = q.editor.Begin(args[1], orNil(params(args[2:])))
	return nil
}

func (q *requests) await(args []string) error {
	pending := q.begun[args[0]]
	if pending == nil {
		return fmt.Errorf("no request was begun as %s", args[0])
	}
	delete(q.begun, args[0])
	return q.took(pending.Wait(q.ctx))
}

// cancel cancels a request by its name, or a progress: "cancel progress [title]".
func (q *requests) cancel(args []string) error {
	if args[0] != "progress" {
		pending := q.begun[args[0]]
		if pending == nil {
			return fmt.Errorf("no request was begun as %s", args[0])
		}
		pending.Cancel()
		return nil
	}
	title := strings.Join(args[1:], "")
	q.editor.mu.Lock()
	defer q.editor.mu.Unlock()
	for i := len(q.editor.progress.order) - 1; i >= 0; i-- {
		if g := q.editor.progress.order[i]; g.Begun && !g.Ended && strings.Contains(g.Title, title) {
			if !g.Cancellable {
				return fmt.Errorf("the progress %q is not cancellable", g.Title)
			}
			q.editor.notify("window/workDoneProgress/cancel", struct {
				Token json.RawMessage `json:"token"`
			}{json.RawMessage(g.Token)})
			return nil
		}
	}
	return errors.New("there is no such progress under way")
}

// refuse has the editor refuse the next edit, with a reason.
func refuse(e *Editor, args []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refusal = args[0]
	return nil
}

// onEdit has the user type while the next edit is on its way: PATH PLACE "text".
func onEdit(e *Editor, args []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onEdit = func() {
		if err := edit(e, args); err != nil {
			e.lockedFault("the scenario's onedit: %v", err)
		}
	}
	return nil
}

// decide accepts or rejects: "all", or numbers of hunks as "hunks" shows them. It uses the command, as any client can.
func decide(what string) func(*requests, []string) error {
	return func(q *requests, args []string) error {
		params := struct {
			Proposal string   `json:"proposal"`
			Hunks    []string `json:"hunks,omitempty"`
		}{Proposal: q.vars["proposal"]}
		if args[0] != "all" {
			for _, a := range args {
				id, known := q.vars["hunk"+a]
				if !known {
					return fmt.Errorf("no hunk %s was shown; use \"hunks\" first", a)
				}
				params.Hunks = append(params.Hunks, id)
			}
		}
		return q.took(q.editor.Execute(q.ctx, "agentls.proposal."+what, encode(params)))
	}
}

func (p *play) release(args []string) error {
	if p.env.Script == nil {
		return errors.New("there is no scripted model")
	}
	p.env.Script.Release(args[0])
	return nil
}

// errorIs looks at the error of the last request: CODE ["text"].
func (q *requests) errorIs(args []string) error {
	names := map[string]int64{
		"ParseError": -32700, "InvalidRequest": -32600, "MethodNotFound": -32601, "InvalidParams": -32602,
		"InternalError":        -32603,
		"ServerNotInitialized": -32002, "RequestFailed": -32803, "ServerCancelled": -32802, "ContentModified": -32801,
		"RequestCancelled": -32800,
	}
	want, known := names[args[0]]
	if !known {
		return fmt.Errorf("there is no error code %s", args[0])
	}
	var failure *jsonrpc2.Error
	if !errors.As(q.lastErr, &failure) {
		return fmt.Errorf("the request did not fail; its result is %s", shorten(string(q.last)))
	}
	q.lastErr = nil
	whole := failure.Message
	if failure.Data != nil {
		whole += " " + string(*failure.Data)
	}
	if failure.Code != want {
		return fmt.Errorf("the code is %d, not %s: %s", failure.Code, args[0], whole)
	}
	if len(args) > 1 && !strings.Contains(whole, args[1]) {
		return fmt.Errorf("the error does not say %q: %s", args[1], whole)
	}
	return nil
}

// report has another server report a problem: PATH PLACE "message".
func report(e *Editor, args []string) error {
	r, err := place(e, args[0], args[1])
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.foreign == nil {
		e.foreign = map[string][]Diagnostic{}
	}
	u := e.URI(args[0])
	e.foreign[u] = append(e.foreign[u],
		Diagnostic{Range: r, Severity: 1, Source: "compiler", Message: args[2]})
	return nil
}
