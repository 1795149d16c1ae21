package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

func ExampleDir() {
	dir, _, _ := sample()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder

	report, err := verify.Dir(context.Background(), dir, verify.Options{})
	fmt.Println(report.OK, len(report.Chains), report.OwnKeys, err)
	// Output: true 1 true <nil>
}

// An entry is changed on the disk. The report names it.
func ExampleDir_damage() {
	dir, last, key := sample()
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

// sample returns the folder of a closed ledger with three failures, the receipt of the last one, and the public key.
func sample() (dir string, last ledger.Receipt, key string) {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		panic(err)
	}
	for _, code := range []candor.Code{candor.CodeTimeout, candor.CodeNotFound, candor.CodeTimeout} {
		if last, err = l.Append(context.Background(), ledger.EntryOf(candor.ToolFailure(code, "fetch", ""))); err != nil {
			panic(err)
		}
	}
	key = l.PublicKey()
	if err := l.Close(); err != nil {
		panic(err)
	}
	return dir, last, key
}
