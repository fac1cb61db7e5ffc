package lsptest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A wait is something that `wait NAME …` waits for. Either until says, with the editor's lock held, whether it has
// come, or do waits for it by requests.
type wait struct {
	least, most int // how many arguments follow the name
	number      int // which of them is a number where it is there, counted from 1; 0 for none
	until       func(e *Editor, args []string) bool
	do          func(p *play, args []string) error
}

// waits are what can be waited for:
//
//	wait progress begin ["title"]       a progress was begun
//	wait progress end ["title"]         all that were begun have ended, and one at least
//	wait diagnostics PATH N             the document has N diagnostics
//	wait diagnostic PATH "text" [N]     the document has N diagnostics with the text in it; without N, some
//	wait message|log|question "text"    the server said so
//	wait ask|asked "text"               it asked so by agent/ask or agent/question
//	wait withdrawn "text"               it took a question with the text back
//	wait event TYPE ["text"]            an agent/event of the type, with the text in it
//	wait status "text"                  the newest agent/status holds the text
//	wait shown "text"                   a document was shown that holds the text
//	wait text PATH "text"               the document holds the text
//	wait edits N                        so many edits were asked for
//	wait run [STATUS]                   the run that was started last has ended, completed or as said
//	wait gate NAME [N]                  the scripted model has come to the gate
//	wait serves FEATURE PATH            the server serves completion, hover or documentSymbol for the document
//	wait lenses PATH "title"            the document has a lens of that title
//	wait hint PATH "text"               an inlay hint of the document holds the text
//	wait no hint PATH "text"            none does
//	wait hover PATH PLACE "text"        what is shown at the place holds the text
//	wait report "title" "text"          the newest report of a progress under way of that title holds the text
//	wait ended "title" "text"           a progress of that title has ended with a message that holds the text
//	wait refreshes METHOD N             the server has sent the refresh request so often at least
//	wait registered METHOD              the server has registered for the method
//	wait agent NAME                     agent/list names the agent
//	wait no agent NAME                  agent/list does not name it
//	wait default NAME                   agent/list says that NAME is the default
var waits = map[string]wait{
	"progress":    {least: 1, most: 2, until: progressCame},
	"diagnostics": {least: 2, most: 2, number: 2, do: (*play).waitDiagnostics},
	"diagnostic":  {least: 2, most: 3, number: 3, until: diagnosticCame},
	"message":     {least: 1, most: 1, do: waitsFor("window/showMessage")},
	"log":         {least: 1, most: 1, do: waitsFor("window/logMessage")},
	"question":    {least: 1, most: 1, do: waitsFor("window/showMessageRequest")},
	"ask":         {least: 1, most: 1, do: waitsFor("agent/ask")},
	"asked":       {least: 1, most: 1, do: waitsFor("agent/question")},
	"withdrawn": {least: 1, most: 1, until: func(e *Editor, args []string) bool {
		return slices.ContainsFunc(e.withdrawn, func(message string) bool { return strings.Contains(message, args[0]) })
	}},
	"event": {least: 1, most: 2, until: eventCame},
	"status": {least: 1, most: 1, until: func(e *Editor, args []string) bool {
		for _, n := range slices.Backward(e.notifications) {
			if n.Method == "agent/status" {
				return strings.Contains(string(n.Params), args[0])
			}
		}
		return false
	}},
	"shown": {
		least: 1, most: 1,
		until: func(e *Editor, args []string) bool { return strings.Contains(e.shownText(), args[0]) },
	},
	"text": {least: 2, most: 2, until: func(e *Editor, args []string) bool {
		d := e.documents[e.URI(args[0])]
		return d != nil && strings.Contains(d.text, args[1])
	}},
	"edits": {
		least: 1, most: 1, number: 1,
		until: func(e *Editor, args []string) bool { return len(e.applied) >= count(args, 0, 0) },
	},
	"run":  {most: 1, do: (*play).waitRun},
	"gate": {least: 1, most: 2, number: 2, do: (*play).waitGate},
	"serves": {
		least: 2, most: 2,
		do: func(p *play, args []string) error { return waitRegistered(p.ctx, p.editor, args[0], args[1]) },
	},
	"lenses": {least: 2, most: 2, do: func(p *play, args []string) error { return p.waitLens(args[0], args[1]) }},
	"hint":   {least: 2, most: 2, do: func(p *play, args []string) error { return p.waitHint(args[0], args[1], true) }},
	"hover": {
		least: 3, most: 3, do: func(p *play, args []string) error { return p.waitHover(args[0], args[1], args[2]) },
	},
	"report": {
		least: 2, most: 2,
		until: func(e *Editor, args []string) bool { return e.progress.says(args[0], args[1], false) },
	},
	"ended": {
		least: 2, most: 2,
		until: func(e *Editor, args []string) bool { return e.progress.says(args[0], args[1], true) },
	},
	"refreshes": {least: 2, most: 2, number: 2, until: func(e *Editor, args []string) bool {
		return e.refreshes[args[0]] >= count(args, 1, 0)
	}},
	"registered": {least: 1, most: 1, until: func(e *Editor, args []string) bool {
		for _, r := range e.registered {
			if r.method == args[0] {
				return true
			}
		}
		return false
	}},
	"agent": {least: 1, most: 1, do: func(p *play, args []string) error {
		return p.waitAgents("agent "+args[0],
			func(agents []string, _ string) bool { return slices.Contains(agents, args[0]) })
	}},
	"no": {least: 2, most: 3, do: (*play).waitGone},
	"default": {least: 1, most: 1, do: func(p *play, args []string) error {
		return p.waitAgents("default "+args[0], func(_ []string, standard string) bool { return standard == args[0] })
	}},
}

