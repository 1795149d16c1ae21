package ledger

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/keys"
)

// Limits on batches and checkpoints.
const (
	checkpointAfter = 900 * time.Millisecond // time remains to write it within checkpointWithin
	maxOwnEntries   = 3                      // entries that the ledger adds to one batch: a checkpoint, the state of the disk
	maxBatch        = maxUncovered - maxOwnEntries - 1
)

// writer writes the chain. Only the holder of its lock writes, see serve.go. The lock guards all fields; until [Open]
// returns they belong to Open.
type writer struct {
	turn chan struct{} // the lock: full while it is held

	ledger  *Ledger
	storage storage.Storage
	keys    keys.Keys
	witness *witnessCopy

	chain     *chain       // nil after it was given up, until the next one is begun
	poisoned  []*chain     // given up, still locked, not yet named by another chain
	taken     error        // files of the chain were removed or changed, and no caller has received that error yet
	beginning bool         // the chain's first entries are not durable yet
	pending   *pendingNote // signed, and not yet recorded as an entry
	dirty     bool         // an entry other than a checkpoint follows the last checkpoint
	due       bool         // checkpointAfter has passed since the oldest such entry
	oldest    int64        // time of the oldest such entry, in microseconds
	stamp     time.Time    // time of the batch being written
	timer     *time.Timer
	synced    time.Time // when the checkpoints were last synced

	space space

	batch   []*request // reused for each batch
	bodies  [][]byte
	results []result
}

// pendingNote is a checkpoint that was written to its files but not yet recorded as an entry.
type pendingNote struct {
	Note      string        `json:"note"`
	Witnessed *bool         `json:"second,omitempty"` // false if writing to the witness copy failed
	Closed    bool          `json:"closed,omitempty"`
	Segment   int           `json:"segment,omitempty"`
	Within    int64         `json:"checkpoint_ms,omitempty"` // in the first entry of a segment, as in the first entry of a chain
	Tree      []tlog.Hash   `json:"tree,omitempty"`
	Open      []reservation `json:"open,omitempty"`
}

// handle makes a batch durable and answers its callers, or refuses it. If the batch is empty it writes only the
// ledger's own entries.
func (w *writer) handle(batch []*request) {
	var err error
	if len(batch) > 0 {
		err = w.taken // a checkpoint found the change before a call did, and the next caller must receive the error
		if admit := w.ledger.options.Shipping.Admit; err == nil && admit != nil {
			err = admit()
		}
	}
	if err == nil {
		err = w.prepare(len(batch))
	}
	if err == nil {
		err = w.commit(batch)
	}
	if err != nil {
		w.refuse(batch, err)
	}
}

