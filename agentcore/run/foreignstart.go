package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/store"
)

// start opens the sandbox, starts the program in it, and makes a session.
func (f *foreign) start() error {
	program, err := f.find()
	if err != nil {
		return err
	}
	own, tools := f.commands.Sandbox, f.commands.Tools
	own.Network, own.Allowed = false, f.definition.Program.Network
	own.Tools = func(home string) []string { return append(tools(home), folderOf(program)) }
	options, folders, err := own.Options(f.layer.Ignored)
	if err != nil {
		return f.unstarted(err)
	}
	if !f.gate.rights.Policy.ReadsFreely("read", f.gate.rights.Grants()) {
		// What no rule lets the run read, its program does not see either. What other boxes know of the folders is of
		// secrets alone.
		options.Trees = nil
		options.Secret = func(path string) bool { return !f.sees(folders.Shown(path)) }
	}
	f.program, err = command.Follow(f.ctx, options, sandbox.Command{
		Argv: append([]string{program}, f.definition.Program.Command[1:]...), Env: f.environ(), State: f.state(),
		Overlay: f.visits.begin(f),
	}, func(exit process.Exit, words []byte, err error) string {
		return command.Ending(f.definition.Slug, exit, words, err)
	})
	if err != nil {
		return f.unstarted(err)
	}
	// Where the run is cancelled, the program is told, and has a moment to save its own state; then it is ended.
	f.client = acp.Connect(context.WithoutCancel(f.ctx), f.program.Live, acp.Options{
		EndTime:    endTime,
		Update:     func(_ string, u acp.Update) { f.do(func() { f.take(u) }) },
		Permission: f.permission, Elicit: f.fill,
		Odd: func(what string) { f.process.Logger.Info("a foreign agent", "run", f.id, "odd", what) },
	})
	f.unwatch = context.AfterFunc(f.ctx, func() {
		select {
		case <-time.After(cancelTime):
			f.program.Live.Kill()
		case <-f.client.Ended():
		}
	})
	err = f.during(func() (err error) {
		f.agent, err = f.client.Initialize(f.workContext(), acp.Implementation{
			Name: "agentls", Title: "agentls", Version: "0",
		})
		if err == nil {
			f.talk, err = f.openSession()
		}
		if err == nil {
			err = f.chooseMode()
		}
		return err
	})
	if err != nil {
		f.close()
		return f.explained(err)
	}
	f.mu.Lock()
	f.programSession = f.talk.ID
	f.mu.Unlock()
	f.record(store.Batch{})
	return nil
}

// openSession goes on with the session of the run that this one goes on with, where the program can, and makes a new
// one otherwise.
func (f *foreign) openSession() (s acp.Session, err error) {
	place := acp.Place{Folder: f.commands.Dir()}
	if f.former == nil || f.former.ProgramSession == "" || f.former.Agent != f.definition.Slug {
		return f.client.NewSession(f.workContext(), place)
	}
	former := f.former.ProgramSession
	switch {
	case f.agent.Resume:
		s, err = f.client.ResumeSession(f.workContext(), former, place)
	case f.agent.Load:
		s, err = f.client.LoadSession(f.workContext(), former, place)
	default:
		return f.client.NewSession(f.workContext(), place)
	}
	if f.resumed = err == nil; f.resumed || f.workContext().Err() != nil {
		return s, err
	}
	f.notice(event.NoticeInfo, fmt.Sprintf("%s could not go on with its session, and is told what was said: %v",
		f.definition.Slug, err), "")
	return f.client.NewSession(f.workContext(), place)
}

const (
	// cancelTime is how long a program lives on that was told that its run is cancelled.
	cancelTime = 50 * time.Millisecond
	// endTime is how long a program may take to end by itself once its work is done.
	endTime = time.Second
)

// leaveTime bounds how long it takes to collect what a program has left.
const leaveTime = 30 * time.Second

