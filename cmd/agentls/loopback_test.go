package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// loopback is a provider of Chat Completions for benchmarks: it decodes nothing, so that what is measured is the
// client. In each conversation it has the agent read a part of a.go in every turn but the last.
type loopback struct {
	*httptest.Server
	// turns is how many requests a conversation has, pause how long the model thinks before each answer.
	turns int
	pause time.Duration
	// calls, if it is there, says which call each turn makes instead, with its arguments as JSON.
	calls func(turn int) (tool, arguments string)
	// opening, if there is one, is the first answer of each conversation, as the vendor sends it.
	opening string
	// tasks, where there are any, are what a conversation that begins with delegates hands on in its first answer; it
	// ends with the second.
	tasks int
	// stalls, if there is one, is a text in conversations that get no answer.
	stalls string
	// held, if there is one, is waited for before each last answer.
	held chan struct{}

	mu      sync.Mutex // guards all below
	arrived time.Time  // of the first byte of all
	first   []byte     // the body of the first request
	last    []byte     // that of the last one
	wrote   time.Time  // the last byte up to now
	waiting bool       // nothing was read since wrote
	gaps    []time.Duration
	peak    int // requests at the same time
	now     int
	news    chan struct{} // closed and replaced when now changes
}

// delegates is the prompt of a conversation that starts the tasks.
const delegates = "Have all of it read."

// listen starts the server; the benchmark ends it.
func (l *loopback) listen(b testing.TB) {
	l.news = make(chan struct{})
	l.Server = httptest.NewUnstartedServer(http.HandlerFunc(l.answer))
	l.Listener = tap{l.Listener, l}
	l.Start()
	b.Cleanup(func() {
		l.CloseClientConnections()
		l.Close()
	})
}

// tap notes when bytes come and go.
type tap struct {
	net.Listener
	l *loopback
}

func (t tap) Accept() (net.Conn, error) {
	conn, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tapped{conn, t.l}, nil
}

type tapped struct {
	net.Conn
	l *loopback
}

func (t tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if n > 0 {
		now := time.Now()
		t.l.mu.Lock()
		if t.l.arrived.IsZero() {
			t.l.arrived = now
		}
		if t.l.waiting {
			t.l.gaps = append(t.l.gaps, now.Sub(t.l.wrote))
			t.l.waiting = false
		}
		t.l.mu.Unlock()
	}
	return n, err
}

func (t tapped) Write(p []byte) (int, error) {
	t.l.mu.Lock()
	t.l.wrote, t.l.waiting = time.Now(), true
	t.l.mu.Unlock()
	return t.Conn.Write(p)
}

func (l *loopback) count(change int) {
	l.mu.Lock()
	l.now += change
	l.peak = max(l.peak, l.now)
	close(l.news)
	l.news = make(chan struct{})
	l.mu.Unlock()
}

// atOnce waits until n requests are there, or ctx ends.
func (l *loopback) atOnce(ctx context.Context, n int) {
	for {
		l.mu.Lock()
		now, news := l.now, l.news
		l.mu.Unlock()
		if now >= n || ctx.Err() != nil {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
}

// reset forgets what was measured.
func (l *loopback) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived, l.waiting, l.gaps, l.peak = time.Time{}, false, nil, 0
}

// bodies are buffers for what is asked: long conversations would have the server's garbage compete with the client.
var bodies = sync.Pool{New: func() any { return &bytes.Buffer{} }}

func (l *loopback) answer(w http.ResponseWriter, r *http.Request) {
	buffer := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(r.Body); err != nil {
		return
	}
	body := buffer.Bytes()
	l.mu.Lock()
	if l.first == nil {
		l.first = bytes.Clone(body)
	}
	l.last = body
	l.mu.Unlock()
	l.count(1)
	defer l.count(-1)
	if l.stalls != "" && bytes.Contains(body, []byte(l.stalls)) {
		<-r.Context().Done()
		return
	}
	turn := bytes.Count(body, []byte(`"role":"tool"`)) + 1
	root := l.tasks > 0 && bytes.Contains(body, []byte(delegates))
	if root && turn > 1 {
		turn = l.turns // all of its results are there
	}
	if l.pause > 0 {
		timer := time.NewTimer(l.pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	if turn >= l.turns && l.held != nil && !root {
		select {
		case <-l.held:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := ""
	if root && turn == 1 {
		stream = l.handsOn()
	} else {
		stream = l.stream(turn)
	}
	_, _ = io.WriteString(w, stream) // the client may have gone
	_ = http.NewResponseController(w).Flush()
}

// chunk is a piece of an answer as the vendor sends it.
func chunk(delta, finish string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` +
		delta + `,"finish_reason":` + finish + "}]}\n\n"
}

// ending is the end of each answer.
const ending = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}` +
	"\n\ndata: [DONE]\n\n"

// handsOn is an answer that starts all tasks.
func (l *loopback) handsOn() string {
	var b strings.Builder
	for i := range l.tasks {
		b.WriteString(
			chunk(
				fmt.Sprintf(
					`{"tool_calls":[{"index":%d,"id":"task_%d","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"explore\",\"prompt\":\"Read part %d of a.go.\"}"}}]}`, i, i, i), "null"))
	}
	b.WriteString(chunk(`{}`, `"tool_calls"`) + ending)
	return b.String()
}

// stream is an answer in a conversation that reads, or does what calls says.
func (l *loopback) stream(turn int) string {
	if turn == 1 && l.opening != "" {
		return l.opening
	}
	if turn >= l.turns {
		return chunk(`{"role":"assistant","content":"Done."}`, "null") + chunk(`{}`, `"stop"`) + ending
	}
	tool, arguments := "read", fmt.Sprintf(`{"path":"a.go","offset":%d,"limit":5}`, turn%100+1)
	if l.calls != nil {
		tool, arguments = l.calls(turn)
	}
	return chunk(fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_%d",`+
		`"type":"function","function":{"name":%q,"arguments":%q}}]}`, turn, tool, arguments), "null") +
		chunk(`{}`, `"tool_calls"`) + ending
}

// bare is the floor: conversations by a client that does nothing but ask, each in order, all beside each other.
func (l *loopback) bare(b testing.TB, conversations int) time.Duration {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conversations}}
	defer client.CloseIdleConnections()
	begin := time.Now()
	var wait sync.WaitGroup
	for range conversations {
		wait.Go(func() {
			body := l.first
			for range l.turns {
				response, err := client.Post(l.URL+"/v1/chat/completions", "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, response.Body)
				if err != nil {
					b.Error(err)
				}
				if err := response.Body.Close(); err != nil {
					b.Error(err)
				}
				body = append(slices.Clip(body), `{"role":"tool","content":"`+strings.Repeat("x", 200)+`"}`...)
			}
		})
	}
	wait.Wait()
	return time.Since(begin)
}

// samples are times of one kind.
type samples []time.Duration

// at returns the sample below which the share lies, in milliseconds.
func (s samples) at(share float64) float64 {
	if len(s) == 0 {
		return -1
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)].Seconds() * 1000
}

func (s samples) median() float64 { return s.at(0.5) }
