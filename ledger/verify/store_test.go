package verify_test

import (
	"context"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// entriesOf returns the entries of a ledger folder as a shared store holds them: one file per chain.
func entriesOf(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	chains, err := r.Chains()
	if err != nil {
		t.Fatal(err)
	}
	for _, chain := range chains {
		var text []byte
		for line, err := range r.Entries(context.Background(), ledger.ReadOptions{Chain: chain}) {
			if err != nil {
				t.Fatal(err)
			}
			text = append(append(text, line.Raw()...), '\n')
		}
		if len(text) > 0 {
			files[chain+"/audit-log.jsonl"] = &fstest.MapFile{Data: text, Mode: 0o600}
		}
	}
	return files
}

// writeChain writes one chain of n failures and returns its name.
func writeChain(t *testing.T, dir string, n int, o ledger.Options) string {
	t.Helper()
	l, err := ledger.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	var at ledger.Receipt
	for range n {
		if at, err = l.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return at.Chain
}

func keysOf(t *testing.T, dir string) []string {
	t.Helper()
	keys, err := ledger.PublicKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func verifyEntries(t *testing.T, fsys fs.FS, o verify.Options) verify.Report {
	t.Helper()
	o.EntriesOnly = true
	report, err := verify.FS(context.Background(), fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestEntriesAloneVerify(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		writeChain(t, dir, 700, ledger.Options{MaxSegmentBytes: 32 << 10})
	}
	report := verifyEntries(t, entriesOf(t, dir), verify.Options{Keys: keysOf(t, dir)})
	if !report.OK || report.Entries < 2100 {
		t.Fatalf("got %d entries, damage %v", report.Entries, report.Damage)
	}
	for _, c := range report.Chains {
		if c.Covered != c.Size-1 || !c.Closed {
			t.Errorf("chain %s: %d of %d entries covered, closed %v; want all but the last", c.Chain, c.Covered, c.Size, c.Closed)
		}
	}
}

func TestKnownEntriesRevealAnOlderCopy(t *testing.T) {
	dir := t.TempDir()
	chain := writeChain(t, dir, 20, ledger.Options{})
	files, keys := entriesOf(t, dir), keysOf(t, dir)
	whole := verifyEntries(t, files, verify.Options{Keys: keys}).Chains[0]
	line := func(seq uint64) (hash [32]byte) {
		parsed, err := ledger.ParseLine([]byte(strings.Split(string(files[chain+"/audit-log.jsonl"].Data), "\n")[seq-1]))
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Hash
	}
	known := verify.Known{Chain: chain, Seq: whole.Size, Hash: line(whole.Size), By: "my notebook"}
	if report := verifyEntries(t, files, verify.Options{Keys: keys, Known: []verify.Known{known}}); !report.OK {
		t.Errorf("the known entry is there: %v", report.Damage)
	}
	other := known
	other.Hash[0] ^= 1
	wantDamage(t, verifyEntries(t, files, verify.Options{Keys: keys, Known: []verify.Known{other}}), "broken-link", chain)

	text := files[chain+"/audit-log.jsonl"].Data
	lines := strings.SplitAfter(string(text), "\n")
	files[chain+"/audit-log.jsonl"].Data = []byte(strings.Join(lines[:10], ""))
	wantDamage(t, verifyEntries(t, files, verify.Options{Keys: keys, Known: []verify.Known{known}}), "truncated", chain)
	delete(files, chain+"/audit-log.jsonl")
	wantDamage(t, verifyEntries(t, files, verify.Options{Keys: keys, Known: []verify.Known{known}}), "missing-chain", chain)
	if report := verifyEntries(t, fstest.MapFS{"keys/signer.pub": {Data: []byte(keys[0])}}, verify.Options{Known: []verify.Known{{Chain: chain, By: "x"}}}); !report.OK {
		t.Errorf("a chain without entries may be missing: %v", report.Damage)
	}
}

func wantDamage(t *testing.T, report verify.Report, kind string, chain string) {
	t.Helper()
	if len(report.Damage) != 1 || report.Damage[0].Kind != kind || report.Damage[0].Chain != chain {
		t.Errorf("got %v, want one damage %s of chain %s", report.Damage, kind, chain)
	}
}

func TestStoreDoesNotExcuseTheRemainsOfAPowerCut(t *testing.T) {
	dir := t.TempDir()
	writeChain(t, dir, 3, ledger.Options{})
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := l.Append(context.Background(), ledger.Entry{Kind: ledger.KindSuccess, Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	files, keys := entriesOf(t, dir), keysOf(t, dir)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	name := at.Chain + "/audit-log.jsonl"
	zeros := make([]byte, 1024-len(files[name].Data)%512) // up to the end of a sector, as after a power cut
	files[name].Data = append(append(files[name].Data, zeros...), '\n')
	wantDamage(t, verifyEntries(t, files, verify.Options{Keys: keys}), "bad-line", at.Chain)
}

func TestPrunedRecordsAreReported(t *testing.T) {
	dir := t.TempDir()
	old := writeChain(t, dir, 400, ledger.Options{MaxSegmentBytes: 8 << 10})
	before := entriesOf(t, dir)
	pruned, err := ledger.Prune(context.Background(), dir, ledger.Options{RetainBytes: 1})
	if err != nil || len(pruned.Removed) == 0 {
		t.Fatalf("nothing was pruned: %v", err)
	}
	files, keys := entriesOf(t, dir), keysOf(t, dir)
	if _, there := files[old+"/audit-log.jsonl"]; there {
		t.Fatal("the chain was not removed")
	}
	last := uint64(strings.Count(string(before[old+"/audit-log.jsonl"].Data), "\n"))
	known := []verify.Known{{Chain: old, Seq: last, By: "my notebook"}}
	report := verifyEntries(t, files, verify.Options{Keys: keys, Known: known})
	if !report.OK || len(report.Pruned) != 1 || report.Pruned[0].Chain != old || report.Pruned[0].Seq != last {
		t.Errorf("got %+v and damage %v, want the removal of %d entries of %s", report.Pruned, report.Damage, last, old)
	}

	lines := strings.SplitAfter(string(before[old+"/audit-log.jsonl"].Data), "\n")
	for _, c := range []struct {
		left []string
		ok   bool
	}{{lines[last-1:], true}, {lines[last-2:], false}, {lines[last-2 : last-1], false}, {append(lines[last-1:last:last], lines[last-1]), false}} {
		files[old+"/audit-log.jsonl"] = &fstest.MapFile{Data: []byte(strings.Join(c.left, "")), Mode: 0o600}
		report := verifyEntries(t, files, verify.Options{Keys: keys})
		if report.OK != c.ok {
			t.Errorf("%d of the last lines are left: OK is %v, damage %v", len(c.left), report.OK, report.Damage)
		}
	}
}

// TestSignedEntriesAreNotDeclaredUndefined has a node that was taken over state that one of its chains ended before entries that it has
// signed.
func TestSignedEntriesAreNotDeclaredUndefined(t *testing.T) {
	dir := t.TempDir()
	chain := writeChain(t, dir, 20, ledger.Options{})
	text, err := os.ReadFile(filepath.Join(dir, chain, "audit-log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	fifth, err := ledger.ParseLine([]byte(strings.Split(string(text), "\n")[4]))
	if err != nil {
		t.Fatal(err)
	}
	named := writeChain(t, dir, 1, ledger.Options{}) // the only one that names the chain
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	end := candor.DetailsOf(map[string]any{"chain": chain, "size": 5, "last": hex.EncodeToString(fifth.Hash[:]), "poisoned": true})
	if _, err := l.Append(context.Background(), ledger.Entry{Kind: ledger.KindRecovered, Data: end}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files := entriesOf(t, dir)
	delete(files, named+"/audit-log.jsonl")
	for _, d := range verifyEntries(t, files, verify.Options{Keys: keysOf(t, dir)}).Damage {
		if d.Chain == chain && d.Kind == "truncated" && d.Seq == 6 && !d.Absent {
			return
		}
	}
	t.Error("the false end was accepted")
}
