package acptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// message is one of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// agent is the process that plays. Its main goroutine reads; each request has a goroutine of its own.
type agent struct {
	play Play
	log  *os.File
	// deaf is the step of a prompt by which it reads no more, and deafened is closed when it is so.
	deaf     string
	deafened chan struct{}

	mu       sync.Mutex // guards all below
	session  string     // the last one that was opened
	dir      string     // its folder
	sessions int
	prompts  int
	requests int
	cancel   context.CancelFunc // of the prompt that is worked on
	waiting  map[string]chan message
}

// play is the life of an agent. It returns the exit code.
func play(args []string) int {
	a := &agent{waiting: map[string]chan message{}, deafened: make(chan struct{})}
	if err := a.begin(args); err != nil {
		fmt.Fprintln(os.Stderr, "the scripted agent cannot play:", err)
		return 3
	}
	if a.play.Stays {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if a.play.Stays {
				forever()
			}
			return 0
		}
		a.got(bytes.TrimSpace(line))
		if a.deaf == "deafen" {
			_ = os.Stdin.Close() // only a goroutine that does not read can close it
		}
		if a.deaf != "" {
			close(a.deafened)
			forever()
		}
	}
}

// forever does not return. It ends the process after some minutes, since it may be that nobody else does.
func forever() {
	time.Sleep(longTime)
	os.Exit(3)
}

func (a *agent) begin(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("it has %d arguments instead of the file with its play", len(args))
	}
	var err error
	if a.play, err = open(args[0]); err != nil {
		return err
	}
	if a.dir, err = os.Getwd(); err != nil {
		return err
	}
	a.log, err = os.OpenFile(a.play.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return err
}

// note writes a line into the log. It has one write, which is not mixed with others.
func (a *agent) note(e Entry) {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = a.log.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the scripted agent cannot write its log:", err)
		os.Exit(3)
	}
}

// write writes to the client, as a whole.
func (a *agent) write(text []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = os.Stdout.Write(text) // whether somebody reads is for the test to say
}

// send sends a message.
func (a *agent) send(m message) {
	m.Version = "2.0"
	line := marshal(m)
	a.note(Entry{Sent: line})
	a.write(append(line, '\n'))
}

// marshal is a value as JSON. What a play has was JSON.
func marshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the scripted agent:", err)
		os.Exit(3)
	}
	return text
}

// got works on a message.
func (a *agent) got(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		a.note(Entry{Got: marshal(string(line))})
		return
	}
	a.note(Entry{Got: line})
	switch {
	case m.Method == "":
		a.mu.Lock()
		answer := a.waiting[string(m.ID)]
		delete(a.waiting, string(m.ID))
		a.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	case m.Method == "session/cancel":
		a.mu.Lock()
		cancel := a.cancel
		a.mu.Unlock()
		if cancel != nil && !a.play.IgnoreCancel {
			cancel()
		}
	case m.ID != nil && !slices.Contains(a.play.Mute, m.Method):
		a.serve(m)
	}
}

// serve answers a request.
func (a *agent) serve(m message) {
	if failure, ok := a.play.Fail[m.Method]; ok {
		a.send(message{ID: m.ID, Error: marshal(failure)})
		return
	}
	var params struct {
		Session string `json:"sessionId"`
		Folder  string `json:"cwd"`
	}
	_ = json.Unmarshal(m.Params, &params) // what is missing is missing
	switch m.Method {
	case "initialize":
		a.answer(m, a.initialize())
	case "session/new":
		a.mu.Lock()
		a.sessions++
		params.Session = "session-" + strconv.Itoa(a.sessions)
		a.mu.Unlock()
		result := Object{"sessionId": params.Session}
		for key, value := range a.play.Session {
			result[key] = value
		}
		a.open(params.Session, params.Folder)
		go a.after(m, a.play.Before, result)
	case "session/load":
		a.open(params.Session, params.Folder)
		go a.after(m, a.play.History, a.opened())
	case "session/resume":
		a.open(params.Session, params.Folder)
		a.answer(m, a.opened())
	case "session/set_config_option":
		options := a.play.Session["configOptions"]
		if options == nil {
			options = []any{}
		}
		a.answer(m, Object{"configOptions": options})
	case "session/set_mode", "session/close", "authenticate":
		a.answer(m, Object{})
	case "session/prompt":
		a.prompt(m, params.Session)
	default:
		a.send(message{ID: m.ID, Error: marshal(Failure{Code: -32601, Message: "Method not found"})})
	}
}

func (a *agent) answer(m message, result any) { a.send(message{ID: m.ID, Result: marshal(result)}) }

func (a *agent) initialize() Object {
	result := Object{
		"protocolVersion": 1, "agentInfo": Object{"name": "acptest", "version": "1"},
		"agentCapabilities": Object{}, "authMethods": []Object{},
	}
	if a.play.Capabilities != nil {
		result["agentCapabilities"] = a.play.Capabilities
	}
	if a.play.Logins != nil {
		result["authMethods"] = a.play.Logins
	}
	if a.play.Version != nil {
		result["protocolVersion"] = a.play.Version
	}
	if a.play.Version == NoVersion {
		delete(result, "protocolVersion")
	}
	return result
}

// open makes a session the one of the steps.
func (a *agent) open(session, folder string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session = session
	if filepath.IsAbs(folder) {
		a.dir = folder
	}
}

func (a *agent) opened() Object {
	if a.play.Session == nil {
		return Object{}
	}
	return a.play.Session
}

// after does steps and answers behind them.
func (a *agent) after(m message, steps []Step, result Object) {
	t := a.turn(m)
	t.answered = true // steps do not answer it
	t.do(context.Background(), steps)
	a.answer(m, result)
}

// prompt begins to work on a prompt.
func (a *agent) prompt(m message, session string) {
	var steps []Step
	ctx, cancel := context.WithCancel(context.Background())
	a.mu.Lock()
	a.session = session
	if a.prompts < len(a.play.Prompts) {
		steps = a.play.Prompts[a.prompts]
	}
	a.prompts++
	a.cancel = cancel
	a.mu.Unlock()
	for _, s := range steps {
		if s.Do == "deafen" || s.Do == "ignore" {
			a.deaf = s.Do
		}
	}
	deaf := a.deaf != ""
	go func() {
		defer cancel()
		if deaf {
			<-a.deafened
		}
		t := a.turn(m)
		t.do(ctx, steps)
		if ctx.Err() != nil {
			t.do(context.Background(), a.play.OnCancel)
			t.answer(Object{"stopReason": "cancelled"})
		}
		t.answer(Object{"stopReason": "end_turn"})
	}()
}

func (a *agent) turn(m message) *turn {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &turn{agent: a, request: m, session: a.session, dir: a.dir}
}
