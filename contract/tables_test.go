package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/candor-mcp/candor/contract"
)

var update = flag.Bool("update", false, "write spec/phrases.json")

// TestWrittenTablesAreTheOnesInUse checks that spec/phrases.json, from which other implementations are made, equals the tables in
// use.
func TestWrittenTablesAreTheOnesInUse(t *testing.T) {
	const name = "../spec/phrases.json"
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(contract.Tables()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what is in use: go test ./contract -run WrittenTables -update", name)
	}
}
