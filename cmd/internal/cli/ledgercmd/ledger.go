// Package ledgercmd has the commands below candor ledger.
package ledgercmd

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// ledgerCommand has the fields that the commands below `candor ledger` share.
type ledgerCommand struct {
	env         *term.Env
	dir         string
	verifyStore VerifyStore
}

// New returns the command candor ledger. verifyStore is what candor ledger verify calls for the URL of a store.
func New(env *term.Env, verifyStore VerifyStore) *cobra.Command {
	c := &ledgerCommand{env: env, verifyStore: verifyStore}
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Read, verify, prove and export the ledger of failures",
		Long: `Read, verify, prove and export the ledger: a durable, tamper-evident log in which every failure is recorded
before it is sent. The commands can be used while the ledger is written; only key rotate, repair, prune and
forget change anything. copy writes only to its destination.

The folder of the ledger is --ledger, else the environment variable CANDOR_LEDGER, else candor/ledger in the
user's state folder.`,
		Example: `  candor ledger verify
  candor ledger tail -f
  candor ledger show 6f1c9a
  candor ledger stats --by tool --since 24h`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&c.dir, "ledger", "", "folder of the ledger")
	cmd.AddCommand(newVerify(c), newTail(c), newShow(c), newStats(c), newExport(c), newCopy(c), newProve(c),
		newCheckProof(c), newKey(c), newRepair(c), newPrune(c), newForget(c))
	return cmd
}

// folder returns the folder of the ledger, which must exist.
func (c *ledgerCommand) folder(args []string) (string, error) {
	dir, err := c.named(args)
	if err != nil {
		return "", err
	}
	if fleet.IsLocation(dir) {
		return "", term.BadInput("candor fleet reads stores; for a folder leave the scheme out", "this command reads the ledger of one node, not a store")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		missing := c.missingFolder(dir)
		if c.dir == "" && len(args) == 0 && c.env.Getenv(plug.EnvLedger) == "" && missing.Hint == nameFolder {
			missing.Hint = "nothing was recorded yet: put candor wrap in front of a server (candor install does it), or " + nameFolder
		}
		return "", missing
	case err != nil:
		return "", term.BadInput("name a folder that can be read", "%s", err)
	case !info.IsDir():
		return "", term.BadInput("name the folder that contains the chains", "%s: not a folder", dir)
	}
	return dir, nil
}

// missingFolder returns the error for a folder that does not exist. Checkpoints elsewhere show that it existed.
func (c *ledgerCommand) missingFolder(dir string) *term.Error {
	for _, place := range plug.WitnessCopies(dir, c.env.Getenv) {
		if _, err := os.Stat(place); err == nil {
			return term.BadInput("restore the folder; if it was removed on purpose: candor ledger forget "+dir,
				"%s: the ledger was removed; %s still has its checkpoints", dir, place)
		}
	}
	return term.BadInput(nameFolder, "%s: no such ledger", dir)
}

const nameFolder = "name the folder of the ledger: --ledger DIR"

// named returns the path of the ledger's folder, from the argument, the flag, the environment or the default, or the URL of a store that
// the argument or the flag names. A URL in the environment names the folder that is shipped to it.
func (c *ledgerCommand) named(args []string) (string, error) {
	dir := c.dir
	if len(args) > 0 {
		if dir != "" && dir != args[0] {
			return "", term.BadInput("leave one of them out", "two folders given: %s and %s", dir, args[0])
		}
		dir = args[0]
	}
	if fleet.IsLocation(dir) {
		return dir, nil // only some commands read a store
	}
	folder, _, err := service.Locate(dir, c.env.Getenv)
	if err != nil {
		return "", term.BadInput(nameFolder, "%s", term.TrimHint(err))
	}
	return folder, nil
}

// verifyOptions returns options that compare the ledger with its default witness copy.
func (c *ledgerCommand) verifyOptions(dir string) ledgerverify.Options {
	return ledgerverify.Options{OwnWitnessCopies: plug.WitnessCopies(dir, c.env.Getenv)}
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
	chains, err := r.Chains()
	if err != nil {
		return nil, errors.Join(cannotRead(err), r.Close())
	}
	if keys, err := ledger.PublicKeys(dir); len(chains) == 0 && (err != nil || len(keys) == 0) {
		_ = r.Close() // it was only read
		return nil, term.BadInput("name the folder that contains the chains; a writer such as candor wrap creates it", "%s: %s", dir, ledgerverify.ErrNoLedger)
	}
	return r, nil
}

// OpenReader opens the ledger in the folder dir, in args[0] or the default one, for a command of another package.
func OpenReader(env *term.Env, dir string, args []string) (*ledger.Reader, error) {
	c := &ledgerCommand{env: env, dir: dir}
	return c.reader(args)
}

// Folder returns the folder args[0], or the default one, which must be a ledger, for a command without --ledger. usage is how the
// command is given a folder.
func Folder(env *term.Env, args []string, usage string) (string, error) {
	c := &ledgerCommand{env: env}
	r, err := c.reader(args)
	if e, ok := errors.AsType[*term.Error](err); ok {
		e.Hint = strings.ReplaceAll(e.Hint, "--ledger DIR", usage)
	}
	if err != nil {
		return "", err
	}
	_ = r.Close() // it was only read
	return c.named(args)
}

// readerSince opens the folder for reading and parses the value of --since.
func (c *ledgerCommand) readerSince(text string, args []string) (*ledger.Reader, time.Time, error) {
	since, err := c.since(text)
	if err != nil {
		return nil, time.Time{}, err
	}
	r, err := c.reader(args)
	return r, since, err
}

// cannotRead returns the error for a ledger that cannot be read at all.
func cannotRead(err error) *term.Error {
	return term.BadInput("check the name and the permissions of the folder", "%s", err)
}

// since returns the time that is a duration before now, or the zero time for "".
func (c *ledgerCommand) since(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	d, err := term.ParseAge(text)
	if err != nil {
		return time.Time{}, term.BadInput("a duration such as 15m, 24h or 7d", "--since %q: not a duration", text)
	}
	return c.env.Now().Add(-d), nil
}

func formatNames() []string { return append(term.Strings(ledgerexport.Formats()), formatParquet) }

func dimensionNames() []string { return term.Strings(ledgerexport.Dimensions()) }
