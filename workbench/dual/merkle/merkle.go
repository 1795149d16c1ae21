// Package merkle builds the tree over the records of an audit session and proves that a record is in it. The tree is that of RFC 6962,
// as golang.org/x/mod/sumdb/tlog has it; a leaf is the hash of a record.
package merkle

import (
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrEmpty is returned for a tree without leaves, which has no root.
var ErrEmpty = errors.New("a tree needs at least one record")

// Tree is the tree over the hashes of records, in their order. The zero value is empty. It is not safe for concurrent use.
type Tree struct {
	size   int64
	stored storage
}

// storage holds the hashes of the tree in the order of tlog.
type storage []tlog.Hash

// ReadHashes implements [tlog.HashReader].
func (s storage) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		if x < 0 || x >= int64(len(s)) {
			return nil, fmt.Errorf("hash %d is not in the tree", x)
		}
		found[i] = s[x]
	}
	return found, nil
}

// leaf returns the leaf of a record by its hash, which is hex.
func leaf(hash string) (tlog.Hash, error) {
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != tlog.HashSize {
		return tlog.Hash{}, fmt.Errorf("record hash %.70q: not %d bytes in hex", hash, tlog.HashSize)
	}
	return tlog.RecordHash(raw), nil
}

// Add appends a record by its hash, which is hex.
func (t *Tree) Add(hash string) error {
	l, err := leaf(hash)
	if err != nil {
		return err
	}
	more, err := tlog.StoredHashesForRecordHash(t.size, l, t.stored)
	if err != nil {
		return err
	}
	t.stored = append(t.stored, more...)
	t.size++
	return nil
}

// Size returns the number of records.
func (t *Tree) Size() int64 { return t.size }

// Root returns the root in hex.
func (t *Tree) Root() (string, error) {
	if t.size == 0 {
		return "", ErrEmpty
	}
	root, err := tlog.TreeHash(t.size, t.stored)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(root[:]), nil
}

// Proof shows that a record is in a tree.
type Proof struct {
	Index  int64    `json:"index"` // of the record, from 0
	Size   int64    `json:"size"`  // of the tree
	Hashes []string `json:"hashes"`
}

// Prove returns the proof for the record with an index.
func (t *Tree) Prove(index int64) (Proof, error) {
	hashes, err := tlog.ProveRecord(t.size, index, t.stored)
	if err != nil {
		return Proof{}, err
	}
	p := Proof{Index: index, Size: t.size, Hashes: make([]string, len(hashes))}
	for i, h := range hashes {
		p.Hashes[i] = hex.EncodeToString(h[:])
	}
	return p, nil
}

// Check returns nil if p shows that the record with this hash is in the tree with this root. Both are hex.
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
