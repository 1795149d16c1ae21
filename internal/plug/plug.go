// Package plug opens what Candor's servers and gateways have in common: the ledger in its folder, and the counters with their past.
// Both are chosen in the same way everywhere, so that whoever looks for a ledger knows where it is.
package plug

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/meter"
)

const (
	// EnvLedger names the ledger's folder, or [NoLedger].
	EnvLedger = "CANDOR_LEDGER"
	// NoLedger is the folder name that stands for no ledger. It is a choice, and it is logged.
	NoLedger = "none"
)

// Folder returns the ledger's folder, or [NoLedger]: the one that was named, else that of [EnvLedger], else the one in the user's
// state folder. It guesses none: a ledger in whatever folder a program was started in is one that nobody finds.
func Folder(named string, getenv func(string) string) (string, error) {
	for _, dir := range []string{named, getenv(EnvLedger)} {
		if dir != "" {
			return dir, nil
		}
	}
	state, err := StateFolder(getenv)
	if err != nil {
		return "", fmt.Errorf("there is no place for a ledger, because %w (hint: set %s to a folder, or to %q)", err, EnvLedger, NoLedger)
	}
	return filepath.Join(state, "ledger"), nil
}

// StateFolder returns Candor's folder in the state folder of the user. It makes nothing.
func StateFolder(getenv func(string) string) (string, error) {
	if state := getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, "candor"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "candor"), nil
	}
	return "", errors.New("neither XDG_STATE_HOME nor HOME is set")
}

// Ledger opens the ledger in a folder that [Folder] has returned; nil, and a line in the log, if none is wanted.
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
		case candor.CodeOf(err) != candor.CodeLedgerLocked || time.Since(begun) > startPatience:
			return nil, cannotOpen(dir, err)
		}
		log.Warn("other processes are opening the ledger; waiting for them", slog.String("ledger", dir))
	}
}

// startPatience bounds the wait for processes that open the same ledger. Each of them holds the folder for a moment to begin a chain of
// its own, and there may be many.
const startPatience = 30 * time.Second

// cannotOpen says to the operator what the ledger's own error, which may go to a peer, does not say.
func cannotOpen(dir string, err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return fmt.Errorf("the ledger in %s cannot be used: %w (hint: set %s to a folder that can be written, or to %q)", dir, err, EnvLedger, NoLedger)
}

// Meter makes a meter as the environment says, with the counts of earlier lives that the ledger in dir holds. It is nil if the
// environment asks for none.
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
		if err := restore(ctx, counts, dir); err != nil { // what happened before is no reason not to serve
			log.Warn("the counters of earlier lives could not be read", slog.String("ledger", dir), slog.Any("error", err))
		}
	}
	return counts, nil
}
