package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// The benchmarks of this file change many files at once. Their figures are of n, 2n and 4n, so that a growth is seen.

// wideDesk makes a desk with files of 60 lines in folders of a hundred.
func wideDesk(b *testing.B, files int, l *loopback) *desk {
	texts := map[string]string{"a.go": "package a\n"}
	for i := range files {
		var source strings.Builder
		fmt.Fprintf(&source, "package p\n\n// F%d is old.\n", i)
		for j := range 20 {
			fmt.Fprintf(&source, "\nfunc f%d_%d() string {\n\treturn \"what the function has is old %d\" }\n", i, j, j)
		}
		texts[fmt.Sprintf("src/p%02d/f%04d.go", i/100, i)] = source.String()
	}
	d := newDesk(b, texts)
	l.listen(b)
	d.env = []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + l.URL + "/v1"}
	d.finish(d.start("trust", "--yes")) // makes the database
	time.Sleep(2 * time.Second)         // what has just changed is read again each time
	return d
}

// stateSize is how many bytes the database has, with what is to be written back to it.
func (d *desk) stateSize() float64 {
	sum := int64(0)
	for _, path := range []string{d.database(), d.database() + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			sum += info.Size()
		}
	}
	return float64(sum) / (1 << 20)
}

// measure runs the conversation of a loopback with two answers, and returns from the last byte of the first one to the
// first byte of the next request in milliseconds, and the most memory and the growth of the database in MiB. look is
// called after each iteration.
func (d *desk) measure(b *testing.B, l *loopback, look func()) (request, most, stored float64) {
	var gap, cpu samples
	memory, grown, rest := 0.0, 0.0, samples{}
	for b.Loop() {
		l.reset()
		before := d.stateSize()
		cmd := d.start("run", "-q", "--agent", "coder", "--max-turns", "4", "Work.")
		memory = max(memory, d.finishSmall(cmd))
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		rest = append(rest, time.Since(l.wrote))
		grown = max(grown, d.stateSize()-before)
		if len(l.gaps) != 1 {
			b.Fatalf("there were %d turns", len(l.gaps)+1)
		}
		gap = append(gap, l.gaps...)
		look()
	}
	b.ReportMetric(rest.median(), "ms/end")
	b.ReportMetric(cpu.median(), "ms/cpu")
	return gap.median(), memory, grown
}

// BenchmarkWideCommand has a command in the sandbox change a line of each file, make a new file beside each or move all
// of them. It tells how long that took inside.
func BenchmarkWideCommand(b *testing.B) {
	for _, how := range []struct {
		name, verb, command string
		budgets             map[int]float64 // by files, in milliseconds
	}{
		{
			"change", "that changes files", "sed -i s/old[.]/new./ src/*/*.go",
			map[int]float64{100: 100, 645: 400, 2000: 1200},
		},
		{"make", "that makes files", "cp -r src made", nil},
		{"move", "that moves files", "mv src moved", nil},
	} {
		for _, files := range []int{100, 645, 2000} {
			b.Run(fmt.Sprintf("%s/%d", how.name, files), func(b *testing.B) {
				script := "s=$(date +%s%N); " + how.command + "; echo took:$((($(date +%s%N)-s)/1000)):"
				l := &loopback{turns: 2, calls: func(int) (string, string) {
					return "bash", fmt.Sprintf(`{"command":%q}`, script)
				}}
				d := wideDesk(b, files, l)
				var inside, over samples
				gap, memory, grown := d.measure(b, l, func() {
					answer := string(l.last) // the command is in it, too, before what it said
					number, _, _ := strings.Cut(answer[strings.LastIndex(answer, "took:")+len("took:"):], ":")
					took, err := strconv.Atoi(number)
					if err != nil {
						b.Fatalf("the command said nothing: %v", err)
					}
					inside = append(inside, time.Duration(took)*time.Microsecond)
					over = append(over, l.gaps[0]-inside[len(inside)-1])
				})
				b.ReportMetric(over.median(), "ms/over-inside")
				r := row{
					work:   "command " + how.verb,
					size:   files,
					things: "files",
					figure: gap,
					unit:   "ms",
					beside: "inside",
					floor:  inside.median(),
					budget: how.budgets[files],
				}
				record(b, r)
				if r.budget > 0 {
					record(b, row{
						work:   r.work + ", memory",
						size:   files,
						things: "files",
						figure: memory,
						unit:   "MiB",
						budget: 150,
					})
					record(b, row{
						work: r.work + ", stored", size: files, things: "files", figure: grown, unit: "MiB", budget: 10,
					})
				}
			})
		}
	}
}

// BenchmarkWideTurn has a model make ten hunks in each file in one answer, with a call a file or a call a hunk.
func BenchmarkWideTurn(b *testing.B) {
	for _, one := range []bool{false, true} {
		for _, files := range []int{100, 200, 400} {
			name := fmt.Sprintf("calls=%d/hunks=%d", files, 10*files)
			budget := map[int]float64{100: 150, 400: 600}[files]
			if one {
				name, budget = fmt.Sprintf("calls=%d/hunks=%d", 10*files, 10*files), 0
			}
			b.Run(name, func(b *testing.B) {
				l := &loopback{turns: 2, opening: edits(files, one)}
				d := wideDesk(b, files, l)
				gap, memory, grown := d.measure(b, l, func() {})
				b.ReportMetric(memory, "MiB/peak")
				b.ReportMetric(grown, "MiB/stored")
				work := "turn with a call a file"
				if one {
					work = "turn with a call a hunk"
				}
				record(b, row{work: work, size: 10 * files, things: "hunks", figure: gap, unit: "ms", budget: budget})
			})
		}
	}
}

