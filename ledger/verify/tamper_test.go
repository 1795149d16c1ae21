package verify

import (
	"bytes"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/testing/forge"
	"github.com/candor-mcp/candor/internal/testing/sweep"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// patched is a file system with one file replaced, so that a million variants need no copies of the other files.
type patched struct {
	fstest.MapFS
	name string
	data *fstest.MapFile
}

func (p patched) Open(name string) (fs.File, error) {
	if name != p.name {
		return p.MapFS.Open(name)
	}
	return fstest.MapFS{name: p.data}.Open(name)
}

func (p patched) ReadDir(name string) ([]fs.DirEntry, error) { return p.MapFS.ReadDir(name) }

func (p patched) Stat(name string) (fs.FileInfo, error) {
	if name != p.name {
		return p.MapFS.Stat(name)
	}
	return fstest.MapFS{name: p.data}.Stat(name)
}

// kib64 returns a ledger with one segment of almost 64 KiB.
func kib64(t testing.TB) (*forge.Ledger, *forge.Chain) {
	f := forge.New(t)
	c := f.Chain()
	for len(c.Segments[0]) < 63<<10 {
		c.Fail(1)
		if c.Seq%40 == 0 {
			c.Checkpoint(false)
		}
	}
	c.Checkpoint(true)
	return f, c
}

// TestR6EveryBitFlipIsFound flips each bit of a 64 KiB ledger. A flip cannot damage the lines before it, so
// each variant is scanned from the line with the flip on, starting in the state after the unchanged lines. One
// variant in a hundred is verified as a whole folder, to show that the result is the same.
func TestR6EveryBitFlipIsFound(t *testing.T) {
	t.Parallel()
	f, c := kib64(t)
	files := f.FS()
	name := c.Name + "/audit-log.jsonl"
	data := files[name].Data
	step := sweep.Step(11, 23)
	states := statesOf(t, files, c)
	var wait sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := worker * step; i < len(data); i += step * runtime.GOMAXPROCS(0) {
				for bit := range 8 {
					flipOne(t, states, files, name, data, i, bit)
				}
			}
		})
	}
	wait.Wait()
}

// state is the state of a scan before a line.
type state struct {
	scan  chainScan
	start int
	line  []byte
}

func statesOf(t *testing.T, files fstest.MapFS, c *forge.Chain) []state {
	var states []state
	v := &verification{fsys: files}
	if err := v.trust(nil); err != nil {
		t.Fatal(err)
	}
	s := &chainScan{v: v, lines: segment.NewStream(files, c.Name), leaves: tree.NewRecordHasher(), last: format.Genesis(c.Name)}
	s.report.Chain = c.Name
	start := 0
	for _, line := range c.Lines {
		states = append(states, state{scan: *s, start: start, line: line})
		s.at = segment.Line{Bytes: line}
		if kind, why := s.check(); kind != "" {
			t.Fatal(kind, why)
		}
		s.accept()
		start += len(line) + 1
	}
	return append(states, state{scan: *s, start: start})
}

