package proof_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/candor-mcp/candor/internal/testing/sampleledger"
	"github.com/candor-mcp/candor/ledger/proof"
)

func Example() {
	dir, last, key := sampleledger.New()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder

	// The owner of the ledger makes the proof and sends it as JSON.
	made, err := proof.Make(context.Background(), dir, last)
	if err != nil {
		fmt.Println(err)
		return
	}
	sent, err := json.Marshal(made)
	if err != nil {
		fmt.Println(err)
		return
	}

	// The recipient needs only the proof and the public key.
	received, err := proof.Parse(sent)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := proof.Check(received, key)
	fmt.Println(result.Record.Seq, result.Record.Code, err)
	// Output: 4 TIMEOUT <nil>
}

// The entry of a proof is changed. Check returns an error.
func ExampleCheck() {
	dir, last, key := sampleledger.New()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	p, err := proof.Make(context.Background(), dir, last)
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Entry = strings.Replace(p.Entry, "TIMEOUT", "SUCCESS", 1)
	_, err = proof.Check(p, key)
	fmt.Println(err)
	// Output: the entry has a hash that does not match its bytes
}
