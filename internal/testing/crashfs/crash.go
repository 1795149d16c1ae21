package crashfs

import (
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
)

// Crash simulates a power cut and returns the file system as found on the disk afterwards. It does not change f, so
// that one state can be crashed many times.
func (f *FS) Crash(rng *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crash(rng)
}

func (f *FS) crash(rng *rand.Rand) *FS {
	c := crasher{rng: rng, names: map[*node]map[string]*node{}, files: map[*node]*node{}}
	for _, change := range survivingChanges(f.pending, rng) {
		for _, r := range change.renames {
			r.apply(c.namesOf(r.folder))
		}
	}
	return &FS{root: c.copyFolder(f.root), limit: f.limit}
}

// survivingChanges returns the changes that survive: a prefix, as with a journal, or any subset, as POSIX allows.
func survivingChanges(pending []change, rng *rand.Rand) []change {
	kept := make([]change, 0, len(pending))
	journal, upTo, keep := rng.IntN(2) == 0, rng.IntN(len(pending)+1), keepChance(rng)
	for i, c := range pending {
		switch {
		case c.lying && rng.IntN(2) == 0:
		case !c.lying && journal && i >= upTo:
		case !c.lying && !journal && rng.Float64() >= keep:
		default:
			kept = append(kept, c)
		}
	}
	return kept
}

// crasher copies the tree as it is on the disk.
type crasher struct {
	rng   *rand.Rand
	names map[*node]map[string]*node // folders whose names differ from the durable ones
	files map[*node]*node            // files copied so far: a file may temporarily have two names
}

func (c *crasher) namesOf(folder *node) map[string]*node {
	if c.names[folder] == nil {
		c.names[folder] = maps.Clone(folder.durable)
	}
	return c.names[folder]
}

func (c *crasher) copyFolder(folder *node) *node {
	out := newFolder(folder.mode)
	out.modified = folder.modified
	entries, changed := c.names[folder]
	if !changed {
		entries = folder.durable
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) { // in order, so that a seed is reproducible
		n := entries[name]
		if n.isFolder() {
			n = c.copyFolder(n)
		} else {
			n = c.copyFile(n)
		}
		out.entries[name], out.durable[name] = n, n
	}
	return out
}

func (c *crasher) copyFile(n *node) *node {
	if c.files[n] == nil {
		left := n.survivor(c.rng)
		c.files[n] = &node{mode: n.mode, modified: n.modified, data: left, disk: left, reserved: n.reserved}
	}
	return c.files[n]
}

// Restart returns the file system that the next process finds if this one is killed and the machine keeps running:
// everything that was written, durable or not, and no locks. The count of operations continues, and a planted fault
// stays.
func (f *FS) Restart() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := map[*node]*node{}
	next := &FS{root: restarted(f.root, fresh), limit: f.limit, ops: f.ops, plan: f.plan}
	for _, c := range f.pending {
		moved := change{lying: c.lying}
		for _, r := range c.renames {
			moved.renames = append(moved.renames, rename{restarted(r.folder, fresh), r.name, restarted(r.to, fresh)})
		}
		next.pending = append(next.pending, moved)
	}
	return next
}

func restarted(n *node, fresh map[*node]*node) *node {
	if n == nil {
		return nil
	}
	if fresh[n] != nil {
		return fresh[n]
	}
	c := *n
	fresh[n] = &c
	c.locked, c.failed = false, false
	c.data, c.disk, c.sectors = slices.Clone(n.data), slices.Clone(n.disk), slices.Clone(n.sectors)
	if n.isFolder() {
		c.entries, c.durable = map[string]*node{}, map[string]*node{}
		for name, child := range n.entries {
			c.entries[name] = restarted(child, fresh)
		}
		for name, child := range n.durable {
			c.durable[name] = restarted(child, fresh)
		}
	}
	return fresh[n]
}

var sumSeed = maphash.MakeSeed()

// Sum returns a hash of all names and contents. Within one process, two file systems with the same names and contents
// have the same Sum.
func (f *FS) Sum() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(sumSeed)
	sumNode(&h, f.root)
	return h.Sum64()
}

func sumNode(h *maphash.Hash, n *node) {
	maphash.WriteComparable(h, len(n.data))
	_, _ = h.Write(n.data) // never fails
	maphash.WriteComparable(h, len(n.entries))
	for _, name := range slices.Sorted(maps.Keys(n.entries)) {
		maphash.WriteComparable(h, name)
		sumNode(h, n.entries[name])
	}
}
