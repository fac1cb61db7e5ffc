package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// run carries out the command line and returns the exit code. ctx ends it; its cause may be an interrupted.
func (p *process) run(ctx context.Context) int {
	root := rootCommand(p)
	root.SetArgs(p.args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(ctx)
	code := exitOK
	if err != nil {
		code = exitFailed
		var exit *exitError
		if errors.As(err, &exit) {
			code = exit.code
			err = exit.err
		}
	}
	var cause interrupted
	if ctx.Err() != nil && errors.As(context.Cause(ctx), &cause) {
		code = cause.code
		if errors.Is(err, context.Canceled) || errors.As(err, &cause) {
			err = nil // the user has ended it
		}
	}
	if err != nil {
		p.complain(err)
	}
	return code
}

func rootCommand(p *process) *cobra.Command {
	cobra.EnableCommandSorting = false
	s := &settings{}
	var printsVersion bool
	root := &cobra.Command{
		Use:   "agentls",
		Short: "A language server for AI agents",
		Long: `agentls is a language server for AI agents: an editor starts it as "agentls serve". The other commands run
the same agents from a command line. It works without a key, by rules and by the checkers on this machine;
see "agentls doctor" for what it found.`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || printsVersion {
				return nil
			}
			return usage("there is no command %q%s; see `agentls --help`", args[0], didYouMean(args[0], names(c)))
		},
	}
	root.PersistentFlags().StringArrayVar(&s.set, "set", nil,
		"set a configuration `key=value` for this call, as in config.toml (repeatable)")
	root.SetFlagErrorFunc(flagError)
	// cobra's own flag would need a template, and templates have the linker keep every exported method.
	root.Flags().BoolVarP(&printsVersion, "version", "v", false, "version for agentls")
	serve := serveCommand(p, s)
	editorFlags(root)
	root.RunE = func(c *cobra.Command, args []string) error {
		if printsVersion {
			return p.printVersion()
		}
		if p.stdinTerminal {
			return c.Help()
		}
		return serve.RunE(c, args)
	}
	root.AddCommand(
		reviewCommand(p, s), runCommand(p, s), chatCommand(p, s), serve, acpCommand(p, s), agentsCommand(p, s),
		promptsCommand(p, s), permissionsCommand(p, s), trustCommand(p, s), sessionsCommand(p, s), usageCommand(p, s),
		modelsCommand(p, s), configCommand(p, s), doctorCommand(p, s), schemaCommand(&p.console),
		versionCommand(&p.console),
	)
	return root
}
