package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/forge"
	"github.com/candor-mcp/candor/internal/testing/sweep"
	"github.com/candor-mcp/candor/ledger"
)

// TestSessionProofVerifiesWithKeyAlone proves each entry of a session over two chains and a rotation, and checks the
// proofs without the ledger.
func TestSessionProofVerifiesWithKeyAlone(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	a, b := openLedger(t, dir, ledger.Options{Instance: "a", MaxSegmentBytes: 4 << 10}), openLedger(t, dir, ledger.Options{Instance: "b"})
	s := proofSessions(t, dir, a)
	if err := s.Begin(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	var receipts []ledger.Receipt
	for i := range 20 {
		for _, l := range []*ledger.Ledger{a, b} {
			r, err := l.Append(ctx, boundEntry("s", i))
			if err != nil {
				t.Fatal(err)
			}
			receipts = append(receipts, r)
			if _, err := l.Append(ctx, boundEntry("other", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, count, err := s.Finalise(ctx, "s"); err != nil || count != int64(len(receipts)) {
		t.Fatal(count, err)
	}
	if _, err := a.Append(ctx, boundEntry("s", 99)); err != nil { // appended too late to be in the root
		t.Fatal(err)
	}
	public := a.PublicKey()
	closeLedger(t, a)
	closeLedger(t, b)
	for _, r := range receipts {
		proof, err := Make(ctx, dir, r, Options{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(proof)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		proven, err := Check(read, public)
		if err != nil || proven.Record.Seq != r.Seq || proven.SessionID != "s" || proven.SessionLen != 40 {
			t.Fatal(err, proven)
		}
		read.Session.Index = (read.Session.Index + 1) % 40
		if _, err := Check(read, public); err == nil {
			t.Error("a proof holds for another place")
		}
	}
	if _, err := Make(ctx, dir, ledger.Receipt{Chain: receipts[0].Chain, Seq: 1}, Options{Session: "s"}); !errors.Is(err, ErrNoEntry) {
		t.Error(err)
	}
}

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
	return l.PublicKey()
}

// FuzzProof parses arbitrary bytes as a proof. Only the real proof is accepted.
func FuzzProof(f *testing.F) {
	forged := forge.New(f)
	c := forged.Chain()
	c.Fail(4)
	c.Checkpoint(true)
	for _, seed := range []string{"", "{}", `{"v":1}`, `{"v":1,"session":{}}`, `{"v":1,"hashes":["AA"]}`} {
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

func proofSessions(t testing.TB, dir string, l *ledger.Ledger) *ledger.Sessions {
	t.Helper()
	s, err := ledger.OpenSessions(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// boundEntry returns an entry that is bound to a session.
func boundEntry(id string, i int) ledger.Entry {
	return ledger.Entry{Kind: ledger.KindFailure, Ref: fmt.Sprintf("ref-%d", i), SessionID: id, Tool: "write"}
}
