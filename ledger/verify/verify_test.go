package verify

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/candor-mcp/candor/internal/testing/forge"
)

// wantOK fails the test unless the report is clean.
func wantOK(t *testing.T, r Report) {
	t.Helper()
	if !r.OK || len(r.Damage) > 0 {
		t.Fatalf("false alarm: %v", r.Damage)
	}
}

// wantDamage fails the test unless the first damage is of that kind, at that entry of that chain.
func wantDamage(t *testing.T, r Report, kind string, chain string, seq uint64) {
	t.Helper()
	if r.OK || len(r.Damage) == 0 {
		t.Fatalf("%s at %s/%d was not found", kind, chain, seq)
	}
	h := r.Damage[0]
	if h.Kind != kind || h.Chain != chain || h.Seq != seq {
		t.Errorf("found %v, want %s at %s/%d", h, kind, chain, seq)
	}
}

func TestK16UntouchedLedgerVerifies(t *testing.T) {
	f := forge.Sample(t)
	for _, second := range []bool{false, true} {
		r := verifyFiles(t, f.FS(), second)
		wantOK(t, r)
		if len(r.Chains) != 3 || !r.Chains[0].Closed || r.Chains[1].Closed || r.Chains[0].Covered != 573 || !r.OwnKeys {
			t.Errorf("%+v", r)
		}
		for i, c := range f.Chains {
			if r.Chains[i].Size != uint64(c.Seq) || r.Chains[i].Last != c.Prev {
				t.Errorf("chain %d: %+v", i, r.Chains[i])
			}
		}
	}
}

// edit changes one file and verifies the ledger.
func edit(t *testing.T, f *forge.Ledger, name string, change func([]byte) []byte) Report {
	t.Helper()
	files := f.FS()
	if files[name] == nil {
		t.Fatalf("no file %s", name)
	}
	files[name].Data = change(bytes.Clone(files[name].Data))
	return verifyFiles(t, files, true)
}

func lineSplit(data []byte) [][]byte { return bytes.SplitAfter(data, []byte("\n")) }

func TestK16EveryKindOfEditNamesItsEntry(t *testing.T) {
	f := forge.Sample(t)
	a, b := f.Chains[0], f.Chains[1]
	middle := a.Name + "/audit-log.000002.jsonl" // entries 253 to 554, after one checkpoint entry before it
	first := uint64(bytes.Count(a.Segments[0], []byte("\n")) + 1)
	at := first + 10
	tests := []struct {
		name   string
		change func([][]byte) [][]byte
		kind   string
		seq    uint64
	}{
		{"an entry is edited", func(l [][]byte) [][]byte {
			l[10] = bytes.Replace(l[10], []byte("no such"), []byte("No such"), 1)
			return l
		}, kindBadHash, at},
		{"an entry is removed", func(l [][]byte) [][]byte { return append(l[:10:10], l[11:]...) }, kindWrongSeq, at},
		{"the first of a segment is removed", func(l [][]byte) [][]byte { return l[1:] }, kindWrongSeq, first},
		{"an entry is there twice", func(l [][]byte) [][]byte { return append(l[:11:11], l[10:]...) }, kindDuplicate, at},
		{"two entries are swapped", func(l [][]byte) [][]byte { l[10], l[11] = l[11], l[10]; return l }, kindWrongSeq, at},
		{"an entry of another chain is put in", func(l [][]byte) [][]byte {
			return append(l[:10:10], append([][]byte{append(bytes.Clone(b.Lines[3]), '\n')}, l[10:]...)...)
		}, kindWrongChain, at},
		{"an entry is replaced by one of another chain", func(l [][]byte) [][]byte {
			l[10] = append(bytes.Clone(b.Lines[3]), '\n')
			return l
		}, kindWrongChain, at},
		{"an entry is forged, its hash computed", func(l [][]byte) [][]byte {
			prev := string(l[9][len(l[9])-67 : len(l[9])-3])
			l[10] = append(forge.Line(a.Name, int64(at), f.Now, prev, "failure", ""), '\n')
			return l
		}, kindBrokenLink, at + 1},
		{"an entry is forged behind one that links to another", func(l [][]byte) [][]byte {
			l[10] = append(forge.Line(a.Name, int64(at), f.Now, a.Prev, "failure", ""), '\n')
			return l
		}, kindBrokenLink, at},
		{"a line is no entry", func(l [][]byte) [][]byte { l[10] = []byte("{}\n"); return l }, kindBadLine, at},
		{"a line is empty", func(l [][]byte) [][]byte { l[10] = []byte("\n"); return l }, kindBadLine, at},
		{"a line feed is lost", func(l [][]byte) [][]byte { l[10] = l[10][:len(l[10])-1]; return l }, kindBadHash, at},
		{"the tail of a closed segment is cut", func(l [][]byte) [][]byte { l[12] = l[12][:20]; return l[:13] }, kindTornTail, first + 12},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := edit(t, f, middle, func(data []byte) []byte { return bytes.Join(test.change(lineSplit(data)), nil) })
			wantDamage(t, r, test.kind, a.Name, test.seq)
		})
	}
}

