package ledger

import (
	"github.com/candor-mcp/candor/internal/storage"
)

// This file exports internals for the tests in package ledger_test.

// MinSegmentBytes is the smallest size of a segment.
const MinSegmentBytes = minSegmentBytes

// Helpers that both test packages use.
var (
	OpenTest  = openTest
	CloseTest = closeTest
	AppendN   = appendN
	ChainsOf  = chainsOf
	FileOf    = fileOf
	NewFaulty = newFaulty
)

// Set sets the hook that is called before each operation.
func (f *faulty) Set(hook func(act, name string) error) { f.set(hook) }

// WithStorage returns the options for a ledger on disk instead of in a folder, and with its witness copy in second,
// if that is not nil.
func (o Options) WithStorage(disk, second storage.Storage) Options {
	o.storage, o.witnessStorage = disk, second
	return o
}

// RunUpkeep starts a round of upkeep.
func (l *Ledger) RunUpkeep() { l.upkeep.ring() }

// SettleWithLimit sets the size at which the witness copy is rewritten to at most limit, and then does what the
// writer does when it is idle.
func (l *Ledger) SettleWithLimit(limit int64) {
	l.writer.turn <- struct{}{}
	defer l.writer.pass()
	if w := l.writer; w.witness.limit == 0 || w.witness.limit > limit {
		w.witness.limit = limit
	}
	l.writer.syncIdle()
}

// RewriteLimit returns the size at which the witness copy is rewritten; 0 means never.
func (l *Ledger) RewriteLimit() int64 { return l.writer.witness.limit }

// Receipt returns the receipt of the reservation.
func (f *Effect) Receipt() Receipt { return f.receipt }

// PublicKey returns the verifier line of the key that signs this ledger's checkpoints.
func (l *Ledger) PublicKey() string { return l.public }
