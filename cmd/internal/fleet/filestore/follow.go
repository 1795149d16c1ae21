package filestore

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// pollEvery is how often Follow looks for lines that other processes have appended.
const pollEvery = 200 * time.Millisecond

// Follow implements [fleet.Store]. It looks at the files again and again: other processes write them.
func (s *Store) Follow(ctx context.Context) iter.Seq2[fleet.Stored, error] {
	f := &follower{store: s, ctx: ctx, chains: map[fleet.Chain]*followed{}}
	err := f.start()
	return func(yield func(fleet.Stored, error) bool) {
		for ; err == nil; err = f.wait() {
			var goOn bool
			if goOn, err = f.look(yield); !goOn {
				break
			}
		}
		if err != nil && ctx.Err() == nil {
			yield(fleet.Stored{}, failed("following the chains", fleet.Chain{}, err))
		}
	}
}

// follower has the position in every chain up to which lines were returned.
type follower struct {
	store   *Store
	ctx     context.Context //nolint:containedctx // of one call of Follow
	changed <-chan struct{}
	chains  map[fleet.Chain]*followed
}

type followed struct {
	at   cursor
	seen os.FileInfo // the active segment when it was last read
}

// start notes the present end of every chain.
func (f *follower) start() error {
	f.changed = f.store.changes()
	chains, err := f.list()
	if err != nil {
		return err
	}
	root, err := f.store.folder(false)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, chain := range chains {
		state := &followed{}
		end := &chainReader{ctx: f.ctx, done: f.store.done, root: root, chain: chain}
		if err := end.toEnd(&state.at); err != nil {
			return err
		}
		state.seen = state.at.file
		f.chains[chain] = state
	}
	return nil
}

// list returns the chains. A store that does not exist yet has none.
func (f *follower) list() ([]fleet.Chain, error) {
	chains, err := f.store.Chains(f.ctx)
	return chains, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// toEnd moves a cursor to the end of a chain without passing lines.
func (r *chainReader) toEnd(at *cursor) error {
	files, err := segments(r.root, r.chain)
	if err != nil {
		return err
	}
	if n := len(files.closed); n > 0 && files.active != nil { // only the last segment is counted
		at.closed = files.closed[n-1].number
	}
	r.yield = func(fleet.Stored, error) bool { return true }
	return r.read(at)
}

// look passes the lines that were appended since the last look. It reports whether to go on.
func (f *follower) look(yield func(fleet.Stored, error) bool) (bool, error) {
	f.changed = f.store.changes() // before reading, so that no change is missed
	chains, err := f.list()
	if err != nil {
		return true, err
	}
	root, err := f.store.folder(false)
	if err != nil {
		return true, ignoreMissing(err)
	}
	for _, chain := range chains {
		state := f.chains[chain]
		if state == nil {
			state = &followed{}
			f.chains[chain] = state
		}
		now, err := root.Stat(activeName(chain))
		if err == nil && state.seen != nil && os.SameFile(now, state.seen) && now.Size() == state.at.offset {
			continue
		}
		r := &chainReader{ctx: f.ctx, done: f.store.done, root: root, chain: chain, yield: yield}
		if err := r.read(&state.at); err != nil || r.stopped {
			return false, err
		}
		state.seen = state.at.file
	}
	return true, nil
}

// wait waits for a change. It returns an error when the context ends or the store is closed.
func (f *follower) wait() error {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-f.changed:
		return nil
	case <-timer.C:
		return nil
	case <-f.ctx.Done():
		return f.ctx.Err()
	case <-f.store.done:
		return errClosed
	}
}

// changes returns a channel that is closed by the next Append of this process.
func (s *Store) changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}
