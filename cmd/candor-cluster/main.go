// Command candor-cluster is candor with engines for a record that many machines share: NATS JetStream and PostgreSQL. All commands are those
// of candor; see docs/fleet.md.
package main

import (
	"os"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/engines"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

func main() {
	env := term.ProcessEnv()
	engines.Register(env)
	os.Exit(cli.Run(env, os.Args[1:]))
}
