package main

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/internal/plug"
)

// keepFlags are the flags of every command that writes a ledger: where its checkpoints are kept as well, and what is kept of it.
type keepFlags struct{ plug.Keep }

func (f *keepFlags) register(cmd *cobra.Command) {
	f.registerPlace(cmd)
	cmd.Flags().Var((*ageFlag)(&f.Age), "ledger-keep-age", "remove closed segments of the ledger that are older, such as 720h or 30d; default never")
	cmd.Flags().Var((*bytesFlag)(&f.Bytes), "ledger-keep-bytes", "remove the oldest closed segments while all take more, such as 500MB or 2GiB; default never")
	cmd.Flags().BoolVar(&f.Compress, "ledger-compress", false, "compress closed segments of the ledger")
}

// registerPlace registers the flag of commands that write a few entries and keep house for no one.
func (f *keepFlags) registerPlace(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.SecondPlace, "second-place", "", "a file that checkpoints are also kept in, or none; default CANDOR_SECOND_PLACE, else a file in the state folder")
}
