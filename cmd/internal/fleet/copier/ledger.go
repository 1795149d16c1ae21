package copier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// Ledger is the folder of a ledger as a source. It returns only entries that are known to be durable: a line that a power cut can still
// remove would make the copy longer than the ledger.
type Ledger struct {
	reader *ledger.Reader
	node   string
}

var _ Source = (*Ledger)(nil)

// OpenLedger opens the folder of a ledger. Its chains get the name of a node.
func OpenLedger(dir, node string) (*Ledger, error) {
	r, err := ledger.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	return &Ledger{reader: r, node: node}, nil
}

// Close closes the folder.
func (l *Ledger) Close() error { return l.reader.Close() }

// Chains implements [Source].
func (l *Ledger) Chains(context.Context) ([]fleet.Chain, error) {
	names, err := l.reader.Chains()
	if err != nil {
		return nil, err
	}
	var chains []fleet.Chain
	for _, name := range names {
		if seq, _, err := l.reader.Durable(name); err == nil && seq > 0 {
			chains = append(chains, fleet.Chain{Node: l.node, Name: name})
		}
	}
	return chains, nil
}

// Head implements [Source]. It returns only the number of the last entry.
func (l *Ledger) Head(_ context.Context, chain fleet.Chain) (fleet.Head, error) {
	seq, _, err := l.reader.Durable(chain.Name)
	return fleet.Head{Seq: seq}, err
}

// Lines implements [Source]. The position of a line is its number.
func (l *Ledger) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		end, _, err := l.reader.Durable(chain.Name)
		if err != nil {
			yield(fleet.Stored{}, err)
			return
		}
		damage := ""
		options := ledger.ReadOptions{Chain: chain.Name, From: after + 1, Skipped: func(file string, offset int64) {
			damage = cmp.Or(damage, fmt.Sprintf("%s, byte %d: not an entry", file, offset))
		}}
		last := after
		for line, err := range l.reader.Entries(ctx, options) {
			if err != nil {
				yield(fleet.Stored{}, err)
				return
			}
			if damage != "" || line.Seq > end {
				break
			}
			if last = line.Seq; !yield(fleet.Stored{Chain: chain, Position: last, Line: line.Raw()}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(fleet.Stored{}, err)
		} else if last < end { // later lines are not durable yet, or was left by a crash
			damage = cmp.Or(damage, fmt.Sprintf("chain %s ends with entry %d, and entry %d was durable", chain.Name, last, end))
			yield(fleet.Stored{}, fleet.Fault(candor.CodeDataCorrupt, errors.New(damage)))
		}
	}
}

// Pending returns the number of entries that are in the files but not known to be durable.
func (l *Ledger) Pending(ctx context.Context) (uint64, error) { return Pending(ctx, l.reader) }

// Pending returns the number of entries of a ledger that are not known to be durable: the writer of their chain is running, or was killed
// and its chain is not recovered yet. Checkpoints do not count, because no caller waits for them.
func Pending(ctx context.Context, r *ledger.Reader) (pending uint64, err error) {
	names, err := r.Chains()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		end, ended, err := r.Durable(name)
		if err != nil || ended {
			continue
		}
		for line, err := range r.Entries(ctx, ledger.ReadOptions{Chain: name, From: end + 1}) {
			if err != nil {
				return pending, err
			}
			if line.Kind != ledger.KindCheckpoint {
				pending++
			}
		}
	}
	return pending, nil
}
