// Package merkle computes the root over the records of an audit session and proves that the root covers a record. It
// uses the tree of RFC 6962, as implemented by golang.org/x/mod/sumdb/tlog; a leaf is the hash of a record. Records are
// added one after the other, and memory grows with the logarithm of their number.
package merkle

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrEmpty is returned for a tree without leaves, which has no root.
var ErrEmpty = errors.New("a tree needs at least one record")

// Tree computes the root over the hashes of records, in order. The zero value is empty. It is not safe for concurrent
// use.
type Tree struct {
	size int64
	full []tlog.Hash // roots of the full subtrees, largest first: one for each bit of size
}

// leaf returns the leaf for the hex hash of a record.
func leaf(hash string) (tlog.Hash, error) {
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != tlog.HashSize {
		return tlog.Hash{}, fmt.Errorf("record hash %.70q: not %d bytes in hex", hash, tlog.HashSize)
	}
	return tlog.RecordHash(raw), nil
}

// Add appends a record by its hex hash.
func (t *Tree) Add(hash string) error {
	l, err := leaf(hash)
	if err != nil {
		return err
	}
	t.add(l)
	return nil
}

func (t *Tree) add(h tlog.Hash) {
	for n := t.size; n&1 == 1; n >>= 1 { // the new leaf completes a subtree for each trailing 1
		last := len(t.full) - 1
		h = tlog.NodeHash(t.full[last], h)
		t.full = t.full[:last]
	}
	t.full = append(t.full, h)
	t.size++
}

// Size returns the number of records.
func (t *Tree) Size() int64 { return t.size }

// Root returns the root in hex.
func (t *Tree) Root() (string, error) {
	if t.size == 0 {
		return "", ErrEmpty
	}
	return t.root(), nil
}

// root joins the full subtrees, smallest first. The tree must have leaves.
func (t *Tree) root() string {
	h := t.full[len(t.full)-1]
	for i := len(t.full) - 2; i >= 0; i-- {
		h = tlog.NodeHash(t.full[i], h)
	}
	return hex.EncodeToString(h[:])
}

// Proof proves that a record is in a tree.
type Proof struct {
	Index  int64    `json:"index"` // of the record, from 0
	Size   int64    `json:"size"`  // of the tree
	Hashes []string `json:"hashes"`
}

// Prover computes the proof for one record of a tree while the records are added.
type Prover struct {
	Tree
	index, want int64
	siblings    []subtree // from the leaf to the root
}

// subtree is the part of a tree over the leaves from low up to but not including high.
type subtree struct {
	low, high int64
	tree      Tree
}

// NewProver returns a prover for the record with this index in a tree of this size.
func NewProver(index, size int64) (*Prover, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("record %d of %d: out of range", index, size)
	}
	return &Prover{index: index, want: size, siblings: siblings(0, size, index)}, nil
}

// siblings returns the subtrees beside the path from a leaf to the root, as RFC 6962 splits a tree: at the largest power of two that is
// smaller than the number of its leaves.
func siblings(low, high, index int64) []subtree {
	if high-low == 1 {
		return nil
	}
	split := low + 1<<(bits.Len64(uint64(high-low-1))-1) //nolint:gosec // at least 1
	if index < split {
		return append(siblings(low, split, index), subtree{low: split, high: high})
	}
	return append(siblings(split, high, index), subtree{low: low, high: split})
}

// Add appends a record by its hex hash.
func (p *Prover) Add(hash string) error {
	l, err := leaf(hash)
	if err != nil {
		return err
	}
	for i := range p.siblings {
		if s := &p.siblings[i]; s.low <= p.size && p.size < s.high {
			s.tree.add(l)
		}
	}
	p.add(l)
	return nil
}

// Proof returns the proof. All records of the tree must have been added.
func (p *Prover) Proof() (Proof, error) {
	if p.size != p.want {
		return Proof{}, fmt.Errorf("%d records were added, want %d", p.size, p.want)
	}
	out := Proof{Index: p.index, Size: p.size, Hashes: make([]string, len(p.siblings))}
	for i := range p.siblings {
		out.Hashes[i] = p.siblings[i].tree.root()
	}
	return out, nil
}

// Check returns nil if p proves that the record with this hash is in the tree with this root. Both are hex.
func (p Proof) Check(root, hash string) error {
	l, err := leaf(hash)
	if err != nil {
		return err
	}
	var hashes tlog.RecordProof
	for _, text := range append([]string{root}, p.Hashes...) {
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != tlog.HashSize {
			return fmt.Errorf("hash %.70q: not %d bytes in hex", text, tlog.HashSize)
		}
		hashes = append(hashes, tlog.Hash(raw))
	}
	if p.Size <= 0 || p.Index < 0 || p.Index >= p.Size {
		return fmt.Errorf("record %d of %d: out of range", p.Index, p.Size)
	}
	return tlog.CheckRecord(hashes[1:], p.Size, hashes[0], p.Index, l)
}
