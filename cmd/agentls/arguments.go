package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// flagError turns an error of the flag parser into an error of usage that names the flag that was probably meant.
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

// group is a command that only has subcommands, and does the first one where none is named.
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
