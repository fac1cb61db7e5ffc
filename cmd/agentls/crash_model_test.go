package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// parts is how many children work at once while the process is killed.
const parts = 16

// crashModel is a provider of Chat Completions whose model behaves as a sensible one would, whatever was lost: it
// computes each answer from the messages alone. Of the prompt "load-N whole" it makes a child for each part; a child
// has "load-N part-K" edited, files written and commands run, each of which leaves a mark that no other one leaves.
// What the results tell of earlier commands is kept, to be compared with the marks.
type crashModel struct {
	*httptest.Server
	t testing.TB
	// command returns a command line that leaves a mark.
	command func(mark string) string

	mu    sync.Mutex
	given int               // marks
	fates map[string]string // what a model was told of the command with a mark
	wrong []string          // requests that should not have come
}

// What a model is told of a command.
const (
	fateDone    = "done"
	fateUnknown = "unknown"
	fateNever   = "never made"
)

type crashRequest struct {
	Messages []crashMessage `json:"messages"`
}

type crashMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []crashCall     `json:"tool_calls"`
}

type crashCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// text is the content, which is a string or a list of parts.
func (m crashMessage) text() string {
	var whole string
	if json.Unmarshal(m.Content, &whole) == nil {
		return whole
	}
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &list) != nil {
		return ""
	}
	for _, part := range list {
		whole += part.Text
	}
	return whole
}

func newCrashModel(t testing.TB) *crashModel {
	m := &crashModel{t: t, fates: map[string]string{}}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *crashModel) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process was killed
	}
	var request crashRequest
	if err := json.Unmarshal(body, &request); err != nil {
		m.complain("a request cannot be decoded: %v", err)
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	text, calls := m.answer(request.Messages)
	var stream strings.Builder
	if text != "" {
		stream.WriteString(chunk(fmt.Sprintf(`{"role":"assistant","content":%q}`, text), "null"))
	}
	finish := `"stop"`
	for i, c := range calls {
		finish = `"tool_calls"`
		arguments, err := json.Marshal(c.Function.Arguments)
		if err != nil {
			m.complain("a call cannot be encoded: %v", err)
		}
		stream.WriteString(
			chunk(
				fmt.Sprintf(
					`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}`,
					i, c.ID, c.Function.Name, arguments), "null"))
	}
	stream.WriteString(chunk(`{}`, finish) + ending)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, stream.String()) // the process may have been killed
}

func (m *crashModel) complain(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
}

var (
	loadWanted = regexp.MustCompile(`load-(\d+) (?:whole|part-(\d+))`)
	markMade   = regexp.MustCompile(`mark-\d+`)
	slotLine   = regexp.MustCompile(`slot (\d+): [a-z0-9-]+`)
)

// answer is what the model says to a conversation.
func (m *crashModel) answer(messages []crashMessage) (string, []crashCall) {
	asked := -1
	var wanted []string
	for i, message := range messages {
		if message.Role != "user" {
			continue
		}
		for _, found := range loadWanted.FindAllStringSubmatch(message.text(), -1) {
			if asked < i || found[2] != "" { // a child may be told what its parent is to do
				asked, wanted = i, found
			}
		}
	}
	if asked < 0 {
		return "A title", nil // one of the engine's own questions
	}
	results := map[string]string{}
	for _, message := range messages {
		if message.Role == "tool" {
			results[message.ToolCallID] = message.text()
		}
	}
	step := 0
	for i, message := range messages {
		for _, c := range message.ToolCalls {
			m.told(c, results[c.ID])
		}
		if i > asked && message.Role == "assistant" {
			step++
		}
	}
	if wanted[2] == "" {
		return m.root(wanted[1], messages, results, step)
	}
	return m.child(wanted[1], wanted[2], messages[asked:], results)
}

// told keeps what the model is told of a command.
func (m *crashModel) told(c crashCall, result string) {
	mark := markMade.FindString(c.Function.Arguments)
	if c.Function.Name != "bash" || mark == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fate := fateDone
	switch {
	case result == "":
		m.wrong = append(m.wrong, "a call has no result: "+c.Function.Arguments)
		return
	case strings.Contains(result, "before this call was made"):
		fate = fateNever
	case strings.HasPrefix(result, "error:"), strings.HasPrefix(result, "denied:"):
		fate = fateUnknown
	}
	switch before := m.fates[mark]; {
	case before == fateDone && fate == fateUnknown: // the outcome was told before it was durable
	case before != "" && before != fate:
		m.wrong = append(m.wrong, fmt.Sprintf("%s was %s, and is %s now", mark, before, fate))
	default:
		m.fates[mark] = fate
	}
}

func (m *crashModel) call(name string, arguments any) crashCall {
	raw, err := json.Marshal(arguments)
	if err != nil {
		m.complain("arguments of %s: %v", name, err)
	}
	m.mu.Lock()
	m.given++
	c := crashCall{ID: fmt.Sprintf("call_%d", m.given)}
	m.mu.Unlock()
	c.Function.Name, c.Function.Arguments = name, string(raw)
	return c
}

