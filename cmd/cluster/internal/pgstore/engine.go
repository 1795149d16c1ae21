// Package pgstore keeps the lines of a fleet in PostgreSQL.
package pgstore

import (
	"context"
	"errors"

	_ "github.com/jackc/pgx/v5/pgxpool" // the engine will use it

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Schemes are the URL schemes of the engine.
var Schemes = []string{"postgres", "postgresql"}

// Engine opens stores.
type Engine struct{}

// Open connects to the store.
func (Engine) Open(context.Context, fleet.Location, fleet.OpenOptions) (fleet.Store, error) {
	return nil, errors.New("not built yet")
}
