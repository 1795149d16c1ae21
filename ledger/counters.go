package ledger

import "sync/atomic"

// Counts is what a ledger has done since it was opened. Its own entries count as appended too.
type Counts struct {
	Appended    uint64 // entries that are durable
	Failed      uint64 // entries that were refused
	Unrecorded  uint64 // entries that were let go under [PolicyOpen]
	Cancelled   uint64 // entries whose caller gave up before they were written
	Batches     uint64 // writes that were synced; Appended divided by it is how many share a sync
	Bytes       uint64 // written to segments
	Checkpoints uint64
	Segments    uint64 // that were begun
	Chains      uint64 // that were begun; above 1 the disk has failed
	Warnings    uint64 // that OnWarning missed because it was busy
}

// counters are Counts while they grow.
type counters struct {
	appended, failed, unrecorded, cancelled, batches, bytes, checkpoints, segments, chains atomic.Uint64
}

// Stats returns the counts as they are now. It is cheap and may be called at any time.
func (l *Ledger) Stats() Counts {
	c := &l.counters
	return Counts{
		Appended: c.appended.Load(), Failed: c.failed.Load(), Unrecorded: c.unrecorded.Load(), Cancelled: c.cancelled.Load(),
		Batches: c.batches.Load(), Bytes: c.bytes.Load(), Checkpoints: c.checkpoints.Load(), Segments: c.segments.Load(),
		Chains: c.chains.Load(), Warnings: l.warner.dropped.Load(),
	}
}
