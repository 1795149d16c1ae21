package crashfs

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"
)

// Sector is what a disk writes as a whole, or tears in the middle at worst.
const Sector = 512

// state says how much of a sector the disk is sure to have.
type state uint8

const (
	clean state = iota
	dirty       // written since the last Sync
	lying       // a Sync of it failed: the cache holds it for clean, the disk may not have it
)

// node is a file or a folder. The file system's lock guards it.
type node struct {
	mode     fs.FileMode
	modified time.Time

	// Of a file.
	data     []byte  // what a reader sees
	disk     []byte  // what the disk has for sure
	sectors  []state // of data, as far as anything but clean
	reserved int64   // allocated bytes, counted against the limit
	locked   bool
	failed   bool // this process was told that a Sync failed

	// Of a folder.
	entries map[string]*node // what a reader sees
	durable map[string]*node // what the disk has for sure
}

func newFolder(mode fs.FileMode) *node {
	return &node{mode: mode | fs.ModeDir, entries: map[string]*node{}, durable: map[string]*node{}}
}

func (n *node) isFolder() bool { return n.entries != nil }

// space is what the node takes away from the limit.
func (n *node) space() int64 { return max(int64(len(n.data)), n.reserved) }

func (n *node) append(p []byte) {
	from := len(n.data)
	n.data = append(n.data, p...)
	n.touch(from, len(n.data))
}

// touch marks the sectors of [from, to) as written and not yet synced.
func (n *node) touch(from, to int) {
	for i := from / Sector; i*Sector < to; i++ {
		for len(n.sectors) <= i {
			n.sectors = append(n.sectors, clean)
		}
		n.sectors[i] = dirty
	}
}

// sync brings what is dirty to the disk. What a failed Sync left behind is not dirty any more, so it stays away.
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

// failSync is what Linux does when writing back fails: the pages are marked clean, and the next Sync succeeds.
func (n *node) failSync() {
	n.failed = true
	for i, s := range n.sectors {
		if s == dirty {
			n.sectors[i] = lying
		}
	}
}

// poisoned reports whether the file still holds something of which a Sync has failed: whoever knows that and goes on with it believes the cache.
func (n *node) poisoned() bool { return n.failed && slices.Contains(n.sectors, lying) }

func (n *node) truncate(size int) {
	if size > len(n.data) {
		n.append(make([]byte, size-len(n.data)))
		return
	}
	n.data = n.data[:size:size] // the bytes behind may be shared with an image
	n.reserved = 0
	n.sectors = n.sectors[:min(len(n.sectors), sectorsOf(size))]
	// What stays of the sector at the cut may have been on the disk before what failed was written behind it.
	if start := size / Sector * Sector; start < size && len(n.sectors) == sectorsOf(size) && len(n.disk) >= size && bytes.Equal(n.data[start:size], n.disk[start:size]) {
		n.sectors[len(n.sectors)-1] = clean
	}
}

// survivor returns what is left of the file after a power cut.
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

// survivingSize is the old size, the new one or anything between: the size is written on its own.
func survivingSize(before, after int, rng *rand.Rand) int {
	low, high := min(before, after), max(before, after)
	switch {
	case low == high || rng.IntN(4) == 0:
		return before
	case rng.IntN(2) == 0:
		return after
	case after < before: // a file is cut at once or not at all
		return before
	default:
		return low + rng.IntN(high-low+1)
	}
}

// keepChance makes the cases that hurt as likely as the average ones: all lost, nearly all, half, nearly none, none.
func keepChance(rng *rand.Rand) float64 {
	return [...]float64{0, 0.1, 0.5, 0.9, 1}[rng.IntN(5)]
}

// resized is a copy of what the disk has, with zeros where the file is longer.
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

// tearSector brings only the first bytes of a sector to the disk. Disks promise not to; the last one of a file is not trusted with it.
func tearSector(to, from []byte, i int, rng *rand.Rand) {
	end := min(i*Sector+rng.IntN(Sector), len(to), len(from))
	if start := i * Sector; start < end {
		copy(to[start:end], from[start:end])
	}
}

func sectorsOf(size int) int { return (size + Sector - 1) / Sector }
