package ledger

import (
	"crypto/sha256"
	"hash"

	"golang.org/x/mod/sumdb/tlog"
)

// frontier is the right edge of a Merkle tree that only grows: the roots of its complete subtrees, largest first. It is all that
// is needed to go on and to compute the root, in memory of the logarithm of its size. The writer has its own: a mistake in one of
// them is found by the other.
type frontier struct {
	size  int64
	edges []tlog.Hash
	// node, if set, is told of every node as it becomes complete.
	node func(level int, n int64, h tlog.Hash)
}

// push adds the hash of the next record.
func (f *frontier) push(leaf tlog.Hash) {
	h, level := leaf, 0
	f.tell(level, f.size, h)
	for n := f.size; n&1 == 1; n >>= 1 {
		last := len(f.edges) - 1
		h = nodeHash(f.edges[last], h)
		f.edges = f.edges[:last]
		level++
		f.tell(level, n>>1, h)
	}
	f.edges = append(f.edges, h)
	f.size++
}

func (f *frontier) tell(level int, n int64, h tlog.Hash) {
	if f.node != nil {
		f.node(level, n, h)
	}
}

// root returns the root of the tree as it stands.
func (f *frontier) root() tlog.Hash {
	if len(f.edges) == 0 {
		return sha256.Sum256(nil) // RFC 6962, section 2.1
	}
	h := f.edges[len(f.edges)-1]
	for i := len(f.edges) - 2; i >= 0; i-- {
		h = nodeHash(f.edges[i], h)
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

// leafHasher computes the record hashes of RFC 6962 with one reused state.
type leafHasher struct{ state hash.Hash }

func newLeafHasher() leafHasher { return leafHasher{sha256.New()} }

func (l leafHasher) sum(line []byte) (leaf tlog.Hash) {
	l.state.Reset()
	l.state.Write([]byte{0})
	l.state.Write(line)
	l.state.Sum(leaf[:0])
	return leaf
}
