package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor/internal/testing/sampleledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

func ExampleDir() {
	dir, _, _ := sampleledger.New()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder

	report, err := verify.Dir(context.Background(), dir, verify.Options{})
	fmt.Println(report.OK, len(report.Chains), report.OwnKeys, err)
	// Output: true 1 true <nil>
}

// An entry is changed on the disk. The report names it.
func ExampleDir_damage() {
	dir, last, key := sampleledger.New()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	file := filepath.Join(dir, last.Chain, "audit-log.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	data = bytes.Replace(data, []byte("NOT_FOUND"), []byte("NOT_FOUNT"), 1)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		fmt.Println(err)
		return
	}

	report, err := verify.Dir(context.Background(), dir, verify.Options{Keys: []string{key}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range report.Damage {
		fmt.Println(report.OK, d.Kind, d.Seq)
	}
	// Output: false bad-hash 3
}
