package run

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// plan is the state of a run's planning. Its methods may be called from any goroutine.
type plan struct {
	agent string // the slug of the run's definition
	above *plan  // of the run that started this one; nil for one of the user
	mu    sync.Mutex
	// only is true while the run, and all below it, may only read, until the user accepts the plan.
	only bool
	// slug names the plans of all runs of one prompt. The root keeps it, once a run has written a plan.
	slug string
	// path is the file of this run's own plan, once it has written one.
	path string
	// said is true where the plan is the run's last word and nobody was asked about it.
	said bool
}

func (p *plan) readsOnly() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.only
}

func (p *plan) readOnly(only bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.only = only
}

func (p *plan) written() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.path != ""
}

// refuses returns why a call is not made while the run, or one above it, plans; empty where it may be.
func (p *plan) refuses(spec tool.Spec) string {
	if toolset.GoesWithPlanning(spec) || spec.Effect == tool.Delegates {
		return ""
	}
	for at := p; at != nil; at = at.above {
		switch {
		case !at.readsOnly():
		case at == p:
			return "denied: you are planning, so you may only call tools that read. Hand over the plan with " +
				"plan_exit; once the user accepts it, you can make this call"
		default:
			return fmt.Sprintf(
				"denied: %s, who started you, is planning, so you may only call tools that read. Say in your "+
					"result what should be done", at.agent)
		}
	}
	return ""
}

// The answers to the questions that planning asks.
const (
	planFirst    = "Plan first"
	planNot      = "Go on without a plan"
	planAccept   = "Accept the plan"
	planContinue = "Keep planning"
	planReject   = "Reject the plan"
)

// Plans is the folder of plans in a state folder. They are kept until the user removes them.
func Plans(stateDir string) string { return filepath.Join(stateDir, "plans") }

// replaceFile puts a file of a mode in the place of another, whole: a reader sees the one or the other.
func replaceFile(path, text string, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// reserve finds a name that no plan of another prompt has, in any process, by making the root's file.
func (p *plan) reserve(dir string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slug != "" {
		return p.slug, nil
	}
	for tries := 1; ; tries++ {
		slug := newSlug()
		if tries > 100 { // all names seem to be taken
			slug += fmt.Sprintf("-%d", rand.Uint32())
		}
		file, err := os.OpenFile(filepath.Join(dir, slug+".md"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) && tries < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		// This text stays where only children write plans.
		_, err = fmt.Fprintf(file, "The plans of subagents are beside this file: %s-agent-….md\n", slug)
		if err = errors.Join(err, file.Close()); err != nil {
			return "", errors.Join(err, os.Remove(file.Name()))
		}
		p.slug = slug
		return slug, nil
	}
}

// newSlug makes a name that people can say: an adjective, an action and a noun.
func newSlug() string {
	return pick(slugAdjectives) + "-" + pick(slugActions) + "-" + pick(slugNouns)
}

func pick(words string) string {
	list := strings.Fields(words)
	return list[rand.IntN(len(list))]
}

const (
	slugAdjectives = `amber brave bright brisk calm candid clear clever cosy crisp curious deft eager early fair fleet fond frank fresh gentle
glad golden handy hardy honest humble jolly keen kind lively lucky mellow merry mild neat nimble noble patient placid plain proud quick
quiet ready robust rosy round sharp silver smooth snug sober solid spry steady sunny sturdy subtle swift tidy vivid warm wise witty`
	slugActions = `baking basking bouncing bowing carving chatting climbing counting cycling dancing diving drawing drifting dreaming drumming
fishing floating flying folding gazing gliding grazing hiking hopping humming juggling jumping kneading knitting laughing leaping
listening mapping marching mending napping packing paddling painting planting playing pondering quilting reading resting roaming rowing
running sailing singing skating sketching sowing spinning stacking strolling surfing swaying swimming tracing waltzing waving weaving`
	slugNouns = `acorn anchor apple badger beacon birch bison bridge canyon castle cedar cliff clover comet coral crane dolphin falcon fern
finch forest fox garden glacier harbor heron hill island ivy kite lagoon lantern lark lemon lily lynx maple marten meadow moon moose
mountain oak ocean orchid otter owl panda pebble pine plum pond prairie puffin quartz raven reef ridge river robin sparrow spruce swan
thistle tulip valley walnut willow`
)

// saidIn is the file of the plan that was the run's last word; empty where there is none or somebody was asked about
// it.
func (p *plan) saidIn() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.said {
		return ""
	}
	return p.path
}
