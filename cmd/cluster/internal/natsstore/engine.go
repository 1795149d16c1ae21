// Package natsstore keeps the lines of a fleet in NATS JetStream.
package natsstore

import (
	"context"
	"errors"

	_ "github.com/nats-io/nats-server/v2/server" // the engine will embed it
	_ "github.com/nats-io/nats.go/jetstream"     // and connect to it

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Schemes are the URL schemes of the engine.
var Schemes = []string{"nats", "tls", "nats-embedded"}

// Engine opens stores.
type Engine struct{}

// Open connects to the store.
func (Engine) Open(context.Context, fleet.Location, fleet.OpenOptions) (fleet.Store, error) {
	return nil, errors.New("not built yet")
}
