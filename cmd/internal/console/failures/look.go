package failures

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// compareAll makes the next scan compare all chains with their folders: a segment may have been removed while it was
// read in the background.
func (f *follower) compareAll() {
	for _, c := range f.chains {
		c.modified = time.Time{}
	}
}

// look reads what was written since the last look.
func (f *follower) look(ctx context.Context, fsys fs.FS) error {
	var errs []error
	changed, err := f.lastChange(fsys)
	if err != nil {
		return err
	}
	if changed.IsZero() || !changed.Equal(f.folder) || f.scanDue() {
		f.folder = changed
		errs = append(errs, f.scan(fsys))
	}
	for _, c := range f.due() {
		if ctx.Err() != nil {
			return nil
		}
		info, err := fs.Stat(fsys, c.name+"/"+activeName)
		if err == nil && c.unchanged(info) || errors.Is(err, fs.ErrNotExist) && c.active == nil {
			continue
		}
		errs = append(errs, f.readOn(fsys, c, true))
	}
	return errors.Join(errs...)
}

// lastChange returns when a chain was last added or removed, or the zero time if that was just now.
func (f *follower) lastChange(fsys fs.FS) (last time.Time, err error) {
	folders := map[string]bool{".": true}
	for name := range f.chains {
		if node := nodeOf(name); node != "" {
			folders[node] = true
		}
	}
	for name := range folders {
		info, err := fs.Stat(fsys, name)
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			return time.Time{}, nil
		}
		if err != nil {
			return time.Time{}, err
		}
		at := settled(info)
		if at.IsZero() {
			return at, nil
		}
		if at.After(last) {
			last = at
		}
	}
	return last, nil
}

// scanDue reports whether all folders are to be compared. With many chains that is done less often.
func (f *follower) scanDue() bool {
	const perChain = 2 * time.Millisecond
	return time.Since(f.scanned) > scanEvery+time.Duration(len(f.chains))*perChain
}

// due returns the chains to look at: those that are being written, and up to idleTurn of those that have been idle for a
// minute, in turns. Only a ledger with many killed writers has more.
func (f *follower) due() []*chain {
	var due, idle []*chain
	for _, c := range f.chains {
		switch {
		case c.ended:
		case c.info == nil || time.Since(c.info.ModTime()) < time.Minute:
			due = append(due, c)
		default:
			idle = append(idle, c)
		}
	}
	if len(idle) > idleTurn {
		slices.SortFunc(idle, func(a, b *chain) int { return cmp.Compare(a.name, b.name) })
		f.turn %= len(idle)
		idle = append(idle[f.turn:], idle[:f.turn]...)[:idleTurn]
		f.turn += idleTurn
	}
	return append(due, idle...)
}

// scan finds new chains, and chains and segments that were removed.
func (f *follower) scan(fsys fs.FS) error {
	names, err := f.store.chainNames(fsys)
	if err != nil {
		return err
	}
	all := f.scanDue()
	if all {
		f.scanned = time.Now()
	}
	there := map[string]bool{}
	var errs []error
	for _, name := range names {
		there[name] = true
		c, known := f.chains[name]
		if !known {
			c = &chain{name: name}
			f.chains[name] = c
			errs = append(errs, f.readOn(fsys, c, true))
		} else if all {
			errs = append(errs, f.compare(fsys, c))
		}
	}
	maps.DeleteFunc(f.chains, func(name string, _ *chain) bool { return !there[name] })
	f.store.index.remove(func(s *segment) bool { return !there[s.chain] })
	return errors.Join(errs...)
}

// compare removes the segments of a chain whose files were removed, and reads those that could not be read before.
func (f *follower) compare(fsys fs.FS, c *chain) error {
	info, err := fs.Stat(fsys, c.name)
	if err != nil || !c.modified.IsZero() && c.modified.Equal(info.ModTime()) {
		return err
	}
	l, err := f.list(fsys, c)
	if err != nil {
		return err
	}
	if !c.ended {
		if err := f.readOn(fsys, c, true); err != nil {
			return err
		}
	}
	// A list that is read while a segment is being compressed may miss both of its names, so a segment must be missing
	// twice.
	again, err := listChain(fsys, c.name)
	if err != nil {
		return err
	}
	read := map[int]bool{}
	f.store.index.remove(func(s *segment) bool {
		if s.chain == c.name {
			read[s.number] = true
		}
		return s.chain == c.name && !l.has(s) && !again.has(s)
	})
	for i := range again.closed {
		if file := again.closed[i]; f.compared && file.number <= c.closed && !read[file.number] {
			f.store.readTask(fsys, task{c.name, file}, nil)
		}
	}
	return nil
}

// has reports whether the file of a segment is there.
func (l *listing) has(s *segment) bool {
	if s.number == 0 {
		return l.active != nil
	}
	return slices.ContainsFunc(l.closed, func(f file) bool { return f.number == s.number })
}

// forget removes all from the index because the ledger's folder does not exist.
func (f *follower) forget() {
	if len(f.chains) > 0 {
		clear(f.chains)
		f.store.index.remove(func(*segment) bool { return true })
	}
}
