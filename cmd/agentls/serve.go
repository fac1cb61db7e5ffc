package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/lsp"
)

// editorFlags accepts flags that editors' client libraries add to every server's command line. They change nothing.
func editorFlags(c *cobra.Command) {
	c.Flags().Bool("stdio", true, "speak over standard input and output")
	c.Flags().Int("clientProcessId", 0, "the editor's process; initialize tells it")
	for _, name := range []string{"stdio", "clientProcessId"} {
		if err := c.Flags().MarkHidden(name); err != nil {
			panic(err) // the flag is defined three lines above
		}
	}
}

func serveCommand(p *process, s *settings) *cobra.Command {
	var logFile, level string
	var noParent bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve an editor over standard input and output (the default without a terminal)",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			dirs, err := config.FindDirs(p.getenv, p.home)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			logger, done, err := p.openLog(logFile, level)
			if err != nil {
				return err
			}
			defer survivePipe()()
			code, err := lsp.Serve(c.Context(), p.stdin, writeCloser{p.stdout}, lsp.Options{
				Version: version(), Dirs: dirs, Getenv: p.getenv, Flags: s.set, OpenModel: p.openModel,
				Redactor: p.redactor(), Crash: p.crash, Logger: logger,
				IgnoreParent: noParent,
			})
			err = errors.Join(err, done())
			if err != nil || code != 0 {
				return &exitError{code, err}
			}
			return nil
		},
	}
	editorFlags(c)
	c.Flags().BoolVar(&noParent, "no-parent-check", false,
		"keep running after the editor's process has ended; for an editor outside of the server's container")
	logFlags(c, &logFile, &level)
	return c
}

// logFlags adds the flags of a command that an editor starts and talks with, which are about its log.
func logFlags(c *cobra.Command, file, level *string) {
	c.Flags().StringVar(file, "log", "", "append the log to `FILE` instead of writing it to standard error")
	c.Flags().StringVar(level, "log-level", "warn", "least level to log: debug, info, warn or error")
}

// survivePipe keeps the process alive where it writes to an editor that has died, until stop is called.
func survivePipe() (stop func()) {
	// Without this the message would kill the server (os/signal, SIGPIPE) before its runs have ended. Ignored, the
	// signal would be ignored by the commands of agents, too.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// openLog makes the logger of the server; done closes its file.
func (p *process) openLog(file, level string) (logger *slog.Logger, done func() error, err error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, nil, usage("--log-level is %q; write debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: least}
	if file == "" {
		return slog.New(slog.NewTextHandler(p.redactor().Writer(p.stderr), options)), func() error { return nil }, nil
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, usage("open the log: %w; name a file that can be written", err)
	}
	return slog.New(slog.NewTextHandler(p.redactor().Writer(out), options)), out.Close, nil
}

// writeCloser gives an output a Close. The process's own standard output closes for good: the editor sees the end.
type writeCloser struct{ io.Writer }

func (w writeCloser) Close() error {
	if s, ok := w.Writer.(screen); ok {
		if c, ok := s.Writer.(io.Closer); ok {
			if err := c.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
				return fmt.Errorf("close standard output: %w", err)
			}
		}
	}
	return nil
}
