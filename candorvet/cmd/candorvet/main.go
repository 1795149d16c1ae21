// Command candorvet is the analyser alone, in the form that go vet -vettool and go tool start: candor vet is the same with better
// manners.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/candor-mcp/candor/candorvet"
)

func main() { multichecker.Main(candorvet.Analyzer) }
