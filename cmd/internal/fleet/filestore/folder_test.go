package filestore_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/filestore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

func open(t *testing.T, dir string) *filestore.Store {
	t.Helper()
	s := filestore.Open(dir)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// shipAll appends all chains of a ledger folder, in batches that do not end where segments end.
func shipAll(t *testing.T, s fleet.Store, dir, node string) {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	names, err := r.Chains()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		chain, head := fleet.Chain{Node: node, Name: name}, fleet.Head{}
		var batch [][]byte
		flush := func() {
			if len(batch) == 0 {
				return
			}
			if err := s.Append(t.Context(), chain, head, batch); err != nil {
				t.Fatal(err)
			}
			head, batch = storetest.HeadOf(t, batch[len(batch)-1]), nil
		}
		for line, err := range r.Entries(context.Background(), ledger.ReadOptions{Chain: name}) {
			if err != nil {
				t.Fatal(err)
			}
			if batch = append(batch, bytes.Clone(line.Raw())); len(batch) == 7 {
				flush()
			}
		}
		flush()
	}
}

func TestNodeFolderIsACopyOfTheLedger(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), t.TempDir()
	storetest.WriteLedger(t, source, 120)
	if _, err := ledger.RotateKey(source); err != nil {
		t.Fatal(err)
	}
	storetest.WriteLedger(t, source, 30)
	shipAll(t, open(t, dir), source, "web-1")

	copied := filepath.Join(dir, "web-1")
	segments := 0
	err := fs.WalkDir(os.DirFS(source), ".", func(name string, item fs.DirEntry, err error) error {
		base := filepath.Base(name)
		if err != nil || item.IsDir() || !strings.HasPrefix(base, "audit-log") && base != "checkpoints" && !strings.HasSuffix(base, ".pub") {
			return err
		}
		want, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(copied, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %d bytes, want %d (%v)", name, len(got), len(want), err)
		}
		if strings.HasPrefix(base, "audit-log.0") {
			segments++
		}
		return nil
	})
	if err != nil || segments < 5 {
		t.Fatalf("%d closed segments, %v: too few for this test", segments, err)
	}
	report, err := verify.Dir(t.Context(), copied, verify.Options{})
	if err != nil || !report.OK || report.Entries < 150 || len(report.Chains) != 2 {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

func TestReadsCompressedSegments(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), t.TempDir()
	storetest.WriteLedger(t, source, 60)
	chain, lines := storetest.ReadLedger(t, source, "n")
	s := open(t, dir)
	shipAll(t, s, source, "n")
	name := filepath.Join(dir, "n", chain.Name, "audit-log.000001.jsonl")
	packed := pack(t, name)
	sameChain(t, s, chain, lines)
	if err := os.WriteFile(name+".gz", packed[:len(packed)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	for _, err = range s.Lines(t.Context(), chain, 0) {
		if err != nil {
			break
		}
	}
	wantClass(t, err, candor.ClassCorrupt)
}

// TestHeadAfterASegmentWasClosed reads the head when a process was killed between closing a segment and beginning the next.
func TestHeadAfterASegmentWasClosed(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), t.TempDir()
	storetest.WriteLedger(t, source, 60)
	chain, lines := storetest.ReadLedger(t, source, "n")
	s := open(t, dir)
	shipAll(t, s, source, "n")
	folder := filepath.Join(dir, "n", chain.Name)
	active, err := os.ReadFile(filepath.Join(folder, "audit-log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "audit-log.jsonl")); err != nil {
		t.Fatal(err)
	}
	at := len(lines) - bytes.Count(active, []byte("\n"))
	want := storetest.HeadOf(t, lines[at-1])
	if head, err := s.Head(t.Context(), chain); err != nil || head != want {
		t.Fatalf("Head: %d, %v, want %d", head.Seq, err, want.Seq)
	}
	closed, err := filepath.Glob(filepath.Join(folder, "audit-log.0*.jsonl"))
	if err != nil || len(closed) == 0 {
		t.Fatal(closed, err)
	}
	pack(t, closed[len(closed)-1])
	again := open(t, dir)
	if head, err := again.Head(t.Context(), chain); err != nil || head != want {
		t.Fatalf("Head after compression: %d, %v, want %d", head.Seq, err, want.Seq)
	}
	if err := again.Append(t.Context(), chain, want, lines[at:]); err != nil {
		t.Fatal(err)
	}
	sameChain(t, s, chain, lines)
}

// pack replaces a segment by its compressed form, and returns that.
func pack(t *testing.T, name string) []byte {
	t.Helper()
	plain, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(plain)
	if err := errors.Join(w.Close(), os.WriteFile(name+".gz", packed.Bytes(), 0o600), os.Remove(name)); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func wantClass(t *testing.T, err error, want candor.Class) {
	t.Helper()
	var coded *candor.Error
	if !errors.As(err, &coded) || coded.Class() != want {
		t.Errorf("%v, want an error of class %s", err, want)
	}
}

func sameChain(t *testing.T, s fleet.Store, chain fleet.Chain, want [][]byte) {
	t.Helper()
	i := 0
	for stored, err := range s.Lines(t.Context(), chain, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if i == len(want) || !bytes.Equal(stored.Line, want[i]) {
			t.Fatalf("line %d of %d differs: %.200q", i+1, len(want), stored.Line)
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("%d lines, want %d", i, len(want))
	}
}

func TestRepairsWhatACrashLeaves(t *testing.T) {
	t.Parallel()
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 10, 3000)
	next := storetest.MakeLines(chain, storetest.HeadOf(t, lines[9]), 4, 3000)
	gap := bytes.Join(next, []byte("\n"))
	gap = append(gap, '\n')
	copy(gap[2048:], make([]byte, 4096)) // two sectors of zeros, and whole lines after them
	for name, rest := range map[string][]byte{
		"half a line": next[0][:1000], "a line without its end": next[0], "one byte": []byte("{"), "zeros": make([]byte, 5000), "a gap": gap,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := open(t, dir)
			if err := first.Append(t.Context(), chain, fleet.Head{}, lines); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(filepath.Join(dir, "n/c/audit-log.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Write(rest)
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			for _, s := range []fleet.Store{first, open(t, dir)} {
				if head, err := s.Head(t.Context(), chain); err != nil || head != storetest.HeadOf(t, lines[9]) {
					t.Fatalf("Head: %d, %v, want entry 10", head.Seq, err)
				}
			}
			if err := first.Append(t.Context(), chain, storetest.HeadOf(t, lines[9]), next); err != nil {
				t.Fatal(err)
			}
			sameChain(t, first, chain, append(lines[:10:10], next...))
		})
	}
}

func TestKeepsDamageThatNoCrashLeaves(t *testing.T) {
	t.Parallel()
	dir, chain := t.TempDir(), fleet.Chain{Node: "n", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 3, 10)
	s := open(t, dir)
	if err := s.Append(t.Context(), chain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "n/c/audit-log.jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(whole, []byte("xxx"), []byte("yyy"), 1)
	if err := os.WriteFile(name, append(changed, "garbage\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, dir).Head(t.Context(), chain)
	wantClass(t, err, candor.ClassCorrupt)
	if after, err := os.ReadFile(name); err != nil || string(after) != string(changed)+"garbage\n" {
		t.Errorf("the file was changed: %q, %v", after, err)
	}
}

func TestLinksDoNotLeadOut(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	chain := fleet.Chain{Node: "n", Name: "c"}
	if err := os.Symlink(outside, filepath.Join(dir, "n")); err != nil {
		t.Skip("needs links")
	}
	s := open(t, dir)
	if err := s.Append(t.Context(), chain, fleet.Head{}, storetest.MakeLines(chain, fleet.Head{}, 1, 1)); err == nil {
		t.Error("Append through a link succeeded")
	}
	if items, _ := os.ReadDir(outside); len(items) > 0 {
		t.Errorf("written outside: %v", items)
	}
}

func TestLocations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"file:store": "store", "file:/var/a": "/var/a", "file:///var/a%20b": "/var/a b", "file:a%20b": "a b", "file:./x": "./x",
		"file:": "", "file://host/x": "", "file:x?color=red": "",
	} {
		at, err := fleet.ParseLocation(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := (filestore.Engine{}).Open(t.Context(), at, fleet.OpenOptions{})
		if (err == nil) != (want != "") {
			t.Errorf("Open(%q): %v", text, err)
		}
		if err != nil {
			continue
		}
		if text, err := s.Grant("n"); err != nil || !strings.Contains(text, want) {
			t.Errorf("Grant: %q, %v, want the folder %s", text, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	dir, chain := filepath.Join(t.TempDir(), "none"), fleet.Chain{Node: "n", Name: "c"}
	s := open(t, dir)
	_, err := s.Chains(t.Context())
	wantClass(t, err, candor.ClassNotFound)
	if head, err := s.Head(t.Context(), chain); err != nil || head != (fleet.Head{}) {
		t.Errorf("Head: %v, %v", head, err)
	}
	wantClass(t, s.Setup(t.Context(), fleet.SetupOptions{Replicas: 3}), candor.ClassUnsupported)
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
	for _, name := range []string{"keys", "lock", "KEYS"} {
		bad := fleet.Chain{Node: "n", Name: name}
		wantClass(t, s.Append(t.Context(), bad, fleet.Head{}, storetest.MakeLines(bad, fleet.Head{}, 1, 1)), candor.ClassBadRequest)
	}
}

// TestRemovesWholeSegments removes entries as retention does, and verifies what is left together with the record of the removal.
func TestRemovesWholeSegments(t *testing.T) {
	t.Parallel()
	source, dir := t.TempDir(), t.TempDir()
	storetest.WriteLedger(t, source, 200)
	chain, lines := storetest.ReadLedger(t, source, "n")
	s := open(t, dir)
	shipAll(t, s, source, "n")
	second, err := os.ReadFile(filepath.Join(source, chain.Name, "audit-log.000003.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(second, []byte("\n"))
	first := storetest.HeadOf(t, line).Seq
	if err := s.Remove(t.Context(), chain, first-1); err != nil {
		t.Fatal(err)
	}
	sameChain(t, s, chain, lines[first-1:])
	if kept, err := os.ReadFile(filepath.Join(dir, "n", chain.Name, "audit-log.000003.jsonl")); err != nil || !bytes.Equal(kept, second) {
		t.Errorf("segment 3 was changed (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "n", chain.Name, "audit-log.000002.jsonl")); err == nil {
		t.Error("segment 2 is still there")
	}
	if err := s.Remove(t.Context(), chain, 1<<60); err != nil {
		t.Fatal(err)
	}
	sameChain(t, s, chain, lines[len(lines)-1:])
}
