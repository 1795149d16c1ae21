package crashfs

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"
)

// Sector is the unit in which a disk writes. A power cut can tear a sector at worst.
const Sector = 512

// state is how certain it is that a sector is on the disk.
type state uint8

const (
	clean state = iota
	dirty       // written since the last Sync
	lying       // a Sync of it failed: the cache considers it clean, but it may not be on the disk
)

// node is a file or a folder. The file system's lock guards it.
type node struct {
	mode     fs.FileMode
	modified time.Time

	// fields of a file
	data     []byte  // the content that readers see
	disk     []byte  // the content that is certainly on the disk
	sectors  []state // states of the sectors of data; sectors beyond the end are clean
	reserved int64   // allocated bytes, counted against the limit
	locked   bool
	failed   bool // a Sync of it has failed in this process

	// fields of a folder
	entries map[string]*node // the names that readers see
	durable map[string]*node // the names that are certainly on the disk
}

func newFolder(mode fs.FileMode) *node {
	return &node{mode: mode | fs.ModeDir, entries: map[string]*node{}, durable: map[string]*node{}}
}

func (n *node) isFolder() bool { return n.entries != nil }

// space returns the bytes of the node that count against the limit.
func (n *node) space() int64 { return max(int64(len(n.data)), n.reserved) }

func (n *node) append(p []byte) {
	from := len(n.data)
	n.data = append(n.data, p...)
	n.touch(from, len(n.data))
}

// touch marks the sectors of [from, to) as dirty.
func (n *node) touch(from, to int) {
	for i := from / Sector; i*Sector < to; i++ {
		for len(n.sectors) <= i {
			n.sectors = append(n.sectors, clean)
		}
		n.sectors[i] = dirty
	}
}

// sync writes the dirty sectors to the disk. Sectors of a failed Sync are no longer dirty and are not written.
func (n *node) sync() {
	if more := len(n.data) - len(n.disk); more >= 0 {
		n.disk = append(n.disk, make([]byte, more)...)
	} else {
		n.disk = n.disk[:len(n.data):len(n.data)]
	}
	for i, s := range n.sectors {
		if s == dirty {
			copySector(n.disk, n.data, i)
			n.sectors[i] = clean
		}
	}
}

// failSync does what Linux does when writing back fails: the pages are marked clean, and the next Sync succeeds.
func (n *node) failSync() {
	n.failed = true
	for i, s := range n.sectors {
		if s == dirty {
			n.sectors[i] = lying
		}
	}
}

// poisoned reports whether the file still holds data of a failed Sync. A process that continues to use it wrongly
// trusts the cache.
func (n *node) poisoned() bool { return n.failed && slices.Contains(n.sectors, lying) }

func (n *node) truncate(size int) {
	if size > len(n.data) {
		n.append(make([]byte, size-len(n.data)))
		return
	}
	n.data = n.data[:size:size] // the following bytes may be shared with a copy
	n.reserved = 0
	n.sectors = n.sectors[:min(len(n.sectors), sectorsOf(size))]
	// The remaining part of the last sector is clean if it was on the disk before the failed bytes were written after
	// it.
	if start := size / Sector * Sector; start < size && len(n.sectors) == sectorsOf(size) && len(n.disk) >= size && bytes.Equal(n.data[start:size], n.disk[start:size]) {
		n.sectors[len(n.sectors)-1] = clean
	}
}

// survivor returns the content of the file after a power cut.
func (n *node) survivor(rng *rand.Rand) []byte {
	size := survivingSize(len(n.disk), len(n.data), rng)
	left := n.resized(size)
	keep, torn := keepChance(rng), rng.IntN(4) == 0
	for i, s := range n.sectors {
		switch {
		case s == clean || i*Sector >= size || rng.Float64() >= keep:
		case torn && i == len(n.sectors)-1:
			tearSector(left, n.data, i, rng)
		default:
			copySector(left, n.data, i)
		}
	}
	return left
}

// survivingSize returns the old size, the new one, or one in between: the size is written independently of the data.
func survivingSize(before, after int, rng *rand.Rand) int {
	low, high := min(before, after), max(before, after)
	switch {
	case low == high || rng.IntN(4) == 0:
		return before
	case rng.IntN(2) == 0:
		return after
	case after < before: // a truncation happens completely or not at all
		return before
	default:
		return low + rng.IntN(high-low+1)
	}
}

// keepChance makes extreme cases as likely as average ones: none kept, few, half, most, all.
func keepChance(rng *rand.Rand) float64 {
	return [...]float64{0, 0.1, 0.5, 0.9, 1}[rng.IntN(5)]
}

// resized returns a copy of the content on the disk, truncated or extended with zeros.
func (n *node) resized(size int) []byte {
	out := make([]byte, size)
	copy(out, n.disk)
	return out
}

func copySector(to, from []byte, i int) {
	end := min((i+1)*Sector, len(to), len(from))
	if start := i * Sector; start < end {
		copy(to[start:end], from[start:end])
	}
}

// tearSector writes only the first bytes of a sector to the disk. Disks promise not to do this, but the tests do not
// rely on it for the last sector of a file.
func tearSector(to, from []byte, i int, rng *rand.Rand) {
	end := min(i*Sector+rng.IntN(Sector), len(to), len(from))
	if start := i * Sector; start < end {
		copy(to[start:end], from[start:end])
	}
}

func sectorsOf(size int) int { return (size + Sector - 1) / Sector }
