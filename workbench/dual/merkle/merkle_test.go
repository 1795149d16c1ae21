package merkle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
)

func hashOf(i int) string {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return hex.EncodeToString(sum[:])
}

func TestEveryRecordIsProven(t *testing.T) {
	for size := 1; size <= 40; size++ {
		var tree Tree
		for i := range size {
			if err := tree.Add(hashOf(i)); err != nil {
				t.Fatal(err)
			}
		}
		root, err := tree.Root()
		if err != nil {
			t.Fatal(err)
		}
		for i := range size {
			p, err := tree.Prove(int64(i))
			if err != nil {
				t.Fatal(err)
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
	for _, p := range []Proof{{}, {Index: -1, Size: 1}, {Index: 1, Size: 1}, {Size: 1, Hashes: []string{"x"}}} {
		if p.Check(hashOf(0), hashOf(1)) == nil {
			t.Errorf("%v passes", p)
		}
	}
}
