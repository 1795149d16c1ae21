package failures

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/repeated"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

const (
	scanEvery = 2 * time.Second       // interval at which the folders of the chains are compared
	pause     = 20 * time.Millisecond // shortest interval between two looks, however often Wake is called
	clockSkew = time.Minute           // difference between the clocks of writers and this one
	chunkRows = 4096                  // rows of a transaction
)

// follower reads the lines that are written to a ledger. It belongs to the goroutine of Run.
type follower struct {
	store   *Store
	root    *os.Root // nil while there is no folder
	chains  map[string]*chain
	since   time.Time // older failures are not published
	scanned time.Time // when the folders were last compared
	first   bool      // nothing was read yet
}

// chain is a chain that is being read.
type chain struct {
	id       int64
	path     string
	lines    *segment.Stream
	oldest   uint64    // number of the first entry that the ledger has
	modified time.Time // of the folder, when it was last compared
	ending   bool      // the writer has exited
	ended    bool      // all lines were read, and no more will be written
}

// begin returns the part of the name that has the time when the chain began.
func (c *chain) begin() string {
	return c.path[max(0, len(c.path)-len("20261115T040506789Z-0123abcd")):]
}

// Run reads the ledger, newest chains first, and then follows it until the context ends. It returns an error only if it
// was called before.
func (s *Store) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("the ledger is being read already")
	}
	f := &follower{store: s, chains: map[string]*chain{}, since: time.Now().Add(-clockSkew), first: true}
	defer f.close()
	for ctx.Err() == nil {
		err := f.look(ctx)
		if f.first && ctx.Err() == nil {
			f.first = false
			close(s.ready)
		}
		s.note(err)
		s.wait(ctx)
	}
	return nil
}

// wait waits until the next look at the ledger.
func (s *Store) wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.wake:
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	case <-time.After(s.options.Poll):
	}
}

// look reads what was written since the last look.
func (f *follower) look(ctx context.Context) error {
	if err := f.open(); err != nil || f.root == nil {
		return err
	}
	fsys := f.root.FS()
	const perChain = 2 * time.Millisecond // with many chains folders are compared less often
	scan := time.Since(f.scanned) > scanEvery+time.Duration(len(f.chains))*perChain
	if scan {
		f.scanned = time.Now()
	}
	err := f.findChains(fsys)
	var growing []*chain
	for _, c := range f.chains {
		if scan {
			err = errors.Join(err, f.compare(fsys, c))
		}
		if !c.ended {
			growing = append(growing, c)
		}
	}
	slices.SortFunc(growing, func(a, b *chain) int { return cmp.Compare(b.begin(), a.begin()) }) // newest first
	return errors.Join(err, f.readAll(ctx, growing))
}

// open opens the folder of the ledger. If it was removed or replaced, all that was read is forgotten.
func (f *follower) open() error {
	now, err := os.Stat(f.store.dir)
	if f.root != nil {
		before, opened := f.root.Stat(".")
		if err == nil && opened == nil && os.SameFile(now, before) {
			return nil
		}
		f.close()
		if err := f.forget(func(string) bool { return true }); err != nil {
			return err
		}
	}
	if err == nil {
		f.root, err = os.OpenRoot(f.store.dir)
	}
	return durable.IgnoreMissing(err)
}

func (f *follower) close() {
	for _, c := range f.chains {
		_ = c.lines.Close() // only read
	}
	if f.root != nil {
		_ = f.root.Close() // only read
		f.root = nil
	}
}

// findChains adds new chains, and forgets those that were removed.
func (f *follower) findChains(fsys fs.FS) error {
	found, err := f.store.chainPaths(fsys)
	if err != nil {
		return err
	}
	for _, name := range found {
		if f.chains[name] != nil {
			continue
		}
		id, err := f.store.db.addChain(name)
		if err != nil {
			return err
		}
		f.chains[name] = &chain{id: id, path: name, lines: segment.NewStream(fsys, name)}
	}
	return f.forget(func(name string) bool { return !slices.Contains(found, name) })
}

// chainPaths returns the paths of the chains.
func (s *Store) chainPaths(fsys fs.FS) ([]string, error) {
	if !s.options.Nodes {
		return segment.Chains(fsys)
	}
	nodes, err := fs.ReadDir(fsys, ".")
	var paths []string
	for _, node := range nodes {
		if !node.IsDir() || !fleet.ValidNode(node.Name()) {
			continue
		}
		below, subErr := fs.Sub(fsys, node.Name())
		if subErr == nil {
			var found []string
			found, subErr = segment.Chains(below)
			for _, name := range found {
				paths = append(paths, path.Join(node.Name(), name))
			}
		}
		err = cmp.Or(err, durable.IgnoreMissing(subErr))
	}
	return paths, err
}

// forget removes chains from the index.
func (f *follower) forget(gone func(name string) bool) error {
	var errs []error
	maps.DeleteFunc(f.chains, func(name string, c *chain) bool {
		if !gone(name) {
			return false
		}
		errs = append(errs, c.lines.Close(), f.store.remove(c.id, math.MaxInt64))
		return true
	})
	return errors.Join(errs...)
}

