package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/sandbox/proxy"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxKeptOutput is how much of a command's output is kept if not all of it was shown, in bytes.
const maxKeptOutput = 8 << 20

// Sandbox says how the programs of a run are kept apart. It is never changed.
type Sandbox struct {
	// ID is the run for which the programs work, and whose mark they carry (see [Mark]).
	ID event.RunID
	// Off says that the user wants no sandbox.
	Off bool
	// Report is what the machine offers. The first call may take a moment.
	Report func() sandbox.Report
	// StateDir is the folder of the boxes, and OutputDir the folder of kept outputs.
	StateDir, OutputDir string
	// Hidden are files and folders that no program may read.
	Hidden []string
	// Home is the user's home folder, empty for none.
	Home string
	// Tools are further files and folders below Home that stay visible. It is called for each box, and may be nil.
	Tools func(home string) []string
	// Network opens the machine's network. Without it, only single hosts are Allowed.
	Network bool
	Allowed []string
	View    *workspace.View
	// Redactor knows the secrets, which no program gets and no text shows.
	Redactor *secret.Redactor
	// Trees is what the boxes of the process know of the workspace folders. If it is nil, each box finds it out for
	// itself.
	Trees *sandbox.Trees
}

// Direct reports that programs run as if the user ran them.
func (s Sandbox) Direct() bool { return s.Off || s.Report().Level == sandbox.None }

// Dir is the workspace folder that programs start in, empty for none.
func (s Sandbox) Dir() string {
	if roots := s.View.Roots(); len(roots) > 0 {
		return roots[0].Path
	}
	return ""
}

// Mark is in the environment of every process of a run.
func Mark(run event.RunID) string { return "AGENTLS_RUN=" + string(run) }

// Environ is the environment of a program without a sandbox.
func (s Sandbox) Environ(more ...string) []string {
	return slices.Concat(s.Redactor.Environ(os.Environ()), more, []string{Mark(s.ID)})
}

// Folders maps the path of a workspace folder without symbolic links to the folder as it was opened.
type Folders map[string]string

// add adds a folder as it was opened. It reports false where the folder does not exist.
func (f Folders) add(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	if err == nil {
		f[real] = folder
	}
	return err == nil
}

// Shown is a path of the sandbox in terms of the view: below the folder as it was opened.
func (f Folders) Shown(path string) string {
	best := ""
	for real := range f {
		if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) && len(real) > len(best) {
			best = real
		}
	}
	if best == "" {
		return path
	}
	rel, err := filepath.Rel(best, path)
	if err != nil {
		return path
	}
	return filepath.Join(f[best], rel)
}

// Options are the options of a box. ignored returns what version control ignores when the programs run.
func (s Sandbox) Options(ignored func() *workspace.Ignored) (sandbox.Options, Folders, error) {
	report := s.Report()
	env := s.Redactor.Environ(os.Environ())
	folders := Folders{}
	o := sandbox.Options{
		Run: string(s.ID), StateDir: s.StateDir, OutputDir: s.OutputDir, Home: s.Home, Env: env,
		Caches: sandbox.DefaultCaches(env, s.Home), Tools: sandbox.DefaultTools(env, s.Home),
		Hidden: s.Hidden, Protected: permission.ProtectedNames(), Network: sandbox.Network{Open: s.Network},
		Limits:  sandbox.Limits{WholeOutput: maxKeptOutput},
		Ignored: func(path string, dir bool) bool { return ignored().Has(folders.Shown(path), dir) },
		Secret:  func(path string) bool { return permission.Secret(filepath.ToSlash(path)) },
		IsText:  workspace.IsText,
		Trees:   s.Trees,
		Report:  &report,
	}
	if s.Tools != nil {
		o.Tools = append(o.Tools, s.Tools(s.Home)...)
	}
	if len(s.Allowed) > 0 {
		gate, err := proxy.Gate(s.Allowed)
		if err != nil {
			return o, nil, err
		}
		o.Network.Gate = gate
	}
	for _, root := range s.View.Roots() {
		if folders.add(root.Path) {
			o.Roots = append(o.Roots, root.Path)
		}
	}
	if len(o.Roots) == 0 {
		return o, nil, errors.New("no workspace folder is there to run commands in; use the file tools")
	}
	if err := os.MkdirAll(s.OutputDir, 0o700); err != nil {
		return o, nil, fmt.Errorf("make a folder for the output of commands: %w", err)
	}
	return o, folders, nil
}

