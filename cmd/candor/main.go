// Command candor reads, explains and translates the failures of MCP servers, and can run between servers and their clients to make
// failures readable. The commands are in cmd/internal/cli.
package main

import (
	"os"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

//go:generate go run . man --format markdown --dir ../../docs/cli

func main() {
	os.Exit(cli.Run(term.ProcessEnv(), os.Args[1:]))
}
