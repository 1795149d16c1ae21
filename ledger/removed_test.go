package ledger_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// closedLedger writes a ledger of one closed chain and a witness copy beside it.
func closedLedger(t *testing.T) (dir, second, chain string) {
	t.Helper()
	base := t.TempDir()
	dir, second = filepath.Join(base, "ledger"), filepath.Join(base, "second")
	l := ledger.OpenTest(t, dir, ledger.Options{WitnessCopy: second})
	ledger.AppendN(t, l, 5)
	ledger.CloseTest(t, l)
	return dir, second, ledger.ChainsOf(t, dir)[0]
}

func TestVerifyWithoutLedger(t *testing.T) {
	if r, err := verify.Dir(context.Background(), t.TempDir(), verify.Options{}); err == nil {
		t.Errorf("an empty folder: %+v", r)
	}
	dir, second, _ := closedLedger(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := verify.Dir(context.Background(), dir, verify.Options{WitnessCopies: []string{second}})
	if err != nil || r.OK || r.Damage[0].Kind != "missing-chain" {
		t.Errorf("a wiped folder: %v, %+v", err, r)
	}
	l := ledger.OpenTest(t, dir, ledger.Options{WitnessCopy: second})
	ledger.AppendN(t, l, 1)
	ledger.CloseTest(t, l)
	r, err = verify.Dir(context.Background(), dir, verify.Options{WitnessCopies: []string{second}})
	if err != nil || len(r.Foreign) != 1 || r.Foreign[0].Chains != 1 {
		t.Errorf("a wiped folder with new keys: %v, %+v", err, r)
	}
}

func TestVerifyReportsSpoiledWitnessCopy(t *testing.T) {
	for name, data := range map[string]string{"emptied": "", "garbage": "garbage\n"} {
		dir, second, _ := closedLedger(t)
		r, err := verify.Dir(context.Background(), dir, verify.Options{})
		if err != nil || !r.OK || r.Chains[0].Unwitnessed != 0 {
			t.Fatalf("untouched: %v, %+v", err, r)
		}
		if err := os.WriteFile(second, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err = verify.Dir(context.Background(), dir, verify.Options{})
		if err != nil || r.OK && r.Chains[0].Unwitnessed == 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}
