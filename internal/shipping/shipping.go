// Package shipping connects a ledger to a program that copies its entries to a store.
package shipping

import (
	"context"
)

// Hooks are called by a ledger that is copied to a store while it is written. The zero value does nothing.
type Hooks struct {
	// OnDurable is called with the last durable entry of the chain that is being written, each time it changes, and with
	// the number of bytes that were written since the last call. It must return at once: no entry is written meanwhile.
	OnDurable func(chain string, seq uint64, written int64)
	// Admit is called before entries are written, other than those of the ledger itself. If it returns an error they
	// are refused. It must return at once.
	Admit func() error
	// Confirm is called with each entry that was appended, before Append and Reserve return. If it returns an error, they
	// return AUDIT_LOG_FAILED although the entry is recorded.
	Confirm func(ctx context.Context, chain string, seq uint64) error
}
