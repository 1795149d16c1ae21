package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/plug"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// The settings that are read besides those of package meter.
const (
	EnvLedger      = plug.EnvLedger       // the ledger's folder, or "none"
	EnvSecondPlace = plug.EnvSecondPlace  // a file that the ledger's checkpoints are also kept in, or "none"
	EnvDialect     = "CANDOR_DIALECT"     // the name of a dialect
	EnvDebug       = "DEBUG_STACK"        // "true" shows stacks in the system-error dialect
	EnvVerbose     = "MCP_ERRORS_VERBOSE" // how many frames the rpc dialect shows
)

// NoLedger is the folder name that stands for no ledger. It is a choice, and it is logged.
const NoLedger = plug.NoLedger

// Config says what a server is served with. The zero value follows the environment.
type Config struct {
	// Options are those of the boundary. What is set here is left as it is; dialect, stack policy, ledger and meter are
	// filled in where they are not. Suspected failures are always recorded.
	Options boundary.Options
	// Ledger is the ledger's folder, or [NoLedger]. Empty stands for CANDOR_LEDGER, and if that is empty for the state folder of the user.
	Ledger string
	// Getenv reads the environment; nil is [os.Getenv].
	Getenv func(string) string
}

// Parts are what a configuration stands for. Close them when the server has ended.
type Parts struct {
	Options boundary.Options
	trail   *ledger.Ledger
	counts  *meter.Meter
}

// Open opens the ledger and the meter. A bad setting is refused with a sentence that says what would do.
func Open(ctx context.Context, c Config) (*Parts, error) {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	p := &Parts{Options: c.Options}
	p.Options.Suspected = true
	if err := p.readSettings(c.Getenv); err != nil {
		return nil, err
	}
	dir, err := c.folder()
	if err != nil {
		return nil, err
	}
	if err := p.openMeter(ctx, dir, c.Getenv); err != nil {
		return nil, err
	}
	if err := p.openLedger(dir, c.Getenv); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Parts) readSettings(getenv func(string) string) error {
	if name := getenv(EnvDialect); name != "" && p.Options.Dialect == nil {
		d, err := dialect.Lookup(name)
		if err != nil {
			return fmt.Errorf("%s: %w", EnvDialect, err)
		}
		p.Options.Dialect = d
	}
	if !p.Options.Stack.Wanted() {
		policy, err := candor.ParseStackPolicy(getenv(EnvDebug), getenv(EnvVerbose))
		if err != nil {
			return err
		}
		p.Options.Stack = policy
	}
	return nil
}

// folder returns the ledger's folder, or [NoLedger].
func (c Config) folder() (string, error) {
	if c.Options.Ledger != nil {
		return NoLedger, nil // it is open already
	}
	return plug.Folder(c.Ledger, c.Getenv)
}

func (p *Parts) openLedger(dir string, getenv func(string) string) error {
	if p.Options.Ledger != nil {
		return nil
	}
	trail, err := plug.Ledger(dir, plug.Keep{}.Options(dir, "", getenv, p.logger()), p.logger())
	if err != nil || trail == nil {
		return err
	}
	p.trail, p.Options.Ledger = trail, trail
	return nil
}

func (p *Parts) logger() *slog.Logger {
	if p.Options.Logger != nil {
		return p.Options.Logger
	}
	return slog.Default()
}

// openMeter makes a meter if the environment asks for one and the caller has brought none.
func (p *Parts) openMeter(ctx context.Context, dir string, getenv func(string) string) error {
	if p.Options.Meter != nil {
		_, _, err := meter.FromEnv(getenv) // a mistyped setting is refused all the same
		return err
	}
	counts, err := plug.Meter(ctx, dir, getenv, p.logger())
	if err != nil || counts == nil {
		return err
	}
	p.counts, p.Options.Meter = counts, counts
	return nil
}

// Close writes the counters where the environment wants them and closes the ledger.
func (p *Parts) Close() error {
	var errs []error
	if p.counts != nil {
		errs = append(errs, p.counts.Close())
	}
	if p.trail != nil {
		errs = append(errs, p.trail.Close())
	}
	return errors.Join(errs...)
}
