package ledgercmd

import (
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

func formatNames() []string { return term.Strings(ledger.Formats()) }

func dimensionNames() []string { return term.Strings(ledger.Dimensions()) }
