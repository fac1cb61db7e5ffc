package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// The benchmarks of this file are of the real command as a process, with a model on the loopback. Each reports
// medians of its iterations in milliseconds, beside a baseline of the same run. `make bench` runs each five times.

// binaryVariable names the command to measure; without it the test binary stands for it, which starts more slowly.
const binaryVariable = "AGENTLS_BIN"

// newBench makes a desk with files and a provider.
func newBench(b testing.TB, files int, l *loopback) *desk {
	source := "package a\n\n" + strings.Repeat("// A line of a file that is read again and again.\n", 300)
	texts := map[string]string{"a.go": source}
	for i := range files {
		texts[fmt.Sprintf("f%03d.go", i)] = source
	}
	d := newDesk(b, texts)
	l.listen(b)
	d.env = []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + l.URL + "/v1"}
	return d
}

// start prepares the command that is measured. The watchdog begins anew with each, whatever -benchtime asks for.
func (d *desk) start(args ...string) *exec.Cmd {
	var cancel context.CancelFunc
	d.ctx, cancel = context.WithTimeout(d.Context(), watchdog)
	d.Cleanup(cancel)
	cmd := d.command(args...)
	if binary := os.Getenv(binaryVariable); binary != "" {
		cmd.Path, cmd.Err = binary, nil
	}
	return cmd
}

// finish runs a prepared command to its end.
func (d *desk) finish(cmd *exec.Cmd) {
	d.Helper()
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Run(); err != nil {
		d.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, &complaints)
	}
}

// finishSmall is finish, and returns the most memory that the command had, in MiB: what the system counts for a process
// that has ended includes that of the one which started it.
func (d *desk) finishSmall(cmd *exec.Cmd) (most float64) {
	d.Helper()
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	ended, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, found := strings.Cut(string(status), "VmHWM:"); err == nil && found {
				kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
				if n, err := strconv.ParseFloat(kib, 64); err == nil {
					most = max(most, n/1024)
				}
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	<-looked
	if err != nil {
		d.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, &complaints)
	}
	return most
}

// BenchmarkSpawn starts the server and waits for the answer to initialize. The baseline is the command that prints
// its version.
func BenchmarkSpawn(b *testing.B) {
	d := newBench(b, 0, &loopback{})
	var initialized, version samples
	for b.Loop() {
		begin := time.Now()
		d.finish(d.start("version"))
		version = append(version, time.Since(begin))
		begin = time.Now()
		p := d.peer("serve")
		initialized = append(initialized, time.Since(begin))
		p.end()
	}
	record(b, row{
		work:   "initialize",
		figure: initialized.median(),
		unit:   "ms",
		beside: "version",
		floor:  version.median(),
		budget: 15,
	})
}

// BenchmarkFirstRequest measures from the command line to the first byte that the provider sees, and how long that
// request is.
func BenchmarkFirstRequest(b *testing.B) {
	for name, args := range map[string][]string{
		"reviewer": {"review", "--fail-on", "never", "a.go"},
		"coder":    {"run", "--agent", "coder", "Say what a.go is for.", "a.go"},
	} {
		b.Run(name, func(b *testing.B) {
			l := &loopback{turns: 1}
			d := newBench(b, 0, l)
			d.finish(d.start(args...)) // makes the database
			var first, version samples
			for b.Loop() {
				begin := time.Now()
				d.finish(d.start("version"))
				version = append(version, time.Since(begin))
				l.reset()
				begin = time.Now()
				d.finish(d.start(args...))
				first = append(first, l.arrived.Sub(begin))
			}
			record(b, row{
				work: "first request of " + name, figure: first.median(), unit: "ms", beside: "version",
				floor: version.median(), budget: 25,
			})
			record(b, row{work: "what it sends, " + name, figure: float64(len(l.first)), unit: "bytes", budget: 12_000})
		})
	}
}

