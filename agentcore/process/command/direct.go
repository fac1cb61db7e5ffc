package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
)

// directShown is how much of the output of a command without a sandbox is shown, in bytes.
const directShown = 32 << 10

// direct is a command without a sandbox. Its methods may be called from any goroutine.
type direct struct {
	*process.Process
	output *outputFile
	done   chan struct{}
	result sandbox.Result // set once done is closed
}

// nextDirect counts a command without a sandbox, and returns its mark.
func (s *Set) nextDirect() (mark string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", sandbox.ErrClosed
	}
	s.directs++
	return fmt.Sprintf("%s%s-%d", DirectMark, s.ID, s.directs), nil
}

// DirectMark begins the mark of a program without a sandbox. The rest of the mark is different for each.
const DirectMark = "AGENTLS_COMMAND="

// Program runs a program of the user without a sandbox, with further variables, and keeps so many bytes of each of its
// outputs. It returns when none of its processes is left, which is soon after ctx ends.
func (s *Set) Program(ctx context.Context, p process.Program, most int) (process.Ran, error) {
	var err error
	if p.Mark, err = s.nextDirect(); err != nil {
		return process.Ran{}, err
	}
	p.Dir, p.Env = s.Dir(), s.Environ(p.Env...)
	ran, err := process.Run(ctx, p, most)
	if err == nil {
		s.changed()
	}
	return ran, err
}

// changed makes the workspace be looked at again, since a program without a sandbox may have changed any file.
func (s *Set) changed() {
	var folders []string
	for _, root := range s.View.Roots() {
		folders = append(folders, root.Path)
	}
	s.View.DiskChanged(folders)
}

// startDirect starts a command as the user would. It ends with ctx.
func (s *Set) startDirect(ctx context.Context, command tool.Command) (*direct, error) {
	mark, err := s.nextDirect()
	if err != nil {
		return nil, err
	}
	dir := s.Dir()
	if dir == "" {
		return nil, errors.New("no workspace folder is open to run commands in; use the file tools")
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		if shell, err = exec.LookPath("sh"); err != nil {
			return nil, errors.New("there is neither bash nor sh on this machine; go on without commands")
		}
	}
	if err := os.MkdirAll(s.OutputDir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the output of commands: %w", err)
	}
	file, err := os.CreateTemp(s.OutputDir, "output-"+string(s.ID)+"-*.txt")
	if err != nil {
		return nil, fmt.Errorf("keep the output of a command: %w", err)
	}
	p := &direct{output: &outputFile{file: file}, done: make(chan struct{})}
	started := time.Now()
	if p.Process, err = process.Start(ctx, process.Program{
		Argv: []string{shell, "-c", command.Script}, Dir: dir, Env: s.Environ(), Mark: mark, Limit: command.Timeout,
		Stdout: p.output, Stderr: p.output, Lingers: true,
	}); err != nil {
		return nil, errors.Join(fmt.Errorf("start a command: %w", err), p.output.discard())
	}
	go func() {
		defer close(p.done)
		p.end(command.Timeout)
		p.result.Duration = time.Since(started)
		s.changed()
	}()
	return p, nil
}

// end waits for the end of the command, and collects its result.
func (p *direct) end(limit time.Duration) {
	exit, late, err := p.Process.Wait()
	r := &p.result
	r.Level, r.TimedOut, r.Exit, r.Signal = sandbox.None, late, exit.Code, exit.Signal
	r.Notes = append(r.Notes,
		"it ran without a sandbox, on the disk as it is saved: unsaved and proposed text was not there, and what it "+
			"changed is changed")
	if late {
		r.Notes = append(r.Notes, fmt.Sprintf("the command was ended after %s, its time limit", limit))
	}
	if err != nil {
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

// Output implements watched.
func (p *direct) Output(since int64) ([]byte, int64) {
	output, size := p.output.since(since)
	return cut(output, directShown), size
}

// Done implements watched.
func (p *direct) Done() <-chan struct{} { return p.done }

// Wait implements watched.
func (p *direct) Wait(ctx context.Context) (sandbox.Result, error) {
	select {
	case <-p.done:
		return p.result, nil
	case <-ctx.Done():
		return sandbox.Result{}, ctx.Err()
	}
}

// cut is the beginning and the end of an output that is longer than limit bytes.
func cut(output []byte, limit int) []byte {
	if len(output) <= limit {
		return output
	}
	missing := len(output) - limit
	return slices.Concat(output[:limit/2], fmt.Appendf(nil, "\n[%d bytes are left out here]\n", missing),
		output[len(output)-limit/2:])
}

// outputFile is the output of a command, of which the first maxKeptOutput bytes are in a file. It may be read while it
// is written.
type outputFile struct {
	mu   sync.Mutex
	file *os.File
	// kept is the output's text once the file is closed.
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

// since returns the output behind the first n bytes, and how many bytes there are.
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