// prepare makes the chain ready for n more entries.
func (w *writer) prepare(n int) error {
	w.stamp = w.now()
	if w.chain == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.regainSpace(); err != nil {
		return err
	}
	if w.rotationDue() {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	if w.chain.segment == nil {
		if err := w.chain.beginSegment(); err != nil {
			return w.judge(err)
		}
		w.ledger.counters.segments.Add(1)
	}
	must := w.mustSign(n)
	if !must && !(w.due && w.dirty) {
		return nil
	}
	err := w.sign()
	if err != nil && !must && w.chain != nil { // a late checkpoint is better than refusing the entries
		w.timer.Reset(checkpointAfter)
		return nil
	}
	return err
}

// mustSign reports whether a checkpoint must be signed before n more entries are written. Package verify relies on
// it: an entry that was written more than checkpointWithin after an uncovered one shows that a checkpoint was
// removed. The decision and the entries therefore use the same time, w.stamp, so that neither a suspended machine nor
// a changed clock makes a difference.
func (w *writer) mustSign(n int) bool {
	late := w.dirty && w.stamp.UnixMicro()-w.oldest > checkpointWithin.Microseconds()
	return late || w.chain.uncovered()+n+maxOwnEntries > maxUncovered
}

// commit writes the ledger's own entries and then the batch.
func (w *writer) commit(batch []*request) error {
	w.bodies = w.ownBodies(w.bodies[:0])
	own := len(w.bodies)
	for _, r := range batch {
		w.bodies = append(w.bodies, r.body)
	}
	if len(w.bodies) == 0 {
		return nil
	}
	if err := w.write(w.bodies); err != nil {
		return err
	}
	w.recorded(own, len(batch))
	for i, r := range batch {
		w.track(r, w.results[own+i].seq)
		r.answer(w.results[own+i])
	}
	clear(w.bodies)
	return nil
}

// write makes bodies durable in the chain. On an error it decides whether the chain can still be used.
func (w *writer) write(bodies [][]byte) error {
	for len(w.results) < len(bodies) {
		w.results = append(w.results, result{})
	}
	before := w.chain.segment.size
	sound, err := w.chain.commit(bodies, w.results, w.stamp)
	if err == nil {
		c := &w.ledger.counters
		c.appended.Add(uint64(len(bodies)))
		c.batches.Add(1)
		c.bytes.Add(uint64(len(w.chain.lines)))
		if !w.beginning { // a chain whose creation fails is removed
			w.announce(w.chain.segment.size - before)
		}
		return nil
	}
	if !sound {
		w.poison(err)
	}
	return logFailed(err)
}

// announce reports the last durable entry and the bytes written to [shipping.Hooks].
func (w *writer) announce(written int64) {
	if report := w.ledger.options.Shipping.OnDurable; report != nil {
		report(w.chain.name, w.chain.at.seq(), written)
	}
}

// ownBodies adds the ledger's own entries. A checkpoint is the first of them: readers start at the checkpoint in the
// first line of a segment.
func (w *writer) ownBodies(bodies [][]byte) [][]byte {
	if w.pending != nil {
		bodies = append(bodies, ownBody(KindCheckpoint, w.pending))
	}
	if w.space.back {
		bodies = append(bodies, w.space.body("space"))
	}
	return bodies
}

// recorded updates the state after own entries and a batch of n became durable.
func (w *writer) recorded(own, n int) {
	if w.pending != nil {
		w.pending = nil
		own--
	}
	if w.space.back {
		w.space.back, w.space.refused = false, 0
	}
	if own+n > 0 && !w.dirty {
		w.dirty, w.oldest = true, w.chain.at.micros()
		w.timer.Reset(checkpointAfter)
	}
}

// track updates the open reservations.
func (w *writer) track(r *request, seq uint64) {
	if r.reserve != nil {
		opened := *r.reserve
		opened.Seq = seq
		w.chain.open[seq] = opened
	}
	if r.completes != nil && r.completes.Chain == w.chain.name {
		delete(w.chain.open, r.completes.Seq)
	}
}

// refuse answers a batch that could not be recorded.
func (w *writer) refuse(batch []*request, err error) {
	if storage.IsFull(err) {
		w.fill(len(batch))
	}
	if len(batch) > 0 {
		w.taken = nil
	}
	w.ledger.counters.failed.Add(uint64(len(batch)))
	for _, r := range batch {
		r.answer(result{err: logFailed(err)})
	}
}

// sign writes a checkpoint over all acknowledged entries to its files. Its entry is written with the next batch.
func (w *writer) sign() error {
	c := w.chain
	if w.pending != nil {
		return nil // it covers the same entries; only its entry is missing
	}
	signed, err := signCheckpoint(w.keys.Signer, c.name, &c.at)
	if err != nil {
		return logFailed(err)
	}
	if sound, err := c.notes.append(signed); err != nil {
		if !sound {
			w.poison(err)
		}
		return logFailed(err)
	}
	w.pending = &pendingNote{Note: string(signed)}
	if w.beginning && w.witness.path != "" {
		kept := false
		w.pending.Witnessed = &kept
	}
	if !w.beginning { // otherwise the witness copy could name a chain whose creation fails
		err := w.witness.within(func() error { return w.witness.append(signed) })
		if err != nil {
			failed := false
			w.pending.Witnessed = &failed
		}
		w.reportWitness(err)
	}
	c.covered = c.at.seq()
	w.dirty, w.due = false, false
	w.timer.Stop()
	w.ledger.counters.checkpoints.Add(1)
	return nil
}

// needsSync reports whether syncIdle has work to do.
func (w *writer) needsSync() bool {
	return w.chain != nil && w.chain.notes.dirty || w.witness.unsynced()
}

// noteAt is a checkpoint of a chain over its first size entries.
type noteAt struct {
	chain string
	size  uint64
}

// syncNotes makes the checkpoints of the chain durable and updates durableNote.
func (w *writer) syncNotes() error {
	if err := w.chain.notes.sync(); err != nil {
		return err
	}
	w.ledger.durableNote.Store(&noteAt{w.chain.name, w.chain.covered})
	return nil
}

// syncIdle syncs the checkpoints when no caller waits, or once a second if the queue is never empty.
func (w *writer) syncIdle() {
	idle := w.ledger.queue.len() == 0
	if w.chain == nil || !idle && time.Since(w.synced) < time.Second {
		return
	}
	w.synced = time.Now()
	if err := w.syncNotes(); err != nil {
		w.poison(err)
	}
	if err := w.witness.within(w.witness.sync); err != nil {
		w.reportWitness(err)
	} else if err := w.witness.within(w.witness.compact); err != nil {
		w.ledger.warner.warn(warningUpkeep, "the witness copy could not be rewritten and keeps growing", err)
	}
}

// poison gives the chain up: after a failed sync the content of the disk is unknown, so the chain is never written
// again. It stays locked until another chain has named it.
func (w *writer) poison(err error) {
	c := w.chain
	w.ledger.warner.warn(warningPoisoned, "chain "+c.name+" was given up after entry "+fmt.Sprint(c.at.seq()), err)
	_ = c.stop() // the files have already failed
	if errors.Is(err, errTaken) {
		w.taken = err
	}
	w.poisoned = append(w.poisoned, c)
	w.chain, w.pending, w.dirty, w.due = nil, nil, false, false
	w.timer.Stop()
}

// judge poisons the chain if err is from a sync of its folder, or if its files were removed or changed. Other
// failures can be retried.
func (w *writer) judge(err error) error {
	if errors.Is(err, errFolderSync) || errors.Is(err, errTaken) {
		w.poison(err)
	}
	return logFailed(err)
}

// finish closes the chain with a final checkpoint.
func (w *writer) finish() error {
	w.timer.Stop()
	err := w.closeChain()
	for _, c := range w.poisoned { // no chain names them yet; the next process that opens the folder records them
		err = errors.Join(err, c.unlock())
	}
	return errors.Join(err, w.witness.end())
}

func (w *writer) closeChain() error {
	if w.space.full {
		w.handle(nil)
	}
	if w.chain == nil {
		return logFailed(errors.New("closing: the chain was abandoned"))
	}
	err := w.prepare(0)
	if err == nil {
		err = w.sign()
	}
	if err == nil {
		w.pending.Closed, w.pending.Open = true, listOpen(w.chain.open)
		err = w.commit(nil)
	}
	if err != nil {
		return errors.Join(err, w.drop())
	}
	return w.leave()
}

// drop releases a chain that could not be closed; the next process that opens the folder recovers it.
func (w *writer) drop() error {
	if w.chain == nil {
		return nil
	}
	return w.chain.abandon()
}

// leave records how the chain ended and releases its files and its lock. All entries are durable already.
func (w *writer) leave() error {
	c := w.chain
	err := errors.Join(c.notes.sync(), c.stop(), storage.Remove(c.storage, c.name+"/"+format.ReserveFile))
	if err == nil {
		err = writeEnd(c.storage, c.name, endNote{How: endClosed, Size: c.at.seq(), Last: c.at.last.String()})
	}
	return errors.Join(err, c.unlock())
}

func (w *writer) now() time.Time { return w.ledger.options.Clock() }

// ownBody returns the body of an entry that the ledger writes itself.
func ownBody(kind Kind, data any) []byte {
	b := append(append(append([]byte(nil), `,"kind":"`...), kind...), `","data":`...)
	return append(b, format.MustJSON(data)...)
}