// BenchmarkExplore has the offline rules look for words that are rare and words that are everywhere in 2,000 files. The
// baseline is the command that prints its version.
func BenchmarkExplore(b *testing.B) {
	things := strings.Fields("order price cart user cache store load save parse report export merge sync retry config token")
	files := map[string]string{}
	for i := range 2000 {
		var source strings.Builder
		source.WriteString("package p\n")
		for j := range 15 {
			first, second := things[(i+j)%len(things)], things[(i*7+j*3)%len(things)]
			fmt.Fprintf(&source, "\n// %s%d turns a %s into a %s.\nfunc %s%d(n int) int {\n\treturn %s(n)\n}\n", first,
				i, first, second, first, i, second)
		}
		files[fmt.Sprintf("p%02d/%s_%d.go", i%40, things[i%len(things)], i)] = source.String()
	}
	for name, question := range map[string]string{
		"rare":   "Where are frobnicators grokked, quuxes plughed and xyzzies waldoed?",
		"common": "Where are merged orders cached, and retries reported?",
	} {
		for _, how := range []string{"quick", "medium", "very thorough"} {
			b.Run(name+"/"+strings.ReplaceAll(how, " ", "-"), func(b *testing.B) {
				d := newDesk(b, files)
				var explored, version samples
				for b.Loop() {
					begin := time.Now()
					d.finish(d.start("version"))
					version = append(version, time.Since(begin))
					begin = time.Now()
					d.finish(d.start("run", "-q", "--agent", "explore", "--model", "offline",
						"thoroughness: "+how+"\n"+question))
					explored = append(explored, time.Since(begin))
				}
				b.ReportMetric(explored.median(), "ms/explore")
				b.ReportMetric(version.median(), "ms/version")
				b.ReportMetric(explored.median()/version.median(), "x/version")
			})
		}
	}
}

// BenchmarkTurns measures what the engine adds to each turn of a conversation that reads: from the last byte of an
// answer to the first byte of the next request, for all turns, for those up to the 50th, and for as many at the end.
// The context is as long as the conversation. The baseline is a client that only asks.
func BenchmarkTurns(b *testing.B) {
	const some = 40
	for _, turns := range []int{50, 500, 2000, 5000} {
		b.Run(strconv.Itoa(turns), func(b *testing.B) {
			l := &loopback{turns: turns}
			d := newBench(b, 0, l)
			d.configure("[models.\"openai/*\"]\ncontext_tokens = 100000000\n") // nothing is summed up
			var all, first, last, bare samples
			for b.Loop() {
				l.reset()
				d.finish(d.start("run", "-q", "--agent", "coder", "--max-turns", strconv.Itoa(turns+1), "--timeout",
					"10m", "Read a.go.", "a.go"))
				if len(l.gaps) < turns-1 {
					b.Fatalf("there were %d turns", len(l.gaps)+1)
				}
				all = append(all, l.gaps...)
				first = append(first, l.gaps[49-some:49]...)
				last = append(last, l.gaps[len(l.gaps)-some:]...)
				l.reset()
				l.bare(b, 1)
				bare = append(bare, l.gaps...)
			}
			if turns == 50 {
				r := row{unit: "ms", beside: "bare client", floor: bare.median()}
				r.work, r.figure, r.budget = "turn", all.median(), 1
				record(b, r)
				r.work, r.figure, r.budget = "turn, 95 of 100", all.at(0.95), 2
				record(b, r)
				return
			}
			record(b, row{
				work: "last turns", size: turns, things: "turns", figure: last.median(), unit: "ms",
				beside: "turns to the 50th", floor: first.median(), budget: 1.5, ratio: true,
			})
		})
	}
}

// BenchmarkChildren has a.go read by children, each in five turns during which the model thinks for 50 ms. They are
// started by a run for each of the files that are reviewed, or by a model that calls task in its first answer and ends
// with its second. The baseline is a client that only asks.
func BenchmarkChildren(b *testing.B) {
	for _, how := range []string{"each", "task"} {
		for _, children := range []int{16, 128, 512} {
			b.Run(fmt.Sprintf("%s/%d", how, children), func(b *testing.B) { benchChildren(b, how == "task", children) })
		}
	}
}

