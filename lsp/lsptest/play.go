package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"
	"go.lsp.dev/uri"
)

// play is one run of a scenario: the state of its script. It belongs to the goroutine of the test.
type play struct {
	stage
	setup
	requests
	claims

	server *Server
	disk   map[string][]byte
	// faults are those of the editors before a restart.
	faults []string
}

// stage is what a scenario is played on.
type stage struct {
	t        *testing.T
	scenario *Scenario
	profile  *Profile
	start    func(Env) (*Server, error)
	base     string
	env      Env
	log      *logBuffer
	sites    map[string]string // addresses of the sites, by name; fixed once they serve
}

// setup is what is set before the server starts.
type setup struct {
	encodings []Encoding
	init      json.RawMessage
	settings  json.RawMessage
	answers   []answer
}

// requests are the requests that the script sends to the server, and what came back.
type requests struct {
	ctx     context.Context
	editor  *Editor
	vars    map[string]string
	begun   map[string]*Pending
	last    json.RawMessage // result of the last request
	lastErr error
	runs    map[string]bool // the runs that were started since the server was, by id
}

// logBuffer keeps what a server logs.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// fail reports a failure, with what went over the wire.
func (p *play) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Errorf(format, args...)
	if p.editor != nil {
		for _, f := range append(p.faults, p.editor.Faults()...) {
			p.t.Errorf("protocol: %s", f)
		}
		trace := p.editor.Trace()
		if len(trace) > 120 {
			trace = append(append([]string{}, trace[:20]...), append([]string{"…"}, trace[len(trace)-100:]...)...)
		}
		p.t.Logf("the wire:\n%s", strings.Join(trace, "\n"))
	}
	if text := p.log.String(); text != "" {
		p.t.Logf("the server's log:\n%s", text)
	}
}

// begin starts the server and the editor, if they do not run.
func (p *play) begin() error {
	if p.editor != nil {
		return nil
	}
	if p.disk == nil {
		var err error
		if p.disk, err = snapshot(p.env.Root); err != nil {
			return err
		}
	}
	server, err := p.start(p.env)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	p.server = server
	p.editor = NewEditor(server.Stream, EditorOptions{
		Root: p.env.Root, Profile: p.profile, Encodings: p.encodings, InitializationOptions: p.init,
		Settings: p.settings, Foreign: p.env.State,
	})
	p.editor.answers = slices.Clone(p.answers)
	return p.editor.Initialize(p.ctx)
}

// crash kills the server; the editor keeps its documents for the restart.
func (p *play) crash() error {
	if p.editor == nil {
		return errors.New("no server is running")
	}
	p.server.Kill()
	if err := p.editor.Close(); err != nil {
		return err
	}
	// The exit code of a killed server means nothing.
	_, _ = p.server.Wait()
	return nil
}

