package copier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// Mirror copies all entries and then those that are added, until the context ends, which is no error. It calls caughtUp, if not nil, when
// the destination has all entries that the source had at the start. Errors are passed to [Options.Problem] and tried again; a chain
// that differs is not copied any further.
func Mirror(ctx context.Context, source Source, to fleet.Store, o Options, caughtUp func(Result)) error {
	pause := firstPause
	for {
		m := &mirror{copier: newCopier(source, to, o), heads: map[fleet.Chain]fleet.Head{}, bad: map[fleet.Chain]bool{}, caughtUp: caughtUp}
		err := m.run(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was asked to end
		}
		if m.done {
			caughtUp, pause = nil, firstPause
		}
		if err != nil && !temporary(err) && !m.done {
			return err
		}
		if o.Problem != nil {
			o.Problem(fmt.Errorf("following the source: %w; trying again", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

const maxPause = 10 * time.Second

// mirror is one connection to the source.
type mirror struct {
	*copier
	heads    map[fleet.Chain]fleet.Head // of the destination, by chain of the source
	bad      map[fleet.Chain]bool       // chains with a problem
	caughtUp func(Result)
	done     bool // caughtUp was called
}

// arrived is a line that the source has passed on.
type arrived struct {
	chain fleet.Chain
	line  []byte
	err   error
}

// errFollowEnded means that the source has ended its sequence although the context goes on.
var errFollowEnded = errors.New("the source has ended the sequence")

func (m *mirror) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	followed := m.source.Follow(ctx) // before copying, so that no line is missed between
	if err := m.all(ctx); err != nil {
		return err
	}
	m.done = true
	if m.caughtUp != nil {
		m.caughtUp(m.outcome())
	}
	lines := make(chan arrived, batchLines)
	go func() {
		defer close(lines)
		for stored, err := range followed {
			if err == nil && !m.wanted(stored.Chain) {
				continue
			}
			select {
			case lines <- arrived{stored.Chain, bytes.Clone(stored.Line), err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for first := range lines {
		if err := m.take(ctx, first, lines); err != nil {
			return err
		}
	}
	return errFollowEnded
}

// take appends a line and those that have arrived since, one batch per chain.
func (m *mirror) take(ctx context.Context, first arrived, lines <-chan arrived) error {
	batches, size := map[fleet.Chain][][]byte{}, 0
	for next, more := first, true; more; {
		if next.err != nil {
			return next.err
		}
		batches[next.chain] = append(batches[next.chain], next.line)
		if size += len(next.line); size >= batchBytes {
			break
		}
		select {
		case next, more = <-lines:
		default:
			more = false
		}
	}
	for chain, batch := range batches {
		if err := m.extend(ctx, chain, batch); err != nil {
			return err
		}
	}
	return nil
}

// extend appends lines to a chain. If they do not continue what the destination has, it copies the chain, which finds out why.
func (m *mirror) extend(ctx context.Context, chain fleet.Chain, lines [][]byte) error {
	if m.bad[chain] {
		return nil
	}
	head, known := m.heads[chain]
	for len(lines) > 0 && known {
		entry, err := ledger.ParseLine(lines[0])
		if err != nil || entry.Seq > head.Seq {
			break
		}
		lines = lines[1:] // copied before it arrived here
	}
	if known && len(lines) == 0 {
		return nil
	}
	if known && head != (fleet.Head{}) {
		next, err := fleet.CheckLines(chain, head, lines)
		if err == nil {
			err = m.to.Append(ctx, m.target(chain), head, lines)
		}
		if err == nil {
			m.heads[chain] = next
			m.count(lines)
			return nil
		}
	}
	return m.again(ctx, chain)
}

func (m *mirror) count(lines [][]byte) {
	size := int64(0)
	for _, line := range lines {
		size += int64(len(line))
	}
	m.report(func(p *Progress) {
		p.Entries += uint64(len(lines))
		p.Copied += uint64(len(lines))
		p.Bytes += size
	})
}

// again copies a chain from the source itself.
func (m *mirror) again(ctx context.Context, chain fleet.Chain) error {
	head, err := m.copyChain(ctx, chain)
	var found *Problem
	if errors.As(err, &found) {
		m.bad[chain] = true
		if m.Problem != nil {
			m.Problem(found)
		}
		return nil
	}
	m.heads[chain] = head
	return err
}