// raised are the arguments that let all children of a benchmark run at once.
var raised = []string{"--set", "max_children_per_session=4096", "--set", "max_children_per_machine=4096"}

func benchChildren(b *testing.B, delegated bool, children int) {
	l := &loopback{turns: 5, pause: 50 * time.Millisecond}
	before := time.Duration(0) // what the model takes for the run that starts the children
	d := newBench(b, children, l)
	args := append([]string{"review", "-q", "--fail-on", "never"}, raised...)
	if delegated {
		l.tasks = children
		before = 2 * l.pause
		args = append([]string{"run", "-q", "--agent", "coder"}, append(raised, delegates)...)
	} else {
		for i := range children {
			args = append(args, fmt.Sprintf("f%03d.go", i))
		}
	}
	var whole, work, bare, cpu samples
	memory, most := 0.0, 0
	for b.Loop() {
		l.reset()
		begin := time.Now()
		cmd := d.start(args...)
		memory = max(memory, d.finishSmall(cmd))
		whole = append(whole, time.Since(begin))
		work = append(work, l.wrote.Sub(l.arrived))
		if most = max(most, l.peak); l.peak <= 16 && children > 16 {
			b.Errorf("only %d of %d requests were under way at once", l.peak, children)
		}
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		bare = append(bare, l.bare(b, children)+before)
	}
	b.ReportMetric(work.median(), "ms/work")
	b.ReportMetric(float64(most), "requests/at-once")
	how := "children of a review"
	if delegated {
		how = "delegated children"
	}
	r := row{size: children, things: "children"}
	r.work, r.figure, r.unit = how, whole.median(), "ms"
	r.beside, r.floor = "bare client", bare.median()
	r.ratio, r.budget = true, map[int]float64{128: 1.4, 512: 3}[children]
	record(b, r)
	r.work, r.figure, r.unit = how+", CPU per turn", cpu.median()/float64(children*l.turns), "ms"
	r.beside, r.ratio, r.budget = "", false, map[int]float64{128: 0.6}[children]
	record(b, r)
	r.work, r.figure, r.unit = how+", memory", memory, "MiB"
	r.budget = map[int]float64{128: 64}[children]
	record(b, r)
}

// BenchmarkDidChange types 50,000 times, while nothing runs and while 16 or 128 children do, with a request after every
// hundredth change. The changes come as fast as the server takes them, so that each request waits behind what fills the
// pipe, or 2,000 a second, which is fifty keys held down: then no change waits for another.
func BenchmarkDidChange(b *testing.B) {
	for _, pause := range []time.Duration{0, 500 * time.Microsecond} {
		name := "flood"
		if pause > 0 {
			name = "paced"
		}
		var baseline float64
		for _, children := range []int{0, 16, 128} {
			b.Run(fmt.Sprintf("%s/children=%d", name, children), func(b *testing.B) {
				l := &loopback{turns: 1 << 30, pause: 50 * time.Millisecond}
				d := newBench(b, children, l)
				var whole, asked samples
				for b.Loop() {
					took, answered := d.typing(l, children, pause)
					whole, asked = append(whole, took), append(asked, answered...)
				}
				if children == 0 {
					baseline = whole.median()
				}
				b.ReportMetric(whole.median(), "ms/whole")
				b.ReportMetric(whole.median()/baseline, "x/idle")
				b.ReportMetric(asked.median(), "ms/request")
				b.ReportMetric(asked.at(0.99), "ms/request-p99")
			})
		}
	}
}

