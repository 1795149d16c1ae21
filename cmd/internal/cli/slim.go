//go:build slim

package cli

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// The released executables are built with the tag slim. They leave out two commands that add 3 MB and that people without
// Go do not need: vet reads the source of Go servers, and the manual pages are part of each archive and package.

func newVet(*term.Env) *cobra.Command {
	return leftOut("vet", "go run github.com/candor-mcp/candor/cmd/candor@latest vet ./...")
}

func newMan(*term.Env) *cobra.Command {
	return leftOut("man", "go run github.com/candor-mcp/candor/cmd/candor@latest man --dir man1")
}

// leftOut returns a hidden command that says how to run the one that is missing.
func leftOut(name, instead string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return term.BadInput("with Go: "+instead, "%s is not part of the released executable", name)
		},
	}
}
