package run

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxHookFiles is how many of the files that a hook changed are named to the model.
const maxHookFiles = 20

// runHook runs one hook to its end, if it may be run, and proposes what it changed. The error is that of the run's
// context.
func (h *hooks) runHook(of *lifecycleHook, input []byte) (hook.Outcome, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-h.in.ctx.Done():
	}
	if err := h.in.ctx.Err(); err != nil {
		return hook.Outcome{}, err
	}
	if why := h.withholds(of); why != "" {
		return hook.Outcome{Problem: "was not run, since " + why}, nil
	}
	h.in.progress("runs the "+of.name, 0)
	var exit hook.Exit
	var changed string
	var err error
	if h.in.rights.Unsandboxed() {
		exit, err = h.directHook(of, input)
	} else {
		exit, changed, err = h.sandboxedHook(of, input)
	}
	if cause := h.in.ctx.Err(); cause != nil {
		return hook.Outcome{}, cause
	}
	if err != nil {
		exit.Failure = err
	}
	outcome := of.event.Outcome(exit)
	if changed != "" {
		outcome.Context = strings.TrimLeft(outcome.Context+"\n"+changed, "\n")
	}
	return outcome, nil
}

// withholds says why a hook may not be run here and now; empty where it may. In a full sandbox, a hook of the user runs
// also in folders that are not trusted, since it may be what keeps an agent from something; but it may not run a
// program that lies in such a folder.
func (h *hooks) withholds(of *lifecycleHook) string {
	trusted := h.in.trusted()
	switch {
	case authority.Home(h.in.view) == "":
		return "no workspace folder is open"
	case of.project && !trusted:
		return "the workspace, which it comes from, is not trusted"
	case of.project && h.in.rights.Level() != permission.Full:
		return "it comes from the workspace, and there is no full sandbox to hold it (see `agentls doctor`)"
	case trusted:
		return ""
	case h.in.rights.Level() != permission.Full:
		return "the workspace is not trusted, and without a full sandbox the hook could start programs from it"
	}
	if file := authority.NamedIn(h.in.view, authority.CommandWords(of.command)); file != "" {
		return file + ", which it names, is a file of a workspace that is not trusted"
	}
	return ""
}

// sandboxedHook runs a hook in the run's sandbox. changed says which files it changed, for the model.
func (h *hooks) sandboxedHook(of *lifecycleHook, input []byte) (exit hook.Exit, changed string, err error) {
	box, err := h.in.commands.Box(h.in.ctx)
	if err != nil {
		return exit, "", err
	}
	snapshot, overlay := h.in.commands.Look(h.in.layer())
	argv := of.command
	if runtime.GOOS != "windows" {
		argv = append(append([]string{"env"}, h.hookVariables(of)...), argv...)
	}
	before := box.Left()
	done, err := box.Run(h.in.ctx, sandbox.Command{
		Argv: argv, Dir: of.dir, Stdin: input, Timeout: of.timeout, Overlay: overlay, SplitErrors: true,
	})
	if done.OutputFile != "" {
		err = errors.Join(err, os.Remove(done.OutputFile))
	}
	if err != nil {
		return exit, "", err
	}
	exit = hook.Exit{
		Code: done.Exit, Signal: done.Signal, Stdout: done.Output, Stderr: done.Errors,
		Cut: done.OutputSize > int64(len(done.Output)),
	}
	if done.TimedOut {
		exit.TimedOut = of.timeout
	} else if done.Signal != "" {
		exit.Stderr = append(exit.Stderr, "\n"+strings.Join(done.Notes, "\n")...)
	}
	h.tellOfLost(of, before, box.Left())
	return exit, h.takeOfHook(of, snapshot, done.Changes), nil
}

// maxLost is how many of the files that a hook wrote in vain are named to the user.
const maxLost = 3

