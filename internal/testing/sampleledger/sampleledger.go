// Package sampleledger writes a small ledger for the examples of the ledger's packages.
package sampleledger

import (
	"context"
	"os"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// New returns the folder of a closed ledger with three failures, the receipt of the last one, and the public key.
func New() (dir string, last ledger.Receipt, key string) {
	dir, err := os.MkdirTemp("", "ledger")
	check(err)
	l, err := ledger.Open(dir, ledger.Options{})
	check(err)
	for _, code := range []candor.Code{candor.CodeTimeout, candor.CodeNotFound, candor.CodeTimeout} {
		last, err = l.Append(context.Background(), ledger.EntryOf(candor.New(code, "", candor.WithTool("fetch"))))
		check(err)
	}
	check(l.Close())
	keys, err := ledger.PublicKeys(dir)
	check(err)
	return dir, last, keys[0]
}

func check(err error) {
	if err != nil {
		panic(err) //nolint:forbidigo // an example has no other way to fail
	}
}
