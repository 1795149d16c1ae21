package crashfs

import (
	"errors"
	"io"
	"slices"
	"syscall"
)

// Op is one operation of the disk.
type Op string

// The operations.
const (
	OpCreate   Op = "create"
	OpOpen     Op = "open"
	OpRead     Op = "read"
	OpStat     Op = "stat"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpReserve  Op = "reserve"
	OpClose    Op = "close"
	OpTruncate Op = "truncate"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpMkdir    Op = "mkdir"
	OpList     Op = "list"
	OpSyncDir  Op = "syncdir"
	OpLock     Op = "lock"
)

// Changes reports whether the operation can change the result of a power cut.
func (o Op) Changes() bool {
	return !slices.Contains([]Op{OpRead, OpStat, OpClose, OpList, OpReserve}, o)
}

// takesDescriptor reports whether the operation fails when the process has no descriptors left.
func (o Op) takesDescriptor() bool {
	return slices.Contains([]Op{OpCreate, OpOpen, OpRead, OpList, OpSyncDir, OpLock}, o)
}

// takesSpace reports whether the operation fails when the disk is full.
func (o Op) takesSpace() bool {
	return slices.Contains([]Op{OpCreate, OpWrite, OpReserve, OpRename, OpMkdir, OpLock}, o)
}

// Fault is a kind of failure that can be planted.
type Fault string

// The faults. Each affects only some operations.
const (
	FaultEIO         Fault = "EIO"         // once, any operation but a sync, without effect
	FaultENOSPC      Fault = "ENOSPC"      // once, half of a write is written
	FaultENOSPCStays Fault = "ENOSPC-stay" // permanently
	FaultShortWrite  Fault = "short-write" // once
	FaultSyncOnce    Fault = "sync-once"   // once; afterwards the cache reports data as clean that may not be on the disk
	FaultSyncStays   Fault = "sync-stay"   // permanently, for every sync
	FaultEMFILE      Fault = "EMFILE"      // once
	FaultEMFILEStays Fault = "EMFILE-stay" // permanently
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		FaultEIO, FaultENOSPC, FaultENOSPCStays, FaultShortWrite, FaultSyncOnce, FaultSyncStays, FaultEMFILE, FaultEMFILEStays,
	}
}

// stays reports whether the fault is permanent.
func (f Fault) stays() bool {
	return f == FaultENOSPCStays || f == FaultSyncStays || f == FaultEMFILEStays
}

// Concerns reports whether the operation can fail in this way.
func (f Fault) Concerns(op Op) bool {
	switch f {
	case FaultEIO:
		return op != OpClose && op != OpSync && op != OpSyncDir
	case FaultENOSPC, FaultENOSPCStays:
		return op.takesSpace()
	case FaultShortWrite:
		return op == OpWrite
	case FaultSyncOnce, FaultSyncStays:
		return op == OpSync || op == OpSyncDir
	case FaultEMFILE, FaultEMFILEStays:
		return op.takesDescriptor()
	default:
		return false
	}
}

func (f Fault) err() error {
	switch f {
	case FaultEIO, FaultSyncOnce, FaultSyncStays:
		return syscall.EIO
	case FaultENOSPC, FaultENOSPCStays:
		return syscall.ENOSPC
	case FaultShortWrite:
		return io.ErrShortWrite
	case FaultEMFILE, FaultEMFILEStays:
		return syscall.EMFILE
	default:
		return errors.ErrUnsupported
	}
}

// plan is the planted fault, if any.
type plan struct {
	fault Fault
	at    int // index of the first operation that may fail, from 0
	hit   bool
}

// strikes reports whether the operation with this index fails.
func (p *plan) strikes(index int, op Op) bool {
	if p.fault == "" || index < p.at || !p.fault.Concerns(op) || p.hit && !p.fault.stays() {
		return false
	}
	p.hit = true
	return true
}
