package agentcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
)

// plan is what one run of a random tree does.
type plan struct {
	model string
	// turns are the children that each turn starts; in a turn without any it reads a file.
	turns [][]int
	usage []model.Usage // of each turn, and of the last word
}

// forest answers the runs of random trees by their plans, which the prompts number, and keeps what it was asked for.
// Its lock guards it.
type forest struct {
	mu    sync.Mutex
	plans map[int]plan
	used  map[event.RunID]model.Usage
	total int64 // tokens
}

// tree is the forest under the name of one model.
type tree struct {
	*forest
	name string
}

func (m tree) Name() string { return m.name }

var numbered = regexp.MustCompile(`Task (\d+)\.`)

func (m tree) Stream(_ context.Context, request *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		number, err := strconv.Atoi(numbered.FindStringSubmatch(request.Messages[0].Text())[1])
		if err != nil {
			yield(nil, err)
			return
		}
		turn := 0
		for _, message := range request.Messages {
			if message.Role == model.RoleAssistant {
				turn++
			}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		p := m.plans[number]
		done := model.Done{
			Stop:    model.StopEnd,
			Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text{Text: "Done."}}},
		}
		done.Usage = p.usage[min(turn, len(p.usage)-1)]
		if turn < len(p.turns) && !request.NoCalls {
			done.Stop, done.Message.Parts = model.StopCalls, nil
			for i, child := range p.turns[turn] {
				arguments := fmt.Sprintf(`{"subagent_type":"branch","prompt":"Task %d.","model":%q}`, child,
					m.plans[child].model)
				done.Message.Parts = append(done.Message.Parts,
					model.Call{ID: fmt.Sprintf("c%d-%d", turn, i), Name: "task", Arguments: json.RawMessage(arguments)})
			}
			if len(p.turns[turn]) == 0 {
				done.Message.Parts = append(done.Message.Parts,
					model.Call{
						ID: fmt.Sprintf("c%d", turn), Name: "read",
						Arguments: json.RawMessage(fmt.Sprintf(`{"path":"a.txt","offset":%d}`, turn+1)),
					})
			}
		}
		u := m.used[event.RunID(request.Run)]
		m.used[event.RunID(request.Run)] = model.Usage{
			Input:  u.Input + done.Usage.Input,
			Output: u.Output + done.Usage.Output, Cached: u.Cached + done.Usage.Cached,
		}
		m.total += done.Usage.Input + done.Usage.Output
		yield(done, nil)
	}
}