// wait waits until something has come.
func (p *play) wait(args []string) error {
	w, known := waits[args[0]]
	rest := args[1:]
	switch {
	case !known:
		return fmt.Errorf("nobody can wait for %q", args[0])
	case len(rest) < w.least || len(rest) > w.most:
		return fmt.Errorf("wait %s takes %d to %d arguments, not %d", args[0], w.least, w.most, len(rest))
	}
	if w.number > 0 && w.number <= len(rest) {
		if _, err := strconv.Atoi(rest[w.number-1]); err != nil {
			return fmt.Errorf("%q is no number", rest[w.number-1])
		}
	}
	if w.do != nil {
		return w.do(p, rest)
	}
	return p.editor.wait(p.ctx, strings.Join(args, " "), func() bool { return w.until(p.editor, rest) })
}

// count is a number among the arguments, which [play.wait] has looked at, and otherwise where it is left out.
func count(args []string, i, otherwise int) int {
	if i >= len(args) {
		return otherwise
	}
	n, _ := strconv.Atoi(args[i])
	return n
}

func progressCame(e *Editor, args []string) bool {
	title := strings.Join(args[1:], "")
	n := 0
	for _, g := range e.progress.order {
		if !g.Begun || !strings.Contains(g.Title, title) {
			continue
		}
		if args[0] == "end" && !g.Ended {
			return false
		}
		n++
	}
	return n > 0
}

func diagnosticCame(e *Editor, args []string) bool {
	found := 0
	for _, d := range e.diagnostics[e.URI(args[0])].list {
		if strings.Contains(d.Message, args[1]) {
			found++
		}
	}
	return found > 0 && found == count(args, 2, found)
}

func eventCame(e *Editor, args []string) bool {
	return slices.ContainsFunc(e.notifications, func(n Notification) bool {
		return n.Method == "agent/event" && text(lookup(n.Params, "type")) == args[0] &&
			strings.Contains(string(n.Params), strings.Join(args[1:], ""))
	})
}

func (p *play) waitDiagnostics(args []string) error {
	e := p.editor
	err := e.wait(p.ctx, fmt.Sprintf("%s diagnostics of %s", args[1], args[0]), func() bool {
		return len(e.diagnostics[e.URI(args[0])].list) == count(args, 1, 0)
	})
	if err != nil {
		return fmt.Errorf("%w; they are:\n%s", err, diagnosticText(p.editor, args[0]))
	}
	return nil
}

func (p *play) waitGate(args []string) error {
	if p.env.Script == nil {
		return errors.New("there is no scripted model")
	}
	return p.env.Script.Reached(p.ctx, args[0], count(args, 1, 1))
}

// waitGone waits until an agent or a hint is there no more.
func (p *play) waitGone(args []string) error {
	switch {
	case args[0] == "hint" && len(args) == 3:
		return p.waitHint(args[1], args[2], false)
	case args[0] == "agent" && len(args) == 2:
		return p.waitAgents("no agent "+args[1],
			func(agents []string, _ string) bool { return !slices.Contains(agents, args[1]) })
	}
	return errors.New("it is wait no hint PATH \"text\" or wait no agent NAME")
}

// waitsFor waits for a message of a method.
func waitsFor(method string) func(*play, []string) error {
	return func(p *play, args []string) error { return p.waitMessage(method, args[0]) }
}

// waitRun waits by the command, which every client can execute.
func (q *requests) waitRun(args []string) error {
	status := cmp.Or(strings.Join(args, ""), "completed")
	run := q.vars["run"]
	if run == "" {
		return errors.New("no run was started")
	}
	result, err := q.editor.Execute(q.ctx, "agentls.wait", encode(struct {
		Run string `json:"run"`
	}{run}))
	if err != nil {
		return err
	}
	q.last = result
	if got := text(lookup(result, "status")); got != status {
		return fmt.Errorf("the run ended as %s, not %s: %s", got, status, shorten(string(result)))
	}
	return nil
}

func (p *play) waitMessage(method, want string) error {
	e := p.editor
	p.matched = append(p.matched, want)
	return e.wait(p.ctx, fmt.Sprintf("a %s with %q", method, want), func() bool {
		return slices.ContainsFunc(e.messages,
			func(m Message) bool { return m.Method == method && strings.Contains(m.Text, want) })
	})
}
