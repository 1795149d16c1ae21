package ledger

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// Options configures a ledger. The zero value is safe.
type Options struct {
	// Instance is the prefix of the names of the chains that this process writes: at most 64 letters, digits and
	// hyphens. Empty means "candor".
	Instance string
	// WitnessCopy is the path of the witness copy, a file that every signed checkpoint is also appended to. Choose a
	// location that a person who can change the ledger cannot write to: another disk or another machine. A write that
	// fails or takes more than two seconds is reported to OnWarning and in the checkpoint's entry, and the next
	// checkpoint tries again. The path is recorded in the first entry of each chain, where package verify finds it.
	// Empty means no copy.
	WitnessCopy string
	// OwnWitnessCopy declares that no other ledger uses WitnessCopy. The file is then rewritten with the newest
	// checkpoint of each chain when it reaches 4 MiB. A shared file is only appended to.
	OwnWitnessCopy bool
	// FailOpen lets calls continue when an entry cannot be recorded: Append returns a receipt marked Unrecorded
	// instead of an error. The first entry of every chain records this choice, and the first entry after a failure
	// records how many are missing.
	FailOpen bool

	// MaxSegmentBytes is the size at which a segment is closed and the next begins. 0 means 64 MiB.
	MaxSegmentBytes int64
	// MaxSegmentAge is the age at which a segment is closed. 0 means no limit.
	MaxSegmentAge time.Duration
	// RetainAge is the age at which closed segments may be removed, counted from their last write. 0 keeps them.
	// Checkpoints are always kept, so that the remaining entries can still be verified, and the segment that is being
	// written is never removed.
	RetainAge time.Duration
	// RetainBytes is the total size of segments above which the oldest closed ones are removed. 0 keeps them.
	RetainBytes int64
	// Compress enables compression of closed segments in the background.
	Compress bool

	// ReserveBytes is the disk space to reserve, so that the ledger can record that the disk is full. 0 means 64 KiB;
	// a negative value reserves nothing.
	ReserveBytes int64
	// LowSpaceBytes is the free space below which OnWarning is called. 0 means 64 MiB; a negative value disables the
	// warning.
	LowSpaceBytes int64
	// OnWarning is called with problems that an operator should know about and that do not make a call fail. Calls
	// are made one at a time from a separate goroutine. OnWarning must not call [Ledger.Close]. nil discards
	// warnings.
	OnWarning func(Warning)

	// OnDurable is called with the last durable entry of the chain that is being written, each time it changes, and with
	// the number of bytes that were written since the last call. It must return at once: no entry is written meanwhile.
	// With NoSync the entry is written, but may not be durable.
	OnDurable func(chain string, seq uint64, written int64)
	// Admit is called before entries are written, other than those of the ledger itself. If it returns an error they
	// are refused. It must return at once.
	Admit func() error
	// Confirm is called with the receipt of each entry that was appended, before Append and [Ledger.Reserve] return. If
	// it returns an error, they return AUDIT_LOG_FAILED although the entry is recorded; with FailOpen they ignore it.
	Confirm func(ctx context.Context, r Receipt) error
	// NoSync omits the sync after each write. It is for ledgers whose entries are made durable elsewhere, by Confirm:
	// a power cut then loses entries of this folder, which Missing brings back. Entries are still synced before a
	// checkpoint over them is signed. Without Missing, Open fails while the folder has such a chain that was not closed.
	NoSync bool
	// Missing returns the lines of a chain, without line feeds, that follow entry after. It is called for each chain
	// whose writer has exited without closing it, and the lines that continue the chain are appended to it. An error
	// makes Open fail. The folder is locked meanwhile.
	Missing func(chain string, after uint64) iter.Seq2[[]byte, error]

	// LockWait limits the wait for another process that is opening the folder. 0 means 5 s.
	LockWait time.Duration
	// Clock returns the time for entries. nil means [time.Now].
	Clock func() time.Time

	storage        storage.Storage // replaces the operating system's in tests
	witnessStorage storage.Storage // storage in which WitnessCopy is a name; replaces its folder in tests
}

const (
	defaultSegmentBytes = 64 << 20
	minSegmentBytes     = 4 << 10
	defaultReserve      = 64 << 10
	defaultLowSpace     = 64 << 20
	defaultLockWait     = 5 * time.Second
	maxInstance         = 64
)

// withDefaults returns o with defaults for zero fields, or an error for invalid ones.
func (o Options) withDefaults() (Options, error) {
	o.Instance = cmp.Or(o.Instance, "candor")
	if len(o.Instance) > maxInstance || !format.IsChainName(o.Instance) {
		return o, fmt.Errorf("instance %q: want at most %d letters, digits and hyphens", o.Instance, maxInstance)
	}
	o.MaxSegmentBytes = max(cmp.Or(o.MaxSegmentBytes, defaultSegmentBytes), minSegmentBytes)
	o.ReserveBytes = max(cmp.Or(o.ReserveBytes, defaultReserve), 0)
	o.LowSpaceBytes = max(cmp.Or(o.LowSpaceBytes, defaultLowSpace), 0)
	o.LockWait = cmp.Or(o.LockWait, defaultLockWait)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o, nil
}

// keepsAll reports whether no segment is ever removed.
func (o *Options) keepsAll() bool { return o.RetainAge == 0 && o.RetainBytes == 0 }