// restart starts the server again on the same state folder, as an editor does after a crash: with the documents that
// are open.
func (p *play) restart() error {
	old := p.editor
	if old == nil {
		return errors.New("no server was running")
	}
	p.runs = map[string]bool{}
	p.faults = append(p.faults, old.Faults()...)
	p.editor = nil
	if err := p.begin(); err != nil {
		return err
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	for _, d := range old.documents {
		p.editor.open(d.uri, d.text, d.version)
	}
	for file := range old.written {
		p.editor.written[file] = true
	}
	return nil
}

// settle waits until the progress of all runs has been shown and has ended.
func (p *play) settle() error {
	if p.profile.Announces("window.workDoneProgress") {
		// A script that sends shutdown right behind the end of a run may be quicker than the end of the run's progress.
		err := p.editor.wait(p.ctx, fmt.Sprintf("the progress of %d runs and its end", len(p.runs)), func() bool {
			return len(p.editor.progress.order) >= len(p.runs) &&
				!slices.ContainsFunc(p.editor.progress.order, func(g *Progress) bool { return !g.Ended })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// quit ends the server properly and checks its end.
func (p *play) quit() error {
	if err := p.editor.Shutdown(p.ctx); err != nil {
		return err
	}
	if err := p.editor.Close(); err != nil {
		return err
	}
	code, err := p.server.Wait()
	if err != nil || code != 0 {
		return fmt.Errorf("the server ended with exit code %d: %w", code, err)
	}
	return nil
}

// finish ends the scenario with the checks that every scenario makes.
func (p *play) finish() {
	if p.editor == nil {
		p.t.Error("the scenario has no line that starts the server")
		return
	}
	select {
	case <-p.editor.conn.DisconnectNotify():
	default:
		if err := errors.Join(p.settle(), p.quit()); err != nil {
			p.fail("at the end: %v", err)
			return
		}
	}
	var wrong []string
	for _, m := range p.editor.Messages() {
		if m.Method == "window/showMessage" && m.Type == 1 &&
			!slices.ContainsFunc(p.matched, func(text string) bool { return strings.Contains(m.Text, text) }) {
			wrong = append(wrong, fmt.Sprintf("an error message that the scenario does not expect: %q", m.Text))
		}
	}
	now, err := snapshot(p.env.Root)
	if err != nil {
		p.t.Fatal(err)
	}
	wrong = append(wrong, compareDisk(p.disk, now, p.editor.Written)...)
	if p.env.Script != nil {
		if err := p.env.Script.Check(); err != nil {
			wrong = append(wrong, fmt.Sprintf("the scripted model: %v", err))
		}
	}
	wrong = append(append(wrong, p.vows()...), p.stillUnsaid()...)
	if len(wrong) > 0 || len(p.faults)+len(p.editor.Faults()) > 0 {
		p.fail("at the end: %d things were wrong: %s", len(wrong)+len(p.faults)+len(p.editor.Faults()),
			strings.Join(wrong, "; "))
	}
}

// vows are the requests that the script has begun and has not waited for.
func (q *requests) vows() []string {
	var list []string
	for name := range q.begun {
		list = append(list, "the script never awaits "+name)
	}
	return list
}

// cleanUp ends what a failed scenario left running.
func (p *play) cleanUp() {
	if p.editor == nil {
		return
	}
	p.server.Kill()
	if err := p.editor.Close(); err != nil {
		p.t.Errorf("close the editor: %v", err)
	}
	_, _ = p.server.Wait() // it was killed or is gone
}

// errExpected reports whether the next line for this profile checks the error of the request before it.
func (s *stage) errExpected(next []line) bool {
	for _, l := range next {
		if l.isFor(s.profile.Name) {
			return l.verb == "error"
		}
	}
	return false
}

var variable = regexp.MustCompile(`\$\{([^}]+)\}`)

// expand puts in variables: ${uri:PATH}, ${path:PATH}, and those that were captured.
func (q *requests) expand(text string) (string, error) {
	var unknown error
	out := variable.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		if path, ok := strings.CutPrefix(name, "uri:"); ok {
			return q.editor.URI(path)
		}
		if path, ok := strings.CutPrefix(name, "path:"); ok {
			return pathOf(q.editor.URI(path))
		}
		value, known := q.vars[name]
		if !known {
			unknown = fmt.Errorf("nothing was captured as %s", name)
		}
		return value
	})
	return out, unknown
}

// took keeps the answer to a request. Runs that it names become variables.
func (q *requests) took(result json.RawMessage, err error) error {
	var answered *jsonrpc2.Error
	if err != nil && !errors.As(err, &answered) {
		return err
	}
	q.last, q.lastErr = result, err
	for _, name := range []string{"run", "session"} {
		if id := text(lookup(result, name)); id != "" {
			q.vars[name] = id
			if name == "run" {
				q.runs[id] = true
			}
		}
	}
	return nil
}

// compare compares a text with a section, or replaces the section.
func (s *stage) compare(section, got string) error {
	f := s.scenario.sectionFor(section, s.profile.Name)
	if f == nil {
		return fmt.Errorf("there is no section %s; it would be:\n%s", section, got)
	}
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if string(f.Data) == got {
		return nil
	}
	if *update {
		f.Data = []byte(got)
		s.scenario.changed = true
		return nil
	}
	return fmt.Errorf("it is not as in the section %s (-want +got):\n%s", f.Name, cmp.Diff(string(f.Data), got))
}

// masked replaces what differs from run to run.
func (s *stage) masked(text string) string {
	text = strings.ReplaceAll(text, string(uri.File(s.env.Root)), "$ROOT")
	text = strings.ReplaceAll(text, s.env.Root, "$ROOT")
	for _, name := range []string{"site", "other"} {
		if address := s.sites[name]; address != "" {
			text = strings.ReplaceAll(text, address, "$"+strings.ToUpper(name))
		}
	}
	return strings.ReplaceAll(text, s.base, "$BASE")
}

// A verb is what a line does.
type verb struct {
	least, most int // how many arguments it takes; -1 is any number
	json        int // which of them is JSON where it is there, counted from 1; 0 for none
	do          func(p *play, args []string) error
}

// editing is a verb that the editor alone carries out.
func editing(least, most, json int, do func(*Editor, []string) error) verb {
	return verb{least, most, json, func(p *play, args []string) error { return do(p.editor, args) }}
}

// asking is a verb that asks the server.
func asking(least, most, json int, do func(*requests, []string) error) verb {
	return verb{least, most, json, func(p *play, args []string) error { return do(&p.requests, args) }}
}

// plain is a verb without arguments.
func plain(do func(*play) error) verb {
	return verb{do: func(p *play, _ []string) error { return do(p) }}
}
