//go:build slim

package cli

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// newMan returns a hidden command that says how to run the one that is missing. The released executables are built with the tag slim
// and leave out what writes manual pages, which are part of each archive and package.
func newMan(*term.Env) *cobra.Command {
	return &cobra.Command{
		Use: "man", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return term.BadInput("with Go: go run github.com/candor-mcp/candor/cmd/candor@latest man --dir man1",
				"man is not part of the released executable")
		},
	}
}
