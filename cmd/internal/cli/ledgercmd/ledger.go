// Package ledgercmd has the commands below candor ledger.
package ledgercmd

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
)

// ledgerCommand holds what the commands below `candor ledger` share.
type ledgerCommand struct {
	env *term.Env
	dir string
}

func New(env *term.Env) *cobra.Command {
	c := &ledgerCommand{env: env}
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Read, verify, prove and export the trail of failures",
		Long: `Read, verify, prove and export the ledger: the durable, tamper-evident trail in which every failure is
recorded before it is sent. None of these commands holds up a writer; all but key rotate, repair and
forget only read.

The folder is the one that --ledger names, else that of the environment variable CANDOR_LEDGER, else
candor/ledger in the state folder of the user.`,
		Example: `  candor ledger verify
  candor ledger tail -f
  candor ledger show 6f1c9a
  candor ledger stats --by tool --since 24h`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&c.dir, "ledger", "", "the ledger's folder")
	cmd.AddCommand(newLedgerVerify(c), newLedgerTail(c), newLedgerShow(c), newLedgerStats(c), newLedgerExport(c), newLedgerProve(c),
		newLedgerCheckProof(c), newLedgerKey(c), newLedgerRepair(c), newLedgerForget(c))
	return cmd
}

// folder returns the ledger's folder, which must be there.
func (c *ledgerCommand) folder(args []string) (string, error) {
	dir, err := c.named(args)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", c.gone(dir)
	case err != nil:
		return "", term.BadInput("name a folder that can be read", "%s", err)
	case !info.IsDir():
		return "", term.BadInput("a ledger is a folder; name the one that holds the chains", "%s is not a folder", dir)
	}
	return dir, nil
}

// gone is the fault of a folder that is not there. A second place shows that it once was.
func (c *ledgerCommand) gone(dir string) *term.Error {
	for _, place := range plug.SecondPlaces(dir, c.env.Getenv) {
		if _, err := os.Stat(place); err == nil {
			return term.BadInput("restore the folder; if it was removed on purpose: candor ledger forget "+dir,
				"there is no ledger in %s any more, but %s holds checkpoints of one", dir, place)
		}
	}
	return term.BadInput("name the ledger's folder: --ledger DIR", "there is no ledger in %s", dir)
}

// named returns the path of the ledger's folder: an argument, the flag, the environment, the state folder.
func (c *ledgerCommand) named(args []string) (string, error) {
	dir := c.dir
	if len(args) > 0 {
		if dir != "" && dir != args[0] {
			return "", term.BadInput("leave one of them out", "the folder is named twice: %s and %s", dir, args[0])
		}
		dir = args[0]
	}
	dir, err := plug.Folder(dir, c.env.Getenv)
	if err != nil {
		return "", term.BadInput("name the ledger's folder: --ledger DIR", "%s", err)
	}
	return dir, nil
}

// verifyOptions compares the ledger with the second place that its path stands for.
func (c *ledgerCommand) verifyOptions(dir string) ledger.VerifyOptions {
	return ledger.VerifyOptions{SecondPlaces: plug.SecondPlaces(dir, c.env.Getenv)}
}

// reader opens the folder for reading.
func (c *ledgerCommand) reader(args []string) (*ledger.Reader, error) {
	dir, err := c.folder(args)
	if err != nil {
		return nil, err
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		return nil, cannotRead(err)
	}
	return r, nil
}

// readerSince opens the folder for reading, and returns from when on; see since.
func (c *ledgerCommand) readerSince(text string, args []string) (*ledger.Reader, time.Time, error) {
	since, err := c.since(text)
	if err != nil {
		return nil, time.Time{}, err
	}
	r, err := c.reader(args)
	return r, since, err
}

// cannotRead is the fault of a ledger that cannot be read at all; one that is harmed is a finding.
func cannotRead(err error) *term.Error {
	return term.BadInput("check the folder's name and who may read it", "%s", err)
}

// since turns a duration into a time. Days may be said as well: 7d.
func (c *ledgerCommand) since(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	d, err := term.ParseAge(text)
	if err != nil {
		return time.Time{}, term.BadInput("a duration such as 15m, 24h or 7d", "--since %q is not a duration", text)
	}
	return c.env.Now().Add(-d), nil
}