// BenchmarkWideServed is BenchmarkWideTurn with a call a file in a server, whose editor is shown what was proposed. It
// reports, too, how long a request behind all of that waits for its answer once the run has ended.
func BenchmarkWideServed(b *testing.B) {
	for _, files := range []int{100, 200, 400, 800} {
		b.Run(fmt.Sprintf("hunks=%d", 10*files), func(b *testing.B) {
			l := &loopback{turns: 2, opening: edits(files, false)}
			d := wideDesk(b, files, l)
			var gap, shown, cpu samples
			for b.Loop() {
				l.reset()
				if err := os.RemoveAll(d.state); err != nil { // or the next server would adopt what was proposed
					b.Fatal(err)
				}
				d.finish(d.start("trust", "--yes"))
				p := d.peer("serve")
				started := decode[struct{ Session, Run string }](b,
					p.call("agent/run", `{"agent":"coder","prompt":"Work."}`))
				p.call("agent/subscribe", fmt.Sprintf(`{"session":%q,"since":0}`, started.Session))
				p.call("agent/wait", fmt.Sprintf(`{"run":%q}`, started.Run))
				ended := time.Now()
				p.call("agent/proposals", fmt.Sprintf(`{"session":%q}`, started.Session))
				shown = append(shown, time.Since(ended))
				p.end()
				gap = append(gap, l.gaps...)
				cpu = append(cpu, p.cmd.ProcessState.UserTime()+p.cmd.ProcessState.SystemTime())
			}
			b.ReportMetric(gap.median(), "ms/request")
			b.ReportMetric(shown.median(), "ms/shown")
			b.ReportMetric(cpu.median(), "ms/cpu")
		})
	}
}

// BenchmarkDidChangeLong types in documents of 1 and 5 MB, without and with a finding of the offline rules in them, as
// fast as the server takes it.
func BenchmarkDidChangeLong(b *testing.B) {
	const changes = 2000
	for _, size := range []int{1 << 20, 5 << 20} {
		for _, found := range []bool{false, true} {
			b.Run(fmt.Sprintf("bytes=%d/finding=%t", size, found), func(b *testing.B) {
				d := newDesk(b, nil)
				p := d.peer("serve")
				defer p.end()
				line := "A line of a long text that somebody types in.\n"
				text := "A text.\n\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> other\n" +
					strings.Repeat(line, size/len(line))
				uri := event.FileURI(filepath.Join(d.dir, "long.txt"))
				p.notify("textDocument/didOpen",
					fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":%q}}`, uri, text))
				if found {
					started := decode[struct{ Run string }](b, p.call("workspace/executeCommand",
						fmt.Sprintf(`{"command":"agentls.review","arguments":[{"uri":%q}]}`, uri)))
					ended := p.call("agent/wait", fmt.Sprintf(`{"run":%q}`, started.Run))
					if !strings.Contains(string(ended), "1 error") {
						b.Fatalf("there is no finding: %s", ended)
					}
				}
				p.call("agent/list", `{}`)
				version := 1
				var each samples
				for b.Loop() {
					begin := time.Now()
					for i := range changes {
						version++
						p.notify("textDocument/didChange", fmt.Sprintf(
							`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"range":{"start":{"line":%d,"character":3},"end":{"line":%d,"character":%d}},"text":"x"}]}`,
							uri, version, 10+i*5, 10+i*5, 3+i%2))
					}
					p.call("agent/list", `{}`)
					each = append(each, time.Since(begin)/changes)
				}
				work := "didChange in a long text"
				if found {
					work += " with a finding"
				}
				record(b, row{
					work: work, size: size, things: "bytes", figure: each.median(), unit: "ms",
					budget: map[bool]float64{true: 0.1}[found],
				})
			})
		}
	}
}

// edits is an answer that edits ten places of each file, each with a call of its own where one is set.
func edits(files int, one bool) string {
	var b strings.Builder
	calls := 0
	call := func(arguments string) {
		b.WriteString(chunk(fmt.Sprintf(
			`{"tool_calls":[{"index":%d,"id":"call_%d","type":"function","function":{"name":"edit","arguments":%q}}]}`,
			calls, calls, arguments), "null"))
		calls++
	}
	for i := range files {
		path := fmt.Sprintf("src/p%02d/f%04d.go", i/100, i)
		var list []string
		for j := range 10 {
			e := fmt.Sprintf(`"old_string":"f%d_%d()","new_string":"g%d_%d()"`, i, 2*j, i, 2*j)
			if one {
				call(fmt.Sprintf(`{"path":%q,%s}`, path, e))
			}
			list = append(list, "{"+e+"}")
		}
		if !one {
			call(fmt.Sprintf(`{"path":%q,"edits":[%s]}`, path, strings.Join(list, ",")))
		}
	}
	b.WriteString(chunk(`{}`, `"tool_calls"`) + ending)
	return b.String()
}
