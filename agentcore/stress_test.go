package agentcore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// node is a run of a random tree.
type node struct {
	name  string
	above *node // nil for the root
	below []*node
	// background nodes are not waited for where they are started.
	background bool
	// fails is the turn, from 1, in which the provider refuses; 0 for none. cancelled is the one at whose begin it is
	// cancelled; turn -1 is its creation.
	fails, cancelled int
	writes, waits    bool

	run event.RunID
}

// grow makes a tree of at most three levels below the root, with at most six children each and rest nodes in all.
func grow(random *rand.Rand, name string, above *node, depth int, rest *int) *node {
	n := &node{name: name, above: above, writes: random.IntN(3) == 0, waits: random.IntN(3) == 0}
	switch random.IntN(12) {
	case 0:
		n.fails = 1 + random.IntN(3)
	case 1:
		n.cancelled = 1 + random.IntN(3)
	case 2:
		n.cancelled = -1
	}
	if above != nil && random.IntN(4) == 0 {
		n.background = true // which starts nothing
		return n
	}
	if depth == 3 {
		return n
	}
	for i := range random.IntN(7) {
		if *rest == 0 {
			break
		}
		*rest--
		n.below = append(n.below, grow(random, fmt.Sprintf("%s.%d", name, i), n, depth+1, rest))
	}
	return n
}

func (n *node) each(do func(*node)) {
	do(n)
	for _, child := range n.below {
		child.each(do)
	}
}

// disturbed reports whether the node, or one above, may be cancelled or fail.
func (n *node) disturbed() bool {
	return n != nil && (n.fails != 0 || n.cancelled != 0 || n.above.disturbed())
}

// answer is what the model does in a turn, from 1.
func (n *node) answer(turn int) []script.Step {
	if turn == n.fails {
		return []script.Step{script.Text("half"), script.Error{Kind: model.ErrAuth, Detail: "no"}}
	}
	var steps []script.Step
	switch turn {
	case 1:
		for _, child := range n.below {
			more := ""
			if child.background {
				more = inBackground
			}
			steps = append(steps, task("node", "Node "+child.name+";", more))
		}
	case 2:
		if n.writes {
			steps = append(steps, call("write", fmt.Sprintf(`{"path":"%s.txt","content":"%s\n"}`, n.name, n.name)))
		}
		if n.waits && len(n.below) > 0 {
			steps = append(steps, call("task_wait", `{"mode":"any"}`))
		}
	}
	if len(steps) == 0 && turn < 3 {
		steps = append(steps, call("list", `{}`))
	}
	if len(steps) == 0 {
		steps = append(steps, script.Text(n.name+" is done."))
	}
	return steps
}

// TestRandomTrees lets trees of runs fail, be cancelled and wait for few places: all of it comes to an end, what is not
// disturbed completes, each answer is counted once in every run above, and nothing is left.
func TestRandomTrees(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 6
	}
	seed := uint64(1)
	if os.Getenv("AGENTLS_SOAK") != "" {
		rounds, seed = 200, rand.Uint64()
	}
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	before := goleak.IgnoreCurrent()
	for round := range rounds {
		rest := 4 + random.IntN(36)
		root := grow(random, fmt.Sprint(round), nil, 0, &rest)
		places := 1 + random.IntN(4)
		playTree(t, root, places)
		if t.Failed() {
			root.each(func(n *node) { t.Logf("%+v", *n) })
			t.Fatalf("round %d of seed %d, with %d places", round, seed, places)
		}
	}
	goleak.VerifyNone(t, before)
}

func playTree(t *testing.T, root *node, places int) {
	nodes := map[string]*node{}
	root.each(func(n *node) { nodes["Node "+n.name+";"] = n })
	w := newWorld(t, nil)
	turns := script.New("test", script.Turn{
		Times: script.Any, Usage: model.Usage{Input: 10, Output: 1},
		Then: func(request *model.Request) []script.Step {
			first, _, _ := strings.Cut(request.Messages[0].Text(), "\n")
			turn := 1
			for _, m := range request.Messages {
				if m.Role == model.RoleAssistant {
					turn++
				}
			}
			return nodes[first].answer(turn)
		},
	})
	w.with(turns,
		configure(func(c *config.Config) { c.MaxChildrenPerSession, c.MaxChildrenPerMachine = places, places+1 }),
		&agent.Definition{
			Slug:        "root",
			Instruction: agent.Instruction{Prompt: "You are it."},
			Categories:  []agent.Category{agent.Primary},
			Subagents:   []string{"node"},
		},
		&agent.Definition{
			Slug:        "node",
			Instruction: agent.Instruction{Prompt: "You are a node."},
			Categories:  []agent.Category{agent.Subagent},
			Subagents:   []string{"node"},
		})
	root.run = w.start(agentcore.RunRequest{Agent: "root", Prompt: "Node " + root.name + ";"})
	byRun := map[event.RunID]*node{}
	for over := false; !over; {
		e := w.until(func(event.Event) bool { return true })[0]
		at := 0
		switch body := e.Body.(type) {
		case event.RunCreated:
			at = -1
			byRun[e.Run] = nodes[body.Prompt]
			byRun[e.Run].run = e.Run
		case event.TurnStarted:
			at = body.Turn
		case event.RunFinished:
			over = e.Run == root.run
		}
		if n := byRun[e.Run]; n != nil && n.cancelled == at && at != 0 {
			w.cancel(e.Run)
		}
	}
	sums := map[event.RunID]int64{}
	ids := map[event.RunID]bool{}
	for _, info := range slices.Backward(w.session.Runs()) {
		row, err := w.engine.Store().Run(w.ctx, info.ID)
		if err != nil {
			t.Fatal(err)
		}
		ids[row.ID] = true
		n := byRun[row.ID]
		if !row.Status.Final() || !n.disturbed() && row.Status != event.StatusCompleted {
			t.Errorf("%s is %s (%s)", n.name, row.Status, row.Failure)
		}
		messages, err := w.engine.Store().Messages(w.ctx, row.ID)
		if err != nil {
			t.Fatal(err)
		}
		answers := int64(0)
		for _, m := range messages {
			if m.Role == string(model.RoleAssistant) {
				answers++
			}
		}
		if row.Own.InputTokens != 10*answers || row.Own.OutputTokens != answers {
			t.Errorf("%s counts %+v for %d answers", n.name, row.Own, answers)
		}
		sums[row.ID] += row.Own.InputTokens
		if row.Usage.InputTokens != sums[row.ID] {
			t.Errorf("%s and what is below it count %d tokens, want %d", n.name, row.Usage.InputTokens, sums[row.ID])
		}
		sums[row.Parent] += row.Usage.InputTokens
	}
	root.each(func(n *node) {
		if n.above != nil && n.run == "" && !n.above.disturbed() {
			t.Errorf("%s was not started", n.name)
		}
	})
	slots := w.session.Slots()
	if n := slots.Waiting(); n != 0 {
		t.Errorf("%d wait for a place", n)
	}
	for range places {
		if err := slots.Acquire(w.ctx, false, func(int) { t.Error("a place is lost") }); err != nil {
			t.Fatal(err)
		}
	}
	w.close()
	for id := range ids {
		w.emptied(id)
	}
	w.nothingOpen()
}
