package ledger

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"hash"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// tree is the right edge of a Merkle tree that only grows: the roots of its complete subtrees, largest first. That is all it takes to go
// on and to compute the root, and it is a plain value: a copy is a tree of its own, which is how a batch that fails is undone.
type tree struct {
	size  uint64
	edge  [64]tlog.Hash // of which the first popcount(size) count
	depth int
}

// push adds the hash of the next record.
func (t *tree) push(leaf tlog.Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		t.depth--
		leaf = tlog.NodeHash(t.edge[t.depth], leaf)
	}
	t.edge[t.depth] = leaf
	t.depth++
	t.size++
}

// root returns the root of the tree as it stands.
func (t *tree) root() tlog.Hash {
	if t.depth == 0 {
		return sha256.Sum256(nil) // as RFC 6962 has it
	}
	h := t.edge[t.depth-1]
	for i := t.depth - 2; i >= 0; i-- {
		h = tlog.NodeHash(t.edge[i], h)
	}
	return h
}

// edges returns the edge as an entry holds it.
func (t *tree) edges() []string {
	texts := make([]string, t.depth)
	for i := range texts {
		texts[i] = base64.StdEncoding.EncodeToString(t.edge[i][:])
	}
	return texts
}

// treeOf is a tree of that size with that edge. Whether it is the right one only a signed root can tell.
func treeOf(size uint64, edges []string) (tree, error) {
	t := tree{size: size, depth: len(edges)}
	if bits.OnesCount64(size) != len(edges) {
		return tree{}, errors.New("the edge does not fit the size of the tree")
	}
	for i, text := range edges {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(b) != len(t.edge[i]) {
			return tree{}, errors.New("the edge of the tree is not made of hashes")
		}
		copy(t.edge[i][:], b)
	}
	return t, nil
}

// recordHasher computes record hashes without allocating. It belongs to one goroutine.
type recordHasher struct{ state hash.Hash }

func newRecordHasher() recordHasher { return recordHasher{sha256.New()} }

// sum is tlog.RecordHash.
func (l recordHasher) sum(record []byte) (leaf tlog.Hash) {
	l.state.Reset()
	l.state.Write([]byte{0})
	l.state.Write(record)
	l.state.Sum(leaf[:0])
	return leaf
}

// position is where a chain stands after some entry. It is a plain value, as the tree is.
type position struct {
	tree tree
	last Digest // hash of the last entry, or genesis
	time string // of the last entry, in its wire form; those sort as text
}

func (p *position) seq() uint64 { return p.tree.size }

// micros returns the time of the last entry in microseconds.
func (p *position) micros() int64 {
	at, _ := readTime([]byte(p.time)) // formatTime wrote it
	return at.UnixMicro()
}

// advance takes in an entry that is known to fit.
func (p *position) advance(line []byte, own Digest, leaves recordHasher) {
	p.tree.push(leaves.sum(line))
	p.last = own
}

// mustJSON encodes what cannot fail: structs of texts and numbers that this package makes itself.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return b
}
