package main

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
)

// The closed lists that flags and hints speak of.

func domainNames() []string {
	var names []string
	for _, d := range candor.Domains() {
		names = append(names, d.Name)
	}
	return names
}

func classNames() []string {
	var names []string
	for _, c := range candor.Classes() {
		names = append(names, string(c))
	}
	return names
}

func statusNames() []string {
	return []string{candor.StatusActive.String(), candor.StatusReserved.String(), candor.StatusDeprecated.String()}
}

// codeNames returns every spelling of a code that explain takes: domain/SYMBOL, and aliases.
func codeNames() []string {
	var names []string
	for c := range candor.Codes() {
		names = append(names, c.String())
	}
	return names
}

func contains(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
