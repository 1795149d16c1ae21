package ledger

import (
	"fmt"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// Options says how a ledger is kept. The zero value is the safe choice everywhere.
type Options struct {
	// Instance begins the name of the chains this process writes: letters, digits and hyphens, at most 64. Empty is "candor".
	Instance string
	// SecondPlace is a file that every signed checkpoint is also appended to. Put it where those who could change the ledger cannot write
	// over it: another disk, another machine. Writing to it is part of appending: a place that hangs holds the ledger up; one that fails, or
	// cannot be opened, is reported to OnWarning and in the checkpoint's entry, and is tried again with the next. Its path is in the first
	// entry of each chain, where [Verify] finds it. Empty means none.
	SecondPlace string
	// OwnSecondPlace says that SecondPlace is of this ledger alone. It is then rewritten with the newest checkpoint of each chain whenever it
	// has grown to 4 MiB. Other second places are only ever appended to.
	OwnSecondPlace bool
	// Policy says what happens when an entry cannot be recorded. The zero value is [PolicyClosed].
	Policy Policy

	// MaxSegmentBytes is the size at which a segment is closed and the next begins. 0 is 64 MiB.
	MaxSegmentBytes int64
	// MaxSegmentAge is the age at which a segment is closed. 0 means that age does not matter.
	MaxSegmentAge time.Duration
	// Retain says which closed segments may go. The zero value keeps everything.
	Retain Retain
	// Compress has closed segments compressed in the background.
	Compress bool

	// ReserveBytes is space kept back, so that a disk that has become full can still be told about in the ledger. 0 is 64 KiB, less
	// than 0 none.
	ReserveBytes int64
	// LowSpaceBytes is the free space below which OnWarning is called. 0 is 64 MiB, less than 0 never.
	LowSpaceBytes int64
	// OnWarning is told what needs an operator's eye and is no caller's failure. It runs on a goroutine of its own, one call at a time,
	// and must not call [Ledger.Close]. nil means that nobody is told; what matters is in the ledger anyway.
	OnWarning func(Warning)

	// LockWait bounds the wait for another process that is just opening the folder. 0 is 5 s.
	LockWait time.Duration
	// Clock gives the time of entries. nil is [time.Now].
	Clock func() time.Time

	storage storage.Storage // instead of the operating system's; for tests
	second  storage.Storage // where SecondPlace is a name, instead of its folder; for tests
}

// Policy says what happens to a call when the ledger cannot record it.
type Policy uint8

// The policies.
const (
	// PolicyClosed refuses: Append returns an error, and the caller leaves the effect undone.
	PolicyClosed Policy = iota
	// PolicyOpen goes on: Append returns a receipt marked unrecorded. The first entry of every chain says that this was chosen, and the
	// first that can be written after a failure says how many are missing.
	PolicyOpen
)

// String returns the word that entries use.
func (p Policy) String() string {
	if p == PolicyOpen {
		return "open"
	}
	return "closed"
}

// Retain bounds what is kept. Checkpoints are always kept, so that what remains can still be verified. The segment that is
// being written is never removed.
type Retain struct {
	Age   time.Duration // closed segments last written longer ago may go; 0 keeps them
	Bytes int64         // the oldest closed segments go while the folder's segments take more than this; 0 keeps them
}

const (
	defaultSegmentBytes = 64 << 20
	minSegmentBytes     = 4 << 10
	defaultReserve      = 64 << 10
	defaultLowSpace     = 64 << 20
	defaultLockWait     = 5 * time.Second
	maxInstance         = 64
)

// withDefaults fills in what was left out and refuses what cannot be meant.
func (o Options) withDefaults() (Options, error) {
	o.Instance = firstOf(o.Instance, "candor")
	if len(o.Instance) > maxInstance || !format.IsChainName(o.Instance) {
		return o, fmt.Errorf("instance %q is not letters, digits and hyphens, at most %d", o.Instance, maxInstance)
	}
	if o.Policy > PolicyOpen {
		return o, fmt.Errorf("policy %d is not known", o.Policy)
	}
	o.MaxSegmentBytes = max(firstOf(o.MaxSegmentBytes, defaultSegmentBytes), minSegmentBytes)
	o.ReserveBytes = max(firstOf(o.ReserveBytes, defaultReserve), 0)
	o.LowSpaceBytes = max(firstOf(o.LowSpaceBytes, defaultLowSpace), 0)
	o.LockWait = firstOf(o.LockWait, defaultLockWait)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o, nil
}

// firstOf returns the first value, or if it is zero the second.
func firstOf[T comparable](a, b T) T {
	var zero T
	if a == zero {
		return b
	}
	return a
}
