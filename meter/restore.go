package meter

import (
	"fmt"
	"iter"

	"github.com/candor-mcp/candor"
)

// Past is a failure that was recorded earlier, as a failure entry of the ledger has it. An unknown code is the zero
// code; tool and verdict may be anything.
type Past struct {
	Code    candor.Code
	Tool    string
	Verdict string
}

// Restore rebuilds the counters of earlier processes from recorded failures, so that [Stats] has a lifetime. Call it
// before the first failure is counted; otherwise failures that are both recorded and counted appear twice in the lifetime.
//
// It replaces the result of an earlier Restore. If the sequence yields an error, nothing changes and the error is returned.
func (m *Meter) Restore(past iter.Seq2[Past, error]) error {
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
			g.row(Label(p.Tool)).add(v, m.codes.slot(p.Code), 1)
		}
	}
	m.past.Store(g)
	return nil
}
