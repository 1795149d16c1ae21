package decodecmd

import (
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/contract"
)

// The closed lists that flags and hints speak of.

func domainNames() []string {
	var names []string
	for _, d := range candor.Domains() {
		names = append(names, d.Name)
	}
	return names
}

func classNames() []string { return term.Strings(candor.Classes()) }

func verdictNames() []string { return term.Strings(contract.Verdicts()) }

func statusNames() []string {
	return []string{candor.StatusActive.String(), candor.StatusReserved.String(), candor.StatusDeprecated.String()}
}

// codeNames returns the spellings of every code that explain completes: its symbol alone, once for all domains that share it, and
// domain/SYMBOL.
func codeNames() []string {
	var symbols, full []string
	for c := range candor.Codes() {
		symbols = append(symbols, c.Symbol())
		full = append(full, c.String())
	}
	slices.Sort(symbols)
	return append(slices.Compact(symbols), full...)
}
