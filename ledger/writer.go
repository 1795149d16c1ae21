package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/keys"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// How the writer paces itself.
const (
	checkpointAfter = 900 * time.Millisecond // leaves time to write it within checkpointWithin
	ownRoom         = 4                      // the ledger's own entries in one batch: checkpoint, unrecorded, disk
	maxBatch        = maxUncovered - ownRoom - 1
)

// writer writes the chain. The holder of its lock writes, see serve.go. The lock guards all fields, which belong to [Open] until the ledger is
// handed out.
type writer struct {
	turn chan struct{} // the lock: full while it is held

	ledger  *Ledger
	storage storage.Storage
	keys    keys.Keys
	second  *secondFile

	chain     *chain       // nil once it was given up, until the next one is begun
	poisoned  []*chain     // given up, still locked, not yet named by another chain
	taken     error        // the trail was taken away, and no caller has been refused for it yet
	beginning bool         // the chain's first entries are not durable yet
	pending   *pendingNote // signed, and not yet recorded as an entry
	dirty     bool         // something but a checkpoint stands behind the last checkpoint
	due       bool         // the oldest such entry has waited long enough
	oldest    int64        // time of the oldest such entry, in microseconds
	stamp     time.Time    // time of the batch being written
	timer     *time.Timer
	synced    time.Time // when the checkpoints were last synced

	space space
	lost  uint64 // let go under FailOpen since the last entry
	since string // when the first of those was

	batch   []*request // space for one batch
	bodies  [][]byte
	results []result
}

// pendingNote is a checkpoint that is in its files and not yet an entry.
type pendingNote struct {
	Note    string        `json:"note"`
	Second  *bool         `json:"second,omitempty"` // false if the second place has failed
	Closed  bool          `json:"closed,omitempty"`
	Segment int           `json:"segment,omitempty"`
	Within  int64         `json:"checkpoint_ms,omitempty"` // in the first entry of a segment, as in that of a chain
	Tree    []string      `json:"tree,omitempty"`
	Open    []reservation `json:"open,omitempty"`
}

// handle makes a batch durable and answers its callers, or refuses it. Without a batch it writes the ledger's own entries.
func (w *writer) handle(batch []*request) {
	err := w.unreported(batch)
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

// unreported returns the loss of the trail that the ledger's own writing came upon, so that the next caller learns of it: that the trail was
// taken away must not pass in silence because a checkpoint was quicker than a call.
func (w *writer) unreported(batch []*request) error {
	if len(batch) == 0 {
		return nil
	}
	return w.taken
}

// prepare brings the chain into a state in which n entries can be written.
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
		if err := w.chain.beginSegment(w.now()); err != nil {
			return w.judge(err)
		}
		w.ledger.counters.segments.Add(1)
	}
	must := w.mustSign(n)
	if !must && !(w.due && w.dirty) {
		return nil
	}
	err := w.sign()
	if err != nil && !must && w.chain != nil { // late, which is better than refusing
		w.timer.Reset(checkpointAfter)
		return nil
	}
	return err
}