// root hands the parts on that are not done.
func (m *crashModel) root(load string, messages []crashMessage, results map[string]string,
	step int,
) (string, []crashCall) {
	done := map[int]bool{}
	for _, message := range messages {
		for _, c := range message.ToolCalls {
			found := loadWanted.FindStringSubmatch(c.Function.Arguments)
			if found == nil || found[2] == "" || strings.HasPrefix(results[c.ID], "error:") ||
				strings.HasPrefix(results[c.ID], "denied:") {
				continue
			}
			if part, err := strconv.Atoi(found[2]); err == nil {
				done[part] = true
			}
		}
	}
	var calls []crashCall
	for part := range parts {
		if !done[part] {
			calls = append(calls,
				m.call("task",
					map[string]string{
						"subagent_type": "tester", "prompt": fmt.Sprintf("load-%s part-%d", load, part),
						"description": fmt.Sprintf("do part %d", part),
					}))
		}
	}
	if len(calls) == 0 || step > 3 {
		return "All parts of load " + load + " are done.", nil
	}
	return "", calls
}

// child does one part: it looks, runs a command, edits, writes, and runs other commands. Where its edit is refused, it
// looks again.
func (m *crashModel) child(load, part string, messages []crashMessage,
	results map[string]string,
) (string, []crashCall) {
	mark := func() crashCall {
		m.mu.Lock()
		m.given++
		mark := fmt.Sprintf("mark-%d", m.given)
		m.mu.Unlock()
		return m.call("bash", map[string]string{"command": m.command(mark), "description": "leave " + mark})
	}
	slot, want := "", fmt.Sprintf("slot %s: load-%s", part, load)
	turns, behind, edited := 0, 0, false
	for _, message := range messages {
		if message.Role != "assistant" {
			continue
		}
		turns++
		if edited {
			behind++
		}
		for _, c := range message.ToolCalls {
			switch c.Function.Name {
			case "read":
				for _, found := range slotLine.FindAllStringSubmatch(results[c.ID], -1) {
					if found[1] == part {
						slot = found[0]
					}
				}
			case "edit":
				edited = strings.HasPrefix(results[c.ID], "Edited")
				if slot = want; !edited {
					slot = ""
				}
			}
		}
	}
	switch {
	case turns > 15 || behind > 1:
		return "Part " + part + " is done.", nil
	case slot == "":
		return "I look.", []crashCall{m.call("read", map[string]string{"path": sharedFile}), mark()}
	case slot != want:
		return "", []crashCall{
			m.call("edit", map[string]string{"path": sharedFile, "old_string": slot + "\n", "new_string": want + "\n"}),
			mark(),
		}
	case !edited:
		return "It is done already.", nil
	}
	if n, err := strconv.Atoi(part); err == nil && n%4 == 0 && behind == 0 {
		text := m.call("", nil).ID
		return "", []crashCall{
			m.call("write", map[string]string{"path": "new/" + text + ".txt", "content": text + "\n"}), mark(),
		}
	}
	return "", []crashCall{mark()}
}

// markFile is where commands without a sandbox leave their marks, a line each.
type markFile string

func (f markFile) command(mark string) string {
	return fmt.Sprintf("echo %s >> %s; (sleep 300 >/dev/null 2>&1 &); sleep 0.02", mark, f)
}

func (f markFile) marks() (map[string]int, error) {
	text, err := os.ReadFile(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts, nil
}

// markListener is where sandboxed commands leave theirs.
type markListener struct {
	net.Listener
	mu     sync.Mutex
	counts map[string]int
	served sync.WaitGroup
}

func newMarkListener(t testing.TB) *markListener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &markListener{Listener: listener, counts: map[string]int{}}
	l.served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			l.served.Go(func() { l.take(conn) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		l.served.Wait()
	})
	return l
}

// take counts a mark as soon as it has come.
func (l *markListener) take(conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return // who wanted to leave it was killed before
	}
	l.mu.Lock()
	l.counts[strings.TrimSpace(line)]++
	l.mu.Unlock()
	_, _ = io.WriteString(conn, "ok\n")
}

func (l *markListener) command(mark string) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	return fmt.Sprintf("exec 3<>/dev/tcp/%s/%s && echo %s >&3 && read -r ok <&3 && (sleep 300 >/dev/null 2>&1 &)",
		host, port, mark)
}

func (l *markListener) marks() (map[string]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts), nil
}

// check compares what models were told of commands with the marks that there are, and with the intents that are stored.
func (m *crashModel) check(counts map[string]int, intents []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	problems := slices.Clone(m.wrong)
	stored := map[string]bool{}
	for _, arguments := range intents {
		stored[markMade.FindString(arguments)] = true
	}
	for mark, n := range counts {
		if n > 1 {
			problems = append(problems, fmt.Sprintf("%s was left %d times", mark, n))
		}
		if !stored[mark] {
			problems = append(problems, mark+" was left by a command whose intent is not stored")
		}
	}
	for mark, fate := range m.fates {
		switch n := counts[mark]; {
		case fate == fateNever && n > 0:
			problems = append(problems, "a model was told that the command was never made which left "+mark)
		case fate == fateDone && n == 0:
			problems = append(problems, "a model was told that the command was made which should have left "+mark)
		}
	}
	return problems
}

// marksIn is the file for the marks of a desk without a sandbox.
func marksIn(d *desk) markFile { return markFile(filepath.Join(d.home, "marks")) }
