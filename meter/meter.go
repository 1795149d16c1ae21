// Package meter counts failures: in total, by code, domain, symbol, tool, verdict and server.
//
// # How do I count?
//
// Make a [Meter] with [New], or with [FromEnv] to follow the MCP_ERROR_METRICS variables, and pass it in the Meter field of the options of
// package boundary. A program without a boundary calls [Meter.Count] for each failure. [Meter.Stats] and [Meter.Snapshot] return the
// counts. Package adapters/prom exports them to Prometheus, package adapters/otel to OpenTelemetry.
//
// # What may I rely on?
//
// There is one counter for each combination of tool, verdict and code. Every total is a sum of these counters, read
// once, so that the numbers of one snapshot agree even while other goroutines count. A [Sample] is the exception: it
// estimates the counts by tool, and has an exact counter for each code.
//
// # Can a peer make it grow?
//
// No. Codes and verdicts are closed sets, and only the first tool names are counted by name; all others are counted as "other".
package meter

import (
	"fmt"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor"
)

// defaultMaxTools is the default of [Options.MaxTools].
const defaultMaxTools = 200

// maxMaxTools keeps the memory of a meter within some tens of megabytes.
const maxMaxTools = 1000

// Options configures a meter. The zero Options count everything.
type Options struct {
	// MaxTools is the number of tool names that get a label: the first that are announced by [Meter.SetTools], or,
	// as long as nothing was announced, the first that are seen. 0 means 200.
	MaxTools int

	// Sample configures sampling of the breakdown by tool. The zero Sample counts every failure.
	Sample Sample

	// File is the path to which [Meter.Close] writes the last counters. If it is empty, none is written. Its folder must exist.
	File string
}

// Meter counts failures. All methods are safe for concurrent use and may be called on a nil *Meter, which counts
// nothing: a server without metrics uses a nil one.
type Meter struct {
	options Options
	codes   *codeTable
	now     *grid
	sampler sampler // nil unless Options.Sample is set

	servers    *grid // by server, with one slot
	suppressed atomic.Uint64
	suspected  atomic.Uint64
	unrecorded []atomic.Uint64 // by slot

	restore sync.Mutex // held by Restore, so that calls do not interleave
	past    atomic.Pointer[grid]
}

// New returns a meter at zero. It fails if the options are invalid; zero Options are always valid.
func New(options Options) (*Meter, error) {
	if options.MaxTools == 0 {
		options.MaxTools = defaultMaxTools
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
		servers:    newGrid(options.MaxTools, 1),
		unrecorded: make([]atomic.Uint64, len(codes.codes)),
	}, nil
}

// Count counts one failure under the name of a verdict of the contract. It does not allocate for a tool that was seen before.
//
// A failure without a code, including a nil one, counts as UNCODED_ERROR; a verdict that is not in the contract counts
// as "other". "clean" is not a failure and is not counted.
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

// CountSuppressed records that a counted failure was not sent: its call was cancelled or was a notification, or it is
// only suspected. So the number of error messages written is total − suppressed.
func (m *Meter) CountSuppressed() {
	if m != nil {
		m.suppressed.Add(1)
	}
}

// CountSuspected records that a counted failure is only suspected: its answer was passed on unchanged. It also counts as suppressed.
func (m *Meter) CountSuspected() {
	if m != nil {
		m.suspected.Add(1)
	}
}

// CountUnrecorded counts a failure that could not be recorded and was answered with an AUDIT_* code. It is not included
// in the total, because the total is the number of failures in the ledger.
func (m *Meter) CountUnrecorded(err *candor.Error) {
	if m != nil {
		m.unrecorded[m.codes.slot(err.Code())].Add(1)
	}
}

// SetTools announces the names of the tools, as in tools/list. From then on only announced names get a new label,
// so that calls to invented names cannot use up the labels. It may be called again; all names together are limited to MaxTools.
func (m *Meter) SetTools(names ...string) {
	if m != nil {
		m.now.announce(names)
	}
}

// Restore rebuilds the counters of earlier processes from the failures that the ledger has recorded, so that [Stats] has a lifetime.
// Each is a [Series] with a count; an unknown code is the zero code, tool and verdict may be anything. Call it before the first failure is counted; otherwise failures that are both recorded and counted appear twice in the lifetime.
//
// It replaces the result of an earlier Restore. If the sequence yields an error, nothing changes and the error is returned.
func (m *Meter) Restore(past iter.Seq2[Series, error]) error {
	if m == nil {
		return nil
	}
	m.restore.Lock()
	defer m.restore.Unlock()
	g := newGrid(m.options.MaxTools, len(m.codes.codes))
	at := 0
	for p, err := range past {
		if err != nil {
			return fmt.Errorf("restoring counters after %d failures: %w", at, err)
		}
		at++
		if v := verdictOf(p.Verdict); v != verdictClean {
			g.row(Label(p.Tool)).add(v, m.codes.slot(p.Code), p.Count)
		}
	}
	m.past.Store(g)
	return nil
}
