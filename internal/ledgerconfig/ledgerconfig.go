// Package ledgerconfig opens the ledger and the counters of a server or gateway. Flags, environment and defaults have
// the same meaning in all programs.
package ledgerconfig

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

const (
	// EnvLedger is the variable with the folder of the ledger, or [NoLedger].
	EnvLedger = "CANDOR_LEDGER"
	// NoLedger instead of a folder means no ledger. That is logged.
	NoLedger = "none"
)

// Folder returns the folder of the ledger, or [NoLedger]: named if it is not empty, else the value of [EnvLedger], else
// a folder in the user's state folder. The working directory is never used: a ledger there would not be found.
func Folder(named string, getenv func(string) string) (string, error) {
	for _, dir := range []string{named, getenv(EnvLedger)} {
		if dir != "" {
			return notStore(dir)
		}
	}
	return DefaultFolder(getenv)
}

// DefaultFolder returns the folder of the ledger if none is named: a folder in the user's state folder.
func DefaultFolder(getenv func(string) string) (string, error) {
	state, err := StateFolder(getenv)
	if err != nil {
		return "", fmt.Errorf("no folder for the ledger: %w (hint: set %s to a folder, or to %q)", err, EnvLedger, NoLedger)
	}
	return filepath.Join(state, "ledger"), nil
}

// notStore returns the folder that dir names, which may be written as file:DIR, or an error if dir is the URL of
// another store: only the servers of the candor command ship their ledger themselves.
func notStore(dir string) (string, error) {
	scheme, rest, _ := strings.Cut(dir, ":")
	switch scheme {
	case "file":
		if rest = strings.TrimPrefix(rest, "//"); rest != "" && !strings.Contains(rest, "?") {
			return rest, nil
		}
	case "nats", "tls", "postgres", "postgresql":
	default:
		return dir, nil
	}
	return "", fmt.Errorf("a %s: store cannot be used here (hint: set %s to a folder, and ship it with candor fleet ship DIR URL)", scheme, EnvLedger)
}

// StateFolder returns the path of Candor's folder in the user's state folder. It does not create it.
func StateFolder(getenv func(string) string) (string, error) {
	return stateFolder(runtime.GOOS, getenv)
}

// stateFolder returns the folder on a system: in $XDG_STATE_HOME if it is set, else where the system's programs keep their state.
func stateFolder(system string, getenv func(string) string) (string, error) {
	type place struct{ variable, below string }
	places := []place{{"XDG_STATE_HOME", ""}, {"HOME", ".local/state"}}
	switch system {
	case "darwin":
		places[1].below = "Library/Application Support"
	case "windows": // not AppData\Roaming: a ledger belongs to its machine, and may be large
		places = []place{{"XDG_STATE_HOME", ""}, {"LOCALAPPDATA", ""}, {"USERPROFILE", "AppData/Local"}}
	}
	var names []string
	for _, p := range places {
		if dir := getenv(p.variable); dir != "" {
			return filepath.Join(dir, filepath.FromSlash(p.below), "candor"), nil
		}
		names = append(names, p.variable)
	}
	return "", fmt.Errorf("none of %s is set", strings.Join(names, ", "))
}

// Ledger opens the ledger in dir, a result of [Folder]. For [NoLedger] it logs a warning and returns nil without an error.
func Ledger(dir string, o ledger.Options, log *slog.Logger) (*ledger.Ledger, error) {
	if dir == NoLedger {
		log.Warn("failures are not recorded: the server runs without a ledger")
		return nil, nil
	}
	for begun := time.Now(); ; {
		trail, err := ledger.Open(dir, o)
		switch {
		case err == nil:
			return trail, nil
		case candor.CodeOf(err) != candor.CodeLedgerLocked || time.Since(begun) > openTimeout:
			return nil, cannotOpen(dir, err)
		}
		log.Warn("waiting for other processes that open the ledger", slog.String("ledger", dir))
	}
}

// openTimeout bounds the wait for processes that open the same ledger. Each holds the lock of the folder only to begin its chain.
const openTimeout = 30 * time.Second

// cannotOpen returns the error with its cause, which the error of the ledger omits because it may be sent to a peer.
func cannotOpen(dir string, err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return fmt.Errorf("opening the ledger in %s: %w (hint: set %s to a folder that can be written, or to %q)", dir, err, EnvLedger, NoLedger)
}

// Meter returns a meter as configured by the environment, with the counts of earlier processes from the ledger in dir.
// It is nil if the environment does not ask for one.
func Meter(ctx context.Context, dir string, getenv func(string) string, log *slog.Logger) (*meter.Meter, error) {
	options, on, err := meter.FromEnv(getenv)
	if err != nil || !on {
		return nil, err
	}
	counts, err := meter.New(options)
	if err != nil {
		return nil, err
	}
	if dir != NoLedger {
		if err := restore(ctx, counts, dir); err != nil { // old counts are not worth a failed start
			log.Warn("counts of earlier processes could not be read", slog.String("ledger", dir), slog.Any("error", err))
		}
	}
	return counts, nil
}
