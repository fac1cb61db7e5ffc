package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/tool"
)

// instruct fixes which instructions the run's prompt holds: those of the run above it, and those for its own files.
func instruct(r *Run) {
	i := &r.instructed
	i.files = slices.Clone(r.request.Context.Paths)
	if above := r.parent; above != nil {
		r.book, i.files = above.book, append(slices.Clone(above.instructed.files), i.files...)
	} else {
		r.book = NewInstructions(r.process, r.session, r.gate.rights)
	}
	i.off = withoutInstructions(r.definition, r.config)
	i.first = InstructionsOf(r.book, r.definition, r.config, provider.Window(r.config, r.model), i.files)
	i.begin()
	r.noteInstructions(i.first, r.session.View.Shown)
}

// noteInstructions keeps what the run was given, for those who ask for it.
func (r *shared) noteInstructions(more instruction.Set, shown func(string) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instructions = r.instructions.And(more)
	r.told = r.instructions.Lines(shown)
}

// Instructions are the instructions that the run was given so far. Any goroutine may call it.
func (r *shared) Instructions() instruction.Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.instructions
}

// instructBelow adds the instructions of folders that are new to the run to the results of its first calls on files
// there. Runs of the offline rules get none, since those read results by their form.
func (r *loop) instructBelow(calls []*call, results []model.Part) {
	if provider.IsOffline(r.model.Name()) {
		return
	}
	for n, c := range calls {
		result, ok := results[n].(model.Result)
		if !ok || result.Error || c.tool == nil || c.spec.Effect != tool.Reads && c.spec.Effect != tool.Proposes {
			continue
		}
		for _, name := range c.paths() {
			path, err := r.session.View.Resolve(name)
			if err != nil {
				continue
			}
			more, first := r.instructed.beyond(r.book, path)
			if text := more.Write(r.session.View.Shown, first); text != "" {
				result.Text += "\n\n" + text
			}
			if len(more.Texts)+len(more.Omitted) > 0 {
				r.noteInstructions(more, r.session.View.Shown)
			}
		}
		results[n] = result
	}
}

// tellInstructions tells the user which files of instructions the run does not get, or not whole.
func (r *loop) tellInstructions() {
	if r.parent != nil {
		return // whose files these are, mostly
	}
	set := r.instructed.first
	var faults []string
	for _, o := range set.Omitted {
		if o.Fault {
			faults = append(faults, r.session.View.Shown(o.Path)+" "+o.Why)
		}
	}
	const few = 3
	if more := len(faults) - few; more > 0 {
		faults = append(faults[:few], clip.Counted(more, "more file", "more files"))
	}
	if len(faults) > 0 {
		r.notice(event.NoticeInfo, "instructions are not given: "+strings.Join(faults, "; "),
			"`agentls agents show "+r.definition.Slug+" --prompt` shows what is given")
	}
	cut := 0
	for _, t := range set.Texts {
		cut += t.Cut()
	}
	if cut > 0 {
		r.notice(event.NoticeInfo, fmt.Sprintf("the instructions are longer than %d bytes, so that %d bytes of the "+
			"furthest files are left out", set.Max, cut), "shorten them, or set instructions.max_bytes")
	}
}
