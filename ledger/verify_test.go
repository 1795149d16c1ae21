package ledger

import (
	"bytes"
	"testing"
	"testing/fstest"
)

// wantOK demands a clean report.
func wantOK(t *testing.T, r Report) {
	t.Helper()
	if !r.OK || len(r.Harms) > 0 {
		t.Fatalf("false alarm: %v", r.Harms)
	}
}

// wantHarm demands one harm of that kind at that entry of that chain.
func wantHarm(t *testing.T, r Report, kind HarmKind, chain string, seq uint64) {
	t.Helper()
	if r.OK || len(r.Harms) == 0 {
		t.Fatalf("%s at %s/%d was not found", kind, chain, seq)
	}
	h := r.Harms[0]
	if h.Kind != kind || h.Chain != chain || h.Seq != seq {
		t.Errorf("found %v, want %s at %s/%d", h, kind, chain, seq)
	}
}

// sound is a ledger of three chains: one closed over three segments, one killed, one still open.
func sound(t testing.TB) *forge {
	f := newForge(t)
	a := f.chain()
	a.fail(250)
	a.rotate()
	a.fail(300)
	a.rotate()
	a.fail(20)
	a.checkpoint(true)
	b := f.chain()
	b.fail(30)
	b.checkpoint(false)
	b.fail(3)
	c := f.chain()
	c.fail(5)
	return f
}

func TestK16AnUntouchedLedgerVerifies(t *testing.T) {
	f := sound(t)
	for _, second := range []bool{false, true} {
		r := verify(t, f.fs(), second)
		wantOK(t, r)
		if len(r.Chains) != 3 || !r.Chains[0].Closed || r.Chains[1].Closed || r.Chains[0].Covered != 573 || !r.OwnKeys {
			t.Errorf("%+v", r)
		}
		for i, c := range f.chains {
			if r.Chains[i].Size != uint64(c.seq) || r.Chains[i].Last != c.prev {
				t.Errorf("chain %d: %+v", i, r.Chains[i])
			}
		}
	}
}

// edit changes one file and verifies.
func edit(t *testing.T, f *forge, name string, change func([]byte) []byte) Report {
	t.Helper()
	files := f.fs()
	if files[name] == nil {
		t.Fatalf("no file %s", name)
	}
	files[name].Data = change(bytes.Clone(files[name].Data))
	return verify(t, files, true)
}

func lineSplit(data []byte) [][]byte { return bytes.SplitAfter(data, []byte("\n")) }

func TestK16EveryKindOfEditNamesItsEntry(t *testing.T) {
	f := sound(t)
	a, b := f.chains[0], f.chains[1]
	middle := a.name + "/audit-log.000002.jsonl" // entries 253 to 554, after one checkpoint entry before it
	first := uint64(bytes.Count(a.segments[0], []byte("\n")) + 1)
	at := first + 10
	tests := []struct {
		name   string
		change func([][]byte) [][]byte
		kind   HarmKind
		seq    uint64
	}{
		{"an entry is edited", func(l [][]byte) [][]byte {
			l[10] = bytes.Replace(l[10], []byte("no such"), []byte("No such"), 1)
			return l
		}, HarmBadHash, at},
		{"an entry is removed", func(l [][]byte) [][]byte { return append(l[:10:10], l[11:]...) }, HarmWrongSeq, at},
		{"the first of a segment is removed", func(l [][]byte) [][]byte { return l[1:] }, HarmWrongSeq, first},
		{"an entry is there twice", func(l [][]byte) [][]byte { return append(l[:11:11], l[10:]...) }, HarmDuplicate, at},
		{"two entries are swapped", func(l [][]byte) [][]byte { l[10], l[11] = l[11], l[10]; return l }, HarmWrongSeq, at},
		{"an entry of another chain is put in", func(l [][]byte) [][]byte {
			return append(l[:10:10], append([][]byte{append(bytes.Clone(b.lines[3]), '\n')}, l[10:]...)...)
		}, HarmWrongChain, at},
		{"an entry is replaced by one of another chain", func(l [][]byte) [][]byte {
			l[10] = append(bytes.Clone(b.lines[3]), '\n')
			return l
		}, HarmWrongChain, at},
		{"an entry is forged, its hash computed", func(l [][]byte) [][]byte {
			prev := string(l[9][len(l[9])-67 : len(l[9])-3])
			l[10] = append(forgeLine(a.name, int64(at), f.now, prev, "failure", ""), '\n')
			return l
		}, HarmBrokenLink, at + 1},
		{"an entry is forged behind one that links to another", func(l [][]byte) [][]byte {
			l[10] = append(forgeLine(a.name, int64(at), f.now, a.prev, "failure", ""), '\n')
			return l
		}, HarmBrokenLink, at},
		{"a line is no entry", func(l [][]byte) [][]byte { l[10] = []byte("{}\n"); return l }, HarmBadLine, at},
		{"a line is empty", func(l [][]byte) [][]byte { l[10] = []byte("\n"); return l }, HarmBadLine, at},
		{"a line feed is lost", func(l [][]byte) [][]byte { l[10] = l[10][:len(l[10])-1]; return l }, HarmBadHash, at},
		{"the tail of a closed segment is cut", func(l [][]byte) [][]byte { l[12] = l[12][:20]; return l[:13] }, HarmTornTail, first + 12},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := edit(t, f, middle, func(data []byte) []byte { return bytes.Join(test.change(lineSplit(data)), nil) })
			wantHarm(t, r, test.kind, a.name, test.seq)
		})
	}
}

