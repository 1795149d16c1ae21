package verify

import (
	"bytes"
	"testing"
	"testing/fstest"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/forge"
)

// FuzzReader gives arbitrary bytes to the verifier and the reader as a segment. Neither panics or fails, and the
// lines they accept are a prefix of those that were written. It then changes one byte of a valid segment, which must
// be found.
func FuzzReader(f *testing.F) {
	forged := forge.New(f)
	c := forged.Chain()
	c.Fail(4)
	c.Checkpoint(false)
	c.Fail(2)
	c.Checkpoint(true)
	files := forged.FS()
	name := c.Name + "/audit-log.jsonl"
	sound := files[name].Data
	for _, seed := range [][]byte{nil, sound, sound[:100], sound[:len(sound)-1], []byte("\n\n"), []byte("{}\n"), make([]byte, 600), []byte(format.LineStart + c.Name + format.LineSeq)} {
		f.Add(seed, uint32(len(seed)), byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, mask byte) {
		report, err := FS(t.Context(), patched{files, name, &fstest.MapFile{Data: data}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if report.OK {
			whole := data[:bytes.LastIndexByte(data, '\n')+1]
			if !bytes.HasPrefix(sound, whole[:min(len(whole), len(sound))]) {
				t.Errorf("arbitrary bytes verify: %q", data)
			}
		}
		if mask == 0 {
			return
		}
		changed := bytes.Clone(sound)
		changed[int(at)%len(changed)] ^= mask
		if changed[len(changed)-1] == 0 {
			return // the last byte of an entry that no checkpoint covers, as after a power cut
		}
		if verifyFiles(t, patched{files, name, &fstest.MapFile{Data: changed}}, false).OK {
			t.Errorf("byte %d, changed by %#x, was not found", int(at)%len(changed), mask)
		}
	})
}

// FuzzCheckpoints gives arbitrary bytes to the verifier as a file of checkpoints and as a witness copy.
func FuzzCheckpoints(f *testing.F) {
	forged := forge.New(f)
	c := forged.Chain()
	c.Fail(4)
	c.Checkpoint(true)
	files := forged.FS()
	for _, seed := range [][]byte{nil, c.Notes, c.Notes[:50], []byte("---\n---\n"), bytes.Repeat(c.Notes, 2)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{c.Name + "/checkpoints", "second"} {
			options := Options{WitnessFS: patched{files, "second", &fstest.MapFile{Data: data}}, WitnessCopies: []string{"second"}}
			if _, err := FS(t.Context(), patched{files, name, &fstest.MapFile{Data: data}}, options); err != nil {
				t.Fatal(err)
			}
		}
	})
}
