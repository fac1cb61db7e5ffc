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

// do carries out one line.
func (p *play) do(l line) error {
	args := l.args
	need := func(least, most int) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return fmt.Errorf("it takes %d to %d arguments, not %d", least, most, len(args))
		}
		return nil
	}
	type verb struct {
		least, most int
		do          func([]string) error
	}
	setup := map[string]verb{
		"encoding": {1, 3, p.setEncoding}, "init": {1, 1, p.setInit}, "settings": {1, 1, p.setSettings},
		"env": {1, -1, p.setEnv}, "announce": {1, -1, p.announce}, "file": {3, 3, p.makeFile},
	}
	// isJSON looks at an argument before the editor sends it.
	isJSON := func(args []string) error {
		if at := jsonArgument[l.verb]; at > 0 && len(args) >= at && !json.Valid([]byte(args[at-1])) {
			return fmt.Errorf("%s is no JSON", args[at-1])
		}
		return nil
	}
	if v, ok := setup[l.verb]; ok && !(l.verb == "settings" && p.editor != nil) {
		if p.editor != nil {
			return errors.New("it has to stand before the server is used")
		}
		if err := errors.Join(need(v.least, v.most), isJSON(args)); err != nil {
			return err
		}
		return v.do(args)
	}
	if l.verb == "answer" && p.editor == nil {
		return p.setAnswer(args)
	}
	if err := p.begin(); err != nil {
		return err
	}
	expanded := make([]string, len(args))
	for i, a := range args {
		var err error
		if expanded[i], err = p.expand(a); err != nil {
			return err
		}
	}
	args = expanded
	verbs := map[string]verb{
		"start": {0, 0, func([]string) error { return nil }},
		// What the user does.
		"open": {1, 2, p.open}, "edit": {3, 3, p.edit}, "load": {2, 2, p.load}, "save": {1, 1, p.save},
		"close": {1, 1, p.closeDocument},
		"write": {2, 2, p.writeDisk}, "action": {3, 4, p.action}, "command": {1, 2, p.command},
		"request": {1, 2, p.request},
		"notify":  {1, 2, p.notify}, "begin": {2, 3, p.beginRequest}, "await": {1, 1, p.await},
		"cancel": {1, 2, p.cancel},
		"report": {3, 3, p.report}, "lens": {3, 3, p.lens}, "rename": {2, 2, p.rename},
		"settings": {1, 1, p.changeSettings},
		"answer":   {2, 2, p.setAnswer}, "hold": {1, 1, p.holdPrompts}, "choose": {2, 2, p.choose},
		"unable": {0, 0, p.unable}, "lend": {3, 3, p.lend}, "refuse": {1, 1, p.refuse}, "onedit": {3, 3, p.onEdit},
		"onapply": {1, 2, p.onApply}, "format": {1, 1, p.format}, "accept": {1, -1, p.decide("accept")},
		"reject": {1, -1, p.decide("reject")}, "crash": {0, 0, func([]string) error { return p.crash() }},
		"quit":    {0, 0, func([]string) error { return p.quit() }},
		"restart": {0, 0, func([]string) error { return p.restart() }}, "release": {1, 1, p.release},
		// What is waited for.
		"wait": {1, 4, p.wait},
		// What has to be seen.
		"diagnostics": {1, 2, p.diagnosticsAre}, "actions": {2, 4, p.actionsAre}, "bulb": {2, 3, p.bulbIs},
		"hunks": {0, 1, p.hunksAre}, "text": {2, 3, p.textIs},
		"disk": {2, 2, p.diskIs}, "message": {1, 1, p.messageIs("window/showMessage")},
		"log":      {1, 1, p.messageIs("window/logMessage")},
		"question": {1, 1, p.messageIs("window/showMessageRequest")}, "shown": {1, 1, p.shown},
		"error":  {1, 2, p.errorIs},
		"result": {1, 3, p.resultIs}, "capture": {2, 2, p.capture}, "progress": {0, 1, p.progressIs},
		"no": {2, 3, p.no}, "edits": {1, 1, p.editsAre},
		"completions": {2, 3, p.completionsAre}, "lenses": {1, 2, p.lensesAre}, "hints": {1, 2, p.hintsAre},
		"find": {2, 2, p.find}, "complete": {3, 3, p.complete}, "hover": {2, 3, p.hoverIs},
		"symbols": {1, 2, p.symbolsAre},
	}
	v, ok := verbs[l.verb]
	if !ok {
		return errors.New("there is no such verb")
	}
	if err := errors.Join(need(v.least, v.most), isJSON(args)); err != nil {
		return err
	}
	if acts[l.verb] {
		p.edits = nil
	}
	return v.do(args)
}

// jsonArgument is which argument of a verb, from 1, is JSON, where it is there.
var jsonArgument = map[string]int{"init": 1, "settings": 1, "command": 2, "request": 2, "notify": 2, "begin": 3}

// acts are verbs behind which edits may come.
var acts = map[string]bool{
	"action": true, "command": true, "request": true, "begin": true, "lens": true, "accept": true, "reject": true,
	"release": true, "answer": true, "choose": true, "restart": true, "crash": true,
}

func (p *play) setEncoding(args []string) error {
	for _, a := range args {
		p.encodings = append(p.encodings, Encoding(a))
	}
	return nil
}

func (p *play) setInit(args []string) error     { p.init = json.RawMessage(args[0]); return nil }
func (p *play) setSettings(args []string) error { p.settings = json.RawMessage(args[0]); return nil }

