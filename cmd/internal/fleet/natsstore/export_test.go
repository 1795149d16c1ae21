package natsstore

import "github.com/candor-mcp/candor/cmd/internal/fleet"

// Import makes a store send its requests under the subjects of an account that imports the API of JetStream.
func Import(s fleet.Store) {
	s.(*store).imported.Store(true) //nolint:errcheck // a test with another store should panic
}
