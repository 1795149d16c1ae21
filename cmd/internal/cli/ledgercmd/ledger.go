// Package ledgercmd has candor ledger, candor fleet and the commands below them.
package ledgercmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/service"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// command has what the commands below candor ledger and candor fleet share.
type command struct {
	env  *term.Env
	cmd  *cobra.Command
	dir  *string // --ledger
	json bool
	yes  bool
}

// New returns the command candor ledger.
func New(env *term.Env) *cobra.Command {
	dir := ""
	c := command{env: env, dir: &dir}
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Read, verify, prove and export the ledger of failures",
		Long: `Read, verify, prove and export the ledger: a durable, tamper-evident log in which every failure is recorded
before it is sent. The commands can be used while the ledger is written; only key rotate and prune
change anything. copy writes only to its destination.

The folder of the ledger is --ledger, else the environment variable CANDOR_LEDGER, else candor/ledger in the
user's state folder. verify, tail, show, stats, export, copy and prune also take the URL of a fleet's store.`,
		Example: `  candor ledger verify
  candor ledger tail -f
  candor ledger show 6f1c9a
  candor ledger stats --by tool --since 24h`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "ledger", "", "folder of the ledger")
	cmd.AddCommand(newVerify(c), newTail(c), newShow(c), newStats(c), newExport(c), newCopy(c), newProve(c),
		newCheckProof(c), newKey(c), newPrune(c))
	return cmd
}

// registerJSON adds --json.
func (c *command) registerJSON(cmd *cobra.Command, usage string) {
	c.cmd = cmd
	cmd.Flags().BoolVar(&c.json, "json", false, usage)
}

const oneObject = "print one JSON object"

// registerYes adds the flags of a command that asks before it changes anything.
func (c *command) registerYes(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	c.registerJSON(cmd, oneObject+"; needs --yes to change anything")
}

// confirm reports whether the user agrees to a change.
func (c *command) confirm(question string) (bool, error) {
	return c.env.Confirm(c.cmd, c.yes, c.json, c.cmd.CommandPath()+" --yes", question)
}

// refuse returns an error if one of the flags is set, which this kind of ledger does not have.
func (c *command) refuse(reason string, flags ...string) error {
	for _, name := range flags {
		if c.cmd.Flags().Changed(name) {
			return term.BadInput("leave it out", "--%s: %s", name, reason)
		}
	}
	return nil
}

// say prints text for people, which --json replaces.
func (c *command) say(format string, args ...any) {
	if !c.json {
		fmt.Fprintf(c.env.Out, format, args...)
	}
}

// finish prints the result for --json, and returns the error to exit with.
func (c *command) finish(result any, ok bool) error {
	return term.WriteReport(c.env, c.json, result, ok, func() {})
}

// progress returns a function that shows how far the command is, in one line of the terminal, and one that removes the
// line. show is nil if the output is not for people.
func (c *command) progress() (show func(format string, args ...any), clear func()) {
	if !c.env.Terminal || c.json {
		return nil, func() {}
	}
	const every = 100 * time.Millisecond
	var shown time.Time
	show = func(format string, args ...any) {
		if now := time.Now(); now.Sub(shown) >= every {
			shown = now
			fmt.Fprintf(c.env.Err, "\r\x1b[K"+format, args...)
		}
	}
	return show, func() { fmt.Fprint(c.env.Err, "\r\x1b[K") }
}

// folder returns the folder of the ledger, which must exist.
func (c *command) folder(args []string) (string, error) {
	dir, err := c.named(args)
	if err != nil {
		return "", err
	}
	if fleet.IsLocation(dir) {
		return "", term.BadInput("run it on the node, or leave the scheme out for a folder", "this command reads the ledger of one node, not a store")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		missing := c.missingFolder(dir)
		if *c.dir == "" && len(args) == 0 && c.env.Getenv(ledgerconfig.EnvLedger) == "" && missing.Hint == nameFolder {
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
func (c *command) missingFolder(dir string) *term.Error {
	for _, place := range ledgerconfig.WitnessCopies(dir, c.env.Getenv) {
		if _, err := os.Stat(place); err == nil {
			return term.BadInput("restore the folder; if it was removed on purpose, move that file away",
				"%s: the ledger was removed; %s still has its checkpoints", dir, place)
		}
	}
	return term.BadInput(nameFolder, "%s: no such ledger", dir)
}

const nameFolder = "name the folder of the ledger: --ledger DIR"

// named returns the path of the ledger's folder, from the argument, the flag, the environment or the default, or the URL of a store that
// the argument or the flag names. A URL in the environment names the folder that is shipped to it.
func (c *command) named(args []string) (string, error) {
	dir := *c.dir
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

// reader opens the folder for reading.
func (c *command) reader(args []string) (*ledger.Reader, error) {
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
	c := &command{env: env, dir: &dir}
	return c.reader(args)
}

// Folder returns the folder args[0], or the default one, which must be a ledger, for a command without --ledger. usage is how the
// command is given a folder.
func Folder(env *term.Env, args []string, usage string) (string, error) {
	c := &command{env: env, dir: new(string)}
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

// cannotRead returns the error for a ledger that cannot be read at all.
func cannotRead(err error) *term.Error {
	return term.BadInput("check the name and the permissions of the folder", "%s", err)
}
