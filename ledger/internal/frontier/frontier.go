// Package frontier is the Merkle tree of the verifier. The writer uses a separate implementation, package tree, so
// that a mistake in one is found by the other.
package frontier

import (
	"crypto/sha256"
	"hash"

	"golang.org/x/mod/sumdb/tlog"
)

// Frontier is the right edge of an append-only Merkle tree: the roots of its complete subtrees, largest first. They
// suffice to append and to compute the root, in memory logarithmic in the size.
type Frontier struct {
	Size  int64
	Edges []tlog.Hash
	// Node, if set, is called with every node as it becomes complete.
	Node func(level int, n int64, h tlog.Hash)
}

// Push adds the hash of the next record.
func (f *Frontier) Push(leaf tlog.Hash) {
	h, level := leaf, 0
	f.notify(level, f.Size, h)
	for n := f.Size; n&1 == 1; n >>= 1 {
		last := len(f.Edges) - 1
		h = nodeHash(f.Edges[last], h)
		f.Edges = f.Edges[:last]
		level++
		f.notify(level, n>>1, h)
	}
	f.Edges = append(f.Edges, h)
	f.Size++
}

func (f *Frontier) notify(level int, n int64, h tlog.Hash) {
	if f.Node != nil {
		f.Node(level, n, h)
	}
}

// Root returns the root of the current tree.
func (f *Frontier) Root() tlog.Hash {
	if len(f.Edges) == 0 {
		return sha256.Sum256(nil) // RFC 6962, section 2.1
	}
	h := f.Edges[len(f.Edges)-1]
	for i := len(f.Edges) - 2; i >= 0; i-- {
		h = nodeHash(f.Edges[i], h)
	}
	return h
}

// nodeHash is tlog.NodeHash without its allocation.
func nodeHash(left, right tlog.Hash) tlog.Hash {
	var both [1 + 2*tlog.HashSize]byte
	both[0] = 1
	copy(both[1:], left[:])
	copy(both[1+tlog.HashSize:], right[:])
	return sha256.Sum256(both[:])
}

// LeafHasher computes the record hashes of RFC 6962 with one reused state.
type LeafHasher struct{ state hash.Hash }

// NewLeafHasher returns a LeafHasher, which must be used by one goroutine only.
func NewLeafHasher() LeafHasher { return LeafHasher{sha256.New()} }

// Sum returns the record hash of a line.
func (l LeafHasher) Sum(line []byte) (leaf tlog.Hash) {
	l.state.Reset()
	l.state.Write([]byte{0})
	l.state.Write(line)
	l.state.Sum(leaf[:0])
	return leaf
}