func (p *play) setEnv(args []string) error {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		p.env.Vars[name] = value
	}
	return nil
}

// makeFile makes a file that does not fit into a scenario: PATH size 50MiB, PATH hex 00ff, PATH link TARGET, PATH text
// "…".
func (p *play) makeFile(args []string) error {
	file := filepath.Join(p.env.Root, filepath.FromSlash(args[0]))
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
	if len(args) != 2 {
		return errors.New("it takes an expression for the message and the title to choose, \"\" to dismiss")
	}
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

func (p *play) edit(args []string) error {
	content, _, err := p.editor.Text(args[0])
	if err != nil {
		return err
	}
	start, end, err := span(content, args[1])
	if err != nil {
		return err
	}
	return p.editor.Edit(args[0], start, end, args[2])
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

func (p *play) save(args []string) error          { return p.editor.Save(args[0]) }
func (p *play) closeDocument(args []string) error { return p.editor.CloseDocument(args[0]) }
func (p *play) writeDisk(args []string) error     { return p.editor.WriteDisk(args[0], args[1]) }

// place returns a place of a document as a range on the wire.
func (p *play) place(path, where string) (Range, error) {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	content, err := p.editor.showing(p.editor.URI(path))
	if err != nil {
		return Range{}, err
	}
	start, end, err := span(content, where)
	if err != nil {
		return Range{}, err
	}
	return p.editor.encoding.Range(content, start, end), nil
}

// action chooses a code action: PATH PLACE "title" [KIND]. A title that ends with * is the beginning of one.
func (p *play) action(args []string) error {
	r, err := p.place(args[0], args[1])
	if err != nil {
		return err
	}
	list, err := p.editor.Actions(p.ctx, args[0], r, args[3:]...)
	if err != nil {
		return p.took(nil, err)
	}
	var titles []string
	for _, a := range list {
		prefix, isPrefix := strings.CutSuffix(args[2], "*")
		if a.Title == args[2] || isPrefix && strings.HasPrefix(a.Title, prefix) {
			return p.took(p.editor.RunAction(p.ctx, a))
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

func (p *play) command(args []string) error {
	var arguments []json.RawMessage
	if len(args) > 1 {
		arguments = append(arguments, json.RawMessage(args[1]))
	}
	return p.took(p.editor.Execute(p.ctx, args[0], arguments...))
}

func (p *play) request(args []string) error {
	return p.took(p.editor.Call(p.ctx, args[0], orNil(params(args[1:]))))
}

// orNil keeps absent params absent.
func orNil(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return raw
}

func (p *play) notify(args []string) error {
	p.editor.Notify(args[0], params(args[1:]))
	return nil
}

// beginRequest sends a request under a name: NAME METHOD {json}.
func (p *play) beginRequest(args []string) error {
	p.begun[args[0]] = p.editor.Begin(args[1], orNil(params(args[2:])))
	return nil
}

func (p *play) await(args []string) error {
	pending := p.begun[args[0]]
	if pending == nil {
		return fmt.Errorf("no request was begun as %s", args[0])
	}
	delete(p.begun, args[0])
	return p.took(pending.Wait(p.ctx))
}

// cancel cancels a request by its name, or a progress: "cancel progress [title]".
func (p *play) cancel(args []string) error {
	if args[0] != "progress" {
		pending := p.begun[args[0]]
		if pending == nil {
			return fmt.Errorf("no request was begun as %s", args[0])
		}
		pending.Cancel()
		return nil
	}
	title := strings.Join(args[1:], "")
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	for i := len(p.editor.progress.order) - 1; i >= 0; i-- {
		if g := p.editor.progress.order[i]; g.Begun && !g.Ended && strings.Contains(g.Title, title) {
			if !g.Cancellable {
				return fmt.Errorf("the progress %q is not cancellable", g.Title)
			}
			p.editor.notify("window/workDoneProgress/cancel", struct {
				Token json.RawMessage `json:"token"`
			}{json.RawMessage(g.Token)})
			return nil
		}
	}
	return errors.New("there is no such progress under way")
}

// refuse has the editor refuse the next edit, with a reason.
func (p *play) refuse(args []string) error {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.editor.refusal = args[0]
	return nil
}

// onEdit has the user type while the next edit is on its way: PATH PLACE "text".
func (p *play) onEdit(args []string) error {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.editor.onEdit = func() {
		if err := p.edit(args); err != nil {
			p.editor.lockedFault("the scenario's onedit: %v", err)
		}
	}
	return nil
}

// decide accepts or rejects: "all", or numbers of hunks as "hunks" shows them. It uses the command, as any client can.
func (p *play) decide(what string) func([]string) error {
	return func(args []string) error {
		params := struct {
			Proposal string   `json:"proposal"`
			Hunks    []string `json:"hunks,omitempty"`
		}{Proposal: p.vars["proposal"]}
		if args[0] != "all" {
			for _, a := range args {
				id, known := p.vars["hunk"+a]
				if !known {
					return fmt.Errorf("no hunk %s was shown; use \"hunks\" first", a)
				}
				params.Hunks = append(params.Hunks, id)
			}
		}
		return p.took(p.editor.Execute(p.ctx, "agentls.proposal."+what, encode(params)))
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
func (p *play) errorIs(args []string) error {
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
	if !errors.As(p.lastErr, &failure) {
		return fmt.Errorf("the request did not fail; its result is %s", shorten(string(p.last)))
	}
	p.lastErr = nil
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
