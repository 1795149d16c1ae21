package main

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/ledger"
)

// The closed lists that flags and hints speak of.

func domainNames() []string {
	var names []string
	for _, d := range candor.Domains() {
		names = append(names, d.Name)
	}
	return names
}

func classNames() []string { return spelt(candor.Classes()) }

func verdictNames() []string { return spelt(contract.Verdicts()) }

func formatNames() []string { return spelt(ledger.Formats()) }

func dimensionNames() []string { return spelt(ledger.Dimensions()) }

// spelt is a list of words of a type of their own as plain words.
func spelt[T ~string](list []T) []string {
	names := make([]string, 0, len(list))
	for _, word := range list {
		names = append(names, string(word))
	}
	return names
}

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

func contains(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
