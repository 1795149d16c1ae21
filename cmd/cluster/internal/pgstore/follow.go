package pgstore

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// pollEvery is the time between two questions for new lines. NOTIFY is not used: it makes all appends of a database commit one after the other,
// and any role that listens and never reads could fill the queue of notifications, after which appends fail.
const pollEvery = 200 * time.Millisecond

// followed is how far the chains have been read.
type followed struct {
	at     map[fleet.Chain]uint64
	since  int64  // argument of candor.changed
	server string // that since belongs to
}

// Follow asks the server again and again which chains have changed. It continues after an interruption of the connection, also on another
// server that has taken over.
func (s *store) Follow(ctx context.Context) iter.Seq2[fleet.Stored, error] {
	state := &followed{at: map[fleet.Chain]uint64{}}
	_, err := s.changedChains(ctx, state)
	return func(yield func(fleet.Stored, error) bool) {
		if err != nil {
			if ctx.Err() == nil {
				yield(fleet.Stored{}, err)
			}
			return
		}
		s.poll(ctx, state, yield)
	}
}

func (s *store) poll(ctx context.Context, state *followed, yield func(fleet.Stored, error) bool) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	failing := false
	for {
		err := s.yieldNew(ctx, state, yield)
		switch {
		case errors.Is(err, errStopped), ctx.Err() != nil:
			return
		case err != nil && (s.closed.Load() || !isTemporary(err)):
			yield(fleet.Stored{}, err)
			return
		case err != nil && !failing:
			s.log.Warn("following PostgreSQL is interrupted", slog.Any("error", err))
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// errStopped means that the caller of an iterator wants no more lines.
var errStopped = errors.New("stopped")

// isTemporary reports whether the same call may succeed later.
func isTemporary(err error) bool {
	var known *candor.Error
	return errors.As(err, &known) && (known.Class() == candor.ClassUnavailable || known.Class() == candor.ClassTimeout)
}

// yieldNew yields the lines that were stored since the last call.
func (s *store) yieldNew(ctx context.Context, state *followed, yield func(fleet.Stored, error) bool) error {
	before := *state
	ends, err := s.changedChains(ctx, state)
	if err != nil {
		state.since = 0 // the next connection may be to another server
		return err
	}
	for chain, end := range ends {
		var failed error
		at, ok := s.readThrough(ctx, chain, state.at[chain], end, func(stored fleet.Stored, err error) bool {
			failed = err
			return err == nil && yield(stored, nil)
		})
		state.at[chain] = at
		if failed != nil {
			state.since = before.since
			return failed
		}
		if !ok {
			return errStopped
		}
	}
	return nil
}

// changedChains returns the chains that have lines that were not read yet, and the position of their last line. The first call, with an empty
// state, only records where the chains end.
func (s *store) changedChains(ctx context.Context, state *followed) (map[fleet.Chain]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	rows, err := s.pool.Query(ctx, "SELECT next_since, server_start, node, name, position FROM candor.changed($1)", state.since)
	if err != nil {
		return nil, storeError(err)
	}
	defer rows.Close()
	first := state.server == ""
	ends := map[fleet.Chain]uint64{}
	var since int64
	var server string
	for rows.Next() {
		var node, name *string
		var end *uint64
		if err := rows.Scan(&since, &server, &node, &name, &end); err != nil {
			return nil, storeError(err)
		}
		if node == nil || name == nil || end == nil {
			continue // the row without a chain
		}
		chain := fleet.Chain{Node: *node, Name: *name}
		if first {
			state.at[chain] = *end
		} else if *end > state.at[chain] {
			ends[chain] = *end
		}
	}
	if err := rows.Err(); err != nil {
		return nil, storeError(err)
	}
	if !first && server != state.server {
		since = 0 // numbers of transactions on another server say nothing about this one: ask for all chains next time
	}
	state.since, state.server = since, server
	return ends, nil
}
