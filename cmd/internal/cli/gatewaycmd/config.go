package gatewaycmd

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

// NewConfig returns `candor config`.
func NewConfig(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Print the schema of candor.yaml",
		Long:    "Print schemas of candor.yaml, the configuration of candor gateway, and of profiles, the rules for one server.",
		Example: "  candor config schema > candor.schema.json",
		Args:    term.NoSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigSchema(env))
	return cmd
}

func newConfigSchema(env *term.Env) *cobra.Command {
	var profile bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of candor.yaml, for editors",
		Long: `Print the JSON Schema of candor.yaml, so that an editor completes keys and marks mistakes. This comment on the
first line of candor.yaml tells an editor where it is:

  # yaml-language-server: $schema=./candor.schema.json`,
		Example: "  candor config schema > candor.schema.json\n  candor config schema --profile > profile.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema := config.Schema()
			if profile {
				schema = config.ProfileSchema()
			}
			_, err := env.Out.Write(schema)
			return err
		},
	}
	cmd.Flags().BoolVar(&profile, "profile", false, "print the schema of a profile instead")
	return cmd
}
