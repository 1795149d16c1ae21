// Package engines registers the engines and formats that candor-cluster has in addition to those of candor.
package engines

import (
	"github.com/candor-mcp/candor/cmd/internal/cli/parquetfile"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/natsstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/pgstore"
)

// Register adds the engines by URL scheme and the formats of exports by name.
func Register(env *term.Env) {
	registerStores(env.Engines)
	env.Exporters[parquetfile.Format] = parquetfile.Write
}

func registerStores(known fleet.Engines) {
	for _, scheme := range natsstore.Schemes {
		known[scheme] = natsstore.Engine{}
	}
	for _, scheme := range pgstore.Schemes {
		known[scheme] = pgstore.Engine{}
	}
}
