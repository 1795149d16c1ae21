// Package meter counts failures: in total, by code, domain, symbol, tool and verdict.
//
// Rules of the room: labels come from closed sets. A code is one of the catalogue, a verdict one of the contract's, and a
// tool one of the first names; everything else is "other", so a hostile peer cannot make the meter grow.
//
// There is one counter for each (tool, verdict, code), and nothing is counted twice: every total and every breakdown is a sum
// of these counters, read once. So the sums agree in any snapshot, also in one taken while others count. A [Sample] estimates the
// counts by tool; it has an exact counter for each code instead.
//
// The package needs the standard library and the root only. meter/prom shows a meter to Prometheus, meter/otel to
// OpenTelemetry; both read the same counters when they are asked.
package meter

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor"
)

// DefaultMaxTools is how many tool names get a label of their own unless [Options] says otherwise.
const DefaultMaxTools = 200

// maxMaxTools keeps the memory of a meter within some tens of megabytes, whatever is asked for.
const maxMaxTools = 1000

// Options configures a meter. The zero Options count everything.
type Options struct {
	// MaxTools is how many tool names get a label of their own: the first that are announced by [Meter.SetTools], or,
	// as long as nothing was announced, the first that are seen. 0 stands for [DefaultMaxTools].
	MaxTools int

	// Sample thins the breakdown by tool. The zero Sample counts every failure in full.
	Sample Sample

	// File is where [Meter.Close] writes the last counters. Empty writes none. Its folder must exist.
	File string
}

// Meter counts failures. All methods may be called from any number of goroutines, and on a nil *Meter, which counts nothing:
// a server without metrics holds a nil one.
type Meter struct {
	options Options
	codes   *codeTable
	now     *grid
	sampler sampler // nil unless Options.Sample asks for one

	suppressed atomic.Uint64
	suspected  atomic.Uint64
	unrecorded []atomic.Uint64 // by slot

	restore sync.Mutex // held by Restore, so that one replaces the other as a whole
	past    atomic.Pointer[grid]
}

// New returns a meter at zero. It fails if the options cannot be meant; a zero Options is always good.
func New(options Options) (*Meter, error) {
	if options.MaxTools == 0 {
		options.MaxTools = DefaultMaxTools
	}
	if options.MaxTools < 0 || options.MaxTools > maxMaxTools {
		return nil, fmt.Errorf("making a meter: MaxTools is %d; hint: give 1 to %d", options.MaxTools, maxMaxTools)
	}
	if err := options.Sample.check(); err != nil {
		return nil, fmt.Errorf("making a meter: %w", err)
	}
	if err := checkFile(options.File); err != nil {
		return nil, fmt.Errorf("making a meter that writes %s: %w", filepath.Base(options.File), err)
	}
	codes := table()
	return &Meter{
		options:    options,
		codes:      codes,
		now:        newGrid(options.MaxTools, len(codes.codes)),
		sampler:    options.Sample.sampler(len(codes.codes)),
		unrecorded: make([]atomic.Uint64, len(codes.codes)),
	}, nil
}

// Count counts one failure under a verdict of the contract, given by its name. It allocates nothing once a tool has been seen.
//
// A failure without a code, and so a nil one, counts as UNCODED_ERROR; a verdict that is not in the contract counts as
// "other". "clean" is not a failure and is not counted.
func (m *Meter) Count(err *candor.Error, verdict string) {
	if m == nil {
		return
	}
	v := verdictOf(verdict)
	if v == verdictClean {
		return
	}
	slot, weight := m.codes.slot(err.Code()), uint64(1)
	if m.sampler != nil {
		if weight = m.sampler.weigh(slot); weight == 0 {
			return
		}
	}
	m.now.row(err.CallInfo().Tool).add(v, slot, weight)
}

// CountSuppressed says that a failure which was counted was not sent: its call was cancelled or was a notification, or it is
// only suspected. So error messages written = total − suppressed.
func (m *Meter) CountSuppressed() {
	if m != nil {
		m.suppressed.Add(1)
	}
}

// CountSuspected says that a failure which was counted is only suspected: its answer was passed on as it is. It is counted as suppressed, too.
func (m *Meter) CountSuspected() {
	if m != nil {
		m.suspected.Add(1)
	}
}

// CountUnrecorded counts a failure that could not be recorded: the AUDIT_* answer that says so. It is no part of the total,
// because the total is the number of failures in the ledger.
func (m *Meter) CountUnrecorded(err *candor.Error) {
	if m != nil {
		m.unrecorded[m.codes.slot(err.Code())].Add(1)
	}
}

// SetTools announces the names of the tools, as tools/list gives them. From then on only announced names get a label of their
// own, so that calls to made-up names cannot use the labels up. It may be called again; names add up to MaxTools.
func (m *Meter) SetTools(names ...string) {
	if m != nil {
		m.now.announce(names)
	}
}
