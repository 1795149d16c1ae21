package merkle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

func hashOf(i int) string {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return hex.EncodeToString(sum[:])
}

// TestEveryRecordIsProven compares roots and proofs of all small trees with those of tlog, which stores the whole tree.
func TestEveryRecordIsProven(t *testing.T) {
	for size := 1; size <= 40; size++ {
		root, whole := build(t, size)
		if want, err := tlog.TreeHash(int64(size), whole); err != nil || root != hex.EncodeToString(want[:]) {
			t.Errorf("the root of %d records is %s, want %x, %v", size, root, want, err)
		}
		for i := range size {
			p := prove(t, i, size)
			want, err := tlog.ProveRecord(int64(size), int64(i), whole)
			if err != nil || len(want) != len(p.Hashes) {
				t.Fatalf("record %d of %d: %d hashes, want %d, %v", i, size, len(p.Hashes), len(want), err)
			}
			for n, h := range want {
				if p.Hashes[n] != hex.EncodeToString(h[:]) {
					t.Errorf("record %d of %d: hash %d is %s, want %x", i, size, n, p.Hashes[n], h)
				}
			}
			if err := p.Check(root, hashOf(i)); err != nil {
				t.Errorf("record %d of %d: %v", i, size, err)
			}
			if p.Check(root, hashOf(i+1)) == nil {
				t.Errorf("record %d of %d: another record passes", i, size)
			}
			if p.Check(hashOf(0), hashOf(i)) == nil {
				t.Errorf("record %d of %d: another root passes", i, size)
			}
		}
	}
}

// build returns the root of a tree, and the tree as stored by tlog.
func build(t *testing.T, size int) (string, tlog.HashReaderFunc) {
	t.Helper()
	var tree Tree
	var stored []tlog.Hash
	whole := tlog.HashReaderFunc(func(indexes []int64) (found []tlog.Hash, err error) {
		for _, x := range indexes {
			found = append(found, stored[x])
		}
		return found, nil
	})
	for i := range size {
		raw, _ := hex.DecodeString(hashOf(i))
		more, err := tlog.StoredHashes(int64(i), raw, whole)
		if err := errors.Join(err, tree.Add(hashOf(i))); err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
	}
	root, err := tree.Root()
	if err != nil || tree.Size() != int64(size) {
		t.Fatalf("size %d, want %d, %v", tree.Size(), size, err)
	}
	return root, whole
}

func prove(t *testing.T, index, size int) Proof {
	t.Helper()
	prover, err := NewProver(int64(index), int64(size))
	if err != nil {
		t.Fatal(err)
	}
	for i := range size {
		if err := prover.Add(hashOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := prover.Proof()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMemoryGrowsWithTheLogarithm adds many records and counts the stored hashes.
func TestMemoryGrowsWithTheLogarithm(t *testing.T) {
	p, err := NewProver(12345, 50000)
	if err != nil {
		t.Fatal(err)
	}
	for range 50000 {
		if err := p.Add(hashOf(0)); err != nil {
			t.Fatal(err)
		}
	}
	kept := len(p.full)
	for _, s := range p.siblings {
		kept += len(s.tree.full)
	}
	if kept > 2*17 {
		t.Errorf("%d hashes are kept", kept)
	}
}

// TestRootIsThatOfRFC6962 computes a small tree by hand.
func TestRootIsThatOfRFC6962(t *testing.T) {
	sum := func(prefix byte, parts ...[]byte) []byte {
		h := sha256.New()
		h.Write([]byte{prefix})
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	var tree Tree
	var leaves [][]byte
	for i := range 3 {
		if err := tree.Add(hashOf(i)); err != nil {
			t.Fatal(err)
		}
		raw, _ := hex.DecodeString(hashOf(i))
		leaves = append(leaves, sum(0, raw))
	}
	want := hex.EncodeToString(sum(1, sum(1, leaves[0], leaves[1]), leaves[2]))
	if got, err := tree.Root(); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	var tree Tree
	if _, err := tree.Root(); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty tree: %v", err)
	}
	for _, bad := range []string{"", "zz", hashOf(1)[:62], hashOf(1) + "00"} {
		if tree.Add(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	for _, index := range []int64{-1, 3} {
		if _, err := NewProver(index, 3); err == nil {
			t.Errorf("record %d of 3 is accepted", index)
		}
	}
	if p, err := NewProver(0, 2); err != nil || p.Add(hashOf(0)) != nil {
		t.Error(err)
	} else if _, err := p.Proof(); err == nil {
		t.Error("a proof without all records")
	}
	for _, p := range []Proof{{}, {Index: -1, Size: 1}, {Index: 1, Size: 1}, {Size: 1, Hashes: []string{"x"}}} {
		if p.Check(hashOf(0), hashOf(1)) == nil {
			t.Errorf("%v passes", p)
		}
	}
}
