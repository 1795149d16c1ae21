package ledger

import (
	"cmp"
	"fmt"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/shipping"
	"github.com/candor-mcp/candor/internal/storage"
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

	// MaxSegmentBytes is the size at which a segment is closed and the next begins. 0 means 64 MiB.
	MaxSegmentBytes int64
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
	// OnWarning is called with problems that an operator should know about and that do not make a call fail. Calls
	// are made one at a time from a separate goroutine. OnWarning must not call [Ledger.Close]. nil discards
	// warnings.
	OnWarning func(Warning)

	// Shipping connects the ledger to the program candor, which copies entries to a store. Other programs leave it out.
	Shipping shipping.Hooks

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
	o.LockWait = cmp.Or(o.LockWait, defaultLockWait)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o, nil
}

// keepsAll reports whether no segment is ever removed.
func (o *Options) keepsAll() bool { return o.RetainAge == 0 && o.RetainBytes == 0 }