// close ends the program, takes what it has left, and deletes its view.
func (f *foreign) close() {
	f.unwatch()
	f.client.Close()
	// What the program has written before the run was stopped counts.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), leaveTime)
	defer cancel()
	f.visits.take(ctx, f)
	if changed, err := f.program.GitChanged(ctx); changed && err == nil {
		f.notice(event.NoticeInfo, fmt.Sprintf("what %s did to git's commits and branches stayed in its sandbox",
			f.definition.Slug), "commit what you accept yourself")
	}
	if err := f.program.Close(); err != nil {
		f.notice(event.NoticeWarning, fmt.Sprintf("what %s has left in its sandbox could not be cleared away: %v",
			f.definition.Slug, err), "look into "+SandboxDir(f.process.StateDir))
	}
}

// sees reports whether the program may see a file of the workspace.
func (f *foreign) sees(path string) bool { return f.gate.rights.MayRead(path, "read") }

// find is the path of the program. A program of the workspace does not count for one on PATH: it would get the login of
// the one that is meant.
func (f *foreign) find() (string, error) {
	name := f.definition.Program.Command[0]
	if filepath.IsAbs(name) {
		return name, nil
	}
	program, ok := process.Find(name, f.session.View.Folders())
	if !ok || filepath.Base(name) != name {
		return "", &fault.Error{
			Kind: fault.NotAllowed,
			Detail: fmt.Sprintf("%s is the program %s, which is not on PATH outside of the workspace",
				f.definition.Slug, name),
			Hint: "install it, or write its whole path into the definition's command",
		}
	}
	return program, nil
}

// folderOf is the folder that a program needs to be seen with: its own, or all packages beside it where it is one of
// npm's.
func folderOf(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return filepath.Dir(program)
	}
	const packages = string(filepath.Separator) + "node_modules"
	if at := strings.Index(real, packages+string(filepath.Separator)); at >= 0 {
		return real[:at+len(packages)]
	}
	return filepath.Dir(real)
}

// chooseMode sets the program's own mode that the definition names, as a mode or as the option for it. It is called
// while the session is new.
func (f *foreign) chooseMode() error {
	mode := f.definition.Program.Mode
	if mode == "" || mode == f.talk.Mode {
		return nil
	}
	if slices.ContainsFunc(f.talk.Modes, func(m acp.Mode) bool { return m.ID == mode }) {
		return f.client.SetMode(f.workContext(), f.talk.ID, mode)
	}
	for _, o := range f.talk.Options {
		if slices.ContainsFunc(o.Values, func(v acp.ConfigValue) bool { return v.Value == mode }) {
			_, err := f.client.SetConfigOption(f.workContext(), f.talk.ID, o.ID, mode)
			return err
		}
	}
	f.notice(event.NoticeWarning, fmt.Sprintf("%s has no mode %q, and works in its own", f.definition.Slug, mode),
		"mend program_mode in the agent's definition")
	return nil
}

// state is the program's part of the home folder.
func (f *foreign) state() []sandbox.StateDir {
	home := f.commands.Home
	var state []sandbox.StateDir
	for _, name := range f.definition.Program.Reads {
		state = append(state, sandbox.StateDir{Path: filepath.Join(home, filepath.FromSlash(name))})
	}
	for _, name := range f.definition.Program.Writes {
		state = append(state, sandbox.StateDir{
			Path: filepath.Join(home, filepath.FromSlash(name)), Write: true, Make: isFolder(name),
		})
	}
	return state
}

// isFolder guesses from a name whether it is one of a folder: a file has an extension, as .claude.json has.
func isFolder(name string) bool {
	return !strings.Contains(strings.TrimLeft(path.Base(name), "."), ".")
}

// environ are the variables that the definition names.
func (f *foreign) environ() []string {
	var env []string
	for _, one := range f.definition.Program.Env {
		if strings.Contains(one, "=") {
			env = append(env, one)
		} else if value, ok := os.LookupEnv(one); ok {
			env = append(env, one+"="+value)
		}
	}
	return env
}

// unstarted says what to do where the program could not be started.
func (f *foreign) unstarted(err error) error {
	failed := &fault.Error{
		Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s could not be started: %v", f.definition.Slug, err), Cause: err,
		Hint: "see `agentls doctor` for what the sandbox lacks, and whether the program is installed",
	}
	if errors.Is(err, sandbox.ErrNoFollow) {
		failed.Detail = fmt.Sprintf("%s is another program, which runs only in a full sandbox: %v", f.definition.Slug,
			err)
		failed.Hint = "see `agentls doctor` for what is missing"
	}
	return failed
}
