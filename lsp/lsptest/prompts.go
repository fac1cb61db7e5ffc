package lsptest

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// talk is what the server tells and asks the user, and what it asks the editor to lend.
type talk struct {
	*judge
	*link
	messages   []Message
	answers    []answer
	prompts    []prompt // that the user has yet to answer
	withdrawn  []string // texts of prompts that the server took back
	loans      []loan   // what it lends, in order
	unanswered []*jsonrpc2.Request
	noPrompts  bool // the editor does not implement window/showMessageRequest
}

// prompt is a question that the user has yet to answer.
type prompt struct {
	request *jsonrpc2.Request
	message Message
}

// errHeld says that a request is answered later.
var errHeld = errors.New("the user has yet to answer")

// methodNotFound answers a request as a client does that does not implement it.
func methodNotFound(method string) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this editor has no answer to " + method}
}

// showPrompt answers window/showMessageRequest as the user would. The user dismisses a prompt for which the script gave
// no answer. The lock is held, as for all below but the verbs.
func (t *talk) showPrompt(params json.RawMessage) (any, error) {
	const method = "window/showMessageRequest"
	m := t.message(method, params)
	if t.noPrompts {
		return nil, methodNotFound(method)
	}
	result, err, _ := t.answered(m)
	return result, err
}

// answered is what the script has the user answer to a prompt; told is false where the script says nothing of it.
func (t *talk) answered(m Message) (result any, err error, told bool) {
	for _, a := range t.answers {
		switch {
		case !a.message.MatchString(m.Text):
		case a.hold:
			return nil, errHeld, true
		default:
			return t.chosen(m, a.title), nil, true
		}
	}
	return nil, nil, false
}

// Answer has the user answer prompts whose text matches with a choice, "" to dismiss them. Of several that match, the
// first counts.
func (t *talk) Answer(message *regexp.Regexp, choice string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers = append(t.answers, answer{message: message, title: choice})
}

// askPermission answers agent/ask, which clients without an answer do not implement.
func (t *talk) askPermission(params json.RawMessage) (any, error) {
	const method = "agent/ask"
	m := Message{
		Method: method, Text: text(lookup(params, "title")) + "\n" + text(lookup(params, "detail")),
		Titles: []string{"Allow once", "Deny"},
	}
	if text(lookup(params, "always")) != "" {
		m.Titles = slices.Insert(m.Titles, 1, "Allow for this run", "Always allow")
	}
	if result, err, told := t.answered(m); told {
		t.messages = append(t.messages, m)
		return result, err
	}
	return nil, methodNotFound(method)
}

// askQuestion answers agent/question, which clients without an answer do not implement.
func (t *talk) askQuestion(params json.RawMessage) (any, error) {
	const method = "agent/question"
	m := Message{Method: method, Text: text(lookup(params, "agent")) + " asks: " + text(lookup(params, "question"))}
	var choices []struct {
		Label string `json:"label"`
	}
	if raw := lookup(params, "choices"); raw != nil {
		if err := json.Unmarshal(raw, &choices); err != nil {
			t.fault("%s: bad choices %s", method, shorten(string(params)))
		}
	}
	for _, c := range choices {
		m.Titles = append(m.Titles, c.Label)
	}
	if result, err, told := t.answered(m); told {
		t.messages = append(t.messages, m)
		return result, err
	}
	return nil, methodNotFound(method)
}

// chosen is the result of a prompt with the choice of a title, nil for "".
func (t *talk) chosen(m Message, title string) any {
	if title == "" {
		return nil
	}
	if m.Method == "agent/question" { // the user's own words are an answer, too
		return struct {
			Answers []string `json:"answers"`
		}{strings.Split(title, "; ")}
	}
	if !slices.Contains(m.Titles, title) {
		t.fault("%s %q has no choice %q, only %q", m.Method, m.Text, title, m.Titles)
		return nil
	}
	if m.Method == "agent/ask" {
		answers := map[string][2]string{
			"Allow once": {"allow", "once"}, "Allow for this run": {"allow", "run"},
			"Always allow": {"allow", "project"}, "Deny": {"deny", "once"},
		}
		return struct {
			Decision string `json:"decision"`
			Scope    string `json:"scope"`
		}{answers[title][0], answers[title][1]}
	}
	return struct {
		Title string `json:"title"`
	}{title}
}

