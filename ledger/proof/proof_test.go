package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/forge"
	"github.com/candor-mcp/candor/internal/testing/sweep"
	"github.com/candor-mcp/candor/ledger"
)

// TestProofVerifiesWithKeyAlone proves every covered entry of a chain, and checks that a proof with any
// changed bit is rejected.
func TestProofVerifiesWithKeyAlone(t *testing.T) {
	t.Parallel()
	f := forge.New(t)
	c := f.Chain()
	c.Fail(37)
	c.Checkpoint(false)
	c.Fail(1)
	files := f.FS()
	for seq := uint64(1); seq <= 38; seq++ {
		p, err := prove(context.Background(), files, ledger.Receipt{Chain: c.Name, Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		proven, err := Check(p, f.Public)
		if err != nil || proven.Record.Seq != seq || proven.Size != 38 {
			t.Fatal(err, proven)
		}
	}
	for seq, want := range map[uint64]error{39: ErrNotCovered, 40: ErrNotCovered, 41: ErrNoEntry, 0: ErrNoEntry} {
		if _, err := prove(context.Background(), files, ledger.Receipt{Chain: c.Name, Seq: seq}); !errors.Is(err, want) {
			t.Errorf("entry %d: %v, want %v", seq, err, want)
		}
	}
	p, err := prove(context.Background(), files, ledger.Receipt{Chain: c.Name, Seq: 7})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if i%sweep.Step(11, 23) != 0 {
			continue
		}
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << bit
			read, err := Parse(changed)
			if err != nil {
				continue
			}
			again, _ := json.Marshal(read)
			if _, err := Check(read, f.Public); err == nil && !bytes.Equal(again, data) {
				t.Errorf("bit %d of byte %d: the changed proof holds: %s", bit, i, changed[max(0, i-20):i+1])
			}
		}
	}
	if _, err := Check(p, newOtherKey(t)); err == nil || !strings.Contains(err.Error(), "unknown key") {
		t.Error(err)
	}
	if _, err := Check(p); err == nil {
		t.Error("no key proves something")
	}
}

func newOtherKey(t testing.TB) string {
	dir := t.TempDir()
	l := openLedger(t, dir, ledger.Options{})
	closeLedger(t, l)
	keys, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys[0]
}

// FuzzProof parses arbitrary bytes as a proof. Only the real proof is accepted.
func FuzzProof(f *testing.F) {
	forged := forge.New(f)
	c := forged.Chain()
	c.Fail(4)
	c.Checkpoint(true)
	for _, seed := range []string{"", "{}", `{"v":1}`, `{"v":1,"hashes":["AA"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		proof, err := Parse(data)
		if err != nil {
			return
		}
		if _, err := Check(proof, forged.Public); err == nil {
			t.Errorf("a forged proof is valid: %s", data)
		}
	})
}

func openLedger(t testing.TB, dir string, o ledger.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLedger(t testing.TB, l *ledger.Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