// typing is one round of BenchmarkDidChange: how long it takes, and each of the requests in between. With a pause there
// are fewer changes, a pause apart from each other.
func (d *desk) typing(l *loopback, children int, pause time.Duration) (whole time.Duration, asked samples) {
	changes, between := 50_000, 100
	if pause > 0 {
		changes, between = 4000, 10
	}
	p := d.peer(slices.Concat([]string{"serve", "--set", "default_max_turns=100000"}, raised)...)
	defer p.end()
	text := "package a\n\n" + strings.Repeat("// A line of a file that somebody types in.\n", 1000)
	uri := event.FileURI(filepath.Join(d.dir, "typed.go"))
	p.notify("textDocument/didOpen",
		fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":%q}}`, uri, text))
	if children > 0 {
		p.call("agent/run", d.each(children, `"limits":{"maxTurns":100000,"timeoutMs":600000}`))
		l.atOnce(d.ctx, children*3/4)
	} else {
		p.call("agent/list", `{}`)
	}
	tick := time.NewTicker(max(pause, 1))
	defer tick.Stop()
	begin := time.Now()
	var waits sync.WaitGroup
	var mu sync.Mutex
	for i := range changes {
		if pause > 0 {
			<-tick.C
		}
		p.notify("textDocument/didChange",
			fmt.Sprintf(
				`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"range":{"start":{"line":%d,"character":3},"end":{"line":%d,"character":%d}},"text":"x"}]}`,
				uri, i+2, i%900+2, i%900+2, 3+i%2))
		if i%between == 0 {
			sent := time.Now()
			answer := p.begin("textDocument/codeAction",
				fmt.Sprintf(
					`{"textDocument":{"uri":%q},"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":0}},"context":{"diagnostics":[]}}`, uri))
			waits.Go(func() {
				<-answer
				mu.Lock()
				asked = append(asked, time.Since(sent))
				mu.Unlock()
			})
		} else if pause > 0 {
			p.flush()
		}
	}
	p.call("agent/list", `{}`)
	whole = time.Since(begin)
	waits.Wait()
	return whole, asked
}

// BenchmarkCancel cancels children one by one while the model is held for all of them, and waits for the end of
// each, as an event and as progress.
func BenchmarkCancel(b *testing.B) {
	const children = 128
	l := &loopback{turns: 1, tasks: children, held: make(chan struct{})}
	d := newBench(b, 0, l)
	var asEvent, asProgress samples
	for b.Loop() {
		p := d.peer(append([]string{"serve"}, raised...)...)
		started := decode[struct{ Session, Run string }](b,
			p.call("agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates)))
		p.call("agent/subscribe", fmt.Sprintf(`{"session":%q,"since":0}`, started.Session))
		l.atOnce(d.ctx, children)
		// All of them have shown their progress when the newest has.
		p.until(func() bool { return len(p.begun) == children+1 })
		for run := range p.begun {
			if run == started.Run {
				continue
			}
			begin := time.Now()
			p.call("agent/cancel", fmt.Sprintf(`{"run":%q}`, run))
			p.until(func() bool { return !p.finished[run].IsZero() && !p.ended[run].IsZero() })
			asEvent = append(asEvent, p.finished[run].Sub(begin))
			asProgress = append(asProgress, p.ended[run].Sub(begin))
		}
		p.end()
	}
	b.ReportMetric(asEvent.median(), "ms/event")
	b.ReportMetric(asEvent.at(0.99), "ms/event-p99")
	b.ReportMetric(asProgress.median(), "ms/progress")
	b.ReportMetric(asProgress.at(0.99), "ms/progress-p99")
}

// each are the params of a run with a child for each file.
func (d *desk) each(children int, more string) string {
	var uris []string
	for i := range children {
		uris = append(uris, strconv.Quote(event.FileURI(filepath.Join(d.dir, fmt.Sprintf("f%03d.go", i)))))
	}
	return `{"agent":"reviewer","prompt":"Read.","each":[` + strings.Join(uris, ",") + `],` + more + `}`
}

// peer is an editor that costs next to nothing.
type peer struct {
	desk *desk
	cmd  *exec.Cmd
	in   *bufio.Writer
	pipe io.Closer
	done chan struct{} // closed when the server has closed its output

	writing sync.Mutex

	mu       sync.Mutex // guards all below
	news     chan struct{}
	lastID   int
	answers  map[int]chan json.RawMessage
	begun    map[string]time.Time // progress, by token
	ended    map[string]time.Time
	finished map[string]time.Time // RunFinished, by run
}

// peer starts a server and makes the handshake.
func (d *desk) peer(args ...string) *peer {
	d.Helper()
	cmd := d.start(args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		d.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	p := &peer{
		desk: d, cmd: cmd, in: bufio.NewWriterSize(in, 1<<16), pipe: in, done: make(chan struct{}),
		news:    make(chan struct{}),
		answers: map[int]chan json.RawMessage{}, begun: map[string]time.Time{}, ended: map[string]time.Time{},
		finished: map[string]time.Time{},
	}
	go p.read(bufio.NewReaderSize(out, 1<<16))
	p.call("initialize",
		fmt.Sprintf(
			`{"processId":null,"rootUri":%q,"capabilities":{"window":{"workDoneProgress":true},"textDocument":{"publishDiagnostics":{"versionSupport":true}}}}`, event.FileURI(d.dir)))
	p.notify("initialized", `{}`)
	return p
}

func (p *peer) send(message string, flush bool) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := fmt.Fprintf(p.in, "Content-Length: %d\r\n\r\n%s", len(message), message)
	if err == nil && flush {
		err = p.in.Flush()
	}
	if err != nil {
		p.desk.Error(err)
	}
}

// flush sends what notify has kept.
func (p *peer) flush() {
	p.writing.Lock()
	defer p.writing.Unlock()
	if err := p.in.Flush(); err != nil {
		p.desk.Error(err)
	}
}

// notify sends a notification, with the next request or when there is enough of them.
func (p *peer) notify(method, params string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params), false)
}

// begin sends a request.
func (p *peer) begin(method, params string) <-chan json.RawMessage {
	answer := make(chan json.RawMessage, 1)
	p.mu.Lock()
	p.lastID++
	id := p.lastID
	p.answers[id] = answer
	p.mu.Unlock()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params), true)
	return answer
}

