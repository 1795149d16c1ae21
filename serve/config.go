package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

// Environment variables that are read besides those of the ledger and of package meter.
const (
	envDialect = "CANDOR_DIALECT"     // the name of a dialect
	envDebug   = "DEBUG_STACK"        // "true" shows stacks in the system-error dialect
	envVerbose = "MCP_ERRORS_VERBOSE" // how many frames the rpc dialect shows
)

// noLedger is the directory name that disables the ledger. Its use is logged.
const noLedger = ledgerconfig.NoLedger

// Config configures a server. The zero value follows the environment.
type Config struct {
	// Options are the options of the boundary. Fields that are set are kept; if the dialect, stack policy, ledger or meter is not
	// set, it is taken from the environment. Suspected is always enabled.
	Options boundary.Options
	// Ledger is the ledger's directory, or "none". If it is empty, CANDOR_LEDGER is used, and if that is empty, the state
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
	if name := getenv(envDialect); name != "" && p.Options.Dialect == nil {
		d, err := dialect.Lookup(name)
		if err != nil {
			return fmt.Errorf("%s: %w", envDialect, err)
		}
		p.Options.Dialect = d
	}
	if !p.Options.Stack.Wanted() {
		policy, err := candor.ParseStackPolicy(getenv(envDebug), getenv(envVerbose))
		if err != nil {
			return err
		}
		p.Options.Stack = policy
	}
	return nil
}

// folder returns the ledger's directory, or noLedger.
func (c Config) folder() (string, error) {
	if c.Options.Ledger != nil {
		return noLedger, nil // the caller provides the ledger
	}
	return ledgerconfig.Folder(c.Ledger, c.Getenv)
}

func (p *Parts) openLedger(dir string, getenv func(string) string) error {
	if p.Options.Ledger != nil {
		return nil
	}
	options, err := ledgerconfig.Keep{}.Options(dir, instanceOf(p.Options.Name), getenv, p.logger())
	if err != nil {
		return err
	}
	trail, err := ledgerconfig.Ledger(dir, options, p.logger())
	if err != nil || trail == nil {
		return err
	}
	p.trail, p.Options.Ledger = trail, trail
	return nil
}

// instanceOf returns the name of a server as the name of a ledger's instance: letters, digits and hyphens. It is "" for an empty name.
func instanceOf(name string) string {
	const most = 64
	name = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, name)
	return strings.Trim(name[:min(len(name), most)], "-")
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
	counts, err := ledgerconfig.Meter(ctx, dir, getenv, p.logger())
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
