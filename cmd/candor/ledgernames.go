package main

import "github.com/candor-mcp/candor/ledger"

func formatNames() []string { return spelt(ledger.Formats()) }

func dimensionNames() []string { return spelt(ledger.Dimensions()) }
