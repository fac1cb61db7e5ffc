package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
)

// token is a word that occurs once: "b" of the files as they were, "u" typed by the user, "a" written by an agent.
var token = regexp.MustCompile(`[bua]\d{4};`)

func tokensOf(text string) []string { return token.FindAllString(text, -1) }

// lostTokens are those of one text that another lacks.
func lostTokens(before, after string) []string {
	there := map[string]bool{}
	for _, t := range tokensOf(after) {
		there[t] = true
	}
	var list []string
	for _, t := range tokensOf(before) {
		if !there[t] {
			list = append(list, t)
		}
	}
	return list
}

// puppets is a model whose turns a test makes: each request waits until the test answers it. Its lock guards it.
type puppets struct {
	mu      sync.Mutex
	waiting map[event.RunID]*pendingTurn
	news    chan struct{}
}

// pendingTurn is a request that waits for its answer.
type pendingTurn struct {
	request *model.Request
	answer  chan []model.Part
}

func newPuppets() *puppets {
	return &puppets{waiting: map[event.RunID]*pendingTurn{}, news: make(chan struct{})}
}

func (*puppets) Name() string { return "script/puppets" }

// changed wakes who waits for a turn or an end. The lock is held.
func (p *puppets) changed() {
	close(p.news)
	p.news = make(chan struct{})
}

func (p *puppets) Stream(ctx context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		turn := &pendingTurn{request, make(chan []model.Part, 1)}
		id := event.RunID(request.Run)
		p.mu.Lock()
		p.waiting[id] = turn
		p.changed()
		p.mu.Unlock()
		select {
		case parts := <-turn.answer:
			done := model.Done{Message: model.Message{Role: model.RoleAssistant, Parts: parts}, Stop: model.StopCalls}
			if len(done.Message.Calls()) == 0 {
				done.Stop = model.StopEnd
			}
			yield(done, nil)
		case <-ctx.Done():
			p.mu.Lock()
			delete(p.waiting, id)
			p.changed()
			p.mu.Unlock()
			yield(nil, ctx.Err())
		}
	}
}

// release answers a run's request.
func (p *puppets) release(id event.RunID, parts []model.Part) {
	p.mu.Lock()
	turn := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	turn.answer <- parts
}

// request returns what a run waits with, nil where it does not.
func (p *puppets) request(id event.RunID) *model.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn := p.waiting[id]; turn != nil {
		return turn.request
	}
	return nil
}

// puppet is a run as the test knows it. It belongs to the test's goroutine but for ended and failure, which the
// puppets' lock guards.
type puppet struct {
	id    event.RunID
	turns int // that are left
	reads int
	made  map[string]bool // files that it knows, or tried to create
	fresh map[string]bool // files that it reads in this turn
	// files are the lines that it has seen and written, by path.
	files map[string][]string
	// known is every text that files may have for it, by path: it cannot tell within a turn which of its calls go well.
	known map[string]string
	calls map[string]plan // of the last turn, by the call's id

	ended   bool
	failure error
	status  event.Status
}

// plan is what a call would change.
type plan struct {
	path           string
	lines          []string // of the file after it
	added, removed []string // tokens
	moved          []string // tokens that go to another file
	gone           bool     // the file goes
	to             string   // where it goes, empty for nowhere
}

var toolLine = regexp.MustCompile(`^\d+\t(.*)$`)

// learn takes in the results of the last turn's calls.
func (g *game) learn(r *puppet) {
	request := g.puppets.request(r.id)
	if request == nil || len(r.calls) == 0 {
		return
	}
	for _, part := range request.Messages[len(request.Messages)-1].Parts {
		result, ok := part.(model.Result)
		if !ok {
			continue
		}
		p := r.calls[result.ID]
		switch {
		case p.path == "":
		case result.Error:
			g.count("a call was refused")
			delete(r.files, p.path)
		case p.lines == nil:
			var lines []string
			for line := range strings.SplitSeq(result.Text, "\n") {
				if m := toolLine.FindStringSubmatch(line); m != nil {
					lines = append(lines, m[1])
				}
			}
			r.files[p.path] = lines
			r.known[p.path] += strings.Join(lines, "\n") + "\n"
		default:
			g.count("an agent edited")
			r.files[p.path] = p.lines
			if p.gone {
				delete(r.files, p.path)
			}
			g.mu.Lock()
			for _, t := range p.removed {
				g.removedByAgents[t] = true
			}
			for _, t := range p.moved {
				g.movedByAgents[t] = true
			}
			if p.to != "" {
				g.targets[p.to] = true
			}
			g.mu.Unlock()
		}
	}
	r.calls = nil
}

// turn makes a run's next turn.
func (g *game) turn(rng *rand.Rand, r *puppet) []model.Part {
	if r.turns--; r.turns < 0 {
		return []model.Part{model.Text{Text: "Done."}}
	}
	r.calls, r.fresh = map[string]plan{}, map[string]bool{}
	var parts []model.Part
	for n := range 1 + rng.IntN(3) {
		id := fmt.Sprintf("c%d-%d", r.turns, n)
		name, arguments, p := g.callOf(rng, r)
		raw, err := json.Marshal(arguments)
		if err != nil {
			panic(err) // our own types
		}
		g.logf("  run %s: %s %s", r.id, name, raw)
		r.calls[id] = p
		parts = append(parts, model.Call{ID: id, Name: name, Arguments: raw})
	}
	return parts
}

