package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
)

// exitError ends the process with a code. A nil err prints nothing.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is the error of something that the user can mend on the command line.
func usage(format string, arguments ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, arguments...)}
}

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
			err = nil // the user knows
		}
	}
	if err != nil {
		p.complain(err)
	}
	return code
}

// complain prints an error in one line for each thing that is wrong.
func (o *console) complain(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			o.complain(e)
		}
		return
	}
	text := err.Error()
	var own *fault.Error
	if failure := fault.Explain(err); failure.Kind != "internal" && !errors.As(err, &own) {
		text = failure.Detail
		if failure.Hint != "" {
			text += "; " + failure.Hint
		}
	}
	o.tell(text)
}

// tell prints one line on standard error. What cannot be said there has no other place to go.
func (o *console) tell(text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	fmt.Fprintf(o.stderr, "agentls: %s\n", visible(text))
}

// settings are the flags that every subcommand has.
type settings struct {
	set []string
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
		reviewCommand(p, s), runCommand(p, s), serve, agentsCommand(p, s), permissionsCommand(p, s), trustCommand(p, s),
		sessionsCommand(p, s), usageCommand(p, s), configCommand(p, s),
		doctorCommand(p, s), schemaCommand(&p.console), versionCommand(&p.console),
	)
	return root
}

// names are the subcommands that a user may call.
func names(c *cobra.Command) []string {
	var list []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			list = append(list, sub.Name())
		}
	}
	return list
}

// flagError makes an error of the flag parser one of usage, with the flag that was meant.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		hint = didYouMean("--"+unknown.GetSpecifiedName(), known)
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		wanted := map[string]string{
			"int": "a whole number", "duration": "a time such as 90s or 5m",
			"bool": "true or false",
		}[bad.GetFlag().Value.Type()]
		if wanted != "" {
			return usage("--%s is %q; write %s", bad.GetFlag().Name, bad.GetValue(), wanted)
		}
	}
	return usage("%w%s; see `%s --help`", err, hint, c.CommandPath())
}

// subcommands is the Args of a command that only has subcommands and a default one.
func subcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("%q has no command %q%s; see `%s --help`", c.CommandPath(), args[0], didYouMean(args[0], names(c)),
		c.CommandPath())
}

// group is a command that only has others, of which it does the first where none is named.
func group(use, short string, list *cobra.Command, others ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: subcommands, RunE: list.RunE}
	c.Flags().AddFlagSet(list.Flags())
	c.AddCommand(append([]*cobra.Command{list}, others...)...)
	return c
}

// exactly is the Args of a command with a fixed number of arguments.
func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usage("%q takes %s, not %d; write `agentls %s`", c.CommandPath(), count(n, "argument"), len(args),
			strings.TrimSuffix(strings.TrimPrefix(c.UseLine(), "agentls "), " [flags]"))
	}
}

// load reads the configuration without that of a workspace folder, and the folders of agentls.
func (v *environment) load(s *settings) (*config.Config, []config.Problem, config.Dirs, error) {
	dirs, err := config.FindDirs(v.getenv, v.home)
	if err != nil {
		return nil, nil, dirs, &exitError{exitUsage, err}
	}
	cfg, problems := config.Load(config.Sources{
		Getenv: v.getenv, Home: v.home, UserFile: dirs.File, Flags: s.set,
	})
	return cfg, problems, dirs, nil
}

// tellProblems prints what is wrong with the configuration; quiet leaves the warnings out.
func (o *console) tellProblems(problems []config.Problem, quiet bool) {
	for _, problem := range problems {
		if !quiet || problem.Severity == config.SeverityError {
			o.tell(problem.String())
		}
	}
}

// findAgent finds an agent by slug or alias, or says which was meant.
func findAgent(agents *agent.Registry, name string) (*agent.Definition, error) {
	found, err := agents.Find(name)
	if err == nil {
		return found, nil
	}
	if broken, ok := errors.AsType[*agent.BrokenError](err); ok {
		return nil, usage("%v; `agentls agents check %s` says all that is wrong", err, broken.Problem.File)
	}
	var known []string
	for _, d := range agents.List("") {
		known = append(append(known, d.Slug), d.Aliases...)
	}
	hint := cmp.Or(didYouMean(name, known), "; see `agentls agents list`")
	return nil, usage("there is no agent %q%s", name, hint)
}

// print writes a result to standard output.
func (o *console) print(text string) error {
	if _, err := fmt.Fprint(o.stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// inColumns lays rows out whose cells are parted by tabs.
func inColumns(rows string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, rows)
	w.Flush() // a strings.Builder takes everything
	return b.String()
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
