// Package engines registers the engines and formats that candor-cluster has in addition to those of candor.
package engines

import (
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsshare"
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/parquetfile"
	"github.com/candor-mcp/candor/cmd/cluster/internal/pgstore"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// Register adds the engines by URL scheme, the formats of exports by name, and how gateways share failures.
func Register(env *term.Env) {
	registerStores(env.Engines)
	for _, scheme := range natsshare.Schemes {
		env.Sharing[scheme] = natsshare.Open
	}
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
