// Rules of this package:
//   - Append returns only after sync.
//   - Callers encode; the holder of the writer's lock writes. Only one goroutine writes to a chain.
//   - After a failed sync a file is never written again.
//   - Nothing on the disk claims more than is durable.

package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// Ledger is an open ledger. All its methods are safe for concurrent use.
type Ledger struct {
	options  Options                // as given, with defaults; read-only
	encoder  *encoder               // synchronises itself
	queue    *queue                 // has its own lock
	writer   *writer                // has its own lock
	upkeep   *upkeep                // runs its own goroutine
	warner   *warner                // runs its own goroutine
	public   string                 // read-only
	counters counters               // atomics
	writing  atomic.Pointer[string] // the name of the chain being written; set by the writer

	durableNote atomic.Pointer[noteAt] // the newest checkpoint that is on the disk; set by the writer

	ended    chan struct{} // closed when the writer's goroutine has ended
	endErr   error         // set before ended is closed
	closing  sync.Once
	closeErr error // set by closing
}

// Open opens the ledger in dir, which is created if needed, and begins a new chain. Open first recovers chains whose
// writers have exited without closing them. Several processes may have the same folder open.
//
// The error is AUDIT_LOCK_FAILED if another process held the folder for longer than [Options.LockWait], and
// AUDIT_LOG_FAILED otherwise.
func Open(dir string, o Options) (*Ledger, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, logFailed(fmt.Errorf("opening the ledger: %w", err))
	}
	if o.storage == nil {
		if o.storage, err = storage.Open(dir); err != nil {
			return nil, logFailed(fmt.Errorf("opening the ledger: %w", err))
		}
	}
	l, err := open(o)
	if err != nil {
		return nil, logFailed(errors.Join(err, o.storage.Close()))
	}
	if s, ok := o.storage.(*storage.Dir); ok && s.Exposed() {
		l.warner.warn(warningPermissions, "the ledger's folder is open to others; give it mode 0700", nil)
	}
	return l, nil
}

func open(o Options) (*Ledger, error) {
	k, err := openKeys(&o)
	if err != nil {
		return nil, err
	}
	second := newWitnessCopy(&o)
	l := &Ledger{
		options: o, encoder: newEncoder(k.Digest), queue: newQueue(), warner: newWarner(o.OnWarning), public: k.Public,
		ended: make(chan struct{}),
	}
	l.upkeep = newUpkeep(l)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	w := &writer{turn: make(chan struct{}, 1), ledger: l, storage: o.storage, keys: k, witness: second, timer: timer}
	l.writer = w
	if err := w.begin(); err != nil {
		l.warner.close()
		return nil, errors.Join(err, w.drop(), second.end())
	}
	go func() {
		defer close(l.ended)
		l.endErr = w.run()
	}()
	l.upkeep.start()
	return l, nil
}

// Append records an entry. When it returns a nil error the entry is on the disk. If ctx is cancelled before the
// writer takes the entry, the entry is not recorded and Append returns an error; after that Append waits for the
// result.
//
// The error is AUDIT_LOG_FAILED or AUDIT_LOCK_FAILED. The entry is then not recorded, or, if the disk failed, may not
// be relied on, and the caller must not send the reply or perform the effect.
func (l *Ledger) Append(ctx context.Context, e Entry) (Receipt, error) {
	return l.append(ctx, &e, nil, nil)
}

func (l *Ledger) append(ctx context.Context, e *Entry, reserve, completes *reservation) (Receipt, error) {
	r := l.queue.request()
	var err error
	if r.body, err = l.encoder.appendBody(r.body, e); err != nil {
		return Receipt{}, logFailed(fmt.Errorf("appending: %w", err))
	}
	r.reserve, r.completes = reserve, completes
	if err := ctx.Err(); err != nil {
		return Receipt{}, l.cancelled(ctx)
	}
	if !l.queue.put(r) {
		return Receipt{}, logFailed(errClosed)
	}
	l.writer.lead()
	if !r.wait(ctx.Done()) {
		return Receipt{}, l.cancelled(ctx)
	}
	receipt, err := l.receipt(r)
	if err != nil {
		return receipt, err
	}
	return l.confirm(ctx, receipt)
}

