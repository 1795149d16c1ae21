package consolecmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/copier"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
)

// storeURL returns the URL of the store of many nodes that the arguments or the environment name, or "".
func (c *consoleCommand) storeURL(args []string) string {
	named := c.env.Getenv(ledgerconfig.EnvLedger)
	if len(args) > 0 {
		named = args[0]
	}
	if !fleet.IsLocation(named) {
		return ""
	}
	return named
}

// runFleet serves the failures of all nodes.
func (c *consoleCommand) runFleet(ctx context.Context, url string, o Options) error {
	if o.Profiles != nil {
		return term.BadInput("leave out --profiles, or name the folder of one ledger", "--profiles: rules are made from the ledger of one machine")
	}
	store, at, err := c.env.OpenStore(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // it was only read
	if _, err := store.Chains(ctx); err != nil {
		return term.StoreError(err)
	}
	o.Nodes = true
	if at.URL.Scheme != filestore.Scheme {
		return c.runMirror(ctx, store, at, o)
	}
	if o.Dir, err = filestore.Folder(at.URL); err != nil {
		return term.StoreError(err)
	}
	o.Verify = !c.noVerify
	return c.serve(ctx, o, func(*Running) error {
		<-ctx.Done()
		return nil
	})
}

// runMirror serves a copy of the store, which it keeps current.
func (c *consoleCommand) runMirror(ctx context.Context, store fleet.Store, at fleet.Location, o Options) error {
	dir, err := c.mirrorFolder(at)
	if err != nil {
		return term.BadInput("set HOME or XDG_STATE_HOME", "no folder for the copy of the store: %s", err)
	}
	mirror := filestore.Open(dir)
	defer mirror.Close() //nolint:errcheck // Append has made everything durable
	if err := mirror.Setup(ctx, fleet.SetupOptions{}); err != nil {
		return term.StoreError(err)
	}
	o.Dir = dir
	return c.serve(ctx, o, func(running *Running) error { return c.mirror(ctx, store, mirror, running) })
}

// serve starts the pages and ends them when do returns.
func (c *consoleCommand) serve(ctx context.Context, o Options, do func(*Running) error) error {
	running, err := Start(ctx, c.env, o)
	if err != nil {
		return err
	}
	c.env.Notify(c.cmd, "console on "+running.Link(), "")
	return errors.Join(do(running), running.Close(context.Background()))
}

// mirrorFolder returns the folder of the copy of a store. Its name is a digest of the address, without credentials.
func (c *consoleCommand) mirrorFolder(at fleet.Location) (string, error) {
	state, err := ledgerconfig.StateFolder(c.env.Getenv)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(at.String()))
	return filepath.Join(state, "fleet", hex.EncodeToString(sum[:12])), nil
}

// mirror keeps the copy current until the context ends, and verifies it when it is complete.
func (c *consoleCommand) mirror(ctx context.Context, from fleet.Store, to *filestore.Store, running *Running) error {
	problem := func(err error) { c.env.Notify(c.cmd, term.Printable(err.Error()), "") }
	err := copier.Mirror(ctx, from, to, copier.Options{Problem: problem}, func(result copier.Result) {
		for _, found := range result.Problems {
			problem(found)
		}
		running.store.Wake()
		if !c.noVerify {
			running.Verify()
		}
	})
	if err != nil {
		return term.StoreError(err)
	}
	return nil
}
