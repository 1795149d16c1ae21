// Package spec embeds the tables of the written contract.
package spec

import "embed"

//go:embed phrases.json contradictions.json clients.json
var tables embed.FS

// Table returns a table: "phrases" has the words and phrases of contract.md 7 and 8, "contradictions" the phrases that contradict retry
// advice, and "clients" what client programs show their models. The result is nil for any other name.
func Table(name string) []byte {
	table, _ := tables.ReadFile(name + ".json") // nil on an error
	return table
}