// confirm calls the hook for an entry that is durable.
func (l *Ledger) confirm(ctx context.Context, receipt Receipt) (Receipt, error) {
	if l.options.Shipping.Confirm == nil {
		return receipt, nil
	}
	if err := l.options.Shipping.Confirm(ctx, receipt.Chain, receipt.Seq); err != nil {
		l.counters.failed.Add(1)
		return Receipt{}, logFailed(err)
	}
	return receipt, nil
}

// wait returns true when the request was answered, or false if the caller gave up before the writer took it.
func (r *request) wait(cancelled <-chan struct{}) bool {
	if cancelled == nil {
		<-r.done
		return true
	}
	select {
	case <-r.done:
		return true
	case <-cancelled:
	}
	if r.drop() {
		return false
	}
	<-r.done // the writer has taken it and will answer soon
	return true
}

func (l *Ledger) cancelled(ctx context.Context) error {
	l.counters.cancelled.Add(1)
	return logFailed(fmt.Errorf("appending: cancelled by the caller: %w", context.Cause(ctx)))
}

// receipt converts the result of a request and recycles the request, which must not be used afterwards.
func (l *Ledger) receipt(r *request) (Receipt, error) {
	res := r.result
	l.queue.free(r)
	if res.err != nil {
		return Receipt{}, res.err
	}
	at, _ := format.ReadTime([]byte(res.time)) // the writer wrote it
	return Receipt{Chain: res.chain, Seq: res.seq, Hash: res.hash.String(), Time: at}, nil
}

// Close waits for queued entries, signs and closes the chain, and releases all files and locks. Later calls of Append
// fail. A second Close waits for the first and returns the same error. After an error, which is AUDIT_LOG_FAILED,
// acknowledged entries are still on the disk, and the next process that opens the folder closes the chain.
func (l *Ledger) Close() error {
	l.closing.Do(func() {
		l.upkeep.stop()
		l.queue.close()
		l.queue.ring()
		<-l.ended
		l.warner.close()
		l.closeErr = logFailed(errors.Join(l.endErr, l.options.storage.Close()))
	})
	return l.closeErr
}

// Counts holds counters of a ledger since it was opened. Entries that the ledger writes itself count as appended too.
type Counts struct {
	Appended    uint64 // entries that are durable
	Failed      uint64 // entries that were refused
	Cancelled   uint64 // entries abandoned by their callers before they were written
	Batches     uint64 // writes that were synced; Appended / Batches is the mean batch size
	Bytes       uint64 // written to segments
	Checkpoints uint64
	Segments    uint64 // segments begun
	Chains      uint64 // chains begun; more than 1 if the disk has failed
	Warnings    uint64 // warnings that were dropped because OnWarning was busy
}

// counters are the counters behind [Counts].
type counters struct {
	appended, failed, cancelled, batches, bytes, checkpoints, segments, chains atomic.Uint64
}

// Stats returns the current counts. It is cheap and may be called at any time.
func (l *Ledger) Stats() Counts {
	c := &l.counters
	return Counts{
		Appended: c.appended.Load(), Failed: c.failed.Load(), Cancelled: c.cancelled.Load(),
		Batches: c.batches.Load(), Bytes: c.bytes.Load(), Checkpoints: c.checkpoints.Load(), Segments: c.segments.Load(),
		Chains: c.chains.Load(), Warnings: l.warner.dropped.Load(),
	}
}

// logFailed returns err as an AUDIT_LOG_FAILED error. If err already wraps a [candor.Error], it returns that one; nil
// stays nil.
func logFailed(err error) error { return fault(candor.CodeLedgerFailed, err) }

// lockFailed returns err as an AUDIT_LOCK_FAILED error, for a lock that was not acquired in time.
func lockFailed(err error) error { return fault(candor.CodeLedgerLocked, err) }

func fault(code candor.Code, err error) error {
	if err == nil {
		return nil
	}
	if coded := (*candor.Error)(nil); errors.As(err, &coded) {
		return coded
	}
	return candor.New(code, "", candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

var (
	errClosed  = fmt.Errorf("the ledger is closed: %w", fs.ErrClosed)
	errNoSpace = fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
)
