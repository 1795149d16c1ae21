package term

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// OpenStore opens the store of a fleet at a URL.
func (env *Env) OpenStore(ctx context.Context, text string) (fleet.Store, fleet.Location, error) {
	at, err := fleet.ParseLocation(text)
	if err != nil {
		reason, hint := SplitHint(err)
		if hint == "" {
			hint = "a URL such as file:/srv/fleet, nats://HOST:4222 or postgres://USER@HOST/DATABASE"
		}
		return nil, at, BadInput(hint, "%s", reason)
	}
	store, err := env.Engines.Open(ctx, at, fleet.OpenOptions{Getenv: env.Getenv, Log: slog.New(slog.NewTextHandler(env.Err, nil))})
	if errors.Is(err, fleet.ErrNoEngine) {
		return nil, at, NeedsCluster("a store of the kind " + at.URL.Scheme + ":")
	}
	if err != nil {
		return nil, at, StoreError(err)
	}
	return store, at, nil
}

// StoreError returns the error for a store that cannot be used.
func StoreError(err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	text, hint := SplitHint(errors.New(fleet.Reason(err)))
	if hint == "" {
		hint = "check the URL, the credentials and that the store is running"
	}
	return BadInput(hint, "%s", strings.TrimSpace(text))
}
