// Command candorvet runs the analyser on packages, such as ./..., alone or with go vet -vettool or go tool.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/candor-mcp/candor/vet"
)

func main() { multichecker.Main(vet.Analyzer) }
