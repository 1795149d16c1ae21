package ledger

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// FuzzReader gives arbitrary bytes to the verifier and the reader as a segment: neither panics or fails, whatever they hold, and what they accept
// is a beginning of what was written. Then it changes one byte of a sound segment, which is found.
func FuzzReader(f *testing.F) {
	forged := newForge(f)
	c := forged.chain()
	c.fail(4)
	c.checkpoint(false)
	c.fail(2)
	c.checkpoint(true)
	files := forged.fs()
	name := c.name + "/audit-log.jsonl"
	sound := files[name].Data
	for _, seed := range [][]byte{nil, sound, sound[:100], sound[:len(sound)-1], []byte("\n\n"), []byte("{}\n"), make([]byte, 600), []byte(lineStart + c.name + lineSeq)} {
		f.Add(seed, uint32(len(seed)), byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, mask byte) {
		report, err := verifyFS(patched{files, name, &fstest.MapFile{Data: data}}, nil, VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if report.OK {
			whole := data[:bytes.LastIndexByte(data, '\n')+1]
			if !bytes.HasPrefix(sound, whole[:min(len(whole), len(sound))]) {
				t.Errorf("bytes that nobody wrote verify: %q", data)
			}
		}
		if mask == 0 {
			return
		}
		changed := bytes.Clone(sound)
		changed[int(at)%len(changed)] ^= mask
		if changed[len(changed)-1] == 0 {
			return // the last byte of an entry that no checkpoint covers, as a power cut leaves it
		}
		if verify(t, patched{files, name, &fstest.MapFile{Data: changed}}, false).OK {
			t.Errorf("byte %d, changed by %#x, was not found", int(at)%len(changed), mask)
		}
	})
}

// FuzzCheckpoints gives arbitrary bytes to the verifier as a file of checkpoints and as a second place.
func FuzzCheckpoints(f *testing.F) {
	forged := newForge(f)
	c := forged.chain()
	c.fail(4)
	c.checkpoint(true)
	files := forged.fs()
	for _, seed := range [][]byte{nil, c.notes, c.notes[:50], []byte("---\n---\n"), bytes.Repeat(c.notes, 2)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{c.name + "/checkpoints", "second"} {
			if _, err := verifyFS(patched{files, name, &fstest.MapFile{Data: data}}, []*witnessFile{{fsys: patched{files, "second", &fstest.MapFile{Data: data}}, base: "second", name: "second"}},
				VerifyOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzProof reads arbitrary bytes as a proof: nothing but the real one holds.
func FuzzProof(f *testing.F) {
	forged := newForge(f)
	c := forged.chain()
	c.fail(4)
	c.checkpoint(true)
	for _, seed := range []string{"", "{}", `{"v":1}`, `{"v":1,"session":{}}`, `{"v":1,"hashes":["AA"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		proof, err := ReadProof(data)
		if err != nil {
			return
		}
		if _, err := CheckProof(proof, forged.public); err == nil {
			t.Errorf("a proof that nobody made holds: %s", data)
		}
	})
}

// TestExportsHoldEveryEntry writes each format from a folder that is also harmed.
func TestExportsHoldEveryEntry(t *testing.T) {
	forged := sound(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, forged.fs()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, forged.chains[1].name, activeName)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, append(data, 0xff, 0xfe), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, format := range Formats() {
		skipped := 0
		entries := r.Entries(context.Background(), ReadOptions{Skipped: func(string, int64) { skipped++ }})
		if n, err := Export(io.Discard, format, entries); err != nil || n != 614 || skipped != 1 {
			t.Errorf("%s: %d entries, %d skipped, %v", format, n, skipped, err)
		}
	}
	if _, err := Export(io.Discard, "xml", r.Entries(context.Background(), ReadOptions{})); err == nil {
		t.Error("a format that does not exist was written")
	}
	stats, err := r.Count(context.Background(), ByTool, ReadOptions{})
	if err != nil || stats.Failures != 607 || stats.Skipped != 1 || len(stats.Buckets) != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
}