// TestUsageOfRandomTrees runs random trees of delegation under random budgets. What each run used is what its model
// says, what it used with its children is the sum of the parts, and no limit is passed by more than the answers that
// were under way.
func TestUsageOfRandomTrees(t *testing.T) {
	const parallel, largest = 3, 100
	w := newWorld(t, map[string]string{"a.txt": strings.Repeat("line\n", 9)})
	f := &forest{}
	cfg := config.Default()
	cfg.MaxChildrenPerSession, cfg.MaxDepth = parallel, 4
	input, output, cached := 3.0, 15.0, 0.5
	cfg.Prices["bright/*"] = config.Price{Input: &input, Output: &output, Cached: &cached}
	w.closeEngine()
	w.openWith(agentcore.Options{
		StateDir: w.state, Config: cfg, Getenv: func(string) string { return "" },
		OpenModel: func(c provider.Choice) (model.Model, error) { return tree{f, c.Override}, nil },
		Agents: agent.NewRegistry(&agent.Definition{
			Slug:       "branch",
			Categories: []agent.Category{agent.Primary, agent.Subagent}, Subagents: []string{"branch"},
		}),
	})
	rapid.Check(t, func(t *rapid.T) {
		var grow func(depth int) int
		grow = func(depth int) int {
			number := len(f.plans)
			f.plans[number] = plan{}
			p := plan{model: rapid.SampledFrom([]string{"bright/a", "bright/a", "bright/b", "dark/c"}).Draw(t, "model")}
			for range rapid.IntRange(0, 3).Draw(t, "turns") {
				var children []int
				if depth < 3 {
					for range rapid.IntRange(0, 3-depth).Draw(t, "children") {
						children = append(children, grow(depth+1))
					}
				}
				p.turns = append(p.turns, children)
			}
			for range len(p.turns) + 1 {
				tokens := func(label string) int64 { return rapid.Int64Range(0, largest/2).Draw(t, label) }
				p.usage = append(p.usage, model.Usage{
					Input: tokens("input"), Output: 1 + tokens("output")%(largest/2),
					Cached: tokens("cached"),
				})
			}
			f.plans[number] = p
			return number
		}
		f.plans, f.used, f.total = map[int]plan{}, map[event.RunID]model.Usage{}, 0
		grow(0)
		session, err := w.engine.OpenSession(w.ctx, w.view, "random")
		if err != nil {
			t.Fatal(err)
		}
		limit := int64(rapid.SampledFrom([]int{0, 1, 50, 200, 600, 2000}).Draw(t, "limit"))
		id, err := session.Start(w.ctx,
			agentcore.RunRequest{
				Agent: "branch", Prompt: "Task 0.", Model: f.plans[0].model,
				Limits: agent.Limits{Tokens: limit},
			})
		if err != nil {
			t.Fatal(err)
		}
		result, err := w.engine.Wait(w.ctx, id)
		if err != nil || result.Status != event.StatusCompleted {
			t.Fatalf("%v; %+v", err, result)
		}
		if limit > 0 && f.total >= limit+largest*(parallel+1) {
			t.Fatalf("%d tokens were used of %d", f.total, limit)
		}
		if limit > 0 && f.total >= limit && result.Reason != "max_tokens" && len(result.Children) == 0 &&
			result.Turns <= len(f.plans[0].turns) {
			t.Fatalf("the limit was reached, and the reason is %q", result.Reason)
		}
		runs, err := w.engine.Store().Runs(w.ctx, session.ID)
		if err != nil {
			t.Fatal(err)
		}
		whole := map[event.RunID]event.Usage{}
		for i := len(runs) - 1; i >= 0; i-- { // children first
			r := runs[i]
			used := f.used[r.ID]
			own := event.Usage{InputTokens: used.Input, OutputTokens: used.Output, CachedTokens: used.Cached}
			if strings.HasPrefix(r.Model, "bright/") || used == (model.Usage{}) {
				cost := (float64(used.Input)*input + float64(used.Output)*output + float64(used.Cached)*cached) / 1e6
				own.Cost = &cost
			}
			same(t, "own usage of "+r.Title, own, r.Own)
			sum := own.Add(event.NoUsage())
			if below, ok := whole[r.ID]; ok {
				sum = sum.Add(below)
			}
			same(t, "usage of "+r.Title, sum, r.Usage)
			if r.Parent != "" {
				below, ok := whole[r.Parent]
				if !ok {
					below = event.NoUsage()
				}
				whole[r.Parent] = below.Add(sum)
			}
			if r.ID == id {
				same(t, "usage of the result", sum, result.Usage)
			}
		}
		report, err := w.engine.History().Usage(w.ctx, store.UsageFilter{By: store.UsageByModel, Session: session.ID})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "total", result.Usage, report.Total.Usage)
	})
}

// same compares usages. Costs are sums of the same parts in another order.
func same(t *rapid.T, what string, want, got event.Usage) {
	t.Helper()
	unknown := want.Cost == nil || got.Cost == nil
	if want.InputTokens != got.InputTokens || want.OutputTokens != got.OutputTokens ||
		want.CachedTokens != got.CachedTokens ||
		(want.Cost == nil) != (got.Cost == nil) || !unknown && math.Abs(*want.Cost-*got.Cost) > 1e-12 {
		t.Fatalf("the %s is %+v (%g), want %+v (%g)", what, got, cost(got), want, cost(want))
	}
}
