package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(w *world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and how the program was built",
		Example: "  candor version\n  candor version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info := builtFrom(debug.ReadBuildInfo())
			if asJSON {
				return writeLine(w.out, info)
			}
			fmt.Fprintln(w.out, info)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