func TestVerifyReportsTimeBackwards(t *testing.T) {
	f := forge.New(t)
	a := f.Chain()
	a.Fail(3)
	f.Now = f.Now.Add(-1000000000)
	a.Fail(1)
	wantDamage(t, verifyFiles(t, f.FS(), false), kindTimeBackwards, a.Name, 5)
}

func TestR6DroppedSegmentIsFound(t *testing.T) {
	f := forge.Sample(t)
	a := f.Chains[0]
	counts := []uint64{1}
	for _, s := range a.Segments {
		counts = append(counts, counts[len(counts)-1]+uint64(bytes.Count(s, []byte("\n"))))
	}
	for i, name := range []string{"/audit-log.000001.jsonl", "/audit-log.000002.jsonl"} {
		files := f.FS()
		delete(files, a.Name+name)
		wantDamage(t, verifyFiles(t, files, false), kindMissingSegment, a.Name, counts[i])
	}
	files := f.FS()
	delete(files, a.Name+"/audit-log.jsonl")
	wantDamage(t, verifyFiles(t, files, false), kindTruncated, a.Name, counts[2])
}

func TestR6RollbackIsFoundByWitnessCopy(t *testing.T) {
	f := forge.Sample(t)
	old := f.FS()
	b := f.Chains[1]
	b.Fail(3)
	b.Checkpoint(false)
	d := f.Chain()
	d.Fail(2)
	d.Checkpoint(true)
	old["second"] = f.FS()["second"]
	wantOK(t, verifyFiles(t, f.FS(), true))
	r := verifyFiles(t, old, true)
	if len(r.Damage) != 2 {
		t.Fatalf("%v", r.Damage)
	}
	wantDamage(t, r, kindMissingChain, d.Name, 0)
	r.Damage = r.Damage[1:]
	wantDamage(t, r, kindTruncated, b.Name, 36)
	wantOK(t, verifyFiles(t, old, false)) // without the witness copy the old state looks valid
}

func TestR6MissingChainIsFound(t *testing.T) {
	f := forge.Sample(t)
	files := f.FS()
	for name := range files {
		if bytes.HasPrefix([]byte(name), []byte(f.Chains[1].Name)) {
			delete(files, name)
		}
	}
	wantDamage(t, verifyFiles(t, files, false), kindMissingChain, f.Chains[1].Name, 0)
}

func TestTruncationFoundByOtherChain(t *testing.T) {
	f := forge.Sample(t)
	b := f.Chains[1] // killed with three entries after its last checkpoint, which the next chain has recorded
	r := edit(t, f, b.Name+"/audit-log.jsonl", func(data []byte) []byte {
		l := lineSplit(data)
		return bytes.Join(l[:len(l)-2], nil)
	})
	wantDamage(t, r, kindTruncated, b.Name, uint64(b.Seq))
}

func TestD10DeletedLastEntryIsFound(t *testing.T) {
	f := forge.New(t)
	a := f.Chain()
	a.Fail(4)
	a.Checkpoint(false)
	r := edit(t, f, a.Name+"/audit-log.jsonl", func(data []byte) []byte {
		l := lineSplit(data)
		return bytes.Join(l[:4], nil)
	})
	wantDamage(t, r, kindTruncated, a.Name, 5)
}

func TestVerifyTrustsGivenKeys(t *testing.T) {
	f, other := forge.Sample(t), forge.New(t)
	other.Public = "candor-ledger+7d3e1f7a+AXz6cB7Ex5kx0aWHn6cG4yGkcM1f6+0XbC6xXr2L0H4S"
	files := f.FS()
	delete(files, "keys/signer.pub")
	wantDamage(t, verifyFiles(t, files, false), kindUnknownKey, f.Chains[0].Name, 0)
	report, err := FS(t.Context(), files, Options{Keys: []string{f.Public}})
	if err != nil || !report.OK || report.OwnKeys {
		t.Errorf("%v %+v", err, report.Damage)
	}
	files["keys/old/1.pub"] = &fstest.MapFile{Data: []byte(f.Public)}
	wantOK(t, verifyFiles(t, files, false))
	if _, err := FS(t.Context(), files, Options{Keys: []string{"nonsense"}}); err == nil {
		t.Error("nonsense passes for a key")
	}
}

func TestVerifyStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := FS(ctx, forge.Sample(t).FS(), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
}

// verifyFiles verifies a file system, with the witness copy if second is true.
func verifyFiles(t testing.TB, fsys fs.FS, second bool) Report {
	t.Helper()
	options := Options{WitnessFS: fsys}
	if second {
		options.WitnessCopies = []string{"second"}
	}
	report, err := FS(t.Context(), fsys, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
