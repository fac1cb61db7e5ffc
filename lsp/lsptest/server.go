package lsptest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/agentls/agentls/agentcore/model/script"
)

// Env is what a scenario's server has to be started with.
type Env struct {
	// Root is the workspace folder, State the state folder, Config that of the configuration, File the
	// user's config.toml. All are absolute; they stay the same when a scenario restarts its server.
	Root, State, Config, File string
	// Script is the model that the scenario scripts; nil where it has none, and the server's own
	// default (offline) answers.
	Script *script.Script
	// Vars is the environment; nothing else of the test's own environment belongs to the scenario.
	Vars map[string]string
	// Log takes what the server logs; it is shown when the scenario fails.
	Log io.Writer
}

// Getenv looks a variable up, as os.Getenv does.
func (e Env) Getenv(name string) string { return e.Vars[name] }

// Environ is Vars in the form of os.Environ.
func (e Env) Environ() []string {
	var list []string
	for name, value := range e.Vars {
		list = append(list, name+"="+value)
	}
	return list
}

// Server is a running language server.
type Server struct {
	// Stream is its input and output.
	Stream io.ReadWriteCloser
	// Kill ends it at once, without a word. It does not wait.
	Kill func()
	// Wait waits for its end and returns the exit code; -1 if it was killed. It may be called
	// again.
	Wait func() (code int, err error)
}

// duplex is a stream of two halves.
type duplex struct {
	io.Reader
	io.Writer
	close func() error
}

func (d duplex) Close() error { return d.close() }

// Serve runs a server in this process, which reads from in and writes to out and returns its exit code.
// Killing it closes both and cancels ctx.
func Serve(serve func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) (int, error)) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	hangUp := func() error { return errors.Join(toServer.Close(), fromServer.Close()) }
	var (
		code int
		err  error
		done = make(chan struct{})
	)
	go func() {
		defer close(done)
		defer cancel()
		code, err = serve(ctx, serverIn, serverOut)
		// An editor that still writes or reads must see the end.
		err = errors.Join(err, serverIn.Close(), serverOut.Close())
	}()
	return &Server{
		Stream: duplex{fromServer, toServer, hangUp},
		Kill: func() {
			cancel()
			_ = hangUp() // a pipe's Close never fails
		},
		Wait: func() (int, error) {
			<-done
			return code, err
		},
	}
}

// Exec starts a server as a process with standard input and output. Its standard error goes to log.
func Exec(cmd *exec.Cmd, log io.Writer) (*Server, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	// Not StdoutPipe: Wait would close it before the editor has read the last answer.
	out, serverOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	cmd.Stdout, cmd.Stderr = serverOut, log
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server: %w", err), out.Close(), serverOut.Close())
	}
	if err := serverOut.Close(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	wait := sync.OnceValues(func() (int, error) {
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode(), nil
		}
		return cmd.ProcessState.ExitCode(), err
	})
	var once sync.Once
	var closeErr error
	hangUp := func() error {
		once.Do(func() { closeErr = errors.Join(in.Close(), out.Close()) })
		return closeErr
	}
	return &Server{
		Stream: duplex{out, in, hangUp},
		Kill:   func() { _ = cmd.Process.Kill() }, // an error says that it has ended already
		Wait:   wait,
	}, nil
}
