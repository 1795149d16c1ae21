package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func newVersion(env *term.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and how the program was built",
		Example: "  candor version\n  candor version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info := term.ReadBuildInfo()
			if asJSON {
				return term.WriteJSONLine(env.Out, info)
			}
			fmt.Fprintln(env.Out, info)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
