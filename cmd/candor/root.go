package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/candor-mcp/candor/internal/near"
)

// newRoot builds the whole tree of commands over one world.
func newRoot(w *world) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Make MCP servers honest about failure",
		Long: `Candor makes MCP servers honest about failure: every failure becomes one readable, typed,
retry-aware error. This command reads failures as real servers send them, explains their codes and
translates them between the shapes that clients understand.`,
		Example: `  candor demo                        see what it does, with nothing to set up
  candor decode --json < answers.jsonl
  candor explain RATE_LIMITED`,
		Args:              noSuchSubcommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error { return checkColor(w) },
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.PersistentFlags().StringVar(&w.color, "color", "auto", "colour the output: "+strings.Join(colorWords, ", "))
	complete(root, "color", colorWords)
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	root.SetFlagErrorFunc(noSuchFlag)
	root.AddCommand(newDemo(w), newDemoServer(w), newDecode(w), newTranslate(w), newCodes(w), newExplain(w), newLedger(w), newVet(w), newVersion(w), newMan(w))
	root.AddCommand(newWrap(w), newGateway(w), newProbe(w), newZoo(w), newWorkbench(w), newConfig(w), newProbeInside())
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd(programName)
	refuseShells(root)
	return root
}

// refuseShells makes cobra's completion command an error for shells it does not know.
func refuseShells(root *cobra.Command) {
	completion, _, err := root.Find([]string{"completion"})
	if err != nil || completion == root {
		return
	}
	completion.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown("shell", args[0], commandNames(cmd))
		}
		return nil
	}
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

func checkColor(w *world) error {
	if !slices.Contains(colorWords, w.color) {
		return unknown("--color", w.color, colorWords)
	}
	return nil
}

// noSuchFlag adds the flag that was probably meant.
func noSuchFlag(cmd *cobra.Command, err error) error {
	hint := "see " + cmd.CommandPath() + " --help"
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if meant := near.Typed(missing.GetSpecifiedName(), names); len(meant) > 0 {
			hint = "did you mean --" + meant[0] + "? " + hint
		}
	}
	return bad(hint, "%s", err)
}

// newHelp is cobra's own help command, except that asking for what does not exist is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show help for any command",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			target, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noSuchSubcommand(root, args)
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}
