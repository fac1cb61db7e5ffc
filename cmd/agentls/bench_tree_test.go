package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// treeSizes are how many files the trees have in which commands and searches are measured.
var treeSizes = []int{10, 1000, 10_000, 100_000}

// newForest makes a desk that the user trusts, with as many files in folders of ten.
func newForest(b testing.TB, files int, l *loopback) *desk {
	d := newBench(b, 0, l)
	text := strings.Repeat("// A line of a file that is searched for words.\n", 30)
	for i := range files {
		d.write(filepath.Join(d.dir, fmt.Sprintf("src/p%02d/internal/m%02d/f%d.go", i/1000, i/10%100, i%10)),
			fmt.Sprintf("package m\n\n%sconst n%d = 1\n", text, i))
	}
	time.Sleep(3 * time.Second) // what has just changed is read again each time
	d.finish(d.start("trust", "--yes"))
	return d
}

// turns runs a conversation whose every turn but the last makes a call, and returns how long each took: from the last
// byte of an answer to the first byte of the next request.
func (d *desk) turns(l *loopback, calls func(turn int) (tool, arguments string)) samples {
	d.Helper()
	l.reset()
	l.calls = calls
	d.finish(d.start("run", "-q", "--agent", "coder", "--max-turns", strconv.Itoa(l.turns+1), "Read a.go.", "a.go"))
	if len(l.gaps) != l.turns-1 {
		d.Fatalf("there were %d turns, not %d", len(l.gaps)+1, l.turns)
	}
	return slices.Clone(l.gaps)
}

// process runs a program in the desk's folder that is no part of agentls, and returns how long it took. Finding nothing
// is no failure.
func (d *desk) process(argv ...string) time.Duration {
	d.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(d.ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = d.dir, &said
	begin := time.Now()
	_, err := cmd.Output()
	took := time.Since(begin)
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
		d.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, &said)
	}
	return took
}

// BenchmarkCommand has the agent run a command that does nothing in each of 20 turns, in the sandbox. Beside it are the
// turns of a conversation that only reads, and the same command run without anything around it.
func BenchmarkCommand(b *testing.B) {
	for _, files := range treeSizes {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			l := &loopback{turns: 21}
			d := newForest(b, files, l)
			var first, command, turn, bare samples
			for b.Loop() {
				gaps := d.turns(l, func(turn int) (string, string) {
					return "bash", fmt.Sprintf(`{"command":"true %d"}`, turn)
				})
				first, command = append(first, gaps[0]), append(command, gaps[1:]...)
				turn = append(turn, d.turns(l, nil)...)
				for range 20 {
					bare = append(bare, d.process("bash", "-c", "true"))
				}
			}
			bareMS := bare.median()
			r := row{size: files, things: "files", unit: "ms", beside: "bash -c true", floor: bareMS}
			r.work, r.figure, r.budget = "first command", first.median(), 60
			record(b, r)
			r.work, r.figure, r.budget = "next commands", command.median(), 15
			record(b, r)
			b.ReportMetric(command.at(0.95), "ms/command-p95")
			b.ReportMetric(turn.median(), "ms/turn")
			if files == treeSizes[0] {
				record(b, row{
					work: "command over bare exec", figure: command.median() - bareMS, unit: "ms", budget: 8,
				})
			}
		})
	}
}

// BenchmarkSearch has the agent list and search a tree once, whose files were not read before. What the engine adds to
// every turn is in it. Beside it is ripgrep as a process, which is asked for the same.
func BenchmarkSearch(b *testing.B) {
	if _, err := exec.LookPath("rg"); err != nil {
		b.Fatal("there is no rg to compare with; install ripgrep")
	}
	for _, files := range treeSizes {
		l := &loopback{turns: 2}
		var d *desk
		name := fmt.Sprintf("n%d", files/2)
		for _, search := range []struct {
			tool, arguments string
			budget          float64
			rg              []string
		}{
			{"list", `{"path":".","depth":20}`, 1.5, []string{"--files"}},
			{"glob", `{"pattern":"f7.g?"}`, 1.5, []string{"--files", "--glob=f7.g?"}},
			{"grep", fmt.Sprintf(`{"pattern":"%s"}`, name), 1.3, []string{"--line-number", "--no-heading", name, "."}},
		} {
			whole := b
			b.Run(fmt.Sprintf("%s/files=%d", search.tool, files), func(b *testing.B) {
				if d == nil {
					d = newForest(whole, files, l) // which the next searches use, too
				}
				var ours, theirs samples
				for b.Loop() {
					ours = append(ours,
						d.turns(l, func(int) (string, string) { return search.tool, search.arguments })...)
					theirs = append(theirs, d.process(append([]string{"rg"}, search.rg...)...))
				}
				record(b, row{
					work: search.tool, size: files, things: "files", figure: ours.median(), unit: "ms", beside: "rg",
					floor: theirs.median(), budget: search.budget, ratio: true,
				})
			})
		}
	}
}

// BenchmarkBinary is the size of the command that is measured.
func BenchmarkBinary(b *testing.B) {
	binary := os.Getenv(binaryVariable)
	if binary == "" {
		b.Fatalf("the binary of the tests is no measure; name the command in %s", binaryVariable)
	}
	for b.Loop() {
		info, err := os.Stat(binary)
		if err != nil {
			b.Fatal(err)
		}
		record(b, row{work: "binary", figure: float64(info.Size()) / 1e6, unit: "MB", budget: 45})
	}
}