// compare looks at the folder of a chain if it was changed: it removes the failures of segments that the ledger has no
// more, and notes that the writer has exited.
func (f *follower) compare(fsys fs.FS, c *chain) error {
	info, err := fs.Stat(fsys, c.path)
	if err != nil || c.modified.Equal(info.ModTime()) {
		return durable.IgnoreMissing(err)
	}
	if c.modified = info.ModTime(); time.Since(c.modified) < scanEvery {
		c.modified = time.Time{} // another change may have the same time
	}
	if !c.ending {
		_, err := fs.Stat(fsys, c.path+"/"+format.EndFile)
		c.ending = err == nil
	}
	oldest, err := c.firstEntry(fsys)
	if err != nil || oldest <= c.oldest {
		return durable.IgnoreMissing(err)
	}
	c.oldest = oldest
	return f.store.remove(c.id, int64(oldest)) //nolint:gosec // 18 digits
}

// firstEntry returns the number of the first entry that the ledger has of a chain. If it has none, the number is 0, or
// the largest one if none will be written.
func (c *chain) firstEntry(fsys fs.FS) (uint64, error) {
	below, err := fs.Sub(fsys, path.Dir(c.path))
	if err != nil {
		return 0, err
	}
	r := ledger.NewReader(below)
	for l, err := range r.Entries(context.Background(), ledger.ReadOptions{Chain: path.Base(c.path)}) {
		if err != nil {
			return 0, err
		}
		return l.Seq, nil
	}
	if c.ended {
		return math.MaxInt64, nil
	}
	return 0, nil
}

// chunk is a part of what was read from a chain.
type chunk struct {
	chain   *chain
	rows    []Failure
	repeats []repeat
	skipped int64
	err     error
}

// repeat is an entry that records again what a server recorded under a ref.
type repeat struct {
	ref string
	seq uint64
}

// readAll reads several chains at once, and adds to the index what they have.
func (f *follower) readAll(ctx context.Context, list []*chain) error {
	next, parsed := make(chan *chain), make(chan chunk)
	var readers sync.WaitGroup
	for range max(1, min(4, runtime.GOMAXPROCS(0), len(list))) {
		readers.Go(func() {
			for c := range next {
				c.read(ctx, parsed)
			}
		})
	}
	go func() {
		for _, c := range list {
			next <- c
		}
		close(next)
		readers.Wait()
		close(parsed)
	}()
	var errs []error
	for x := range parsed {
		if err := f.take(&x); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// read sends the lines of a chain that were not read yet.
func (c *chain) read(ctx context.Context, to chan<- chunk) {
	x := chunk{chain: c}
	name := nameOf(c.path)
	for x.err == nil && !c.ended {
		raw, err := c.lines.Next()
		switch {
		case errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrTorn):
			x.skipped++
			x.err = c.lines.Abandon() // the rest of the segment cannot be read
			continue
		case errors.Is(err, io.EOF) && !c.ending, errors.Is(err, fs.ErrNotExist): // a chain that was removed is forgotten at the next look
			to <- x
			return
		case errors.Is(err, io.EOF):
			c.ended = true
			continue
		case err != nil:
			x.err = err
			continue
		}
		line, err := ledger.ParseLine(raw.Bytes)
		if err != nil || !line.In(name) {
			x.skipped++
			continue
		}
		c.ended = line.Kind == ledger.KindCheckpoint && bytes.Contains(raw.Bytes, []byte(`"closed":true`))
		if line.Kind == ledger.KindFailure {
			x.rows = append(x.rows, ofLine(&line, c.path))
		}
		if ref := repeated.Ref(&line); ref != "" { // a failed attempt has one, too
			x.repeats = append(x.repeats, repeat{ref, line.Seq})
		}
		if len(x.rows) == chunkRows {
			to <- x
			x = chunk{chain: c, err: ctx.Err()}
		}
	}
	if c.ended {
		x.err = errors.Join(x.err, c.lines.Close())
	}
	to <- x
}

// take adds what was read to the index, and passes new failures on to the subscribers.
func (f *follower) take(x *chunk) error {
	s := f.store
	s.skipped.Add(x.skipped)
	if len(x.rows) == 0 && len(x.repeats) == 0 {
		return x.err
	}
	err := s.db.write(func() error {
		for _, r := range x.repeats {
			if err := s.db.repeat(x.chain.id, r); err != nil {
				return err
			}
		}
		for i := range x.rows {
			if err := s.db.insert(x.chain.id, &x.rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return errors.Join(x.err, err)
	}
	s.failures.Add(int64(len(x.rows)))
	if f.first || !s.hub.listening() {
		return x.err
	}
	for i := range x.rows {
		if row := &x.rows[i]; !row.Time.Before(f.since) {
			s.hub.publish(row)
		}
		if i%(queued/4) == queued/4-1 { // let subscribers empty their queues during a burst
			time.Sleep(time.Millisecond)
		}
	}
	return x.err
}

// remove removes the failures of a chain before an entry from the index.
func (s *Store) remove(chain, before int64) error {
	n, err := s.db.remove(chain, before)
	s.failures.Add(-n)
	return err
}
