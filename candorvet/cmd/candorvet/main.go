// Command candorvet runs the analyser with go vet -vettool or go tool. The command candor vet has the same rules and a more
// convenient output.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/candor-mcp/candor/candorvet"
)

func main() { multichecker.Main(candorvet.Analyzer) }
