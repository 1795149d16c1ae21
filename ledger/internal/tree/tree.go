// Package tree is the Merkle tree of a chain, as RFC 6962 defines it.
package tree

import (
	"crypto/sha256"
	"errors"
	"hash"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree is the right edge of an append-only Merkle tree: the roots of its complete subtrees, largest first. They
// suffice to append and to compute the root. A copy of a Tree is independent of the original, which is how a failed
// batch is undone.
type Tree struct {
	Size  uint64
	edge  [64]tlog.Hash // the first popcount(Size) hashes are used
	depth int

	// Node, if set, is called with every node as it becomes complete.
	Node func(level int, n int64, h tlog.Hash)
}

// Push adds the hash of the next record.
func (t *Tree) Push(leaf tlog.Hash) {
	h, level := leaf, 0
	t.notify(level, t.Size, h)
	for n := t.Size; n&1 == 1; n >>= 1 {
		t.depth--
		h = nodeHash(t.edge[t.depth], h)
		level++
		t.notify(level, n>>1, h)
	}
	t.edge[t.depth] = h
	t.depth++
	t.Size++
}

func (t *Tree) notify(level int, n uint64, h tlog.Hash) {
	if t.Node != nil {
		t.Node(level, int64(n), h) //nolint:gosec // a size has at most 18 digits
	}
}

// Root returns the root of the current tree.
func (t *Tree) Root() tlog.Hash {
	if t.depth == 0 {
		return sha256.Sum256(nil) // RFC 6962, section 2.1
	}
	h := t.edge[t.depth-1]
	for i := t.depth - 2; i >= 0; i-- {
		h = nodeHash(t.edge[i], h)
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

// Edges returns the edge. Entries store its JSON form.
func (t *Tree) Edges() []tlog.Hash { return slices.Clone(t.edge[:t.depth]) }

// FromEdges returns the tree of that size with that edge. It checks only the number of the hashes; only a signed root
// shows that they are correct.
func FromEdges(size uint64, edges []tlog.Hash) (Tree, error) {
	t := Tree{Size: size, depth: len(edges)}
	if bits.OnesCount64(size) != len(edges) {
		return Tree{}, errors.New("tree edge: wrong number of hashes")
	}
	copy(t.edge[:], edges)
	return t, nil
}

// RecordHasher computes record hashes without allocating. It must be used by one goroutine only.
type RecordHasher struct{ state hash.Hash }

// NewRecordHasher returns a RecordHasher.
func NewRecordHasher() RecordHasher { return RecordHasher{sha256.New()} }

// Sum returns the same as tlog.RecordHash.
func (l RecordHasher) Sum(record []byte) (leaf tlog.Hash) {
	l.state.Reset()
	l.state.Write([]byte{0})
	l.state.Write(record)
	l.state.Sum(leaf[:0])
	return leaf
}
