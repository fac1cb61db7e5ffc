package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/lsptest"
	"github.com/agentls/agentls/lsp/methods"
)

var (
	randomSeeds   = flag.Int("seeds", 0, "TestRandom: number of seeds; 0 means a few, or 10,000 with AGENTLS_SOAK")
	randomSeed    = flag.Uint64("seed", 1, "TestRandom: the first seed")
	randomSteps   = flag.Int("steps", 60, "TestRandom: steps of a seed")
	randomSkip    = flag.String("skip", "", "TestRandom: steps to leave out, such as 3,4,7")
	randomWorkers = flag.Int("workers", 0, "TestRandom: seeds at once; 0 means one for each processor, two at most")
)

// TestRandom lets a user and eight runs work on the same files at random, and the user decide about what the runs
// propose. Each step is drawn from the seed and its own number alone, so that a failure can be replayed without the
// steps that do not matter.
func TestRandom(t *testing.T) {
	count := *randomSeeds
	switch {
	case count > 0:
	case os.Getenv("AGENTLS_SOAK") != "":
		count = 10_000
	case testing.Short():
		count = 12
	default:
		count = 24
	}
	skip := map[int]bool{}
	for part := range strings.SplitSeq(*randomSkip, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			skip[n] = true
		}
	}
	workers := *randomWorkers
	if workers <= 0 {
		workers = min(2, runtime.GOMAXPROCS(0))
	}
	base := t.TempDir()
	var next, failed atomic.Int64
	counts := &tally{count: map[string]int{}}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= int64(count) || failed.Load() > 0 {
					return
				}
				seed := *randomSeed + uint64(n)
				g, err := playSeed(t.Context(), base, seed, *randomSteps, skip, counts)
				if err == nil {
					continue
				}
				if failed.Add(1) > 1 {
					return
				}
				t.Errorf("seed %d failed: %v\n%s", seed, err, reduced(t.Context(), base, g, err, skip))
			}
		})
	}
	group.Wait()
	t.Logf("%d seeds; %s", min(next.Load(), int64(count)), counts)
	if failed.Load() == 0 && *randomSkip == "" && *randomSteps >= 60 && count >= 12 {
		counts.missing(t)
	}
}

// reduced looks for steps that the failure does not need, and describes what is left.
func reduced(ctx context.Context, base string, g *game, err error, skip map[int]bool) string {
	skip = maps.Clone(skip)
	last := g.step
	for step := last - 1; step >= 0; step-- {
		if skip[step] {
			continue
		}
		skip[step] = true
		shorter, again := playSeed(ctx, base, g.seed, last+1, skip, nil)
		if again == nil || kindOf(again) != kindOf(err) {
			delete(skip, step)
			continue
		}
		g, err, last = shorter, again, min(last, shorter.step)
	}
	var skipped []string
	for _, n := range slices.Sorted(maps.Keys(skip)) {
		if n < last {
			skipped = append(skipped, strconv.Itoa(n))
		}
	}
	return fmt.Sprintf(
		"the shortest way found to it: %v\nreplay: go test ./lsp -run 'TestRandom$' -seeds 1 -seed %d -steps %d "+
			"-skip %s\n%s", err, g.seed, last+1,
		strings.Join(skipped, ","), strings.Join(g.log, "\n"))
}

// kindOf tells failures apart: it is the text up to the first colon.
func kindOf(err error) string {
	kind, _, _ := strings.Cut(err.Error(), ":")
	return kind
}

// tally counts what happened over all seeds, so that the test cannot pass by doing nothing.
type tally struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *tally) String() string {
	var list []string
	for _, what := range slices.Sorted(maps.Keys(c.count)) {
		list = append(list, fmt.Sprintf("%s: %d", what, c.count[what]))
	}
	return strings.Join(list, ", ")
}

func (c *tally) missing(t *testing.T) {
	for _, what := range []string{
		"an agent edited", "a hunk was accepted", "a hunk was rejected", "the user typed",
		"the user undid", "an accept failed", "a hunk was in conflict",
	} {
		if c.count[what] == 0 {
			t.Errorf("in no seed %s", what)
		}
	}
}

