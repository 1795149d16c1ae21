package term

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/internal/near"
)

// MaxArgs refuses more arguments than a command takes.
func MaxArgs(n int, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return BadInput(example, "too many arguments: %q", args[n])
		}
		return nil
	}
}

// OneArg demands so many arguments.
func OneArg(what, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return BadInput(example, "give exactly one %s, not %d", what, len(args))
		}
		return nil
	}
}

// NoSuchCommand refuses a word that is no command below this one.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if names := near.Typed(args[0], CommandNames(cmd)); len(names) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + names[0] + "? " + hint
	}
	return BadInput(hint, "unknown command %q", args[0])
}

func CommandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// CompleteFlag offers a fixed list for the value of a flag. The flag is ours, so that registering cannot fail.
func CompleteFlag(cmd *cobra.Command, flag string, list []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}
