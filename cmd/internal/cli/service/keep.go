package service

import (
	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/plug"
)

// KeepFlags are the flags of every command that writes a ledger: where its checkpoints are kept as well, and what is kept of it.
type KeepFlags struct{ plug.Keep }

func (f *KeepFlags) Register(cmd *cobra.Command) {
	f.RegisterCheckpoints(cmd)
	cmd.Flags().Var((*term.AgeFlag)(&f.Age), "ledger-keep-age", "remove closed segments of the ledger that are older, such as 720h or 30d; default never")
	cmd.Flags().Var((*term.BytesFlag)(&f.Bytes), "ledger-keep-bytes", "remove the oldest closed segments while all take more, such as 500MB or 2GiB; default never")
	cmd.Flags().BoolVar(&f.Compress, "ledger-compress", false, "compress closed segments of the ledger")
}

// RegisterCheckpoints registers the flag of commands that write a few entries and keep house for no one.
func (f *KeepFlags) RegisterCheckpoints(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.SecondPlace, "second-place", "", "a file that checkpoints are also kept in, or none; default CANDOR_SECOND_PLACE, else a file in the state folder")
}
