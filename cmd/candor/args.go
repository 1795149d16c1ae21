package main

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/internal/near"
)

// atMost refuses more arguments than a command takes.
func atMost(n int, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return bad(example, "too many arguments: %q", args[n])
		}
		return nil
	}
}

// exactly demands so many arguments.
func exactly(what, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return bad(example, "give exactly one %s, not %d", what, len(args))
		}
		return nil
	}
}

// noSuchSubcommand refuses a word that is no command below this one.
func noSuchSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if names := near.Typed(args[0], commandNames(cmd)); len(names) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + names[0] + "? " + hint
	}
	return bad(hint, "unknown command %q", args[0])
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// complete offers a fixed list for the value of a flag. The flag is ours, so that registering cannot fail.
func complete(cmd *cobra.Command, flag string, list []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}
