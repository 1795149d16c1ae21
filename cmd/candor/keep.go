package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// ageFlag is a duration that may be given in days.
type ageFlag time.Duration

var _ pflag.Value = (*ageFlag)(nil)

func (a *ageFlag) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *ageFlag) Set(text string) error {
	d, err := parseAge(text)
	if err == nil {
		*a = ageFlag(d)
	}
	return err
}

func (a *ageFlag) Type() string { return "duration" }

// bytesFlag is a size in bytes.
type bytesFlag int64

var _ pflag.Value = (*bytesFlag)(nil)

func (b *bytesFlag) String() string { return "" }

func (b *bytesFlag) Set(text string) error {
	n, err := plug.ParseBytes(text)
	if err == nil {
		*b = bytesFlag(n)
	}
	return err
}

func (b *bytesFlag) Type() string { return "size" }
