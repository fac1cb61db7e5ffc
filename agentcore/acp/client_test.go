package acp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/acp/acptest"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
)

func TestMain(m *testing.M) {
	acptest.Dispatch()
	goleak.VerifyTestMain(m)
}

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = time.Minute

// world is a client with its agent.
type world struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	argv   []string
	mark   string // by which processes are found that have left the agent's group
	client *acp.Client

	mu      sync.Mutex // guards all below
	updates []acp.Update
	odd     []string
	news    chan struct{} // closed and replaced with each update and each oddity
}

// begin starts an agent.
func begin(t *testing.T, play acptest.Play, o acp.Options) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, dir: t.TempDir(), news: make(chan struct{})}
	w.argv = acptest.Install(t, w.dir, play)
	w.mark = "AGENTLS_ACPTEST=" + w.argv[1]
	w.connect(o)
	return w
}

// connect starts the agent.
func (w *world) connect(o acp.Options) {
	w.t.Helper()
	own := o.Update
	o.Update = func(session string, u acp.Update) {
		if own != nil {
			own(session, u)
		}
		w.note(func() { w.updates = append(w.updates, u) })
	}
	o.Odd = func(what string) { w.note(func() { w.odd = append(w.odd, what) }) }
	w.client = acp.Connect(w.ctx, w.start(), o)
	w.t.Cleanup(w.client.Close)
}

// start starts the program of an agent.
func (w *world) start() *process.Live {
	w.t.Helper()
	live, err := command.LiveDirect(process.Program{
		Argv: w.argv, Dir: w.dir, Env: os.Environ(), Mark: w.mark,
	}, func(exit process.Exit, words []byte, err error) string {
		return command.Ending("the agent", exit, words, err)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return live
}

// ready starts an agent that has a session.
func ready(t *testing.T, play acptest.Play, o acp.Options) *world {
	t.Helper()
	w := begin(t, play, o)
	w.initialize()
	w.session()
	return w
}

func (w *world) note(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	close(w.news)
	w.news = make(chan struct{})
}

// until waits until something is so.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	for {
		w.mu.Lock()
		fine, news := so(), w.news
		w.mu.Unlock()
		if fine {
			return
		}
		select {
		case <-news:
		case <-w.ctx.Done():
			w.t.Fatalf("there was never %s; the updates are %+v, and what was odd %q", what, w.updates, w.odd)
		}
	}
}

func (w *world) initialize() acp.Agent {
	w.t.Helper()
	agent, err := w.client.Initialize(w.ctx, acp.Implementation{Name: "test", Version: "1"})
	if err != nil {
		w.t.Fatal(err)
	}
	return agent
}

// first is the id of the first session.
const first = "session-1"

func (w *world) session() acp.Session {
	w.t.Helper()
	s, err := w.client.NewSession(w.ctx, acp.Place{Folder: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	if s.ID != first {
		w.t.Fatalf("the session is %q", s.ID)
	}
	return s
}

// prompt has the agent work, and expects why it stopped.
func (w *world) prompt(reason acp.StopReason) acp.Usage {
	w.t.Helper()
	have, usage, err := w.client.Prompt(w.ctx, first, []acp.Content{acp.Text("Go.")})
	if err != nil || have != reason {
		w.t.Fatalf("the prompt ended with %q and %v, want %q", have, err, reason)
	}
	return usage
}

// fails expects that a prompt fails, in a way and with words.
func (w *world) fails(failure acp.Failure, words ...string) *acp.Error {
	w.t.Helper()
	_, _, err := w.client.Prompt(w.ctx, first, []acp.Content{acp.Text("Go.")})
	return w.failed(err, failure, words...)
}

// failed expects an error.
func (w *world) failed(err error, failure acp.Failure, words ...string) *acp.Error {
	w.t.Helper()
	failed, ok := errors.AsType[*acp.Error](err)
	if !ok || failed.Failure != failure {
		w.t.Fatalf("the error is %#v, want that it is %s", err, failure)
	}
	for _, word := range words {
		if !strings.Contains(failed.Error(), word) {
			w.t.Errorf("the error is %q, which does not have %q", failed, word)
		}
	}
	if len(failed.Message) > 4000 || strings.ContainsFunc(failed.Message, func(r rune) bool { return r < ' ' }) {
		w.t.Errorf("the error cannot be shown: %q", failed.Message)
	}
	return failed
}

// ends expects that nothing of the agent is left.
func (w *world) ends() {
	w.t.Helper()
	select {
	case <-w.client.Ended():
	case <-w.ctx.Done():
		w.t.Fatal("the agent does not end")
	}
}

// said is what the chunks of messages say together.
func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, u := range w.updates {
		if u.Kind == acp.MessageChunk {
			b.WriteString(u.Content.Text)
		}
	}
	return b.String()
}

// says expects what the chunks of messages say together.
func (w *world) says(want string) {
	w.t.Helper()
	if have := w.said(); have != want {
		w.t.Errorf("the agent said %q, want %q", have, want)
	}
}

// strange expects something odd.
func (w *world) strange(words string) {
	w.t.Helper()
	w.until(fmt.Sprintf("something odd with %q", words), func() bool {
		return strings.Contains(strings.Join(w.odd, "\n"), words)
	})
}

// nothingOdd expects that the agent kept to the protocol.
func (w *world) nothingOdd() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.odd) > 0 {
		w.t.Errorf("odd is %q", w.odd)
	}
}

// write lets an agent go on that waits for a file with a text.
func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Error(err)
	}
}

// got are the params of the messages of a method that the agent has got so far.
func (w *world) got(method string) []acptest.Object { return acptest.Received(w.t, w.argv, method) }

// answer is the only answer that the agent got to its requests of a method.
func (w *world) answer(method string) acptest.Object {
	w.t.Helper()
	list := acptest.Answers(w.t, w.argv, method)
	if len(list) != 1 {
		w.t.Fatalf("the agent got %d answers to %s: %v", len(list), method, list)
	}
	return list[0]
}

// plays runs each play as a test of its own, at whose end nothing is left.
func plays(t *testing.T, list map[string]func(*testing.T)) {
	for name, run := range list {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { goleak.VerifyNone(t) }) // runs behind those of the world
			run(t)
		})
	}
}

// once is a play of one prompt.
func once(steps ...acptest.Step) acptest.Play { return acptest.Play{Prompts: [][]acptest.Step{steps}} }