func flipOne(t *testing.T, states []state, files fstest.MapFS, name string, data []byte, i, bit int) {
	n := lineAt(states, i)
	want := uint64(n + 1)
	if (i*8+bit)%101 == 0 {
		changed := bytes.Clone(data)
		changed[i] ^= 1 << bit
		r, err := FS(t.Context(), patched{files, name, &fstest.MapFile{Data: changed}}, Options{})
		if err != nil || r.OK || r.Damage[0].Seq != want {
			t.Errorf("bit %d of byte %d: %v %v, want entry %d", bit, i, err, r.Damage, want)
		}
	}
	s := states[n].scan
	end := states[n+1].start
	text := bytes.Clone(data[states[n].start:end])
	text[i-states[n].start] ^= 1 << bit
	if i == end-1 { // the line feed: the line continues into the next one, or is the torn tail
		if n+2 == len(states) {
			s.lines = &segment.Stream{Lines: &segment.LineBuffer{}}
			if s.couldBeTorn(text, 0) {
				t.Errorf("bit %d of the last byte was not found", bit)
			}
			return
		}
		text = append(text, data[states[n+1].start:states[n+2].start]...)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	s.at = segment.Line{Bytes: bytes.TrimSuffix(lines[0], []byte("\n"))}
	if kind, _ := s.check(); kind == "" {
		t.Errorf("bit %d of byte %d was not found", bit, i)
	}
}

func lineAt(states []state, i int) int {
	lo, hi := 0, len(states)-1
	for lo < hi {
		if mid := (lo + hi + 1) / 2; states[mid].start <= i {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// TestR6EveryBitFlipInCheckpointsIsFound flips each bit of the file of checkpoints and of the witness copy.
func TestR6EveryBitFlipInCheckpointsIsFound(t *testing.T) {
	t.Parallel()
	f := forge.New(t)
	c := f.Chain()
	c.Fail(2)
	c.Checkpoint(false)
	c.Fail(2)
	c.Checkpoint(true)
	files := f.FS()
	for _, name := range []string{c.Name + "/checkpoints", "second"} {
		data := files[name].Data
		for i := range data {
			if i%sweep.Step(11, 23) != 0 {
				continue
			}
			for bit := range 8 {
				changed := bytes.Clone(data)
				changed[i] ^= 1 << bit
				if i >= len(data)-len("---\n") && bytes.HasPrefix(changed, data[:len(data)-4]) {
					continue // the border after the last checkpoint, which holds no information
				}
				if r := verifyFiles(t, patched{files, name, &fstest.MapFile{Data: changed}}, name == "second"); r.OK {
					t.Errorf("%s: bit %d of byte %d (%q) was not found", name, bit, i, data[max(0, i-20):i+1])
				}
			}
		}
	}
}

// TestR6EveryTruncationIsFound truncates the active segment at every byte. Missing entries that a checkpoint covers
// are damage. A cut after the last checkpoint may look like a crash, and the report shows that the chain was not
// closed.
func TestR6EveryTruncationIsFound(t *testing.T) {
	t.Parallel()
	f := forge.New(t)
	c := f.Chain()
	for range 4 {
		c.Fail(6)
		c.Checkpoint(false)
	}
	c.Checkpoint(true)
	files := f.FS()
	name := c.Name + "/audit-log.jsonl"
	data := files[name].Data
	covered := len(data) - len(c.Lines[c.Seq-1]) - 1 // all but the closing entry
	step := sweep.Step(41, 97)
	for cut := 0; cut < len(data); cut += step {
		r := verifyFiles(t, patched{files, name, &fstest.MapFile{Data: data[:cut]}}, false)
		whole := uint64(bytes.Count(data[:cut], []byte("\n")))
		switch {
		case cut < covered:
			if r.OK || r.Damage[0].Kind != kindTruncated || r.Damage[0].Seq != whole+1 {
				t.Fatalf("cut at %d: %v, want truncated at %d", cut, r.Damage, whole+1)
			}
		case !r.OK:
			t.Fatalf("cut at %d, behind the last checkpoint, is a false alarm: %v", cut, r.Damage)
		case r.Chains[0].Closed || r.Chains[0].Torn != int64(cut-covered):
			t.Fatalf("cut at %d: %+v", cut, r.Chains[0])
		}
	}
}

// TestR6TruncatedCheckpointsAreFound truncates the file of checkpoints at every byte. Missing checkpoints of closed
// segments are damage. The newest ones may have been lost in a power cut; they are in the entries too and are
// reported as such.
func TestR6TruncatedCheckpointsAreFound(t *testing.T) {
	f := forge.New(t)
	c := f.Chain()
	c.Fail(3)
	c.Checkpoint(false)
	durable := len(c.Notes)
	c.Rotate()
	c.Fail(3)
	c.Checkpoint(true)
	files := f.FS()
	name := c.Name + "/checkpoints"
	data := files[name].Data
	for cut := range data {
		r := verifyFiles(t, patched{files, name, &fstest.MapFile{Data: data[:cut]}}, false)
		switch {
		case cut < durable-len("---\n"):
			wantDamage(t, r, kindCheckpointMissing, c.Name, 5)
		case cut < len(data)-len("---\n") && (!r.OK || r.Chains[0].Inside != 1), cut >= len(data)-len("---\n") && !r.OK:
			t.Fatalf("cut at %d of %d: %+v", cut, len(data), r)
		}
	}
}

// TestTornTailIsNotDamage truncates an open chain in its last line.
func TestTornTailIsNotDamage(t *testing.T) {
	f := forge.New(t)
	c := f.Chain()
	c.Fail(5)
	files := f.FS()
	name := c.Name + "/audit-log.jsonl"
	whole := files[name].Data
	next := string(forge.Line(c.Name, c.Seq+1, f.Now, c.Prev, "failure", `,"ref":"r","cause":"a longer text, for the sectors"`))
	try := func(tail string) Report {
		return verifyFiles(t, patched{files, name, &fstest.MapFile{Data: append(bytes.Clone(whole), tail...)}}, false)
	}
	for cut := range len(next) + 1 {
		r := try(next[:cut])
		wantOK(t, r)
		if r.Chains[0].Torn != int64(cut) || r.Chains[0].Size != uint64(c.Seq) {
			t.Fatalf("cut at %d: %+v", cut, r.Chains[0])
		}
	}
	zeros := strings.Repeat("\x00", sector)
	pad := strings.Repeat("\x00", sector-len(whole)%sector)
	for _, crash := range []string{zeros, pad, pad + next[:30], pad + "rest of a line\n" + next + "\n", pad + zeros + "\n", next[:20] + strings.Repeat("\x00", 2*sector-len(whole)%sector-20)} {
		if crash[0] == '{' {
			continue // a sector that begins inside the line is lost only at a boundary
		}
		wantOK(t, try(crash))
	}
	other := string(forge.Line(f.Chains[0].Name, c.Seq+2, f.Now, c.Prev, "failure", ""))
	for _, forged := range []string{next + "x", next + " ", next + "\x00\n", "x", "{}", "\n", other[:90], next[:200] + "\x00" + next[201:], " \x00", next + "\n" + "garbage",
		strings.Replace(next, `"ref":"r"`, `"ref":"s"`, 1), strings.Replace(next, c.Prev[:5], "00000", 1)[:250]} {
		if r := try(forged); r.OK {
			t.Errorf("%q behind the end passes", forged)
		} else if fmt.Sprint(r.Damage[0]) == "" {
			t.Error("no words")
		}
	}
}
