package crashfs

import (
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
)

// Crash cuts the power and returns what is found on the disk afterwards. It does not change f, so one moment can be cut many times.
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

// survivingChanges keeps the first few, as a journal would, or any, as the standard allows.
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

// crasher copies the tree as the disk has it.
type crasher struct {
	rng   *rand.Rand
	names map[*node]map[string]*node // folders whose names differ from what is durable
	files map[*node]*node            // what was copied: a file may have two names for a while
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
	for _, name := range slices.Sorted(maps.Keys(entries)) { // in order, so that a seed gives the same survivor every time
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
		c.files[n] = &node{mode: n.mode, modified: n.modified, data: left, disk: left}
	}
	return c.files[n]
}

// Restart returns what the next process finds if this one is killed and the machine runs on: all that was written, whether it
// is on the disk or not, and no locks. Operations are counted on, and a planted fault stays.
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
	c.locked, c.failed, c.reserved = false, false, 0
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

// Sum is the same for two file systems that show the same names and bytes, within one process.
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
