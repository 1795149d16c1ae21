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

// Environment variables that are read besides those of package meter.
const (
	EnvLedger      = plug.EnvLedger       // the ledger's directory, or "none"
	EnvWitnessCopy = plug.EnvWitnessCopy  // the witness copy of the ledger's checkpoints, or "none"
	EnvKeepAge     = plug.EnvKeepAge      // the age above which closed segments of the ledger are removed, such as "30d"
	EnvKeepBytes   = plug.EnvKeepBytes    // the size above which the oldest closed segments are removed, such as "2GiB"
	EnvCompress    = plug.EnvCompress     // "true" compresses closed segments
	EnvDialect     = "CANDOR_DIALECT"     // the name of a dialect
	EnvDebug       = "DEBUG_STACK"        // "true" shows stacks in the system-error dialect
	EnvVerbose     = "MCP_ERRORS_VERBOSE" // how many frames the rpc dialect shows
)

// NoLedger is the directory name that disables the ledger. Its use is logged.
const NoLedger = plug.NoLedger

// Config configures a server. The zero value follows the environment.
type Config struct {
	// Options are the options of the boundary. Fields that are set are kept; if the dialect, stack policy, ledger or meter is not
	// set, it is taken from the environment. Suspected is always enabled.
	Options boundary.Options
	// Ledger is the ledger's directory, or [NoLedger]. If it is empty, CANDOR_LEDGER is used, and if that is empty, the state
	// directory of the user.
	Ledger string
	// Getenv reads the environment; nil means [os.Getenv].
	Getenv func(string) string
}

// Parts holds the opened parts of a configuration. Close it when the server has ended.
type Parts struct {
	Options boundary.Options
	trail   *ledger.Ledger
	counts  *meter.Meter
}

// Open opens the ledger and the meter. The error for an invalid setting names the valid values.
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

// folder returns the ledger's directory, or [NoLedger].
func (c Config) folder() (string, error) {
	if c.Options.Ledger != nil {
		return NoLedger, nil // the caller provides the ledger
	}
	return plug.Folder(c.Ledger, c.Getenv)
}

func (p *Parts) openLedger(dir string, getenv func(string) string) error {
	if p.Options.Ledger != nil {
		return nil
	}
	options, err := plug.Keep{}.Options(dir, "", getenv, p.logger())
	if err != nil {
		return err
	}
	trail, err := plug.Ledger(dir, options, p.logger())
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

// openMeter creates a meter if the environment enables one and the caller has not set one.
func (p *Parts) openMeter(ctx context.Context, dir string, getenv func(string) string) error {
	if p.Options.Meter != nil {
		_, _, err := meter.FromEnv(getenv) // invalid settings are errors in any case
		return err
	}
	counts, err := plug.Meter(ctx, dir, getenv, p.logger())
	if err != nil || counts == nil {
		return err
	}
	p.counts, p.Options.Meter = counts, counts
	return nil
}

// Close writes the counters to the destinations set in the environment and closes the ledger.
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