// game is one seed: a server, its editor, and what must be true of them. It belongs to its own goroutine, but for what
// mu guards.
type game struct {
	seed    uint64
	step    int
	root    string
	profile *lsptest.Profile
	editor  *lsptest.Editor
	process *lsptest.Server
	server  *Server
	puppets *puppets
	runs    []*puppet
	waits   sync.WaitGroup
	initial map[string]string // the files as they were, by path from root
	made    int               // tokens
	log     []string
	counts  *tally
	// blind are files that changed on disk without the server being told.
	blind map[string]bool
	// spared are files that are just being deleted, which the user does not type in.
	spared map[string]bool
	states map[event.HunkID]event.ProposalState

	mu              sync.Mutex
	removedByUser   map[string]bool // tokens
	removedByAgents map[string]bool // tokens that calls which went well have replaced
	// doubtful are tokens that an edit took away while runs were at work, with what is wrong if nobody has them at the
	// step's end.
	doubtful      map[string]string
	movedByAgents map[string]bool // tokens that such calls brought to another file
	targets       map[string]bool // paths that such calls moved files to
	// removing and moving are the tokens that the calls which are under way replace or move.
	removing, moving map[string]bool
	// decided is what the hunks that are just being accepted add and remove, nil while none is; strict says that they
	// cannot change meanwhile.
	decided *verdict
	wrong   error
}

type verdict struct {
	added, removed map[string]bool
	strict, undo   bool
}

func (g *game) logf(format string, args ...any) { g.log = append(g.log, fmt.Sprintf(format, args...)) }

func (g *game) count(what string) {
	if g.counts == nil {
		return
	}
	g.counts.mu.Lock()
	defer g.counts.mu.Unlock()
	g.counts.count[what]++
}

// playSeed plays a seed from a new server to its end. The error says what was wrong; its part before the first colon is
// the kind.
func playSeed(ctx context.Context, base string, seed uint64, steps int, skip map[int]bool,
	counts *tally,
) (g *game, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("the watchdog"))
	defer cancel()
	dir, err := os.MkdirTemp(base, "seed")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g = &game{
		seed: seed, counts: counts, root: filepath.Join(dir, "work"), puppets: newPuppets(),
		initial: map[string]string{},
		blind:   map[string]bool{}, spared: map[string]bool{}, states: map[event.HunkID]event.ProposalState{},
		removedByUser: map[string]bool{}, removedByAgents: map[string]bool{}, doubtful: map[string]string{},
		movedByAgents: map[string]bool{}, targets: map[string]bool{},
	}
	rng := rand.New(rand.NewPCG(seed, 1<<32))
	if g.profile, err = lsptest.LoadProfile([]string{"rich", "neovim", "minimal"}[rng.IntN(5)*3/5]); err != nil {
		return g, err
	}
	if err := g.begin(ctx, rng, dir); err != nil {
		return g, err
	}
	defer func() {
		g.process.Kill()
		_, waited := g.process.Wait()
		closed := g.editor.Close()
		g.waits.Wait()
		if err == nil {
			err = errors.Join(waited, closed)
		}
	}()
	for g.step = range steps {
		if skip[g.step] {
			continue
		}
		if err := g.wave(ctx, rand.New(rand.NewPCG(seed, uint64(g.step)))); err != nil {
			return g, err
		}
		if err := g.check(ctx); err != nil {
			return g, err
		}
	}
	return g, g.end(ctx)
}

