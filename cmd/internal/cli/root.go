package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/candor-mcp/candor/cmd/internal/cli/consolecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/decodecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/democmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/doctorcmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/gatewaycmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/installcmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/learncmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/ledgercmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/probecmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/cli/workbenchcmd"
	"github.com/candor-mcp/candor/internal/similar"
)

// newRoot builds the command tree.
func newRoot(env *term.Env) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   term.ProgramName,
		Short: "Make MCP servers honest about failure",
		Long: `Candor makes MCP servers honest about failure: every failure becomes one readable, typed,
retry-aware error. candor wrap and candor gateway run between servers and their clients; the other commands
read recorded failures, explain codes, test servers and translate errors between formats.`,
		Example: `  candor demo                        see what it does; needs no setup
  candor decode --json < answers.jsonl
  candor explain RATE_LIMITED`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(env, false)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := checkColor(env); err != nil {
				return err
			}
			term.WithholdFlags(cmd)
			return checkEngines(env, cmd, args)
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().StringVar(&env.ColorMode, "color", "auto", "colour of the output: "+strings.Join(term.ColorModes, ", "))
	term.CompleteFlag(root, "color", term.ColorModes)
	root.Flags().BoolVar(&version, "version", false, "print the version, as candor version does")
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(democmd.New(env), democmd.NewServer(env), decodecmd.NewDecode(env), decodecmd.NewTranslate(env), decodecmd.NewPreview(env), decodecmd.NewCodes(env), decodecmd.NewExplain(env), decodecmd.NewHook(env), ledgercmd.New(env), ledgercmd.NewFleet(env), consolecmd.New(env), learncmd.New(env), newVersion(env), newMan(env))
	root.AddCommand(gatewaycmd.NewWrap(env), gatewaycmd.NewGateway(env), probecmd.New(env), probecmd.NewZoo(env), workbenchcmd.New(env), gatewaycmd.NewConfig(env), probecmd.NewInside())
	root.AddCommand(installcmd.NewInstall(env), installcmd.NewUninstall(env), doctorcmd.NewDoctor(env), doctorcmd.NewInit(env))
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd(term.ProgramName)
	rejectUnknownShells(root)
	groupCommands(root)
	return root
}

// rejectUnknownShells makes cobra's completion command fail for a shell it does not know.
func rejectUnknownShells(root *cobra.Command) {
	completion, _, err := root.Find([]string{"completion"})
	if err != nil || completion == root {
		return
	}
	completion.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return term.Unknown("shell", args[0], term.CommandNames(cmd))
		}
		return nil
	}
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

func checkColor(env *term.Env) error {
	if !slices.Contains(term.ColorModes, env.ColorMode) {
		return term.Unknown("--color", env.ColorMode, term.ColorModes)
	}
	return nil
}

// flagError adds the nearest flag name to an error about an unknown flag. An unknown flag after the first word of a server's command
// belongs to that command, and the -- before it is missing.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*term.Error](err); ok {
		return e // it names the flag
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if words := cmd.Flags().Args(); len(words) > 0 && strings.Contains(cmd.Use, "-- ") {
		hint = "put -- before the command of the server: " + cmd.CommandPath() + " -- " + strings.Join(words, " ") + " …"
		return term.BadInput(hint, "%s", err)
	}
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if meant := similar.Typed(missing.GetSpecifiedName(), names); len(meant) > 0 {
			hint = "did you mean --" + meant[0] + "? " + hint
		}
	}
	return term.BadInput(hint, "%s", err)
}

// newHelp is cobra's help command, except that an unknown command is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show help for any command",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return term.CommandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			target, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return term.NoSuchCommand(root, args)
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

func newVersion(env *term.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and how the program was built",
		Example: "  candor version\n  candor version --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return printVersion(env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printVersion(env *term.Env, asJSON bool) error {
	info := term.ReadBuildInfo()
	return term.WriteReport(env, asJSON, info, true, func() { fmt.Fprintln(env.Out, info) })
}