// Live starts a program in a box of its own, which is closed with it. ending says how the program ended, from what it
// wrote to its standard error; the error says why it could not be waited for.
func Live(ctx context.Context, o sandbox.Options, c sandbox.Command,
	ending func(exit process.Exit, words []byte, err error) string,
) (*process.Live, error) {
	c.Live = true
	var started *sandbox.Process
	box, p, err := speak(ctx, o, c, func(box *sandbox.Box, c sandbox.Command) (err error) {
		started, err = box.Start(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	wait := func() string {
		how := ended(started, ending)
		if err := box.Close(); err != nil {
			how += "; " + err.Error()
		}
		return how
	}
	return &process.Live{In: p.In, Out: p.Out, Kill: started.Kill, Wait: wait}, nil
}

// speak opens a box and has start start a program in it that is spoken with over pipes.
func speak(ctx context.Context, o sandbox.Options, c sandbox.Command,
	start func(*sandbox.Box, sandbox.Command) error,
) (*sandbox.Box, process.Pipes, error) {
	box, err := sandbox.Open(ctx, o)
	if err != nil {
		return nil, process.Pipes{}, err
	}
	p, err := process.NewPipes()
	if err != nil {
		return nil, p, errors.Join(err, box.Close())
	}
	c.Input, c.Output = p.ChildIn, p.ChildOut
	if err := p.Given(start(box, c)); err != nil {
		return nil, p, errors.Join(err, box.Close())
	}
	return box, p, nil
}

// ended waits for the end of a program, and says how it was.
func ended(started *sandbox.Process, ending func(exit process.Exit, words []byte, err error) string) string {
	<-started.Done() // the program was killed, or has ended
	result, err := started.Wait(context.Background())
	words, _ := started.Output(0)
	return ending(process.Exit{Code: result.Exit, Signal: result.Signal}, words, err)
}

// maxWords is how much of the standard error of a live program without a sandbox is kept, in bytes.
const maxWords = 32 << 10

// LiveDirect is [Live] for a program that runs without a sandbox, as if the user ran it.
func LiveDirect(program process.Program, ending func(exit process.Exit, words []byte, err error) string,
) (*process.Live, error) {
	p, err := process.NewPipes()
	if err != nil {
		return nil, err
	}
	words := &process.Head{Most: maxWords}
	program.Stdin, program.Stdout, program.Stderr = p.ChildIn, p.ChildOut, words
	started, err := process.Start(context.Background(), program)
	if err := p.Given(err); err != nil {
		return nil, err
	}
	wait := func() string {
		exit, _, err := started.Wait()
		said, _ := words.Text()
		return ending(exit, said, err)
	}
	return &process.Live{In: p.In, Out: p.Out, Kill: started.Kill, Wait: wait}, nil
}

// maxLastWords is how much of a program's standard error is told at its end, in bytes.
const maxLastWords = 500

// Ending says in one line how a live program ended, with its last words. err says why it could not be waited for.
func Ending(name string, exit process.Exit, words []byte, err error) string {
	how := name + " " + exit.String()
	if err != nil {
		how = err.Error()
	}
	words = bytes.TrimSpace(words)
	if len(words) > maxLastWords {
		words = append([]byte("… "), words[len(words)-maxLastWords:]...)
	}
	if len(words) > 0 {
		how += ": " +
			permission.Visible(strings.Join(strings.Fields(strings.ToValidUTF8(string(words), "\uFFFD")), " "))
	}
	return how
}
