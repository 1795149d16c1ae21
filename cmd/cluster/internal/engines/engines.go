// Package engines names the engines that candor-cluster has in addition to those of candor.
package engines

import (
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/pgstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Register adds the engines by URL scheme.
func Register(known fleet.Engines) {
	for _, scheme := range natsstore.Schemes {
		known[scheme] = natsstore.Engine{}
	}
	for _, scheme := range pgstore.Schemes {
		known[scheme] = pgstore.Engine{}
	}
}
