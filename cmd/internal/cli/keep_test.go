package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestWritersOfALedgerHaveTheSameFlags checks that commands that write a ledger have the flags for retention and compression.
func TestWritersOfALedgerHaveTheSameFlags(t *testing.T) {
	t.Parallel()
	// These write no entries of callers, and prune has shorter names for its limits.
	others := []string{"candor ledger prune"}
	var writers []string
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if path := cmd.CommandPath(); cmd.Flags().Lookup("witness-copy") != nil && !slices.Contains(others, path) {
			writers = append(writers, path)
			for _, name := range []string{"ledger-keep-age", "ledger-keep-bytes", "ledger-compress"} {
				if cmd.Flags().Lookup(name) == nil {
					t.Errorf("%s has no --%s", path, name)
				}
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&term.Env{}))
	all := strings.Join(writers, "\n")
	for _, want := range []string{"wrap", "gateway", "workbench kaiza", "workbench workrail", "workbench harness", "workbench dual", "workbench approve"} {
		if !strings.Contains(all, "candor "+want) {
			t.Errorf("candor %s has no --witness-copy", want)
		}
	}
}
