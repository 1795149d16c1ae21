package failures

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

const (
	scanEvery = 2 * time.Second       // interval at which all folders are compared
	pause     = 20 * time.Millisecond // shortest interval between two looks, however often Wake is called
	clockSkew = time.Minute           // difference between the clocks of writers and this one
	idleTurn  = 256                   // chains without recent changes that one look covers
)

// Run reads the ledger, newest segments first, and then follows it until the context ends. It returns an error only if
// it was called before.
func (s *Store) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("the ledger is being read already")
	}
	f := &follower{store: s, chains: map[string]*chain{}, since: time.Now().Add(-clockSkew)}
	var background sync.WaitGroup
	defer background.Wait()
	first := func(root *os.Root) { f.first(ctx, root, &background) }
	for ctx.Err() == nil {
		root, err := os.OpenRoot(s.dir)
		switch {
		case err == nil && first != nil:
			first(root)
			first = nil
		case err == nil:
			err = errors.Join(f.look(ctx, root.FS()), root.Close())
		case errors.Is(err, fs.ErrNotExist):
			err = nil
			if first != nil {
				close(s.ready) // there is nothing to read
			}
			first = nil
			f.forget()
		}
		s.note(err)
		f.keep()
		s.wait(ctx)
	}
	background.Wait()
	f.save(minSaved)
	return nil
}

// keep saves the index after the first read, and when much was read since.
func (f *follower) keep() {
	select {
	case <-f.store.ready:
	default:
		return
	}
	if !f.compared {
		f.compared = true
		f.compareAll()
		f.save(minSaved)
	} else if time.Since(f.saved) > saveEvery {
		f.save(moreSaved)
	}
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

// task is a file to read in the background.
type task struct {
	chain string
	file  file
}

// first reads the chains that may still be written, and starts to read all others in the background, which closes root.
func (f *follower) first(ctx context.Context, root *os.Root, background *sync.WaitGroup) {
	s, fsys := f.store, root.FS()
	cached := s.load()
	var tasks []task
	var open []*chain
	names, err := s.chainNames(fsys)
	for _, name := range names {
		c := &chain{name: name}
		l, err := f.list(fsys, c)
		if err != nil {
			continue // the next scan finds it
		}
		f.chains[name], c.closed, c.ended = c, l.last(), l.ended
		for i := range l.closed {
			tasks = append(tasks, task{name, l.closed[i]})
			s.size.Add(l.closed[i].info.Size())
		}
		if l.active != nil {
			s.size.Add(l.active.info.Size())
		}
		if l.active != nil && !l.ended {
			open = append(open, c)
		} else if l.active != nil {
			tasks = append(tasks, task{name, *l.active})
		}
	}
	f.scanned = time.Now()
	s.note(err)
	for _, c := range open {
		if ctx.Err() != nil {
			break
		}
		f.resume(fsys, c, cached)
		s.note(f.readOn(fsys, c, false))
		if c.active != nil {
			s.read.Add(c.active.end)
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return b.file.info.ModTime().Compare(a.file.info.ModTime()) })
	background.Go(func() {
		defer root.Close() //nolint:errcheck // only read
		s.readAll(ctx, fsys, tasks, cached)
		if ctx.Err() == nil {
			close(s.ready)
		}
	})
}

// readAll reads closed files on several goroutines.
func (s *Store) readAll(ctx context.Context, fsys fs.FS, tasks []task, cached *cache) {
	next := make(chan task)
	var workers sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0), len(tasks)) {
		workers.Go(func() {
			for t := range next {
				if ctx.Err() == nil {
					s.readTask(fsys, t, cached)
				}
			}
		})
	}
	for _, t := range tasks {
		next <- t
	}
	close(next)
	workers.Wait()
}

// readTask adds a file to the index, from the cache if that has it.
func (s *Store) readTask(fsys fs.FS, t task, cached *cache) {
	if seg := cached.take(t.chain, &t.file); seg != nil {
		s.read.Add(t.file.info.Size())
		s.index.skipped.Add(seg.skipped)
		s.index.add(seg, nil)
		return
	}
	const attempts = 3 // it may be compressed between listing and opening
	for range attempts {
		err := s.readWhole(fsys, t)
		if err == nil {
			return
		}
		l, listErr := listChain(fsys, t.chain)
		i := slices.IndexFunc(l.closed, func(f file) bool { return f.number == t.file.number })
		if listErr != nil || i < 0 {
			s.note(cmp.Or(listErr, err))
			return
		}
		t.file = l.closed[i]
	}
}

// readWhole reads a file and adds it to the index.
func (s *Store) readWhole(fsys fs.FS, t task) error {
	l, err := openLines(fsys, &t.file, readBuffer, &s.read)
	if err != nil {
		return err
	}
	defer l.close()
	seg, own := &segment{chain: t.chain, number: t.file.number, source: stampOf(&t.file)}, newGroups()
	if seg.rows, err = seg.read(l, own, nil); err != nil {
		return err
	}
	s.index.skipped.Add(seg.skipped)
	s.index.add(seg, own)
	return nil
}

// chainNames returns the paths of the chains.
func (s *Store) chainNames(fsys fs.FS) ([]string, error) {
	if !s.options.Nodes {
		return chainsIn(fsys, ".")
	}
	nodes, err := fs.ReadDir(fsys, ".")
	var names []string
	for _, node := range nodes {
		if !node.IsDir() || !fleet.ValidNode(node.Name()) {
			continue
		}
		found, nodeErr := chainsIn(fsys, node.Name())
		names, err = append(names, found...), cmp.Or(err, ignoreMissing(nodeErr))
	}
	return names, err
}

// chainsIn returns the paths of the chains of one ledger.
func chainsIn(fsys fs.FS, dir string) ([]string, error) {
	items, err := fs.ReadDir(fsys, dir)
	var names []string
	for _, item := range items {
		if item.IsDir() && isChain(item.Name()) {
			names = append(names, path.Join(dir, item.Name()))
		}
	}
	return names, err
}

// list lists the files of a chain and notes when its folder was changed.
func (f *follower) list(fsys fs.FS, c *chain) (listing, error) {
	info, err := fs.Stat(fsys, c.name)
	if err != nil {
		return listing{}, err
	}
	c.modified = settled(info)
	return listChain(fsys, c.name)
}

// settled returns the modification time of a folder, or the zero time if it changed so recently that another change may
// have the same time.
func settled(info fs.FileInfo) time.Time {
	if time.Since(info.ModTime()) < scanEvery {
		return time.Time{}
	}
	return info.ModTime()
}