func TestTimeThatRunsBackwardsIsFound(t *testing.T) {
	f := newForge(t)
	a := f.chain()
	a.fail(3)
	f.now = f.now.Add(-1000000000)
	a.fail(1)
	wantHarm(t, verify(t, f.fs(), false), HarmTimeBackwards, a.name, 5)
}

func TestR6ADroppedSegmentIsFound(t *testing.T) {
	f := sound(t)
	a := f.chains[0]
	counts := []uint64{1}
	for _, s := range a.segments {
		counts = append(counts, counts[len(counts)-1]+uint64(bytes.Count(s, []byte("\n"))))
	}
	for i, name := range []string{"/audit-log.000001.jsonl", "/audit-log.000002.jsonl"} {
		files := f.fs()
		delete(files, a.name+name)
		wantHarm(t, verify(t, files, false), HarmMissingSegment, a.name, counts[i])
	}
	files := f.fs()
	delete(files, a.name+"/audit-log.jsonl")
	wantHarm(t, verify(t, files, false), HarmTruncated, a.name, counts[2])
}

func TestR6RollbackIsFoundAgainstTheSecondPlace(t *testing.T) {
	f := sound(t)
	old := f.fs()
	b := f.chains[1]
	b.fail(3)
	b.checkpoint(false)
	d := f.chain()
	d.fail(2)
	d.checkpoint(true)
	old["second"] = f.fs()["second"]
	wantOK(t, verify(t, f.fs(), true))
	r := verify(t, old, true)
	if len(r.Harms) != 2 {
		t.Fatalf("%v", r.Harms)
	}
	wantHarm(t, r, HarmMissingChain, d.name, 0)
	r.Harms = r.Harms[1:]
	wantHarm(t, r, HarmTruncated, b.name, 36)
	wantOK(t, verify(t, old, false)) // nobody else knows: that is what the second place is for
}

func TestR6AMissingChainIsFound(t *testing.T) {
	f := sound(t)
	files := f.fs()
	for name := range files {
		if bytes.HasPrefix([]byte(name), []byte(f.chains[1].name)) {
			delete(files, name)
		}
	}
	wantHarm(t, verify(t, files, false), HarmMissingChain, f.chains[1].name, 0)
}

func TestAnotherChainVouchesForTheTail(t *testing.T) {
	f := sound(t)
	b := f.chains[1] // killed with three entries behind its last checkpoint; the next chain has seen them
	r := edit(t, f, b.name+"/audit-log.jsonl", func(data []byte) []byte {
		l := lineSplit(data)
		return bytes.Join(l[:len(l)-2], nil)
	})
	wantHarm(t, r, HarmTruncated, b.name, uint64(b.seq))
}

func TestD10DeletingTheLastEntryIsFound(t *testing.T) {
	f := newForge(t)
	a := f.chain()
	a.fail(4)
	a.checkpoint(false)
	r := edit(t, f, a.name+"/audit-log.jsonl", func(data []byte) []byte {
		l := lineSplit(data)
		return bytes.Join(l[:4], nil)
	})
	wantHarm(t, r, HarmTruncated, a.name, 5)
}

func TestKeysDecideWhatIsBelieved(t *testing.T) {
	f, other := sound(t), newForge(t)
	other.public = "candor-ledger+7d3e1f7a+AXz6cB7Ex5kx0aWHn6cG4yGkcM1f6+0XbC6xXr2L0H4S"
	files := f.fs()
	delete(files, "keys/signer.pub")
	wantHarm(t, verify(t, files, false), HarmUnknownKey, f.chains[0].name, 0)
	report, err := verifyFS(files, nil, VerifyOptions{Keys: []string{f.public}})
	if err != nil || !report.OK || report.OwnKeys {
		t.Errorf("%v %+v", err, report.Harms)
	}
	files["keys/old/1.pub"] = &fstest.MapFile{Data: []byte(f.public)}
	wantOK(t, verify(t, files, false))
	if _, err := verifyFS(files, nil, VerifyOptions{Keys: []string{"nonsense"}}); err == nil {
		t.Error("nonsense passes for a key")
	}
}