type toolArguments struct {
	Path      string  `json:"path,omitempty"`
	Limit     int     `json:"limit,omitempty"`
	OldString *string `json:"old_string,omitempty"`
	NewString *string `json:"new_string,omitempty"`
	Content   *string `json:"content,omitempty"`
	Patch     string  `json:"patch,omitempty"`
}

// callOf makes up a tool call: it reads a file that the run does not know, or edits one that it does.
func (g *game) callOf(rng *rand.Rand, r *puppet) (string, toolArguments, plan) {
	paths := slices.Sorted(maps.Keys(r.files))
	if len(paths) == 0 || rng.IntN(4) == 0 {
		if rng.IntN(8) == 0 {
			return g.createCall(rng, r)
		}
		known := g.paths()
		if len(known) == 0 {
			return g.createCall(rng, r)
		}
		path := pick(rng, known)
		if r.fresh[path] {
			return g.createCall(rng, r)
		}
		r.reads++
		r.made[path], r.fresh[path] = true, true
		return "read", toolArguments{Path: path, Limit: 1000 + r.reads}, plan{path: path}
	}
	path := pick(rng, paths)
	lines := r.files[path]
	if rng.IntN(12) == 0 {
		return g.moveCall(rng, r, path)
	}
	if len(lines) == 0 {
		delete(r.files, path)
		return g.createCall(rng, r)
	}
	at := rng.IntN(len(lines))
	end := min(len(lines), at+1+rng.IntN(2))
	old := lines[at:end]
	var next []string
	switch rng.IntN(6) {
	case 0, 1: // more lines
		end, old = at+1, lines[at:at+1]
		next = []string{old[0], g.agentLine(rng)}
		if rng.IntN(2) == 0 {
			next = []string{g.agentLine(rng), old[0]}
		}
	case 2: // other lines
		for range 1 + rng.IntN(2) {
			next = append(next, g.agentLine(rng))
		}
	case 3: // fewer
	case 4: // within a line
		end, old = at+1, lines[at:at+1]
		next = []string{old[0] + " " + g.agentToken()}
	case 5: // a token of the line by another
		end, old = at+1, lines[at:at+1]
		changed := token.ReplaceAllStringFunc(old[0], func(string) string { return g.agentToken() })
		next = []string{changed + " " + g.agentToken()}
	}
	all := slices.Concat(lines[:at], next, lines[end:])
	p := plan{
		path: path, lines: all, removed: lostTokens(strings.Join(old, "\n"), strings.Join(next, "\n")),
		added: lostTokens(strings.Join(next, "\n"), strings.Join(old, "\n")),
	}
	if p.lines == nil {
		p.lines = []string{}
	}
	r.files[path] = p.lines // unless the call fails
	r.known[path] += strings.Join(p.lines, "\n") + "\n"
	if rng.IntN(5) == 0 {
		text := strings.Join(all, "\n") + "\n"
		p.removed = lostTokens(r.known[path], text)
		return "write", toolArguments{Path: path, Content: &text}, p
	}
	from, to := strings.Join(old, "\n"), strings.Join(next, "\n")
	if end < len(lines) {
		from += "\n"
		if len(next) > 0 {
			to += "\n"
		}
	}
	return "edit", toolArguments{Path: path, OldString: &from, NewString: &to}, p
}

// moveCall deletes a file, or moves it.
func (g *game) moveCall(rng *rand.Rand, r *puppet, path string) (string, toolArguments, plan) {
	all := tokensOf(r.known[path])
	p := plan{path: path, lines: []string{}, removed: all, gone: true}
	section := "*** Delete File: " + path
	if rng.IntN(2) == 0 {
		p.moved, p.to = all, fmt.Sprintf("moved-%s.txt", g.agentToken()[:5])
		section = fmt.Sprintf("*** Update File: %s\n*** Move to: %s", path, p.to)
	}
	r.made[path] = true
	return "patch", toolArguments{Patch: "*** Begin Patch\n" + section + "\n*** End Patch\n"}, p
}

// createCall makes a new file.
func (g *game) createCall(rng *rand.Rand, r *puppet) (string, toolArguments, plan) {
	path := fmt.Sprintf("new%d.txt", rng.IntN(3))
	if r.made[path] || r.files[path] != nil {
		path = fmt.Sprintf("new-%s.txt", g.agentToken()[:5])
	}
	r.made[path] = true
	text := g.agentLine(rng) + "\n"
	r.known[path] += text
	lines := []string{strings.TrimSuffix(text, "\n")}
	return "write", toolArguments{Path: path, Content: &text}, plan{path: path, lines: lines, added: tokensOf(text)}
}

func (g *game) agentToken() string {
	g.made++
	return fmt.Sprintf("a%04d;", g.made)
}

func (g *game) agentLine(rng *rand.Rand) string {
	return pick(rng, []string{"", "\t", "é "}) + g.agentToken() + pick(rng, []string{"", " x", " 😀", "  "})
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }
