package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// openTest opens a ledger and closes it when the test ends.
func openTest(t *testing.T, dir string, o Options) *Ledger {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// appendN appends n small entries and returns the receipt of the last.
func appendN(t *testing.T, l *Ledger, n int) (last Receipt) {
	t.Helper()
	for range n {
		var err error
		if last, err = l.Append(context.Background(), Entry{Kind: KindSuccess, Tool: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

func closeTest(t *testing.T, l *Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// chainsOf returns the chains of a folder, oldest first.
func chainsOf(t *testing.T, dir string) []string {
	t.Helper()
	names, err := segment.Chains(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[len(a)-len("20261115T040506789Z-01234567"):], b[len(b)-len("20261115T040506789Z-01234567"):])
	})
	return names
}

func fileOf(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// handEntry holds the members of an entry that tests check, decoded with encoding/json only.
type handEntry struct {
	V                             int
	Chain, Time, Prev, Kind, Hash string
	Seq                           uint64
	Args                          struct {
		Digest string
		Bytes  int
	}
	Data struct {
		recoveredFields
		Note, Policy, Disk string
		Closed             bool
		Second             *bool
		Segment            int
		Refused            int
		Before             []namedChain
		Reserve            reservation
	}
}

// recoveredFields are the members of an entry about another chain.
type recoveredFields = recoveredChain

// byHand checks the lines of one chain with only hashing and JSON, without the code of this package, and returns them
// decoded.
func byHand(t *testing.T, chain string, segments ...[]byte) []handEntry {
	t.Helper()
	var entries []handEntry
	sum := sha256.Sum256([]byte("candor ledger " + chain))
	prev, before := hex.EncodeToString(sum[:]), ""
	for _, line := range bytes.SplitAfter(bytes.Join(segments, nil), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if line[len(line)-1] != '\n' {
			t.Fatalf("the last line is not whole: %q", line)
		}
		var e handEntry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		cut := bytes.LastIndex(line, []byte(`,"hash":"`))
		own := sha256.Sum256(line[:cut])
		if e.Hash != hex.EncodeToString(own[:]) {
			t.Errorf("entry %d: the hash is not that of the bytes before it", e.Seq)
		}
		if e.Prev != prev || e.Seq != uint64(len(entries)+1) || e.Chain != chain || e.V != 1 || e.Time < before {
			t.Errorf("entry %d does not follow from the one before: %s", e.Seq, line)
		}
		prev, before = e.Hash, e.Time
		entries = append(entries, e)
	}
	return entries
}

// checkNotes verifies every checkpoint of a file with the public key and against the tree of the lines, and returns
// their sizes.
func checkNotes(t *testing.T, file []byte, public string, lines []byte) []int64 {
	t.Helper()
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	records := bytes.Split(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"))
	var sizes []int64
	for block := range strings.SplitSeq(strings.TrimSuffix(string(file), "---\n"), "---\n") {
		if _, err := note.Open([]byte(block), note.VerifierList(verifier)); err != nil {
			t.Fatalf("%v in %q", err, block)
		}
		c, err := checkpoint.ReadUnsigned(block)
		if err != nil {
			t.Fatal(err)
		}
		var hashes []tlog.Hash
		reader := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
			var found []tlog.Hash
			for _, i := range at {
				found = append(found, hashes[i])
			}
			return found, nil
		})
		for i, record := range records[:c.Size] {
			stored, err := tlog.StoredHashes(int64(i), record, reader)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, stored...)
		}
		if root, err := tlog.TreeHash(c.Size, reader); err != nil || root != c.Root {
			t.Errorf("checkpoint over %d entries: the root is not the tree's (%v)", c.Size, err)
		}
		sizes = append(sizes, c.Size)
	}
	return sizes
}

// wantFault fails the test unless err has that code.
func wantFault(t *testing.T, err error, code candor.Code) {
	t.Helper()
	if candor.CodeOf(err) != code {
		t.Fatalf("got %v (%v), want %v", candor.CodeOf(err), err, code)
	}
}

// ofKind returns the entries of one kind.
func ofKind(entries []handEntry, kind Kind) (found []handEntry) {
	for _, e := range entries {
		if e.Kind == string(kind) {
			found = append(found, e)
		}
	}
	return found
}

// testStorage opens a folder until the test ends.
func testStorage(t *testing.T, dir string) *storage.Dir {
	t.Helper()
	s, err := storage.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// faulty is a storage with operations that can be observed and made to fail. The hook is called before each operation
// with its name and the base name of the file.
type faulty struct {
	storage.Storage
	mu   sync.Mutex
	hook func(act, name string) error // guarded by mu; nil means that nothing fails
	acts []string                     // guarded by mu
}

func newFaulty(t *testing.T, dir string) *faulty {
	t.Helper()
	s, err := storage.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &faulty{Storage: s}
}

func (f *faulty) set(hook func(act, name string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

func (f *faulty) do(act, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Base(name)
	f.acts = append(f.acts, act+" "+name)
	if f.hook == nil {
		return nil
	}
	return f.hook(act, name)
}

func (f *faulty) count(act string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.acts {
		if a == act {
			n++
		}
	}
	return n
}

func (f *faulty) Create(name string, mode fs.FileMode) (storage.File, error) {
	if err := f.do("create", name); err != nil {
		return nil, err
	}
	inner, err := f.Storage.Create(name, mode)
	return &faultyFile{inner, f, name}, err
}

func (f *faulty) OpenAppend(name string) (storage.File, error) {
	if err := f.do("open", name); err != nil {
		return nil, err
	}
	inner, err := f.Storage.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{inner, f, name}, nil
}

func (f *faulty) Rename(from, to string) error {
	if err := f.do("rename", from); err != nil {
		return err
	}
	return f.Storage.Rename(from, to)
}

func (f *faulty) Remove(name string) error {
	if err := f.do("remove", name); err != nil {
		return err
	}
	return f.Storage.Remove(name)
}

func (f *faulty) SyncDir(dir string) error {
	if err := f.do("syncdir", dir); err != nil {
		return err
	}
	return f.Storage.SyncDir(dir)
}

func (f *faulty) MkdirAll(name string, mode fs.FileMode) error {
	if err := f.do("mkdir", name); err != nil {
		return err
	}
	return f.Storage.MkdirAll(name, mode)
}

type faultyFile struct {
	storage.File
	storage *faulty
	name    string
}

// shortWrite makes a write stop half-way with the error it wraps.
type shortWrite struct{ error }

func (s shortWrite) Unwrap() error { return s.error }

func (f *faultyFile) Write(p []byte) (int, error) {
	err := f.storage.do("write", f.name)
	if _, short := err.(shortWrite); short { //nolint:errorlint // the test's own
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	if err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *faultyFile) Sync() error {
	if err := f.storage.do("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.storage.do("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func sumOf(b []byte) string { return format.Digest(sha256.Sum256(b)).String() }

// readCounter counts how often segments are read.
type readCounter struct {
	storage.Storage
	segments atomic.Int64
}

func newReadCounter(t *testing.T, dir string) *readCounter {
	t.Helper()
	s, err := storage.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &readCounter{Storage: s}
}

func (r *readCounter) Files() fs.FS { return countedFiles{r.Storage.Files(), &r.segments} }

type countedFiles struct {
	fs.FS
	segments *atomic.Int64
}

func (f countedFiles) Open(name string) (fs.File, error) {
	if strings.Contains(name, "audit-log") {
		f.segments.Add(1)
	}
	return f.FS.Open(name)
}

// fullEntry returns a failure as the gateway records it, including the received and sent messages, which have to be
// redacted.
func fullEntry() Entry {
	err := candor.New(kaiza.FileNotFound, "the file is not there", candor.WithRef("r-0123456789abcdef"), candor.WithTool("read_file"),
		candor.WithOrigin(candor.PartyTool, true))
	e := EntryOf(err)
	e.Call, e.SessionID = "c-42", "s-1"
	e.Args = []byte(`{"path":"docs/missing.txt"}`)
	e.Upstream = []byte(`{"content":[{"type":"text","text":"ENOENT: no such file or directory"}],"isError":true}`)
	e.Envelope = err.AppendJSON(nil, candor.JSONOptions{})
	e.Latency = 1500 * time.Microsecond
	return e
}