// mustSign reports whether a checkpoint has to be signed before n more entries are written. [Verify] relies on it: an entry that was
// written more than checkpointWithin after an uncovered one shows that a checkpoint was removed. So the decision and the entries use the
// same time, w.stamp, and neither a suspended machine nor a clock that was set makes a difference.
func (w *writer) mustSign(n int) bool {
	late := w.dirty && w.stamp.UnixMicro()-w.oldest > checkpointWithin.Microseconds()
	return late || w.chain.uncovered()+n+ownRoom > maxUncovered
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

// write makes bodies durable in the chain. On an error it decides what becomes of the chain.
func (w *writer) write(bodies [][]byte) error {
	for len(w.results) < len(bodies) {
		w.results = append(w.results, result{})
	}
	sound, err := w.chain.commit(bodies, w.results, w.stamp)
	if err == nil {
		c := &w.ledger.counters
		c.appended.Add(uint64(len(bodies)))
		c.batches.Add(1)
		c.bytes.Add(uint64(len(w.chain.lines)))
		return nil
	}
	if !sound {
		w.poison(err)
	}
	return logFailed(err)
}

// ownBodies adds the ledger's own entries. A checkpoint comes first: in the first line of a segment it is where a reader begins.
func (w *writer) ownBodies(bodies [][]byte) [][]byte {
	if w.pending != nil {
		bodies = append(bodies, ownBody(KindCheckpoint, w.pending))
	}
	if w.lost > 0 {
		bodies = append(bodies, ownBody(KindSetting, struct {
			Unrecorded uint64 `json:"unrecorded"`
			Since      string `json:"since"`
		}{w.lost, w.since}))
	}
	if w.space.back {
		bodies = append(bodies, w.space.body("space"))
	}
	return bodies
}

// recorded notes that own entries and a batch of n are durable.
func (w *writer) recorded(own, n int) {
	if w.pending != nil {
		w.pending = nil
		own--
	}
	w.lost, w.since = 0, ""
	w.space.told()
	if own+n > 0 && !w.dirty {
		w.dirty, w.oldest = true, w.chain.at.micros()
		w.timer.Reset(checkpointAfter)
	}
}

// track keeps the list of open reservations.
func (w *writer) track(r *request, seq uint64) {
	if r.reserve != nil {
		opened := *r.reserve
		opened.Seq = seq
		w.chain.open[seq] = opened
	}
	if r.settles != nil && r.settles.Chain == w.chain.name {
		delete(w.chain.open, r.settles.Seq)
	}
}

// refuse answers a batch that could not be recorded, as the policy says.
func (w *writer) refuse(batch []*request, err error) {
	if storage.IsFull(err) {
		w.fill(len(batch))
	}
	if len(batch) > 0 {
		w.taken = nil
	}
	res := result{err: logFailed(err)}
	c := &w.ledger.counters
	if w.ledger.options.FailOpen {
		res = result{unrecorded: true}
		if w.lost == 0 {
			w.since = format.FormatTime(w.now())
		}
		w.lost += uint64(len(batch))
		c.unrecorded.Add(uint64(len(batch)))
	} else {
		c.failed.Add(uint64(len(batch)))
	}
	for _, r := range batch {
		r.answer(res)
	}
}

// sign writes a checkpoint over all that is acknowledged to its files. Its entry comes with the next batch.
func (w *writer) sign() error {
	c := w.chain
	if w.pending != nil {
		return nil // over the same entries; only its entry is missing
	}
	signed, err := c.checkpoint().sign(w.keys.Signer)
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
	if w.beginning && w.second.path != "" {
		kept := false
		w.pending.Second = &kept
	}
	if !w.beginning { // else the second place could name a chain that never came to be
		err := w.second.within(func() error { return w.second.append(signed) })
		if err != nil {
			failed := false
			w.pending.Second = &failed
		}
		w.reportSecond(err)
	}
	c.covered = c.at.seq()
	w.dirty, w.due = false, false
	w.timer.Stop()
	w.ledger.counters.checkpoints.Add(1)
	return nil
}

// unsettled reports whether there is something for settle to do.
func (w *writer) unsettled() bool {
	return w.chain != nil && w.chain.notes.dirty || w.second.unsynced()
}

// noteAt is a checkpoint of a chain over its first size entries.
type noteAt struct {
	chain string
	size  uint64
}

// syncNotes makes the checkpoints of the chain durable, and says so.
func (w *writer) syncNotes() error {
	if err := w.chain.notes.sync(); err != nil {
		return err
	}
	w.ledger.durableNote.Store(&noteAt{w.chain.name, w.chain.covered})
	return nil
}

// settle syncs the checkpoints when no caller waits, or once a second if the queue is never empty.
func (w *writer) settle() {
	idle := w.ledger.queue.len() == 0
	if w.chain == nil || !idle && time.Since(w.synced) < time.Second {
		return
	}
	w.synced = time.Now()
	if err := w.syncNotes(); err != nil {
		w.poison(err)
	}
	if err := w.second.within(w.second.sync); err != nil {
		w.reportSecond(err)
	} else if err := w.second.within(w.second.compact); err != nil {
		w.ledger.warner.warn(warningUpkeep, "the witness copy could not be rewritten and keeps growing", err)
	}
	w.checkSpace()
}

// poison gives the chain up: after a failed sync the content of the disk is unknown, so nothing is written there again. It stays locked until
// another chain has named it.
func (w *writer) poison(err error) {
	c := w.chain
	w.ledger.warner.warn(warningPoisoned, "chain "+c.name+" was given up after entry "+fmt.Sprint(c.at.seq()), err)
	_ = c.stop() // of files that have failed already
	if errors.Is(err, errTaken) {
		w.taken = err
	}
	w.poisoned = append(w.poisoned, c)
	w.chain, w.pending, w.dirty, w.due = nil, nil, false, false
	w.timer.Stop()
}

// judge poisons the chain if err came from a sync of its folder, or if its files were taken away; what could not be made can be tried again.
func (w *writer) judge(err error) error {
	if errors.Is(err, errFolderSync) || errors.Is(err, errTaken) {
		w.poison(err)
	}
	return logFailed(err)
}

// finish closes the chain with a checkpoint that says so.
func (w *writer) finish() error {
	w.timer.Stop()
	err := w.closeChain()
	for _, c := range w.poisoned { // no chain names them yet; the next process that opens the folder records them
		err = errors.Join(err, c.unlock())
	}
	return errors.Join(err, w.second.end())
}

func (w *writer) closeChain() error {
	if w.lost > 0 || w.space.full {
		w.handle(nil)
	}
	if w.chain == nil {
		return logFailed(errors.New("closing: the chain was given up"))
	}
	err := w.prepare(0)
	if err == nil {
		err = w.sign()
	}
	if err == nil {
		w.pending.Closed, w.pending.Open = true, w.chain.unfinished()
		err = w.commit(nil)
	}
	if err != nil {
		return errors.Join(err, w.drop())
	}
	return w.leave()
}

// drop lets go of a chain that could not be closed; the next opener recovers it.
func (w *writer) drop() error {
	if w.chain == nil {
		return nil
	}
	return w.chain.abandon()
}

// leave notes how the chain ended and releases its files and its lock. All entries are durable already.
func (w *writer) leave() error {
	c := w.chain
	err := c.notes.sync()
	err = errors.Join(err, c.stop(), storage.Remove(c.storage, c.name+"/"+format.ReserveFile))
	if err == nil {
		err = writeEnd(c.storage, c.name, endNote{How: endClosed, Size: c.at.seq(), Last: c.at.last.String()})
	}
	return errors.Join(err, c.unlock())
}

func (w *writer) now() time.Time { return w.ledger.options.Clock() }

// ownBody is the body of an entry of the ledger's own.
func ownBody(kind Kind, data any) []byte {
	b := append(append(append([]byte(nil), `,"kind":"`...), kind...), `","data":`...)
	return append(b, format.MustJSON(data)...)
}