// call sends a request and returns its result.
func (p *peer) call(method, params string) json.RawMessage {
	p.desk.Helper()
	select {
	case result := <-p.begin(method, params):
		return result
	case <-p.done:
		p.desk.Fatalf("%s: the server has ended", method)
	}
	return nil
}

// until waits until a condition holds, which is asked under the lock after each message.
func (p *peer) until(cond func() bool) {
	for {
		p.mu.Lock()
		ok, news := cond(), p.news
		p.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-news:
		case <-p.done:
			p.desk.Fatal("the server has ended")
		}
	}
}

// end ends the server at once.
func (p *peer) end() {
	if err := p.cmd.Process.Kill(); err != nil {
		p.desk.Error(err)
	}
	<-p.done
	_ = p.cmd.Wait() // it was killed
}

func (p *peer) read(from *bufio.Reader) {
	defer close(p.done)
	for {
		head, err := textproto.NewReader(from).ReadMIMEHeader()
		if err != nil {
			return
		}
		length, err := strconv.Atoi(head.Get("Content-Length"))
		if err != nil {
			return
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		p.take(body, time.Now())
	}
}

func (p *peer) take(body []byte, now time.Time) {
	var m struct {
		ID     *int
		Method string
		Result json.RawMessage
		Error  *struct{ Message string }
		Params struct {
			Token string
			Value struct{ Kind string }
			Type  json.RawMessage // a number where a message is shown
			Run   string
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		p.desk.Errorf("decode %s: %v", body, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case m.Method == "" && m.ID != nil:
		if m.Error != nil {
			p.desk.Errorf("request %d: %s", *m.ID, m.Error.Message)
		}
		p.answers[*m.ID] <- m.Result
		delete(p.answers, *m.ID)
	case m.ID != nil:
		id := *m.ID
		go p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, id), true) // the reader must not wait
	case m.Method == "$/progress" && m.Params.Value.Kind == "begin":
		p.begun[m.Params.Token] = now
	case m.Method == "$/progress" && m.Params.Value.Kind == "end":
		p.ended[m.Params.Token] = now
	case m.Method == "agent/event" && string(m.Params.Type) == `"RunFinished"`:
		p.finished[m.Params.Run] = now
	}
	close(p.news)
	p.news = make(chan struct{})
}