// begin writes the files and starts the server.
func (g *game) begin(ctx context.Context, rng *rand.Rand, dir string) error {
	state := filepath.Join(dir, "state")
	for _, folder := range []string{g.root, state} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	for i := range 3 + rng.IntN(4) {
		ending := pick(rng, []string{"\n", "\n", "\r\n"})
		var text strings.Builder
		for range rng.IntN(12) {
			line := ""
			switch rng.IntN(6) {
			case 0: // empty
			case 1:
				line = pick(rng, []string{"}", "\treturn", "  "})
			default:
				g.made++
				line = pick(rng, []string{"", "\t", "é "}) + fmt.Sprintf("b%04d;", g.made) +
					pick(rng, []string{"", " ", " 😀 x"})
			}
			text.WriteString(line + ending)
		}
		content := text.String()
		if rng.IntN(4) == 0 {
			content = strings.TrimSuffix(content, ending)
		}
		name := fmt.Sprintf("f%d.txt", i)
		g.initial[name] = content
		if err := os.WriteFile(filepath.Join(g.root, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	made := make(chan *Server, 1)
	g.process = lsptest.Serve(func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (int, error) {
		s := newServer(ctx, in, out, Options{
			Version: "test", Getenv: func(string) string { return "" }, Dirs: config.Dirs{Config: state, State: state},
			Logger:    slog.New(slog.DiscardHandler),
			OpenModel: func(provider.Choice) (model.Model, error) { return g.puppets, nil },
		})
		made <- s
		return s.serve(ctx)
	})
	g.server = <-made
	encoding := pick(rng, []lsptest.Encoding{lsptest.UTF8, lsptest.UTF16, lsptest.UTF32})
	g.editor = lsptest.NewEditor(g.process.Stream, lsptest.EditorOptions{
		Root: g.root, Profile: g.profile, Foreign: state, Changed: g.changed, Encodings: []lsptest.Encoding{encoding},
	})
	g.logf("seed %d, profile %s, %s", g.seed, g.profile.Name, encoding)
	if err := g.editor.Initialize(ctx); err != nil {
		return err
	}
	if _, err := g.server.connected.open(ctx); err != nil {
		return err
	}
	if g.profile.Announces("workspace.didChangeWatchedFiles.dynamicRegistration") {
		if err := g.editor.Until(ctx, "the registration for file events", g.editor.Watches); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(g.initial)) {
		g.logf("%s: %q", path, g.initial[path])
		if rng.IntN(3) > 0 {
			if err := g.editor.Open(path); err != nil {
				return err
			}
		}
	}
	return g.start(ctx, rng)
}

// start starts a run and waits for its first request.
func (g *game) start(ctx context.Context, rng *rand.Rand) error {
	raw, err := g.editor.Call(ctx, "agent/run", methods.RunParams{Agent: "coder", Prompt: "Improve it."})
	if err != nil {
		return fmt.Errorf("a run did not start: %w", err)
	}
	var started methods.RunStarted
	if err := json.Unmarshal(raw, &started); err != nil {
		return err
	}
	r := &puppet{
		id: started.Run, turns: 2 + rng.IntN(10), files: map[string][]string{}, known: map[string]string{},
		made: map[string]bool{},
	}
	g.runs = append(g.runs, r)
	g.waits.Go(func() {
		raw, err := g.editor.Call(ctx, "agent/wait", methods.WaitParams{Run: r.id})
		var result event.RunResult
		if err == nil {
			err = json.Unmarshal(raw, &result)
		}
		g.puppets.mu.Lock()
		defer g.puppets.mu.Unlock()
		r.ended, r.failure, r.status = true, err, result.Status
		g.puppets.changed()
	})
	return g.rest(ctx, r)
}

// rest waits until a run asks the model or has ended, and takes in what its calls brought.
func (g *game) rest(ctx context.Context, r *puppet) error {
	for {
		g.puppets.mu.Lock()
		ready, news := r.ended || g.puppets.waiting[r.id] != nil, g.puppets.news
		g.puppets.mu.Unlock()
		if ready {
			g.learn(r)
			return r.failure
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("a run neither asks nor ends: %w", context.Cause(ctx))
		}
	}
}

// live are the runs that have not ended.
func (g *game) live() []*puppet {
	g.puppets.mu.Lock()
	defer g.puppets.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.runs), func(r *puppet) bool { return r.ended })
}

// paths are the files that there are, on disk or open, from the workspace folder.
func (g *game) paths() []string {
	list := g.editor.Opened()
	for path := range g.disk() {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// disk is what must be on disk: the files as they were, and what the editor has written.
func (g *game) disk() map[string]string {
	files := maps.Clone(g.initial)
	for file, content := range g.editor.Wrote() {
		path, err := filepath.Rel(g.root, file)
		if err != nil {
			panic(err) // both are absolute
		}
		if content == nil {
			delete(files, path)
		} else {
			files[path] = string(content)
		}
	}
	return files
}

// end lets the runs finish, compares the store with the memory, and ends the server.
func (g *game) end(ctx context.Context) error {
	for _, r := range g.live() {
		r.turns = 0
		g.puppets.release(r.id, g.turn(nil, r))
		if err := g.rest(ctx, r); err != nil {
			return err
		}
	}
	g.waits.Wait()
	for _, r := range g.runs {
		if r.failure != nil || r.status != event.StatusCompleted && r.status != event.StatusCancelled {
			return fmt.Errorf("a run ended badly: %s %s: %w", r.id, r.status, r.failure)
		}
	}
	if err := g.check(ctx); err != nil {
		return err
	}
	if err := g.checkStore(ctx); err != nil {
		return err
	}
	if err := g.editor.Shutdown(ctx); err != nil {
		return fmt.Errorf("the server did not shut down: %w", err)
	}
	if code, err := g.process.Wait(); code != 0 || err != nil {
		return fmt.Errorf("the server ended badly: code %d: %w", code, err)
	}
	return g.checkDisk()
}

func (g *game) checkDisk() error {
	want := g.disk()
	err := filepath.WalkDir(g.root, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		path, err := filepath.Rel(g.root, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		expected, known := want[path]
		if !known || !bytes.Equal(content, []byte(expected)) {
			return fmt.Errorf("the disk changed: %s is %q, the editor has written %q", path, content, expected)
		}
		delete(want, path)
		return nil
	})
	if err == nil && len(want) > 0 {
		err = fmt.Errorf("the disk changed: files are gone: %q", slices.Sorted(maps.Keys(want)))
	}
	return err
}
