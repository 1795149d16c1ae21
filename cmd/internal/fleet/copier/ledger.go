package copier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

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

// OpenLedger opens the folder of a ledger, whose chains get the name of a node.
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

// Lines implements [Source]. The position of a line is its number.
func (l *Ledger) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		end, _, err := l.reader.Durable(chain.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(fleet.Stored{}, err)
			return
		}
		if err := l.read(ctx, chain, after, end, yield); err != nil {
			yield(fleet.Stored{}, err)
		}
	}
}

// read passes the entries after a number, up to and including end.
func (l *Ledger) read(ctx context.Context, chain fleet.Chain, after, end uint64, yield func(fleet.Stored, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var bad error
	options := ledger.ReadOptions{Chain: chain.Name, From: after + 1, Skipped: func(file string, offset int64) {
		if bad == nil {
			bad = damaged(fmt.Errorf("%s, byte %d: not an entry", file, offset))
		}
	}}
	last := after
	for line, err := range l.reader.Entries(ctx, options) {
		if err != nil || bad != nil || line.Seq > end {
			return errors.Join(err, bad)
		}
		if last = line.Seq; !yield(fleet.Stored{Chain: chain, Position: line.Seq, Line: line.Raw()}, nil) {
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if last < end && bad == nil && after < end {
		bad = damaged(fmt.Errorf("chain %s ends with entry %d, and entry %d was durable", chain.Name, last, end))
	}
	if last >= end {
		return nil // what follows is not durable yet, or was left by a crash
	}
	return bad
}

func damaged(err error) error {
	return candor.New(candor.CodeDataCorrupt, err.Error(), candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

// Pending returns the number of entries that are in the files but not known to be durable: the writer of their chain is running, or was
// killed and its chain is not recovered yet.
func (l *Ledger) Pending(ctx context.Context) (uint64, error) {
	names, err := l.reader.Chains()
	if err != nil {
		return 0, err
	}
	pending := uint64(0)
	for _, name := range names {
		end, ended, err := l.reader.Durable(name)
		if err != nil || ended {
			continue
		}
		for _, err := range l.reader.Entries(ctx, ledger.ReadOptions{Chain: name, From: end + 1}) {
			if err != nil {
				return pending, err
			}
			pending++
		}
	}
	return pending, nil
}

// pollEvery is how often Follow looks for entries.
const pollEvery = 200 * time.Millisecond

// Follow implements [Source].
func (l *Ledger) Follow(ctx context.Context) iter.Seq2[fleet.Stored, error] {
	seen := map[string]uint64{}
	names, err := l.reader.Chains()
	for _, name := range names {
		seen[name], _, _ = l.reader.Durable(name) // 0 if it cannot be read; then it is read from the start
	}
	return func(yield func(fleet.Stored, error) bool) {
		stopped := false
		pass := func(s fleet.Stored, err error) bool {
			stopped = !yield(s, err)
			return !stopped
		}
		for err == nil {
			if err = l.look(ctx, seen, pass); err != nil || stopped {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pollEvery):
			}
		}
		if !stopped && ctx.Err() == nil {
			yield(fleet.Stored{}, err)
		}
	}
}

// look passes the entries that have become durable since the last look.
func (l *Ledger) look(ctx context.Context, seen map[string]uint64, pass func(fleet.Stored, error) bool) error {
	names, err := l.reader.Chains()
	if err != nil {
		return err
	}
	for _, name := range names {
		end, _, err := l.reader.Durable(name)
		if err != nil || end <= seen[name] {
			continue // it was removed, or has nothing new
		}
		goOn := true
		err = l.read(ctx, fleet.Chain{Node: l.node, Name: name}, seen[name], end, func(s fleet.Stored, err error) bool {
			goOn = pass(s, err)
			return goOn
		})
		if err != nil || !goOn {
			return err
		}
		seen[name] = end
	}
	return nil
}
