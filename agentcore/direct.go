package agentcore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
)

const (
	// directShown is how much of the output of a command without a sandbox is shown, in bytes.
	directShown = 32 << 10
	// directDelay is how long its pipes may stay open after its end.
	directDelay = 2 * time.Second
)

// direct is a command without a sandbox: the leader of a group of processes, which end together, and what has left the
// group. Its methods may be called from any goroutine.
type direct struct {
	cmd    *exec.Cmd
	output *outputFile
	// variable is in the environment of its processes, and of no others.
	variable string
	done     chan struct{}

	mu     sync.Mutex
	ended  bool // its group may belong to others by now
	late   bool
	result sandbox.Result // set once done is closed
}

// nextDirect counts a command without a sandbox. What it returns is to be in the environment of its processes, and of
// no others.
func (c *commands) nextDirect() (variable string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return "", sandbox.ErrClosed
	}
	c.directs++
	return fmt.Sprintf("AGENTLS_COMMAND=%s-%d", c.run.id, c.directs), nil
}

// startDirect starts a command as the user would. It ends with ctx.
func (c *commands) startDirect(ctx context.Context, command tool.Command) (*direct, error) {
	own, err := c.nextDirect()
	if err != nil {
		return nil, err
	}
	e := c.run.engine
	dir := authority.Home(c.run.session.view)
	if dir == "" {
		return nil, errors.New("no workspace folder is open to run commands in; use the file tools")
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		if shell, err = exec.LookPath("sh"); err != nil {
			return nil, errors.New("there is neither bash nor sh on this machine; go on without commands")
		}
	}
	if err := os.MkdirAll(e.outputDir(), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the output of commands: %w", err)
	}
	file, err := os.CreateTemp(e.outputDir(), "output-"+string(c.run.id)+"-*.txt")
	if err != nil {
		return nil, fmt.Errorf("keep the output of a command: %w", err)
	}
	p := &direct{output: &outputFile{file: file}, variable: own, done: make(chan struct{})}
	p.cmd = exec.Command(shell, "-c", command.Script)
	p.cmd.Dir = dir
	p.cmd.Env = append(e.redactor.Environ(os.Environ()), runVariable(c.run.id), own, "PWD="+dir)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.output, p.output, directDelay
	process.OwnGroup(p.cmd)
	started := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a command: %w", err), p.output.discard())
	}
	stop := context.AfterFunc(ctx, p.Kill)
	timer := time.AfterFunc(time.Hour, func() { p.expire() })
	if command.Timeout > 0 {
		timer.Reset(command.Timeout)
	} else {
		timer.Stop()
	}
	go func() {
		defer close(p.done)
		err := p.cmd.Wait()
		timer.Stop()
		stop()
		p.end(err, command.Timeout)
		p.result.Duration = time.Since(started)
		c.run.session.view.DiskChanged(c.run.session.view.Folders())
	}()
	return p, nil
}

// Kill implements process.
func (p *direct) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = process.KillGroup(p.cmd)
		// What cannot be looked for is looked for again when the run ends, which tells.
		_ = sandbox.EndStrays(p.variable)
	}
}

func (p *direct) expire() {
	p.mu.Lock()
	p.late = true
	p.mu.Unlock()
	p.Kill()
}

// end collects what came of the command, whose first process is gone, and ends what it left running in its group.
func (p *direct) end(err error, limit time.Duration) {
	p.mu.Lock()
	_ = process.KillGroup(p.cmd)
	p.ended = true
	r := &p.result
	r.TimedOut = p.late
	p.mu.Unlock()
	r.Level = sandbox.None
	r.Exit, r.Signal = process.ExitCode(p.cmd.ProcessState)
	r.Notes = append(r.Notes,
		"it ran without a sandbox, on the disk as it is saved: unsaved and proposed text was not there, and what it "+
			"changed is changed")
	if p.late {
		r.Notes = append(r.Notes, fmt.Sprintf("the command was ended after %s, its time limit", limit))
	}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok && !errors.Is(err, exec.ErrWaitDelay) {
		r.Notes = append(r.Notes, "its output may be incomplete: "+err.Error())
	}
	whole, size := p.output.since(0)
	r.Output, r.OutputSize = cut(whole, directShown), size
	if len(whole) <= directShown {
		err = p.output.discard()
	} else {
		r.OutputFile = filepath.Clean(p.output.file.Name())
		err = p.output.close(whole)
	}
	if err != nil {
		r.Notes = append(r.Notes, "its output could not be kept: "+err.Error())
	}
}

// Output implements process.
func (p *direct) Output(since int64) ([]byte, int64) {
	output, size := p.output.since(since)
	return cut(output, directShown), size
}

// Done implements process.
func (p *direct) Done() <-chan struct{} { return p.done }

// Wait implements process.
func (p *direct) Wait(ctx context.Context) (sandbox.Result, error) {
	select {
	case <-p.done:
		return p.result, nil
	case <-ctx.Done():
		return sandbox.Result{}, ctx.Err()
	}
}

// outputFile is the output of a command, the first maxKeptOutput bytes of it in a file. It may be read while it is
// written.
type outputFile struct {
	mu   sync.Mutex
	file *os.File
	// kept is what it holds once the file is closed.
	kept []byte
	size int64
}

// Write never fails, so that a full disk does not stop the command.
func (o *outputFile) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	room := max(0, maxKeptOutput-o.size)
	n, err := o.file.Write(p[:min(int64(len(p)), room)])
	if err != nil {
		n = len(p)
	}
	o.size += int64(n)
	return len(p), nil
}

// since returns what came after the first n bytes, and how many there are.
func (o *outputFile) since(n int64) ([]byte, int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = min(max(0, n), o.size)
	if o.file == nil {
		return o.kept[min(n, int64(len(o.kept))):], o.size
	}
	output := make([]byte, o.size-n)
	got, err := o.file.ReadAt(output, n)
	if err != nil {
		output = output[:got]
	}
	return output, o.size
}

// close closes the file, which stays.
func (o *outputFile) close(kept []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.file.Close()
	o.file, o.kept = nil, kept
	return err
}

// discard deletes the file.
func (o *outputFile) discard() error {
	kept, _ := o.since(0)
	name := o.file.Name()
	return errors.Join(o.close(kept), os.Remove(name))
}

// runVariable is in the environment of every process of a run.
func runVariable(id event.RunID) string { return "AGENTLS_RUN=" + string(id) }