// hold keeps a prompt for the user to answer.
func (t *talk) hold(r *jsonrpc2.Request) {
	t.prompts = append(t.prompts, prompt{r, t.messages[len(t.messages)-1]})
	shown := 0
	for _, p := range t.prompts {
		if p.message.Method == r.Method {
			shown++
		}
	}
	if shown > 1 {
		t.fault("%s while another prompt is shown", r.Method)
	}
}

// withdraw takes a prompt off the screen because the server no longer wants an answer.
func (t *talk) withdraw(params json.RawMessage) {
	var p struct {
		ID jsonrpc2.ID `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		t.fault("$/cancelRequest: bad params %s", shorten(string(params)))
		return
	}
	for i, r := range t.unanswered {
		if r.ID == p.ID {
			t.unanswered = slices.Delete(t.unanswered, i, i+1)
			t.withdrawn = append(t.withdrawn, r.Method)
			t.reply(r, nil, &jsonrpc2.Error{Code: -32800, Message: "cancelled"})
			return
		}
	}
	for i, one := range t.prompts {
		if one.request.ID == p.ID {
			t.prompts = slices.Delete(t.prompts, i, i+1)
			t.withdrawn = append(t.withdrawn, one.message.Text)
			t.reply(one.request, nil, &jsonrpc2.Error{Code: -32800, Message: "cancelled"})
			return
		}
	}
}

// answer is what the user chooses in a question whose message fits.
type answer struct {
	message *regexp.Regexp
	title   string // "" dismisses
	hold    bool   // it is left open
}

func (t *talk) message(method string, params json.RawMessage) Message {
	var p struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
		Actions []struct {
			Title string `json:"title"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Type < 1 || p.Type > 5 || p.Message == "" {
		t.fault("%s: bad params %s", method, shorten(string(params)))
	}
	m := Message{Method: method, Type: p.Type, Text: p.Message}
	for _, a := range p.Actions {
		m.Titles = append(m.Titles, a.Title)
	}
	t.messages = append(t.messages, m)
	return m
}

// Messages are what the server told the user so far.
func (t *talk) Messages() []Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.messages)
}

// Message is something that the server told the user.
type Message struct {
	// Method is window/showMessage, window/logMessage or window/showMessageRequest.
	Method string
	// Type is LSP's MessageType: 1 error, 2 warning, 3 information, 4 log.
	Type int
	Text string
	// Titles are the choices of a request.
	Titles []string
}

// loan is an answer to the next request of a method whose params fit: the editor lends something to agents.
type loan struct {
	method string
	params *regexp.Regexp
	// Pieces are sent to the request's partialResultToken, before it is answered.
	Pieces []json.RawMessage `json:"pieces"`
	// Result is the answer, or Error is.
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc2.Error `json:"error"`
	// Silent leaves the request without an answer, until it is taken back.
	Silent bool `json:"silent"`
}

// answerLoan answers a request with what the editor lends. Where it lends nothing for a method, it says that it does
// not implement the method. The lock is held.
func (t *talk) answerLoan(method string, params json.RawMessage) (any, error) {
	for i, l := range t.loans {
		if l.method != method || !l.params.Match(params) {
			continue
		}
		t.loans = append(t.loans[:i:i], t.loans[i+1:]...)
		if method == "agent/model/generate" {
			paired(t.judge, params)
		}
		token := lookup(params, "partialResultToken")
		for _, piece := range l.Pieces {
			t.notify("$/progress", struct {
				Token json.RawMessage `json:"token"`
				Value json.RawMessage `json:"value"`
			}{token, piece})
		}
		switch {
		case l.Silent:
			return nil, errSilent
		case l.Error != nil:
			return nil, l.Error
		}
		return l.Result, nil
	}
	return nil, methodNotFound(method)
}

// errSilent says that a request is never answered.
var errSilent = errors.New("the editor says nothing")