// tellOfLost tells the user that files which a hook wrote outside of the workspace are not kept. before and after are
// what lay there.
func (h *hooks) tellOfLost(of *lifecycleHook, before, after map[string]string) {
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != after[name] {
			lost = append(lost, name)
		}
	}
	if len(lost) == 0 {
		return
	}
	if more := len(lost) - maxLost; more > 0 {
		lost = append(lost[:maxLost:maxLost], fmt.Sprintf("%d more", more))
	}
	h.tell(of, event.NoticeInfo,
		fmt.Sprintf(
			"the %s wrote %s, which is lost: its sandbox keeps only what it writes into the workspace",
			of.name, strings.Join(lost, ", ")),
		"have it write into the workspace, where it becomes a proposed edit, or print it as system_message")
}

// hookVariables are the environment variables that hooks have and commands do not: the workspace folder, also under the
// name that scripts for Claude Code expect.
func (h *hooks) hookVariables(of *lifecycleHook) []string {
	dir := cmp.Or(of.dir, authority.Home(h.in.view))
	return []string{"AGENTLS_PROJECT_DIR=" + dir, "CLAUDE_PROJECT_DIR=" + dir}
}

// takeOfHook proposes those changes of a hook that the run itself could make without a question, and says which files
// they are in.
func (h *hooks) takeOfHook(of *lifecycleHook, snapshot workspace.Snapshot, changes []sandbox.Change) string {
	edits := slices.ContainsFunc([]string{"edit", "write", "patch", "bash"}, h.in.offers)
	leftOut := func(path, why string) {
		h.tell(of, event.NoticeWarning, fmt.Sprintf("the %s changed %s, which was left out: %s", of.name,
			h.in.view.Shown(path), why), "")
	}
	h.in.commands.Expect(changes)
	judge := h.in.view.Judge(nil)
	changes = slices.DeleteFunc(changes, func(change sandbox.Change) bool {
		path := h.in.commands.Shown(change.Path)
		switch {
		case !edits || h.in.editable(judge, path, false) != nil:
			leftOut(path, h.in.agent+" may not change it, and no hook may more")
			return true
		}
		return false
	})
	if len(changes) == 0 {
		return ""
	}
	var names []string
	author := workspace.Author{Run: h.id, Agent: h.in.agent, Reason: "a " + of.name + " changed it"}
	for _, file := range h.in.commands.Take(snapshot, changes, author) {
		name := h.in.view.Shown(file.Path)
		switch {
		case file.Problem != nil:
			leftOut(file.Path, file.Problem.Error())
		case len(file.Conflicts) > 0:
			leftOut(file.Path, "its lines were changed while the hook ran")
		}
		if file.Changed && len(names) < maxHookFiles {
			names = append(names, name)
		}
	}
	h.in.save()
	if len(names) == 0 {
		return ""
	}
	return "The hook changed files (proposed, not written): " + strings.Join(names, ", ")
}

// programs are the files below the home folder that the user's hooks name. Sandboxes show these, read-only, and hide
// the rest of the home folder.
func (h *hooks) programs(home string) []string {
	if home == "" {
		return nil
	}
	var files []string
	for _, one := range h.list {
		if one.project {
			continue
		}
		for _, word := range authority.CommandWords(one.command) {
			for _, prefix := range []string{"~/", "$HOME/", "${HOME}/"} {
				if rest, ok := strings.CutPrefix(word, prefix); ok {
					word = filepath.Join(home, rest)
				}
			}
			rel, err := filepath.Rel(home, word)
			if err != nil || !filepath.IsAbs(word) || !filepath.IsLocal(rel) ||
				permission.Secret(filepath.ToSlash(word)) {
				continue
			}
			if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
				files = append(files, filepath.Clean(word))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// directHook runs a hook of the user without a sandbox, where there is none. It returns when no process of the hook is
// left, which is soon after the run's context ends.
func (h *hooks) directHook(of *lifecycleHook, input []byte) (hook.Exit, error) {
	ran, err := h.in.commands.Program(h.in.ctx, process.Program{
		Argv: of.command, Env: h.hookVariables(of), Limit: of.timeout, Stdin: bytes.NewReader(input),
	}, hook.MaxOutput)
	exit := hook.Exit{Code: ran.Code, Signal: ran.Signal, Stdout: ran.Stdout, Stderr: ran.Stderr, Cut: ran.Cut}
	if ran.Late && ran.Signal != "" {
		exit.TimedOut = of.timeout
	}
	return exit, err
}
