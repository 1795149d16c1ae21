package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/plural"
)

// Ship starts to ship the ledger in dir to the store at a location. The result is nil if at is nil.
func Ship(ctx context.Context, env *term.Env, dir string, at *fleet.Location, log *slog.Logger) (*ship.Shipper, error) {
	if at == nil {
		return nil, nil //nolint:nilnil // it is not shipped
	}
	if _, ok := env.Engines[at.URL.Scheme]; !ok { // before anything is written: candor-cluster may do it
		return nil, &term.Error{
			Code: term.ExitUsage, Text: fmt.Sprintf("shipping the ledger to %s: %s", at, fleet.ErrNoEngine), Hint: "use candor-cluster, which has all engines", Cause: fleet.ErrNoEngine,
		}
	}
	var backlog int64
	if at.Backlog != "" {
		var err error
		if backlog, err = ledgerconfig.ParseBytes(at.Backlog); err != nil {
			return nil, term.BadInput("such as backlog=1GiB", "backlog=%s: %s", term.Printable(at.Backlog), err)
		}
	}
	s, err := ship.Start(ctx, ship.Config{
		Dir: dir, At: *at, Log: log, Backlog: backlog,
		Open: func(ctx context.Context) (fleet.Store, error) {
			return env.Engines.Open(ctx, *at, fleet.OpenOptions{Getenv: env.Getenv, Log: log})
		},
	})
	if err != nil {
		text, hint := term.SplitHint(err)
		return nil, term.BadInput(cmp.Or(hint, "check the URL after --ledger, the credentials and that the store is running"), "%s", text)
	}
	return s, nil
}

// EndShipping ships what is left, for a few seconds, and returns a sentence about the entries that still wait, or "". A nil shipper has
// none.
func EndShipping(s *ship.Shipper, dir string) (left string, err error) {
	if s == nil {
		return "", nil
	}
	waiting, err := s.Close(context.Background())
	if waiting == 0 {
		return "", err
	}
	return fmt.Sprintf("%s of the ledger in %s wait for the store; the next server on this folder ships them, or candor fleet ship", plural.Count(waiting, "entry", "entries"), dir), err
}

// Locate returns the folder of the ledger that --ledger, else the environment names, and the store that it is shipped to, or nil.
func Locate(named string, getenv func(string) string) (dir string, at *fleet.Location, err error) {
	return ship.Locate(cmp.Or(named, getenv(ledgerconfig.EnvLedger)), func() (string, error) { return ledgerconfig.DefaultFolder(getenv) })
}

// BadLedger returns the error for a --ledger that is neither a folder nor the URL of a store.
func BadLedger(err error) *term.Error {
	text, hint := term.SplitHint(err)
	return term.BadInput(cmp.Or(hint, "name a folder or the URL of a store with --ledger, or --ledger none"), "--ledger: %s", text)
}
